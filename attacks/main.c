/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-attacks: all attacks in C, in one static program. `dewar verify` runs each of
 * them in cells, and once without. Started by hand, an attack has no target.
 */
#include <dirent.h>
#include <sys/prctl.h>
#include <time.h>

#include "attacks/attack.h"
#include "attacks_dispatch.h"

#define HOLD_MS 60000 /* the suite inspects the process meanwhile, and ends it */

const char *attack_value(const char *name)
{
	char variable[64];
	const char *value;

	(void)snprintf(variable, sizeof(variable), "DW_%s", name);
	value = getenv(variable);
	if (!value) {
		(void)printf("cannot: the suite does not say %s\n", variable);
		exit(2);
	}
	return value;
}

long attack_number(const char *name)
{
	return strtol(attack_value(name), NULL, 0);
}

void attack_stopped_by(const char *word, const char *step)
{
	(void)printf("stopped: %s at %s\n", word, step);
	(void)fflush(stdout);
}

void attack_stopped(const char *step)
{
	int eno = errno;

	attack_stopped_by(eno ? strerrorname_np(eno) : "nothing", step);
	errno = eno;
}

void attack_spill(int fd)
{
	char data[4096];
	ssize_t n = read(fd, data, sizeof(data));

	if (n > 0)
		(void)!write(STDOUT_FILENO, data, (size_t)n);
	(void)!write(STDOUT_FILENO, "\n", 1);
}

bool attack_spill_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		attack_stopped(path);
		return false;
	}
	attack_spill(fd);
	(void)close(fd);
	return true;
}

int attack_open_shown(void)
{
	const char *path = attack_value("SHOWN");
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		attack_stopped(path);
	return fd;
}

void attack_ready(void)
{
	(void)fflush(stdout);
	(void)prctl(PR_SET_NAME, "dw-hold", 0, 0, 0);
}

void attack_pause(int ms)
{
	const struct timespec step = {.tv_nsec = 1000000};

	for (; ms > 0; ms--)
		(void)nanosleep(&step, NULL);
}

long attack_call_i386(long nr, long a, long b)
{
	long r = -ENOSYS;

#if defined(__x86_64__)
	__asm__ volatile("int $0x80"
	                 : "=a"(r)
	                 : "a"(nr), "b"(a), "c"(b)
	                 : "memory", "r8", "r9", "r10", "r11");
#else
	(void)nr;
	(void)a;
	(void)b;
#endif
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

void attack_hold(void)
{
	attack_ready();
	attack_pause(HOLD_MS);
}

pid_t attack_find_holder(void)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	char path[300], comm[16];
	pid_t found = 0;

	while (dir && !found && (e = readdir(dir)) != NULL) {
		int fd;

		(void)snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		fd = strtol(e->d_name, NULL, 10) > 0 ? open(path, O_RDONLY | O_CLOEXEC)
		                                     : -1;
		if (fd < 0)
			continue;
		if (read(fd, comm, sizeof(comm)) == 8 &&
		    memcmp(comm, "dw-hold\n", 8) == 0)
			found = (pid_t)strtol(e->d_name, NULL, 10);
		(void)close(fd);
	}
	if (dir)
		(void)closedir(dir);
	if (!found)
		attack_stopped_by("unseen", "/proc");
	return found;
}

int main(int argc, char **argv)
{
	const char *role = getenv("DW_ROLE");

	for (size_t i = 0; argc == 2 && i < sizeof(attacks) / sizeof(*attacks); i++)
		if (strcmp(argv[1], attacks[i].name) == 0)
			return attacks[i].run(role ? role : "");
	(void)fputs("dewar-attacks is started by `dewar verify`, never by hand\n",
	            stderr);
	return 2;
}
