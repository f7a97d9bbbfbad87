/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compile src/init/seccomp_table.h for one architecture, and print the result
 * as a C header:
 *
 *	seccomp-gen x86_64 > seccomp_filter.h
 *
 * Generates three filters. All are loaded; the kernel evaluates each at a call, and the
 * strictest answer counts.
 *
 *   dw_seccomp_allow  lists the calls that exist. Made by libseccomp: it knows the
 *                     numbers, checks the architecture, and searches fast.
 *   dw_seccomp_args   checks arguments of calls. Made here: libseccomp has no "none
 *                     of these", takes one comparison for each argument in a rule, and
 *                     compares 64 bits where the kernel uses 32. The code that makes
 *                     the BPF has two dozen lines.
 *   dw_seccomp_late   refuses calls and arguments that are needed until it is loaded, as
 *                     the last filter. Made like the second.
 *
 * Only the first filter checks the architecture. It kills a process that makes a call of
 * another architecture, and no answer of the other filters is stricter.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "init/seccomp_table.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Architectures that use the generic ioctl and clone numbers of the table. */
static const struct target {
	const char *name;
	uint32_t arch;
	const char *const *absent;
	size_t n_absent;
} targets[] = {
	{"x86_64", SCMP_ARCH_X86_64, dw_seccomp_not_x86_64,
         ARRAY_SIZE(dw_seccomp_not_x86_64)},
	{"aarch64", SCMP_ARCH_AARCH64, dw_seccomp_not_aarch64,
         ARRAY_SIZE(dw_seccomp_not_aarch64)},
};

struct program {
	struct sock_filter insns[BPF_MAXINSNS];
	size_t len;
};

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...)
{
	va_list ap;

	(void)fputs("seccomp-gen: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	exit(1);
}

static bool in(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/*
 * Returns the number of a call, or -1 if the architecture lacks the call or this
 * libseccomp does not know it. The lists of absent calls tell these two cases from a
 * misspelled name.
 */
static int number_of(const struct target *target, const char *name)
{
	int nr = seccomp_syscall_resolve_name_arch(target->arch, name);
	bool listed = in(target->absent, target->n_absent, name);

	if (listed && nr >= 0)
		die("%s has %s, which is listed as missing", target->name, name);
	if (!listed && nr < 0 && nr != __NR_SCMP_ERROR)
		die("%s has no %s, which is not listed as missing", target->name, name);
	return nr < 0 ? -1 : nr;
}

static void add_names(scmp_filter_ctx ctx, const struct target *target, uint32_t action,
                      const char *const *names, size_t n)
{
	int nr, r;

	for (size_t i = 0; i < n; i++) {
		if (number_of(target, names[i]) < 0)
			continue;
		/* libseccomp expects the building machine's number, and translates it. */
		nr = seccomp_syscall_resolve_name(names[i]);
		r = seccomp_rule_add(ctx, action, nr, 0);
		if (r < 0)
			die("add %s: %s", names[i], strerror(-r));
	}
}

static void compile_allow(const struct target *target, struct program *ret_prog)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	autoclose int fd = -1;
	ssize_t n;
	int r;

	if (!ctx)
		die("no memory");
	if (target->arch != seccomp_arch_native() &&
	    (seccomp_arch_add(ctx, target->arch) < 0 ||
	     seccomp_arch_remove(ctx, seccomp_arch_native()) < 0))
		die("this libseccomp cannot compile for another architecture");

	/* Another architecture's numbers mean other calls; this includes x32. */
	r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* A binary search, since the kernel does this at nearly every call. */
	if (r == 0)
		r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r < 0)
		die("set up the filter: %s", strerror(-r));

	add_names(ctx, target, SCMP_ACT_ALLOW, dw_seccomp_allowed,
	          ARRAY_SIZE(dw_seccomp_allowed));
	add_names(ctx, target, SCMP_ACT_ALLOW, dw_seccomp_last,
	          ARRAY_SIZE(dw_seccomp_last));
	add_names(ctx, target, SCMP_ACT_ERRNO(EPERM), dw_seccomp_refused,
	          ARRAY_SIZE(dw_seccomp_refused));
	add_names(ctx, target, SCMP_ACT_ERRNO(0), dw_seccomp_ignored,
	          ARRAY_SIZE(dw_seccomp_ignored));

	fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0)
		die("memfd_create: %s", strerror(errno));
	r = seccomp_export_bpf(ctx, fd);
	if (r < 0)
		die("compile: %s", strerror(-r));
	seccomp_release(ctx);

	n = pread(fd, ret_prog->insns, sizeof(ret_prog->insns), 0);
	if (n <= 0 || (size_t)n % sizeof(ret_prog->insns[0]) != 0)
		die("read the filter back");
	ret_prog->len = (size_t)n / sizeof(ret_prog->insns[0]);
}

