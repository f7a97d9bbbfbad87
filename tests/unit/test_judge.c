/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "verify/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

static const char container_result[] =
	"{\"reason\": \"exit\", \"hint\": null, \"metadata\": {\"ok\": true}, \"proof\": {"
	"\"walls\": {\"namespaces\": {\"user\": true, \"mount\": true},"
	"\"capabilities\": {\"effective\": \"0000000000000000\"},"
	"\"seccomp\": {\"mode\": 2}, \"landlock\": {\"abi\": 7}},"
	"\"limits\": {\"memory\": {\"by\": \"cgroup1\", \"enforced\": true},"
	"\"cpu\": {\"by\": \"none\", \"enforced\": false},"
	"\"files\": {\"by\": \"rlimit\", \"enforced\": true}}}}";

static const char bare_result[] =
	"{\"reason\": \"exit\", \"metadata\": {\"ok\": true}, \"proof\": {"
	"\"walls\": {\"namespaces\": {\"mount\": false},"
	"\"capabilities\": {\"effective\": \"000001ffffffffff\"},"
	"\"seccomp\": {\"mode\": 0}, \"landlock\": {\"abi\": 0}},"
	"\"limits\": {}}}";

static const char *const stops[] = {"ENOENT=mount",
                                    "EPERM=seccomp|capability",
                                    "EACCES=landlock",
                                    "oom=limit:memory",
                                    "docker:EACCES=capability",
                                    NULL};
static const char *const unpromised[] = {"process",
                                         "Level process does not.",
                                         "unenforced:cpu",
                                         "No limit for it.",
                                         "guest-without-landlock",
                                         "No Landlock.",
                                         "landlock6:guest",
                                         "An old Landlock.",
                                         "plain:other",
                                         "Only with root.",
                                         "foreign:docker",
                                         "Another kernel.",
                                         "noted:tmp",
                                         "With a note.",
                                         NULL};
static const char *const oracles[] = {"secret", NULL};
static const struct dw_attack attack = {
	.name = "some-attack",
	.oracles = oracles,
	.stops = stops,
	.unpromised = unpromised,
};
static const struct dw_attack promised_attack = {
	.name = "other-attack",
	.oracles = oracles,
	.stops = stops,
	.unpromised = (const char *const[]){NULL},
};

struct given {
	const char *output;
	const char *result; /* NULL: container_result */
	const char *failed;
	const char *level; /* NULL: container */
	const char *way;   /* NULL: cold */
	const char *runtime;
	bool fired;
	bool vacuous;
	bool excusable;
	int landlock; /* 0: the newest version; -1: none */
	bool root;
};

static struct dw_row judge(struct given given)
{
	struct dw_observation seen = {
		.fired = given.fired,
		.output = (char *)given.output,
		.result = json_loads(given.result ? given.result : container_result, 0,
	                             NULL),
		.landlock = given.landlock == 0  ? 7
	                    : given.landlock < 0 ? 0
	                                         : given.landlock,
		.root = given.root,
	};
	static struct dw_target target;
	struct dw_row row = {
		.attack = given.excusable ? &attack : &promised_attack,
		.target = &target,
		.control = given.vacuous ? DW_CANNOT_TELL : DW_ESCAPED,
	};

	target = (struct dw_target){
		.level = given.level ? given.level : "container",
		.way = given.way ? given.way : DW_WAY_COLD,
		.runtime = given.runtime,
		.on_host = given.level && strcmp(given.level, "docker") == 0,
	};
	assert_non_null(seen.result);
	(void)strncpy(seen.seen, "the secret came out", sizeof(seen.seen) - 1);
	(void)strncpy(seen.failed, given.failed ? given.failed : "",
	              sizeof(seen.failed) - 1);
	dw_judge(&seen, &row);
	json_decref(seen.result);
	return row;
}

#define expect(row_, verdict_, wall_)                                       \
	do {                                                                \
		struct dw_row r_ = (row_);                                  \
		assert_string_equal(dw_verdict_name(r_.verdict), verdict_); \
		if (wall_)                                                  \
			assert_string_equal(r_.wall, (wall_) ?: "");        \
		else                                                        \
			assert_null(r_.wall);                               \
	} while (0)

static void an_expected_stop_is_contained_by_its_wall(void **state)
{
	(void)state;
	expect(judge((struct given){.output = "stopped: ENOENT at open\n"}), "contained",
	       "mount");
	expect(judge((struct given){.output = "x\nstopped: EACCES at open\n"}),
	       "contained", "landlock");
}

