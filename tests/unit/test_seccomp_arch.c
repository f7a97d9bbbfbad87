/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the filters of all supported architectures on any of them: a small BPF interpreter
 * runs them over calls. The numbers of the calls are written here, independently of
 * libseccomp. test_seccomp.c tests this machine's own filter in the kernel.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

#define dw_seccomp_allow x86_64_allow
#define dw_seccomp_args x86_64_args
#define dw_seccomp_late x86_64_late
#include "seccomp_x86_64.h"
#undef dw_seccomp_allow
#undef dw_seccomp_args
#undef dw_seccomp_late
#define dw_seccomp_allow aarch64_allow
#define dw_seccomp_args aarch64_args
#define dw_seccomp_late aarch64_late
#include "seccomp_aarch64.h"

#define X32 0x40000000U
#define ARM_PRIVATE 0x0f0000U /* where 32-bit arm has its own calls */

#define ERR(e) (SECCOMP_RET_ERRNO | (e))

/* ---- the BPF interpreter ---- */

static uint32_t load(const struct seccomp_data *data, uint32_t at)
{
	uint32_t word;

	assert_true(at % 4 == 0 && at < sizeof(*data));
	memcpy(&word, (const char *)data + at, sizeof(word));
	return word;
}

static uint32_t run(const struct sock_filter *insns, size_t n,
                    const struct seccomp_data *data)
{
	uint32_t a = 0;
	bool jump;

	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &insns[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = load(data, i->k);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			continue;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_RET | BPF_K:
			return i->k;
		case BPF_JMP | BPF_JEQ | BPF_K:
			jump = a == i->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			jump = a > i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			jump = a >= i->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			jump = (a & i->k) != 0;
			break;
		default:
			fail_msg("unknown instruction: 0x%x", i->code);
			return 0;
		}
		pc += jump ? i->jt : i->jf;
	}
	fail_msg("a filter that does not end");
	return 0;
}

struct call {
	uint32_t nr;
	uint64_t args[6];
};

struct target {
	const char *name;
	uint32_t arch;
	struct {
		const struct sock_filter *insns;
		size_t n;
	} filters[3];
};

static const struct target x86_64 = {
	"x86_64",
	AUDIT_ARCH_X86_64,
	{{x86_64_allow, ARRAY_SIZE(x86_64_allow)},
         {x86_64_args, ARRAY_SIZE(x86_64_args)},
         {x86_64_late, ARRAY_SIZE(x86_64_late)}},
};

static const struct target aarch64 = {
	"aarch64",
	AUDIT_ARCH_AARCH64,
	{{aarch64_allow, ARRAY_SIZE(aarch64_allow)},
         {aarch64_args, ARRAY_SIZE(aarch64_args)},
         {aarch64_late, ARRAY_SIZE(aarch64_late)}},
};

/* Evaluates all filters as the kernel does: the strictest answer (the least, signed) wins. */
static uint32_t answer(const struct target *t, uint32_t arch, const struct call *c)
{
	struct seccomp_data data = {.nr = (int)c->nr, .arch = arch};
	uint32_t strictest = SECCOMP_RET_ALLOW, said;

	memcpy(data.args, c->args, sizeof(data.args));
	for (size_t i = 0; i < ARRAY_SIZE(t->filters); i++) {
		said = run(t->filters[i].insns, t->filters[i].n, &data);
		if ((int32_t)(said & SECCOMP_RET_ACTION_FULL) <
		    (int32_t)(strictest & SECCOMP_RET_ACTION_FULL))
			strictest = said;
	}
	return strictest;
}

static void must(const struct target *t, uint32_t arch, const struct call *c,
                 uint32_t want)
{
	uint32_t got = answer(t, arch, c);

	if (got != want)
		fail_msg("%s, architecture 0x%x, call 0x%x: 0x%x, not 0x%x", t->name,
		         arch, c->nr, got, want);
}

/* ---- other architectures ---- */

static void every_call_kills(const struct target *t, uint32_t arch, uint32_t first)
{
	for (uint32_t nr = first; nr < first + 1024; nr++)
		must(t, arch, &(struct call){.nr = nr}, SECCOMP_RET_KILL_PROCESS);
}

