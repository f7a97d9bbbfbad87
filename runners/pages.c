/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rehearsal, learnt once.
 *
 * A forked interpreter shares its pages with the zygote until it writes to them,
 * and has no page tables yet for what it reads from files. Each first touch is a
 * fault, several microseconds on a virtual machine, and they are most of what a
 * short run costs. So a trial runs a whole short program once, to its very end,
 * in a child that nobody else sees; at that moment the kernel knows which pages
 * it has a copy of, and which of the files' pages it looked at. Every child
 * touches just those ahead of the code, whatever language it speaks.
 */
#include "runners/zygote.h"

#include <linux/mman.h>

#define RANGES_MAX 3000
#define PAGE 4096UL
#define PRESENT (1ULL << 63)
#define OF_FILE (1ULL << 61)
#define EXCLUSIVE (1ULL << 56)

struct range {
	uint64_t start;
	uint32_t len;
	uint32_t advice;
};

static struct range ranges[RANGES_MAX];
static uint32_t n_ranges;

static uint32_t add(uint64_t start, uint32_t advice)
{
	struct range *last = n_ranges > 0 ? &ranges[n_ranges - 1] : 0;

	if (last && last->advice == advice && last->start + last->len == start) {
		last->len += PAGE;
	} else {
		if (n_ranges == RANGES_MAX)
			return 0;
		ranges[n_ranges++] = (struct range){start, PAGE, advice};
	}
	return advice == MADV_POPULATE_WRITE;
}

/* How many of its pages a run writes. */
static uint32_t learn_area(int pagemap, uint64_t start, uint64_t end, bool writable)
{
	static uint64_t entries[512];
	uint32_t written = 0;
	long n;

	while (start < end) {
		uint64_t want = (end - start) / PAGE;

		if (want > 512)
			want = 512;
		n = sys(__NR_pread64, pagemap, entries, want * 8, start / PAGE * 8) / 8;
		if (n <= 0)
			break;
		for (long i = 0; i < n; i++, start += PAGE) {
			if (!(entries[i] & PRESENT))
				continue;
			if (entries[i] & OF_FILE)
				(void)add(start, MADV_POPULATE_READ);
			else if (writable && (entries[i] & EXCLUSIVE))
				written += add(start, MADV_POPULATE_WRITE);
			else
				(void)add(start, MADV_POPULATE_READ);
		}
	}
	return written;
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
static uint32_t learn_line(int pagemap, const char *line, size_t len)
{
	const char *p = line;
	uint64_t start = read_hex(&p), end;
	bool readable, writable;

	if (*p++ != '-')
		return 0;
	end = read_hex(&p);
	readable = p[1] == 'r';
	writable = p[2] == 'w';
	/* [vvar] and its like are the kernel's. */
	for (size_t i = 0; i + 1 < len; i++)
		if (line[i] == '[' && line[i + 1] == 'v')
			return 0;
	return readable ? learn_area(pagemap, start, end, writable) : 0;
}

static int open_of(long pid, const char *name)
{
	char path[64] = "/proc/", digits[20];
	size_t at = 6, n = 0;

	do
		digits[n++] = (char)('0' + pid % 10);
	while ((pid /= 10) > 0);
	while (n > 0)
		path[at++] = digits[--n];
	dw_copy(path + at, name, dw_length(name) + 1);
	return (int)sys(__NR_openat, -100, path, 02000000, 0);
}

uint32_t dw_pages_learn(long pid)
{
	static char text[1 << 16];
	int maps = open_of(pid, "/maps"), pagemap = open_of(pid, "/pagemap");
	uint32_t written = 0;
	size_t have = 0;
	long n;

	n_ranges = 0;
	while (maps >= 0 && pagemap >= 0 && have < sizeof(text) &&
	       (n = sys(__NR_read, maps, text + have, sizeof(text) - have)) > 0) {
		size_t start = 0;

		have += (size_t)n;
		for (size_t i = 0; i < have; i++) {
			if (text[i] != '\n')
				continue;
			written += learn_line(pagemap, text + start, i - start);
			start = i + 1;
		}
		have -= start;
		dw_copy(text, text + start, have);
	}
	if (maps >= 0)
		(void)sys(__NR_close, maps);
	if (pagemap >= 0)
		(void)sys(__NR_close, pagemap);
	return written;
}

void dw_pages_touch(void)
{
	/* A kernel before 5.14 says no, and the run will do it for itself. */
	for (uint32_t i = 0; i < n_ranges; i++)
		(void)sys(__NR_madvise, ranges[i].start, ranges[i].len,
		          ranges[i].advice);
}