static void the_first_wall_that_was_up_is_named(void **state)
{
	static const char no_filter[] =
		"{\"reason\": \"exit\", \"metadata\": {\"ok\": true}, \"proof\": {\"walls\": {"
		"\"capabilities\": {\"effective\": \"0000000000000000\"},"
		"\"seccomp\": {\"mode\": 0}}, \"limits\": {}}}";

	(void)state;
	expect(judge((struct given){.output = "stopped: EPERM at mount"}), "contained",
	       "seccomp");
	expect(judge((struct given){.output = "stopped: EPERM at mount",
	                            .result = no_filter}),
	       "contained", "capability");
}

static void one_error_may_mean_another_wall_at_another_level(void **state)
{
	static const char output[] = "stopped: EACCES at open\n";

	(void)state;
	expect(judge((struct given){.output = output}), "contained", "landlock");
	expect(judge((struct given){.output = output, .level = "docker"}), "contained",
	       "capability");
	expect(judge((struct given){.output = output, .level = "dock"}), "contained",
	       "landlock");
}

static void a_stop_without_its_wall_is_inconclusive(void **state)
{
	(void)state;
	expect(judge((struct given){.output = "stopped: ENOENT at open",
	                            .result = bare_result}),
	       "cannot_tell", NULL);
	expect(judge((struct given){.output = "stopped: EPERM at mount",
	                            .result = bare_result}),
	       "cannot_tell", NULL);
}

static void an_unexpected_stop_is_inconclusive(void **state)
{
	(void)state;
	expect(judge((struct given){.output = "stopped: ETIMEDOUT at connect"}),
	       "cannot_tell", NULL);
	/* Not even together with an expected one. */
	expect(judge((struct given){
		       .output = "stopped: ENOENT at open\nstopped: EIO at read"}),
	       "cannot_tell", NULL);
}

static void output_without_a_stop_is_inconclusive(void **state)
{
	(void)state;
	expect(judge((struct given){.output = "all is well"}), "cannot_tell", NULL);
	expect(judge((struct given){.output = NULL}), "cannot_tell", NULL);
}

static void a_timeout_is_inconclusive(void **state)
{
	(void)state;
	expect(judge((struct given){
		       .output = "",
		       .result =
			       "{\"reason\": \"timeout_wall\", \"metadata\": {\"ok\": true}}"}),
	       "cannot_tell", NULL);
}

static void an_attack_that_could_not_run_is_inconclusive(void **state)
{
	(void)state;
	expect(judge((struct given){.output = "stopped: ENOENT at open",
	                            .failed = "no end"}),
	       "cannot_tell", NULL);
	expect(judge((struct given){.output = "stopped: ENOENT at open",
	                            .result = "{\"metadata\": {\"ok\": false}, "
	                                      "\"hint\": \"python3 is not installed\"}"}),
	       "cannot_tell", NULL);
}

static void an_attack_that_fails_without_walls_is_inconclusive(void **state)
{
	struct dw_row row;

	(void)state;
	row = judge((struct given){.output = "stopped: ENOENT at open", .vacuous = true});
	expect(row, "cannot_tell", NULL);
	assert_non_null(strstr(row.detail, "also fails without walls"));
}

static void an_oracle_overrides_the_output_of_the_attack(void **state)
{
	struct dw_row row;

	(void)state;
	row = judge((struct given){.output = "stopped: ENOENT at open", .fired = true});
	expect(row, "escaped", NULL);
	assert_string_equal(row.detail, "the secret came out");
	expect(judge((struct given){.output = "", .fired = true, .vacuous = true}),
	       "escaped", NULL);
}

static void a_level_without_the_promise_is_excused(void **state)
{
	struct dw_row row;

	(void)state;
	row = judge((struct given){.output = "",
	                           .fired = true,
	                           .excusable = true,
	                           .level = "process"});
	expect(row, "not_promised", NULL);
	assert_string_equal(row.detail, "Level process does not.");
	expect(judge((struct given){.output = "stopped: ENOENT at open",
	                            .excusable = true,
	                            .level = "process"}),
	       "contained", "mount");
}

static void a_limit_that_the_proof_calls_unenforced_is_excused(void **state)
{
	(void)state;
	expect(judge((struct given){.output = "", .fired = true, .excusable = true}),
	       "not_promised", NULL);
	/* Without a proof there is no excuse. */
	expect(judge((struct given){.output = "",
	                            .fired = true,
	                            .excusable = true,
	                            .result = "{\"metadata\": {\"ok\": true}}"}),
	       "escaped", NULL);
}

