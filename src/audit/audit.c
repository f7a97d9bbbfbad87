/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit_own.h"
#include "base/cleanup.h"

/*
 * Writing.
 *
 * This is a group commit. A thread puts its record into a queue. If no thread leads, it
 * leads: it takes all queued records, writes them in one transaction, and wakes their
 * threads. Threads that arrive meanwhile wait, and one of them leads next. Under load
 * many threads share one wait for the disk; a lone thread waits only for its own record.
 * No background thread is needed.
 *
 * Several processes may append. A transaction holds the write lock of the file from its
 * beginning (BEGIN IMMEDIATE), and reads the end of the chain inside it.
 *
 * The table open_run lists each run with an intent and without an end, with the byte that
 * its process has locked (locks.c). If that byte is free, the process has ended, and the
 * next writer appends `interrupted`.
 */

/* A record in the queue. */
struct job {
	struct job *next;
	struct dw_audit_record rec;
	bool begins; /* true: an intent, on disk before the run; false: an outcome */
	bool done;
	int result;
	struct dw_error err;
};

struct dw_audit {
	struct dw_audit_store store; /* used by the leader only */
	int locks_fd;
	int64_t owner;
	bool sync_ends;
	bool recovered; /* used by the leader only */

	/* Used by the leader only. Set if a sync failed: we accept no more records. */
	struct dw_error failed;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t change;
	struct job *first, **last;
	bool led;
};

static int append_job(struct dw_audit *audit, struct dw_audit_tail *tail, struct job *job,
                      struct dw_error *err)
{
	struct dw_audit_store *store = &audit->store;

	if (dw_audit_chain_append(store, tail, &job->rec, err) < 0)
		return -1;
	if (job->begins)
		return dw_audit_chain_open(store, &job->rec, audit->owner, err);
	return dw_audit_chain_close(store, job->rec.run, err);
}

/*
 * In a batch, a bad record fails alone: only its own thread gets the error. Returns -1 if
 * the whole batch fails, for example on a full disk.
 */
static int append_one(struct dw_audit *audit, struct dw_audit_tail *tail, struct job *job,
                      bool in_batch, struct dw_error *err)
{
	struct dw_audit_store *store = &audit->store;
	struct dw_audit_tail before = *tail;

	if (!in_batch)
		return append_job(audit, tail, job, err);
	if (dw_sqlite_exec(&store->sqlite, "SAVEPOINT one", err) < 0)
		return -1;
	job->result = append_job(audit, tail, job, &job->err);
	if (sqlite3_get_autocommit(store->sqlite.db)) {
		*err = job->err;
		return -1;
	}
	if (job->result < 0) {
		*tail = before;
		if (dw_sqlite_exec(&store->sqlite, "ROLLBACK TO one", err) < 0)
			return -1;
	}
	return dw_sqlite_exec(&store->sqlite, "RELEASE one", err);
}

static int append_all(struct dw_audit *audit, struct job *jobs, struct dw_error *err)
{
	struct dw_audit_tail tail;
	struct job *job;

	if (dw_audit_store_run(&audit->store, DW_AUDIT_SQL_BEGIN, err) < 0 ||
	    dw_audit_store_head(&audit->store, &tail.seq, tail.hash, err) < 0)
		return -1;
	if (!audit->recovered &&
	    dw_audit_chain_recover(&audit->store, &tail, audit->locks_fd, audit->owner,
	                           NULL, err) < 0)
		return -1;
	for (job = jobs; job; job = job->next)
		if (append_one(audit, &tail, job, job != jobs || job->next, err) < 0)
			return -1;
	if (dw_audit_store_run(&audit->store, DW_AUDIT_SQL_COMMIT, err) < 0)
		return -1;
	audit->recovered = true;
	return 0;
}

/* Write all jobs in one transaction. */
static void write_batch(struct dw_audit *audit, struct job *jobs)
{
	struct dw_error err = {0};
	bool sync = audit->sync_ends;
	struct job *job;

	for (job = jobs; job; job = job->next)
		sync = sync || job->begins;
	/*
	 * After a failed sync the kernel may drop pages and report success for the next
	 * one (fsyncgate). So no more records are accepted.
	 */
	err = audit->failed;
	if (err.code == DW_OK && append_all(audit, jobs, &err) == 0) {
		if (!sync || dw_audit_store_sync(&audit->store, &err) == 0)
			return;
		audit->failed = err;
	}

	dw_audit_store_rollback(&audit->store);
	for (job = jobs; job; job = job->next) {
		job->result = -1;
		job->err = err;
	}
}