static void emit(struct program *prog, uint16_t code, uint32_t k, size_t jt, size_t jf)
{
	if (prog->len == BPF_MAXINSNS || jt > UINT8_MAX || jf > UINT8_MAX)
		die("a filter is too long");
	prog->insns[prog->len++] = (struct sock_filter){
		.code = code,
		.jt = (uint8_t)jt,
		.jf = (uint8_t)jf,
		.k = k,
	};
}

static void emit_load(struct program *prog, unsigned arg, bool high)
{
	/* The low half is first: all targets are little-endian. */
	emit(prog, BPF_LD | BPF_W | BPF_ABS,
	     (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t) +
	                (high ? sizeof(uint32_t) : 0)),
	     0, 0);
}

/*
 * The filter falls through if the call obeys the rule; else it returns the rule's errno.
 */
static void emit_rule(struct program *prog, const struct dw_seccomp_argument *rule)
{
	size_t masked = rule->mask != UINT32_MAX;
	size_t left;

	if (rule->when.set) {
		emit_load(prog, rule->when.arg, false);
		/* If the rule does not apply, jump over all of the rule below. */
		emit(prog, BPF_JMP | (rule->when.any ? BPF_JSET : BPF_JEQ) | BPF_K,
		     rule->when.value, 0,
		     1 + masked + rule->n_values + (rule->test == DW_NONE_OF) + 1);
	}

	emit_load(prog, rule->arg, rule->high);
	if (masked)
		emit(prog, BPF_ALU | BPF_AND | BPF_K, rule->mask, 0, 0);

	/*
	 * One of: a match jumps behind the return; otherwise the return is reached.
	 * None of: a match jumps to the return; otherwise a jump skips the return.
	 */
	for (size_t i = 0; i < rule->n_values; i++) {
		left = rule->n_values - 1 - i;
		emit(prog, BPF_JMP | BPF_JEQ | BPF_K, rule->values[i], left + 1, 0);
	}
	if (rule->test == DW_NONE_OF)
		emit(prog, BPF_JMP | BPF_JA, 1, 0, 0);
	emit(prog, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)rule->answer, 0, 0);
}

