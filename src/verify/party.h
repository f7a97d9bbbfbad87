/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_PARTY_H
#define DW_VERIFY_PARTY_H

#include "base/buf.h"
#include "verify/attempt.h"
#include "verify/stage.h"

/*
 * One program of an attempt, in a cell or without one: its process (dewar's
 * own, if there is a cell) and what came out of it.
 */
struct dw_party {
	pid_t pid;            /* -1 once it is over */
	int pidfd;            /* to be told of its end */
	int fd[2];            /* its stdout and stderr, -1 once closed */
	struct dw_buf out[2]; /* what it said */
	bool cell;            /* its stdout is a result of dewar's */
	bool shared;          /* the process is the other party's, too (pool.h) */
	int in;               /* shared: where the process is asked, or -1 */
};

void dw_party_init(struct dw_party *party);

int dw_party_start(struct dw_party *party, const struct dw_attack *attack,
                   const struct dw_target *at, const char *role,
                   const struct dw_stage *stage, const struct dw_tools *tools,
                   struct dw_error *err);

/*
 * Start a program as dewar is started, with in as its stdin and more as its
 * descriptor 3; both are taken over.
 */
struct dw_words;
int dw_party_spawn(struct dw_party *party, const struct dw_words *words, int in, int more,
                   const struct dw_stage *stage, struct dw_error *err);

/* Take what has come; true once the process, or its part in a shared one, is over. */
bool dw_party_look(struct dw_party *party);

/* Ask it to end; dewar then says how its cell was until now. */
void dw_party_stop(const struct dw_party *party);

void dw_party_finish(struct dw_party *party);

#endif
