/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job: the code, files, arguments and environment of the run. The program's own
 * process creates the files here, where the interpreter finds the code.
 */
#include "runners/zygote.h"

#include <linux/mman.h>

#define EEXIST 17
#define AT_FDCWD (-100)
#define O_NEW 02400301 /* O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC */
#define PATH_MAX 4096

/* For runners that read the records themselves (wire/enter.h). */
const char *dewar_job;
uint32_t dewar_job_len;

static struct {
	struct dw_job header;
	char records[DW_JOB_INLINE];
} job;

bool dw_job_next(const char **at, struct dw_record *ret)
{
	const char *p = *at, *end = dewar_job + dewar_job_len;

	if (end - p < 12)
		return false;
	dw_copy(&ret->kind, p, 4);
	dw_copy(&ret->name_len, p + 4, 4);
	dw_copy(&ret->len, p + 8, 4);
	p += 12;
	if ((uint64_t)ret->name_len + ret->len > (uint64_t)(end - p))
		return false;
	ret->name = p;
	ret->data = p + ret->name_len;
	*at = ret->data + ret->len;
	return true;
}

static bool write_all(int fd, const char *data, size_t len, struct failure *f)
{
	while (len > 0) {
		long n = sys(__NR_write, fd, data, len);

		if (failed(f, "write a file", n))
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static bool make_file(const struct dw_record *r, bool again, struct failure *f)
{
	char path[PATH_MAX];
	bool ok;
	long fd;

	if (r->name_len >= sizeof(path))
		return !failed(f, "make a file", -36 /* ENAMETOOLONG */);
	for (uint32_t i = 0; i < r->name_len; i++) {
		path[i] = '\0';
		/* /tmp exists; folders below it may be missing. */
		if (i > 4 && r->name[i] == '/') {
			long e = sys(__NR_mkdirat, AT_FDCWD, path, 0755);

			if (e != -EEXIST && failed(f, "make a folder", e))
				return false;
		}
		path[i] = r->name[i];
	}
	path[r->name_len] = '\0';
	/* mutant: job-makes-new-files */
	if (again)
		(void)sys(__NR_unlinkat, AT_FDCWD, path, 0);
	fd = sys(__NR_openat, AT_FDCWD, path, O_NEW, 0644);
	if (failed(f, "make a file", fd))
		return false;
	ok = write_all((int)fd, r->data, r->len, f);
	(void)sys(__NR_close, fd);
	return ok;
}

static bool make_files(bool again, struct failure *f)
{
	const char *at = dewar_job;
	struct dw_record r;

	while (dw_job_next(&at, &r))
		if ((r.kind == DW_JOB_FILE || r.kind == DW_JOB_CODE) &&
		    !make_file(&r, again, f))
			return false;
	return true;
}

static bool map_long(int fd, struct failure *f)
{
	long at = sys(__NR_mmap, 0, job.header.len, 1 /* read */, MAP_PRIVATE, fd, 0);

	(void)sys(__NR_close, fd);
	if (at > -4096 && failed(f, "map a long job", at))
		return false;
	dewar_job = (const char *)at;
	return true;
}

bool dw_job_take(int sock, bool again, struct failure *f)
{
	uint32_t n_fds = 0;
	int fd = -1;
	long len = dw_receive(sock, &job, sizeof(job), &fd, 1, &n_fds);

	/* Dewar closes the socket if it has cancelled the cell. */
	if (len < (long)sizeof(job.header) || job.header.magic != DW_JOB_MAGIC)
		return !failed(f, "get a job", -71 /* EPROTO */);
	dewar_job = job.records;
	dewar_job_len = job.header.len;
	if (job.header.in_memfd) {
		if (n_fds != 1 || !map_long(fd, f))
			return false;
	} else if (job.header.len != (uint64_t)len - sizeof(job.header)) {
		return !failed(f, "get a whole job", -71);
	}
	return make_files(again, f);
}