static int submit(struct dw_audit *audit, struct job *mine, struct dw_error *err)
{
	struct job *jobs, *job;

	(void)pthread_mutex_lock(&audit->lock);
	*audit->last = mine;
	audit->last = &mine->next;
	while (!mine->done) {
		if (audit->led) {
			(void)pthread_cond_wait(&audit->change, &audit->lock);
			continue;
		}
		audit->led = true;
		jobs = audit->first;
		audit->first = NULL;
		audit->last = &audit->first;
		(void)pthread_mutex_unlock(&audit->lock);

		write_batch(audit, jobs);

		(void)pthread_mutex_lock(&audit->lock);
		audit->led = false;
		/* Jobs are on their threads' stacks: once we unlock, they may be gone. */
		for (job = jobs; job; job = job->next)
			job->done = true;
		(void)pthread_cond_broadcast(&audit->change);
	}
	(void)pthread_mutex_unlock(&audit->lock);

	if (mine->result < 0 && err)
		*err = mine->err;
	return mine->result;
}

static void begin_record(struct dw_audit_record *rec, const char *kind,
                         const struct dw_audit_run *run)
{
	dw_audit_record_init(rec);
	rec->kind = dw_audit_text_of(kind);
	rec->run = dw_audit_text_of(run->id);
	rec->who = dw_audit_text_of(run->who);
	rec->decision = dw_audit_text_of(run->decision);
	rec->rule = dw_audit_text_of(run->rule);
}

int dw_audit_intent(struct dw_audit *audit, const struct dw_audit_run *run,
                    const struct dw_request *req, struct dw_error *err)
{
	autofree char *request = dw_audit_describe(req);
	struct job job = {.begins = true};

	if (!request)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot describe the request");
	begin_record(&job.rec, "intent", run);
	job.rec.request = dw_audit_text_of(request);
	job.rec.level_asked = dw_audit_text_of(req->level ? req->level
	                                                  : DW_LEVEL_DEFAULT);
	return submit(audit, &job, err);
}

/* Scale a measured value; a negative one is unknown. */
static int64_t scaled(double value, double factor)
{
	return value >= 0 && value * factor < 9e18 ? (int64_t)(value * factor + 0.5)
	                                           : DW_AUDIT_NONE;
}

int dw_audit_outcome(struct dw_audit *audit, const struct dw_audit_run *run,
                     const struct dw_result *res, const struct dw_error *why,
                     struct dw_error *err)
{
	char proof_hash[DW_AUDIT_HASH_MAX];
	autofree char *proof = NULL;
	struct job job = {0};
	struct dw_audit_record *rec = &job.rec;

	begin_record(rec, "outcome", run);
	if (res) {
		proof = dw_proof_to_json(&res->proof);
		if (!proof)
			return dw_fail(err, DW_E_INTERNAL, ENOMEM,
			               "cannot describe the proof");
		dw_audit_sha256(proof, strlen(proof), proof_hash);
		rec->proof_sha256 = dw_audit_text_of(proof_hash);
		rec->level_asked = dw_audit_text_of(res->proof.requested);
		if (res->proof.achieved[0] != '\0')
			rec->level_achieved = dw_audit_text_of(res->proof.achieved);
		rec->status = dw_audit_text_of(dw_status_name(res->status));
		rec->reason = dw_audit_text_of(dw_reason_name(res->reason));
		if (res->hint[0] != '\0')
			rec->hint = dw_audit_text_of(res->hint);
		if (res->exit_code >= 0)
			rec->exit_code = res->exit_code;
		if (res->signal > 0)
			rec->signal = res->signal;
		rec->run_us = scaled(res->execution_time_ms, 1000);
		rec->cpu_us = scaled(res->cpu_time_ms, 1000);
		rec->memory_bytes = scaled(res->memory_used_mb, 1 << 20);
	} else {
		rec->status = dw_audit_text_of(dw_status_name(DW_STATUS_ERROR));
		rec->reason = dw_audit_text_of(dw_code_name(why->code));
		rec->hint = dw_audit_text_of(why->text);
	}
	return submit(audit, &job, err);
}

/* Become the leader: only the leader may use the connection. */
static void lead(struct dw_audit *audit)
{
	(void)pthread_mutex_lock(&audit->lock);
	while (audit->led)
		(void)pthread_cond_wait(&audit->change, &audit->lock);
	audit->led = true;
	(void)pthread_mutex_unlock(&audit->lock);
}

static void stop_leading(struct dw_audit *audit)
{
	(void)pthread_mutex_lock(&audit->lock);
	audit->led = false;
	(void)pthread_cond_broadcast(&audit->change);
	(void)pthread_mutex_unlock(&audit->lock);
}