static void calls_of_another_architecture_kill_the_process(void **state)
{
	static const uint32_t others[] = {
		AUDIT_ARCH_I386,
		AUDIT_ARCH_X86_64,
		AUDIT_ARCH_ARM,
		AUDIT_ARCH_ARMEB,
		AUDIT_ARCH_AARCH64,
		AUDIT_ARCH_RISCV64,
		AUDIT_ARCH_AARCH64 & ~__AUDIT_ARCH_LE,
		0,
		UINT32_MAX,
	};
	const struct target *targets[] = {&x86_64, &aarch64};

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(targets); t++) {
		for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
			if (others[i] == targets[t]->arch)
				continue;
			every_call_kills(targets[t], others[i], 0);
			every_call_kills(targets[t], others[i], X32);
			every_call_kills(targets[t], others[i], ARM_PRIVATE);
		}
	}
}

static void x32_calls_kill_the_process_on_x86_64(void **state)
{
	(void)state;
	every_call_kills(&x86_64, AUDIT_ARCH_X86_64, X32);
	/* On arm64 it is the number of no call. */
	must(&aarch64, AUDIT_ARCH_AARCH64, &(struct call){.nr = X32 | 172}, ERR(ENOSYS));
}

static void an_invalid_number_is_refused(void **state)
{
	(void)state;
	must(&x86_64, AUDIT_ARCH_X86_64, &(struct call){.nr = UINT32_MAX}, ERR(ENOSYS));
	must(&aarch64, AUDIT_ARCH_AARCH64, &(struct call){.nr = UINT32_MAX}, ERR(ENOSYS));
}

/* ---- system calls, with their numbers on both ---- */

/* The number of a call that arm64 lacks. */
#define NONE UINT32_MAX

static const struct {
	const char *name;
	uint32_t x86_64;
	uint32_t aarch64;
	uint32_t want;
} calls[] = {
	{"read", 0, 63, SECCOMP_RET_ALLOW},
	{"getpid", 39, 172, SECCOMP_RET_ALLOW},
	{"openat", 257, 56, SECCOMP_RET_ALLOW},
	{"execve", 59, 221, SECCOMP_RET_ALLOW},
	{"ppoll", 271, 73, SECCOMP_RET_ALLOW},
	{"dup3", 292, 24, SECCOMP_RET_ALLOW},
	{"exit_group", 231, 94, SECCOMP_RET_ALLOW},
	{"landlock_restrict_self", 446, 446, SECCOMP_RET_ALLOW},
	{"open", 2, NONE, SECCOMP_RET_ALLOW},
	{"fork", 57, NONE, SECCOMP_RET_ALLOW},
	{"arch_prctl", 158, NONE, SECCOMP_RET_ALLOW},
	{"unshare", 272, 97, ERR(EPERM)},
	{"mount", 165, 40, ERR(EPERM)},
	{"umount2", 166, 39, ERR(EPERM)},
	{"pivot_root", 155, 41, ERR(EPERM)},
	{"chroot", 161, 51, ERR(EPERM)},
	{"mount_setattr", 442, 442, ERR(EPERM)},
	{"open_by_handle_at", 304, 265, ERR(EPERM)},
	{"process_vm_readv", 310, 270, ERR(EPERM)},
	{"bpf", 321, 280, ERR(EPERM)},
	{"perf_event_open", 298, 241, ERR(EPERM)},
	{"userfaultfd", 323, 282, ERR(EPERM)},
	{"keyctl", 250, 219, ERR(EPERM)},
	{"add_key", 248, 217, ERR(EPERM)},
	{"init_module", 175, 105, ERR(EPERM)},
	{"kexec_load", 246, 104, ERR(EPERM)},
	{"reboot", 169, 142, ERR(EPERM)},
	{"settimeofday", 164, 170, ERR(EPERM)},
	{"modify_ldt", 154, NONE, ERR(EPERM)},
	{"iopl", 172, NONE, ERR(EPERM)},
	{"setns", 308, 268, ERR(EPERM)},
	{"ptrace", 101, 117, ERR(EPERM)},
	{"sync", 162, 81, ERR(0)},
	{"syncfs", 306, 267, ERR(0)},
	{"clone3", 435, 435, ERR(ENOSYS)},
	{"openat2", 437, 437, ERR(ENOSYS)},
	{"io_uring_setup", 425, 425, ERR(ENOSYS)},
	{"io_setup", 206, 0, ERR(ENOSYS)},
	{"io_submit", 209, 2, ERR(ENOSYS)},
	{"inotify_init1", 294, 26, ERR(ENOSYS)},
	{"set_mempolicy", 238, 237, ERR(ENOSYS)},
	{"memfd_secret", 447, 447, ERR(ENOSYS)},
	{"the next one", 1000, 1000, ERR(ENOSYS)},
};