static void a_missing_landlock_is_excused_only_by_the_kernel(void **state)
{
	(void)state;
	expect(judge((struct given){.fired = true,
	                            .excusable = true,
	                            .level = "guest",
	                            .result = bare_result}),
	       "escaped", NULL);
	expect(judge((struct given){.fired = true,
	                            .excusable = true,
	                            .level = "guest",
	                            .result = bare_result,
	                            .landlock = -1}),
	       "not_promised", NULL);
}

static void an_old_landlock_is_excused_only_below_its_version(void **state)
{
	(void)state;
	expect(judge((struct given){.fired = true,
	                            .excusable = true,
	                            .level = "guest",
	                            .result = bare_result,
	                            .landlock = 5}),
	       "not_promised", NULL);
	expect(judge((struct given){.fired = true,
	                            .excusable = true,
	                            .level = "guest",
	                            .result = bare_result,
	                            .landlock = 6}),
	       "escaped", NULL);
	expect(judge((struct given){.fired = true,
	                            .excusable = true,
	                            .result = bare_result,
	                            .landlock = 5}),
	       "escaped", NULL);
}

static void an_excuse_for_plain_users_does_not_excuse_root(void **state)
{
	(void)state;
	expect(judge((struct given){.fired = true,
	                            .excusable = true,
	                            .level = "other",
	                            .result = bare_result}),
	       "not_promised", NULL);
	expect(judge((struct given){.fired = true,
	                            .excusable = true,
	                            .level = "other",
	                            .result = bare_result,
	                            .root = true}),
	       "escaped", NULL);
}

static void the_proof_says_what_enforces_a_limit(void **state)
{
	(void)state;
	expect(judge((struct given){
		       .output = "",
		       .result =
			       "{\"reason\": \"oom\", \"metadata\": {\"ok\": true}, \"proof\": "
			       "{\"limits\": {\"memory\": {\"by\": \"sampling\"}}}}"}),
	       "contained", "supervisor");
	expect(judge((struct given){
		       .output = "",
		       .result =
			       "{\"reason\": \"oom\", \"metadata\": {\"ok\": true}, \"proof\": "
			       "{\"limits\": {\"memory\": {\"by\": \"none\"}}}}"}),
	       "cannot_tell", NULL);
}

static void error_messages_of_a_shell_are_recognized(void **state)
{
	(void)state;
	expect(judge((struct given){.output = "cat: /x: No such file or directory\n"}),
	       "contained", "mount");
	expect(judge((struct given){.output = "mount: /m: Operation not permitted\n"}),
	       "contained", "seccomp");
}

static void errors_of_a_runtimes_own_kernel_are_recognized(void **state)
{
	static const char alone[] = "{\"reason\": \"exit\", \"metadata\": {\"ok\": true}, "
				    "\"proof\": {\"runtime\": \"runsc\", \"walls\": {"
				    "\"namespaces\": {\"net\": true},"
				    "\"network\": {\"interfaces\": 0}}}}";
	static const char online[] =
		"{\"reason\": \"exit\", \"metadata\": {\"ok\": true}, "
		"\"proof\": {\"runtime\": \"runsc\", \"walls\": {"
		"\"namespaces\": {\"net\": true}, \"network\": {\"interfaces\": 1}}}}";
	static const char no_call[] = "stopped: ENOSYS at pidfd_open\n";
	static const char no_route[] = "stopped: EHOSTUNREACH at connect\n";
	struct dw_row row;

	(void)state;
	expect(judge((struct given){.output = no_call,
	                            .result = alone,
	                            .level = "docker"}),
	       "contained", "absent");
	expect(judge((struct given){.output = no_route,
	                            .result = alone,
	                            .level = "docker"}),
	       "contained", "namespace");
	expect(judge((struct given){.output = no_route,
	                            .result = online,
	                            .level = "docker"}),
	       "cannot_tell", NULL);
	expect(judge((struct given){.output = no_call, .level = "docker"}), "cannot_tell",
	       NULL);
	expect(judge((struct given){.output = no_call,
	                            .level = "docker",
	                            .runtime = "runc"}),
	       "cannot_tell", NULL);
	row = judge((struct given){.output = "", .result = alone, .level = "docker"});
	assert_int_equal(row.verdict, DW_CANNOT_TELL);
	assert_non_null(strstr(row.detail, "runsc has its own kernel"));
	/* The requested runtime is enough: a killed run has no proof. */
	expect(judge((struct given){.fired = true,
	                            .result = bare_result,
	                            .level = "docker",
	                            .runtime = "runsc",
	                            .excusable = true}),
	       "not_promised", NULL);
	expect(judge((struct given){.fired = true,
	                            .result = bare_result,
	                            .level = "docker",
	                            .excusable = true}),
	       "escaped", NULL);
}

