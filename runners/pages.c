/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learn which pages a run touches, from a trial run.
 *
 * A forked interpreter shares its pages with the zygote until it writes to them, and has
 * no page tables yet for the files it reads. Each first touch is a page fault, several
 * microseconds on a virtual machine, and these are most of the cost of a short run. So
 * the zygote runs a short program once to its end in a child, the trial. At that moment
 * the kernel can tell which pages the trial has written, and which pages of files it has
 * read.
 *
 * Every standby child faults in the written pages before the code starts, in any
 * language. The zygote maps the read pages in such a way that a fork copies their page
 * tables. It drops the pages that only the start of the interpreter has read: every fork
 * would copy and free their page tables too.
 */
#include "runners/zygote.h"

#include <linux/mman.h>

#define RANGES_MAX 2000
#define PAGE 4096UL
#define PRESENT (1ULL << 63)
#define OF_FILE (1ULL << 61)
#define EXCLUSIVE (1ULL << 56)

struct area {
	uint64_t start;
	uint64_t end;
	long prot;
	bool is_file;
};

struct range {
	uint64_t start;
	uint64_t len;
};

static struct range written[RANGES_MAX];
static uint32_t n_written;

/* Reads the entries of an area's pages from /proc/PID/pagemap, 512 at a time. */
struct look {
	int pagemap;
	uint64_t at;
	uint64_t end;
	uint64_t entries[512];
};

/* Returns how many entries were read, the first for the page at *ret_at; 0 at the end. */
static long look_on(struct look *l, uint64_t *ret_at)
{
	uint64_t want = (l->end - l->at) / PAGE;
	long n;

	if (want == 0)
		return 0;
	if (want > 512)
		want = 512;
	n = sys(__NR_pread64, l->pagemap, l->entries, want * 8, l->at / PAGE * 8) / 8;
	if (n <= 0)
		return 0;
	*ret_at = l->at;
	l->at += (uint64_t)n * PAGE;
	return n;
}

static void add_written(uint64_t start)
{
	struct range *last = n_written > 0 ? &written[n_written - 1] : 0;

	if (last && last->start + last->len == start)
		last->len += PAGE;
	else if (n_written < RANGES_MAX)
		written[n_written++] = (struct range){start, PAGE};
}

/*
 * Note the area's pages that the trial wrote, and return how many. Fault in, in the
 * zygote, the pages of files that the trial read, and add how many to *ret_read.
 */
static uint32_t learn_area(int pagemap, const struct area *a, uint32_t *ret_read)
{
	static struct look look;
	uint32_t pages = 0;
	uint64_t at = 0;
	long n;

	look.pagemap = pagemap;
	look.at = a->start;
	look.end = a->end;
	while ((n = look_on(&look, &at)) > 0) {
		for (long i = 0; i < n; i++, at += PAGE) {
			if (!(look.entries[i] & PRESENT))
				continue;
			if (look.entries[i] & OF_FILE) {
				(*ret_read)++;
				/* The zygote's own mapping of the same file. */
				(void)sys(__NR_madvise, at, PAGE, MADV_POPULATE_READ);
			} else if ((a->prot & PROT_WRITE) &&
			           (look.entries[i] & EXCLUSIVE)) {
				add_written(at);
				pages++;
			}
		}
	}
	return pages;
}

/* Drop an area's pages of a file, unless some are private copies, as after relocation. */
static void forget(const struct area *a, int own_pagemap)
{
	static struct look look;
	uint64_t at = 0;
	long n;

	look.pagemap = own_pagemap;
	look.at = a->start;
	look.end = a->end;
	while ((n = look_on(&look, &at)) > 0)
		for (long i = 0; i < n; i++)
			if ((look.entries[i] & PRESENT) && !(look.entries[i] & OF_FILE))
				return;
	if (look.at == a->end)
		(void)sys(__NR_madvise, a->start, a->end - a->start, MADV_DONTNEED);
}

/*
 * A fork does not copy the page tables of a mapped file, whose pages can be faulted in
 * again, unless a page of the mapping was written. So write one byte in the zygote, with
 * the value that it has.
 */