static void both_filters_answer_calls_alike(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		must(&x86_64, AUDIT_ARCH_X86_64, &(struct call){.nr = calls[i].x86_64},
		     calls[i].want);
		if (calls[i].aarch64 != NONE)
			must(&aarch64, AUDIT_ARCH_AARCH64,
			     &(struct call){.nr = calls[i].aarch64}, calls[i].want);
	}
}

/* Numbers on both architectures; where the value of a flag differs, it is arm64's. */
static const struct {
	uint32_t x86_64;
	uint32_t aarch64;
	uint64_t args[6];
	uint32_t want;
} rules[] = {
	/* clone: a user namespace; a thread; a thread with its own descriptors */
	{56, 220, {0x10000011}, ERR(EPERM)},
	{56, 220, {0x3d0f00}, SECCOMP_RET_ALLOW},
	{56, 220, {0x3d0f00 & ~0x400}, ERR(EPERM)},
	/* socket: AF_INET; AF_ALG; AF_PACKET with high bits */
	{41, 198, {2, 1, 0}, SECCOMP_RET_ALLOW},
	{41, 198, {38, 5, 0}, ERR(EAFNOSUPPORT)},
	{41, 198, {1ULL << 32 | 17, 3, 0}, ERR(EAFNOSUPPORT)},
	/* ioctl: TIOCSTI; TCGETS */
	{16, 29, {0, 0x5412}, ERR(EPERM)},
	{16, 29, {0, 0x5401}, SECCOMP_RET_ALLOW},
	/* openat: O_CREAT with a set-id bit; O_TMPFILE with one, by either's O_DIRECTORY */
	{257, 56, {0, 0, 0101, 04755}, ERR(EPERM)},
	{257, 56, {0, 0, 020200001, 04755}, ERR(EPERM)},
	{257, 56, {0, 0, 020040001, 04755}, ERR(EPERM)},
	/* ... and garbage for a mode where none is asked for, O_DIRECTORY or not */
	{257, 56, {0, 0, 0200000, 04755}, SECCOMP_RET_ALLOW},
	{257, 56, {0, 0, 040000, 04755}, SECCOMP_RET_ALLOW},
	/* mknodat: a device; a fifo */
	{259, 33, {0, 0, 020666}, ERR(EPERM)},
	{259, 33, {0, 0, 010666}, SECCOMP_RET_ALLOW},
	/* fchmodat: a set-id bit */
	{268, 53, {0, 0, 04755}, ERR(EPERM)},
	/* mmap: huge pages */
	{9, 222, {0, 0, 0, 0x40022}, ERR(ENOMEM)},
	/* prlimit64: another's; its own core limit, with an address in each half */
	{302, 261, {1}, ERR(EPERM)},
	{302, 261, {0, 4, 0x1000}, ERR(EPERM)},
	{302, 261, {0, 4, 1ULL << 32}, ERR(EPERM)},
	{302, 261, {0, 7, 0x1000}, SECCOMP_RET_ALLOW},
	/* personality: no randomization; 32-bit names */
	{135, 92, {0x40000}, ERR(EPERM)},
	{135, 92, {8}, SECCOMP_RET_ALLOW},
	/* fcntl: a lease */
	{72, 25, {0, 1024}, ERR(EPERM)},
};

static void both_filters_check_arguments_alike(void **state)
{
	struct call call;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		memcpy(call.args, rules[i].args, sizeof(call.args));
		call.nr = rules[i].x86_64;
		must(&x86_64, AUDIT_ARCH_X86_64, &call, rules[i].want);
		call.nr = rules[i].aarch64;
		must(&aarch64, AUDIT_ARCH_AARCH64, &call, rules[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_another_architecture_kill_the_process),
		cmocka_unit_test(x32_calls_kill_the_process_on_x86_64),
		cmocka_unit_test(an_invalid_number_is_refused),
		cmocka_unit_test(both_filters_answer_calls_alike),
		cmocka_unit_test(both_filters_check_arguments_alike),
	};

	return cmocka_run_group_tests_name("seccomp_arch", tests, NULL, NULL);
}