static void emit_refusal(struct program *prog, int nr)
{
	if (nr < 0)
		return;
	emit(prog, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1);
	emit(prog, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
}

/* Emit all rules of the call of rule i. Returns the index behind the last of them. */
static size_t emit_call(struct program *prog, const struct target *target, size_t i)
{
	const char *name = dw_seccomp_arguments[i].name;
	int nr = number_of(target, name);
	size_t skip = prog->len;

	emit(prog, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 0);
	for (; i < ARRAY_SIZE(dw_seccomp_arguments) &&
	       strcmp(dw_seccomp_arguments[i].name, name) == 0;
	     i++)
		emit_rule(prog, &dw_seccomp_arguments[i]);
	emit(prog, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);

	if (nr < 0) /* not a call of this architecture (mknod on aarch64) */
		prog->len = skip;
	else if (prog->len - skip - 1 > UINT8_MAX)
		die("too many rules for %s", name);
	else
		prog->insns[skip].jf = (uint8_t)(prog->len - skip - 1);
	return i;
}

static void compile_args(const struct target *target, bool last, struct program *ret_prog)
{
	size_t i = 0;

	ret_prog->len = 0;
	emit(ret_prog, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	for (size_t k = 0; last && k < ARRAY_SIZE(dw_seccomp_last); k++)
		emit_refusal(ret_prog, number_of(target, dw_seccomp_last[k]));
	while (i < ARRAY_SIZE(dw_seccomp_arguments))
		if (dw_seccomp_arguments[i].last == last)
			i = emit_call(ret_prog, target, i);
		else
			i++;
	emit(ret_prog, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/*
 * A mistake in the tables must not permit or refuse a call by accident: each name is in
 * the tables only once, and a call with rules is an allowed one, whose rules are
 * together.
 */
static void check_tables(void)
{
	const size_t n_args = ARRAY_SIZE(dw_seccomp_arguments);
	const struct {
		const char *const *names;
		size_t n;
	} tables[] = {
		{dw_seccomp_allowed, ARRAY_SIZE(dw_seccomp_allowed)},
		{dw_seccomp_refused, ARRAY_SIZE(dw_seccomp_refused)},
		{dw_seccomp_last, ARRAY_SIZE(dw_seccomp_last)},
		{dw_seccomp_ignored, ARRAY_SIZE(dw_seccomp_ignored)},
	};
	const char *name;

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (size_t i = 0; i < tables[t].n; i++) {
			name = tables[t].names[i];
			if (in(tables[t].names, i, name))
				die("%s is twice in one table", name);
			for (size_t u = 0; u < t; u++)
				if (in(tables[u].names, tables[u].n, name))
					die("%s is in two tables", name);
		}
	}

	for (size_t i = 0; i < n_args; i++) {
		name = dw_seccomp_arguments[i].name;
		if (!in(dw_seccomp_allowed, ARRAY_SIZE(dw_seccomp_allowed), name))
			die("%s has rules but is not allowed", name);
		for (size_t k = i + 2; k < n_args; k++)
			if (strcmp(dw_seccomp_arguments[k].name, name) == 0 &&
			    strcmp(dw_seccomp_arguments[k - 1].name, name) != 0)
				die("the rules of %s are not together", name);
		if (i > 0 && strcmp(dw_seccomp_arguments[i - 1].name, name) == 0 &&
		    dw_seccomp_arguments[i - 1].last != dw_seccomp_arguments[i].last)
			die("the rules of %s are in two filters", name);
	}
}

static void print(const char *name, const struct program *prog)
{
	(void)printf("\nstatic const struct sock_filter %s[] = {\n", name);
	for (size_t i = 0; i < prog->len; i++)
		(void)printf("\t{0x%02x, %u, %u, 0x%08x},\n", prog->insns[i].code,
		             prog->insns[i].jt, prog->insns[i].jf, prog->insns[i].k);
	(void)printf("};\n");
}

int main(int argc, char **argv)
{
	static struct program prog;
	const struct target *target = NULL;

	if (argc != 2)
		die("usage: seccomp-gen ARCHITECTURE");
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		if (strcmp(targets[i].name, argv[1]) == 0)
			target = &targets[i];
	if (!target)
		die("no filter for %s yet", argv[1]);
	check_tables();
	/*
	 * API level 3 can kill a process; do not depend on the building kernel's level.
	 */
	if (seccomp_api_set(3) < 0)
		die("this libseccomp cannot kill a process");

	(void)printf("/* Made by tools/seccomp-gen.c for %s; do not edit. */\n"
	             "#include <linux/filter.h>\n",
	             argv[1]);
	compile_allow(target, &prog);
	print("dw_seccomp_allow", &prog);
	compile_args(target, false, &prog);
	print("dw_seccomp_args", &prog);
	compile_args(target, true, &prog);
	print("dw_seccomp_late", &prog);

	if (fflush(stdout) != 0 || ferror(stdout))
		die("write: %s", strerror(errno));
	return 0;
}