/* Change the chain in one transaction. */
static int with_chain(struct dw_audit *audit,
                      int (*fn)(struct dw_audit *audit, struct dw_audit_tail *tail,
                                void *user, struct dw_error *err),
                      void *user, struct dw_error *err)
{
	struct dw_audit_store *store = &audit->store;
	struct dw_audit_tail tail;
	struct dw_error why;
	int r;

	lead(audit);
	why = audit->failed;
	r = why.code == DW_OK ? 0 : -1;
	if (r == 0)
		r = dw_audit_store_run(store, DW_AUDIT_SQL_BEGIN, &why);
	if (r == 0)
		r = dw_audit_store_head(store, &tail.seq, tail.hash, &why);
	if (r == 0)
		r = fn(audit, &tail, user, &why);
	if (r == 0)
		r = dw_audit_store_run(store, DW_AUDIT_SQL_COMMIT, &why);
	if (r == 0) {
		r = dw_audit_store_sync(store, &why);
		if (r < 0)
			audit->failed = why;
	}
	if (r < 0)
		dw_audit_store_rollback(store);
	stop_leading(audit);
	if (r < 0 && err)
		*err = why;
	return r;
}

static int recover(struct dw_audit *audit, struct dw_audit_tail *tail, void *user,
                   struct dw_error *err)
{
	return dw_audit_chain_recover(&audit->store, tail, audit->locks_fd, audit->owner,
	                              user, err);
}

int dw_audit_recover(struct dw_audit *audit, size_t *ret_n, struct dw_error *err)
{
	size_t n = 0;

	if (with_chain(audit, recover, &n, err) < 0)
		return -1;
	if (ret_n)
		*ret_n = n;
	return 0;
}

struct retaining {
	const struct dw_audit_keep *keep;
	size_t removed;
};

static int retain(struct dw_audit *audit, struct dw_audit_tail *tail, void *user,
                  struct dw_error *err)
{
	struct retaining *retaining = user;

	if (dw_audit_chain_recover(&audit->store, tail, audit->locks_fd, audit->owner,
	                           NULL, err) < 0)
		return -1;
	return dw_audit_chain_retain(&audit->store, tail, retaining->keep,
	                             &retaining->removed, err);
}

int dw_audit_retain(struct dw_audit *audit, const struct dw_audit_keep *keep,
                    size_t *ret_removed, struct dw_error *err)
{
	struct retaining retaining = {.keep = keep};

	if (with_chain(audit, retain, &retaining, err) < 0)
		return dw_wrap(err, "cannot remove old audit records");
	if (ret_removed)
		*ret_removed = retaining.removed;
	return 0;
}

/* Create the tables, in one process at a time. */
static int make_tables(struct dw_audit *audit, const char *path, struct dw_error *err)
{
	int r;

	if (dw_audit_locks_enter(audit->locks_fd, err) < 0)
		return -1;
	r = dw_audit_store_create(&audit->store, path, err);
	/* The names of the new files must be on disk, too. */
	dw_audit_folder_sync(path);
	dw_audit_locks_leave(audit->locks_fd);
	return r;
}

static int open_all(struct dw_audit *audit, const char *path, bool stays,
                    struct dw_error *err)
{
	bool is_new = false;

	if (dw_audit_file_make(path, err) < 0 ||
	    dw_audit_locks_open(path, &audit->locks_fd, err) < 0 ||
	    dw_audit_locks_claim(audit->locks_fd, &audit->owner, err) < 0)
		return -1;
	if (dw_audit_store_open(&audit->store, path, stays, &is_new, err) < 0 ||
	    (is_new && make_tables(audit, path, err) < 0))
		return dw_wrap(err, "cannot open the audit file %s", path);
	if (stays)
		dw_audit_store_widen(&audit->store);
	return 0;
}

int dw_audit_open(const char *path, unsigned flags, struct dw_audit **ret,
                  struct dw_error *err)
{
	struct dw_audit *audit = calloc(1, sizeof(*audit));

	if (!audit)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot open the audit file");
	audit->locks_fd = audit->store.log_fd = -1;
	audit->sync_ends = flags & DW_AUDIT_SYNC_ENDS;
	audit->last = &audit->first;
	(void)pthread_mutex_init(&audit->lock, NULL);
	(void)pthread_cond_init(&audit->change, NULL);
	if (open_all(audit, path, flags & DW_AUDIT_STAYS, err) < 0) {
		dw_audit_close(audit);
		return -1;
	}
	*ret = audit;
	return 0;
}

void dw_audit_close(struct dw_audit *audit)
{
	if (!audit)
		return;
	dw_audit_store_close(&audit->store);
	/* Close this last: without its lock our open runs count as interrupted. */
	dw_cleanup_close(&audit->locks_fd);
	(void)pthread_cond_destroy(&audit->change);
	(void)pthread_mutex_destroy(&audit->lock);
	free(audit);
}