static void a_limit_with_a_note_is_excused(void **state)
{
	static const char noted[] =
		"{\"reason\": \"exit\", \"metadata\": {\"ok\": true}, \"proof\": {"
		"\"limits\": {\"tmp\": {\"by\": \"tmpfs\", \"note\": \"but\"}}}}";
	static const char plain[] =
		"{\"reason\": \"exit\", \"metadata\": {\"ok\": true}, \"proof\": {"
		"\"limits\": {\"tmp\": {\"by\": \"tmpfs\", \"note\": null}}}}";

	(void)state;
	expect(judge((struct given){.fired = true,
	                            .result = noted,
	                            .level = "docker",
	                            .excusable = true}),
	       "not_promised", NULL);
	expect(judge((struct given){.fired = true,
	                            .result = plain,
	                            .level = "docker",
	                            .excusable = true}),
	       "escaped", NULL);
	expect(judge((struct given){.fired = true, .result = noted, .excusable = true}),
	       "escaped", NULL);
}

static void a_row_for_warm_cells_needs_a_warm_run(void **state)
{
	static const char warm[] =
		"{\"reason\": \"exit\", \"metadata\": {\"ok\": true, \"warm\": true}, "
		"\"proof\": {\"walls\": {\"namespaces\": {\"mount\": true}}}}";
	static const char output[] = "stopped: ENOENT at open\n";
	struct dw_row row;

	(void)state;
	expect(judge((struct given){.output = output, .result = warm, .way = "standby"}),
	       "contained", "mount");
	row = judge(
		(struct given){.output = output, .way = "standby", .excusable = true});
	assert_int_equal(row.verdict, DW_CANNOT_TELL);
	assert_string_equal(row.detail, "it ran cold");
	/* An escape counts all the same. */
	expect(judge((struct given){.fired = true, .way = "standby"}), "escaped", NULL);
}

static void a_control_must_succeed(void **state)
{
	struct dw_observation through = {.fired = true, .seen = "a packet"};
	struct dw_observation stopped = {.output = (char *)"stopped: EPERM at socket"};
	struct dw_row row = {.attack = &attack};

	(void)state;
	dw_judge_control(&through, &row);
	assert_int_equal(row.control, DW_ESCAPED);
	assert_string_equal(row.control_detail, "a packet");
	dw_judge_control(&stopped, &row);
	assert_int_equal(row.control, DW_CANNOT_TELL);
	assert_string_equal(row.control_detail, "EPERM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_expected_stop_is_contained_by_its_wall),
		cmocka_unit_test(the_first_wall_that_was_up_is_named),
		cmocka_unit_test(one_error_may_mean_another_wall_at_another_level),
		cmocka_unit_test(a_stop_without_its_wall_is_inconclusive),
		cmocka_unit_test(an_unexpected_stop_is_inconclusive),
		cmocka_unit_test(output_without_a_stop_is_inconclusive),
		cmocka_unit_test(a_timeout_is_inconclusive),
		cmocka_unit_test(an_attack_that_could_not_run_is_inconclusive),
		cmocka_unit_test(an_attack_that_fails_without_walls_is_inconclusive),
		cmocka_unit_test(an_oracle_overrides_the_output_of_the_attack),
		cmocka_unit_test(a_level_without_the_promise_is_excused),
		cmocka_unit_test(a_limit_that_the_proof_calls_unenforced_is_excused),
		cmocka_unit_test(a_missing_landlock_is_excused_only_by_the_kernel),
		cmocka_unit_test(an_old_landlock_is_excused_only_below_its_version),
		cmocka_unit_test(an_excuse_for_plain_users_does_not_excuse_root),
		cmocka_unit_test(the_proof_says_what_enforces_a_limit),
		cmocka_unit_test(error_messages_of_a_shell_are_recognized),
		cmocka_unit_test(errors_of_a_runtimes_own_kernel_are_recognized),
		cmocka_unit_test(a_limit_with_a_note_is_excused),
		cmocka_unit_test(a_row_for_warm_cells_needs_a_warm_run),
		cmocka_unit_test(a_control_must_succeed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
