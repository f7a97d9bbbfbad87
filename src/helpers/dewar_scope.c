/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-scope: gets a scope from systemd and starts launchers in it.
 *
 * 	dewar-scope LAUNCHER PID
 *
 * Theory of operation
 *
 * Under systemd a process may create cgroups below its own only if its unit has
 * Delegate=yes, which a login shell does not have. So this program asks systemd to create
 * a scope that contains this process. It asks the user's manager or, as root, the
 * system's. It waits until the scope exists, moves into a leaf of it, enables the
 * controllers for its children, hands the folder to dewar, and becomes `dewar-launch
 * serve`, whose children start in the scope. When dewar ends, its socket closes, the
 * launcher ends, and systemd removes the empty scope.
 *
 * It is a separate program so that no other one loads libsystemd. Every wait has a limit.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cgroup/cgroup.h"
#include "wire/plan.h"
#include "wire/report.h"

#define WAIT_US 8000000ULL

static _Noreturn __attribute__((format(printf, 1, 2))) void give_up(const char *fmt, ...)
{
	struct dw_scope_reply said = {.magic = DW_SCOPE_MAGIC};
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(said.failed, sizeof(said.failed), fmt, args);
	va_end(args);
	(void)dw_report_send_data(DW_LAUNCH_FD, &said, sizeof(said), NULL, 0);
	_exit(1);
}

/* Connect to a manager at its private socket, as systemctl does, or to a bus. */
static int connect_to(const char *address, bool is_bus, sd_bus **ret)
{
	sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, is_bus);
	if (r >= 0)
		r = sd_bus_set_method_call_timeout(bus, WAIT_US);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r < 0) {
		(void)sd_bus_unref(bus);
		return r;
	}
	*ret = bus;
	return 0;
}

static int connect_to_manager(sd_bus **ret)
{
	char address[256];
	int r;

	if (geteuid() == 0) {
		r = connect_to("unix:path=/run/systemd/private", false, ret);
		return r < 0 ? connect_to("unix:path=/run/dbus/system_bus_socket", true,
		                          ret)
		             : r;
	}
	(void)snprintf(address, sizeof(address), "unix:path=/run/user/%u/systemd/private",
	               geteuid());
	r = connect_to(address, false, ret);
	if (r >= 0)
		return r;
	(void)snprintf(address, sizeof(address), "unix:path=/run/user/%u/bus", geteuid());
	return connect_to(address, true, ret);
}

/* The systemd job that this program waits for, and the job's result. */
struct job {
	char path[256];
	char result[64];
};

static int on_removed(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *path, *unit, *result;
	struct job *job = user;
	uint32_t id;

	(void)error;
	if (sd_bus_message_read(m, "uoss", &id, &path, &unit, &result) >= 0 &&
	    strcmp(path, job->path) == 0)
		(void)snprintf(job->result, sizeof(job->result), "%s", result);
	return 0;
}

static int start_scope(sd_bus *bus, const char *name, struct job *job)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	const char *path;
	int r;

	r = sd_bus_call_method(bus, "org.freedesktop.systemd1",
	                       "/org/freedesktop/systemd1",
	                       "org.freedesktop.systemd1.Manager", "StartTransientUnit",
	                       &error, &reply, "ssa(sv)a(sa(sv))", name, "fail", 4,
	                       "Description", "s", "Cells of dewar", "Delegate", "b", 1,
	                       "CollectMode", "s", "inactive-or-failed", "PIDs", "au", 1,
	                       (uint32_t)getpid(), 0);
	if (r < 0)
		give_up("systemd refused a scope: %s",
		        error.message ? error.message : strerrordesc_np(-r));
	r = sd_bus_message_read(reply, "o", &path);
	if (r >= 0)
		(void)snprintf(job->path, sizeof(job->path), "%s", path);
	(void)sd_bus_message_unref(reply);
	sd_bus_error_free(&error);
	return r;
}

static void wait_for(sd_bus *bus, struct job *job)
{
	uint64_t until = dw_now_ns() / 1000 + WAIT_US, now;
	int r;

	while (job->result[0] == '\0') {
		r = sd_bus_process(bus, NULL);
		if (r > 0)
			continue;
		now = dw_now_ns() / 1000;
		if (r == 0 && now < until)
			r = sd_bus_wait(bus, until - now);
		if (r < 0 && r != -EINTR)
			give_up("systemd closed the connection: %s", strerrordesc_np(-r));
		if (now >= until)
			give_up("systemd did not create a scope in time");
	}
	if (strcmp(job->result, "done") != 0)
		give_up("systemd could not create a scope: %s", job->result);
}

static void get_scope(int pid)
{
	struct job job = {0};
	sd_bus *bus = NULL;
	char name[64];
	int r = connect_to_manager(&bus);

	if (r < 0)
		give_up("cannot reach the systemd of %s: %s",
		        geteuid() == 0 ? "the system" : "this user", strerrordesc_np(-r));
	(void)snprintf(name, sizeof(name), "dewar-%d-%d.scope", pid, getpid());
	/*
	 * Subscribe before the request: the job may end at once. A private socket
	 * needs no Subscribe call.
	 */
	(void)sd_bus_match_signal(bus, NULL, NULL, "/org/freedesktop/systemd1",
	                          "org.freedesktop.systemd1.Manager", "JobRemoved",
	                          on_removed, &job);
	if (sd_bus_is_bus_client(bus) > 0)
		(void)sd_bus_call_method(bus, "org.freedesktop.systemd1",
		                         "/org/freedesktop/systemd1",
		                         "org.freedesktop.systemd1.Manager", "Subscribe",
		                         NULL, NULL, "");
	r = start_scope(bus, name, &job);
	if (r < 0)
		give_up("cannot read the answer of systemd: %s", strerrordesc_np(-r));
	wait_for(bus, &job);
	(void)sd_bus_flush_close_unref(bus);
}

int main(int argc, char **argv)
{
	struct dw_scope_reply said = {.magic = DW_SCOPE_MAGIC};
	char *const serve[] = {(char *)"dewar-launch", (char *)"serve", NULL};
	char *const env[] = {NULL};
	int fd, pid, r;

	if (argc != 3 || fcntl(DW_LAUNCH_FD, F_GETFD) < 0) {
		(void)fputs("only dewar starts dewar-scope\n", stderr);
		return 125;
	}
	pid = (int)strtol(argv[2], NULL, 10);
	get_scope(pid);

	fd = dw_cgroup_open_own();
	if (fd < 0)
		give_up("cannot open the folder of the scope: %s", strerrordesc_np(-fd));
	r = dw_cgroup_enter_leaf(fd, pid);
	if (r == 0)
		r = dw_cgroup_pass_on(fd);
	if (r < 0)
		give_up("cannot use the scope of systemd: %s", strerrordesc_np(-r));
	if (dw_report_send_data(DW_LAUNCH_FD, &said, sizeof(said), &fd, 1) < 0)
		return 1; /* dewar has ended */
	(void)close_range(DW_LAUNCH_FD + 1, ~0U, 0);
	(void)execve(argv[1], serve, env);
	return 125;
}