static void take_along(const struct area *a)
{
	volatile char *first = (volatile char *)a->start;
	uint64_t len = a->end - a->start;
	char byte;

	if (sys(__NR_mprotect, a->start, len, PROT_READ | PROT_WRITE) < 0)
		return;
	byte = *first;
	*first = byte;
	(void)sys(__NR_mprotect, a->start, len, a->prot);
}

static uint64_t read_hex(const char **p)
{
	uint64_t n = 0;

	for (;; (*p)++) {
		if (**p >= '0' && **p <= '9')
			n = n << 4 | (uint64_t)(**p - '0');
		else if (**p >= 'a' && **p <= 'f')
			n = n << 4 | (uint64_t)(**p - 'a' + 10);
		else
			return n;
	}
}

/* "5581a0-5581b0 rw-p 00000000 00:1f 42    /usr/bin/python3" */
static bool parse_line(const char *line, size_t len, struct area *ret)
{
	const char *p = line;

	ret->start = read_hex(&p);
	if (*p++ != '-')
		return false;
	ret->end = read_hex(&p);
	ret->prot = (p[1] == 'r' ? PROT_READ : 0) | (p[2] == 'w' ? PROT_WRITE : 0) |
	            (p[3] == 'x' ? PROT_EXEC : 0);
	ret->is_file = false;
	for (size_t i = 0; i + 1 < len; i++) {
		if (line[i] == '[' && line[i + 1] == 'v')
			return false; /* [vvar] and the like belong to the kernel */
		if (line[i] == '/')
			ret->is_file = true;
	}
	return (ret->prot & PROT_READ) != 0;
}

/* Returns true for the area of this code, whose pages must not be dropped. */
static bool is_own(const struct area *a)
{
	uint64_t here = (uint64_t)(uintptr_t)&is_own;

	return a->start <= here && here < a->end;
}

static uint32_t learn_line(int pagemap, int own_pagemap, const char *line, size_t len)
{
	uint32_t pages, read = 0;
	bool is_text;
	struct area a;

	if (!parse_line(line, len, &a))
		return 0;
	is_text = a.is_file && !(a.prot & PROT_WRITE) && !is_own(&a);
	if (is_text)
		forget(&a, own_pagemap);
	pages = learn_area(pagemap, &a, &read);
	if (is_text && read > 0)
		take_along(&a);
	return pages;
}

static int open_of(long pid, const char *name)
{
	char path[64];

	dw_name(path, "/proc/", pid, name);
	return (int)sys(__NR_openat, -100, path, 02000000, 0);
}

uint32_t dw_pages_learn(long pid)
{
	static char text[1 << 16];
	int maps = open_of(pid, "/maps"), pagemap = open_of(pid, "/pagemap");
	int own_pagemap = open_of(sys(__NR_getpid), "/pagemap");
	uint32_t pages = 0;
	size_t have = 0;
	long n;

	n_written = 0;
	while (maps >= 0 && pagemap >= 0 && have < sizeof(text) &&
	       (n = sys(__NR_read, maps, text + have, sizeof(text) - have)) > 0) {
		size_t start = 0;

		have += (size_t)n;
		for (size_t i = 0; i < have; i++) {
			if (text[i] != '\n')
				continue;
			pages += learn_line(pagemap, own_pagemap, text + start,
			                    i - start);
			start = i + 1;
		}
		have -= start;
		dw_copy(text, text + start, have);
	}
	if (maps >= 0)
		(void)sys(__NR_close, maps);
	if (pagemap >= 0)
		(void)sys(__NR_close, pagemap);
	if (own_pagemap >= 0)
		(void)sys(__NR_close, own_pagemap);
	return pages;
}

void dw_pages_touch(void)
{
	/* Fails before Linux 5.14: then the run itself faults the pages in. */
	for (uint32_t i = 0; i < n_written; i++)
		(void)sys(__NR_madvise, written[i].start, written[i].len,
		          MADV_POPULATE_WRITE);
}
