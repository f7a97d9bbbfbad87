/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/warm_own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "wire/enter.h"
#include "wire/report.h"

#define FOLDER "/tmp/"

static void add(struct dw_buf *buf, struct dw_job *header, uint32_t kind,
                const char *prefix, const char *name, const char *lead,
                struct dw_bytes data)
{
	uint32_t fixed[] = {
		kind,
		(uint32_t)(strlen(prefix) + strlen(name)),
		(uint32_t)(strlen(lead) + data.len),
	};

	(void)dw_buf_add(buf, fixed, sizeof(fixed));
	(void)dw_buf_add(buf, prefix, strlen(prefix));
	(void)dw_buf_add(buf, name, strlen(name));
	(void)dw_buf_add(buf, lead, strlen(lead));
	(void)dw_buf_add(buf, data.data, data.len);
	header->n_records++;
}

static struct dw_bytes text(const char *t)
{
	return (struct dw_bytes){t, strlen(t)};
}

static void add_hook(struct dw_buf *buf, struct dw_job *header,
                     const struct dw_spec *spec)
{
	autobuf struct dw_buf names;
	struct dw_bytes hook = {0};
	const char *file;

	dw_buf_init(&names, 1U << 20);
	dw_command_join(spec->req->allowed_modules, &names);
	hook.data = dw_runtime_hook(spec->runtime, &file, &hook.len);
	if (!hook.data || names.failed)
		buf->failed = true; /* then sending the job fails */
	else
		add(buf, header, DW_JOB_HOOK, "", names.data, "", hook);
}

static void compose(struct dw_buf *buf, struct dw_job *header, const struct dw_spec *spec)
{
	const struct dw_request *req = spec->req;
	const struct dw_runtime *rt = spec->runtime;
	struct dw_bytes code = req->command ? text(req->command) : req->code;

	for (size_t i = 0; i < req->n_files; i++)
		add(buf, header, DW_JOB_FILE, FOLDER, req->files[i].name, "",
		    req->files[i].content);
	add(buf, header, DW_JOB_CODE, FOLDER, rt->file,
	    dw_runtime_opening(rt, code.data, code.len), code);
	for (size_t i = 0; i < req->n_args; i++)
		add(buf, header, DW_JOB_ARG, "", "", "", text(req->args[i]));
	if (rt->library_env && req->workspace)
		add(buf, header, DW_JOB_ENV, "", rt->library_env, "", text("/work"));
	for (size_t i = 0; i < req->n_env; i++)
		add(buf, header, DW_JOB_ENV, "", req->env[i].name, "",
		    text(req->env[i].value));
	if (req->allowed_modules)
		add_hook(buf, header, spec);
	header->len = (uint32_t)buf->len;
}

static int send_long(int sock, struct dw_job *header, const struct dw_buf *buf)
{
	autoclose int fd = memfd_create("dewar-job", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = dw_fd_write_all(fd, buf->data, buf->len);
	if (r < 0)
		return r;
	header->in_memfd = 1;
	return dw_report_send_data(sock, header, sizeof(*header), &fd, 1);
}

static int send_short(int sock, const struct dw_job *header, const struct dw_buf *buf)
{
	struct iovec iov[] = {
		{.iov_base = (void *)header, .iov_len = sizeof(*header)},
		{.iov_base = buf->data, .iov_len = buf->len},
	};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov)};

	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

bool dw_job_is_long(const struct dw_spec *spec)
{
	struct dw_job header = {0};
	struct dw_buf buf;
	bool fits;

	dw_buf_init(&buf, DW_JOB_INLINE);
	compose(&buf, &header, spec);
	fits = !buf.failed;
	dw_buf_finish(&buf);
	return !fits;
}

int dw_job_send(int sock, const struct dw_spec *spec, struct dw_error *err)
{
	struct dw_job header = {.magic = DW_JOB_MAGIC};
	struct dw_buf buf;
	int r;

	dw_buf_init(&buf, UINT32_MAX);
	compose(&buf, &header, spec);
	if (buf.failed)
		r = -ENOMEM;
	else if (buf.len > DW_JOB_INLINE)
		r = send_long(sock, &header, &buf);
	else
		r = send_short(sock, &header, &buf);
	dw_buf_finish(&buf);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot send the job to a standby cell");
	return 0;
}
