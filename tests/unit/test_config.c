/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "daemon/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"

#define EXAMPLE DW_SOURCE_ROOT "/packaging/dewar.yaml"
#define PAGE DW_SOURCE_ROOT "/docs/CONFIG.md"

static struct dw_config *good(const char *text)
{
	struct dw_config *config = NULL;
	struct dw_error err = {0};

	if (dw_config_parse("x.yaml", text, strlen(text), &config, &err) < 0)
		fail_msg("%s", err.text);
	return config;
}

static void assert_refused(const char *text, size_t len, const char *why)
{
	struct dw_config *config = (struct dw_config *)1;
	struct dw_error err = {0};

	assert_int_equal(dw_config_parse("x.yaml", text, len, &config, &err), -1);
	assert_ptr_equal(config, (struct dw_config *)1);
	assert_int_equal(err.code, DW_E_INVALID);
	if (strcmp(err.text, why) != 0)
		fail_msg("for \"%s\": \"%s\" instead of \"%s\"", text, err.text, why);
}

static char *read_whole(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 16);

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	(void)fclose(file);
	return text;
}

static void assert_defaults(const struct dw_config *config)
{
	static const struct dw_limits none;

	assert_null(config->listen);
	assert_null(config->socket);
	assert_null(config->state);
	assert_null(config->policy);
	assert_int_equal(config->runs.concurrent, 0);
	assert_int_equal(config->runs.queue, 256);
	assert_int_equal(config->runs.drain_s, 30);
	assert_int_equal(config->runs.keep, 1000);
	assert_int_equal(config->runs.keep_bytes, 64 << 20);
	assert_int_equal(config->runs.keep_s, 3600);
	assert_int_equal(config->runs.n_levels, 2);
	assert_string_equal(config->runs.levels[0], "container");
	assert_string_equal(config->runs.levels[1], "docker");
	assert_null(config->runs.level);
	assert_false(config->runs.network);
	assert_memory_equal(&config->runs.limits, &none, sizeof(none));
	assert_memory_equal(&config->runs.max, &none, sizeof(none));
	assert_int_equal(config->http.connections, 4096);
	assert_int_equal(config->http.body_bytes, 16 << 20);
	assert_int_equal(config->http.idle_s, 60);
	assert_int_equal(config->http.body_s, 30);
	assert_int_equal(config->http.n_hosts, 0);
	assert_int_equal(config->http.n_origins, 0);
	assert_int_equal(config->pool.n_templates, 0);
	assert_int_equal(config->pool.memory_bytes, 0);
	assert_false(config->pool.off);
	assert_null(config->audit.path);
	assert_int_equal(config->audit.keep_days, 0);
	assert_int_equal(config->audit.keep_bytes, 0);
	assert_string_equal(config->log_level, "info");
	assert_string_equal(config->log_format, "json");
	assert_int_equal(config->local.scopes, DW_SCOPE_ALL);
	assert_int_equal(config->local.concurrent, 0);
	assert_string_equal(config->local.levels, "");
	assert_memory_equal(&config->local.max, &none, sizeof(none));
}

static void without_a_file_the_defaults_apply(void **state)
{
	static const char *const nothing[] = {"",      "# only this\n",
	                                      "---\n", "~",
	                                      "{}",    "runs:\nhttp: ~\nlisten: null\n"};
	struct dw_config *config = NULL;
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_config_load(NULL, &config, &err), 0);
	assert_defaults(config);
	dw_config_free(config);
	dw_config_free(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++) {
		config = good(nothing[i]);
		assert_defaults(config);
		dw_config_free(config);
	}
}

static void every_key_is_understood(void **state)
{
	struct dw_config *c = good(
		"listen: '[::1]:80'\n"
		"socket: /run/d.sock\n"
		"state: /srv/state\n"
		"policy: /srv/policy.yaml\n"
		"runs:\n"
		"  concurrent: 7\n"
		"  queue: 0\n"
		"  drain: 2m\n"
		"  keep: 5\n"
		"  keep_bytes: 1.5G\n"
		"  keep_time: 90\n"
		"  levels: [process, none, docker]\n"
		"  level: [docker, process]\n"
		"  network: true\n"
		"  limits: {timeout: 500ms, memory: 64M, cpus: 0.5}\n"
		"  max: {timeout: 1m, memory: 1G, cpus: 150%, output: 2M,\n"
		"        tmp: 3M, pids: 40, files: 50}\n"
		"http:\n"
		"  connections: 10\n"
		"  body_bytes: 1M\n"
		"  body_time: 5s\n"
		"  idle: 1h\n"
		"  hosts: [a.example.org, b]\n"
		"  origins: ['https://a.example.org:8443']\n"
		"pool:\n"
		"  disabled: true\n"
		"  memory: 2G\n"
		"  standby_max: 3\n"
		"  idle: 10m\n"
		"  templates:\n"
		"  - {name: p, language: python, preload: [os, re],\n"
		"     rehearsal: 'print(1)', standby: 2, image: /i}\n"
		"  - {name: j, language: node}\n"
		"audit: {path: /srv/a.db, keep_days: 9, keep_bytes: 1G}\n"
		"log: {level: debug, format: text}\n"
		"local:\n"
		"  scopes: [run, audit]\n"
		"  concurrent: 2\n"
		"  runs_per_minute: 30\n"
		"  cpu_seconds_per_day: 40\n"
		"  levels: [docker, none]\n"
		"  max: {pids: 10}\n");

	(void)state;
	assert_string_equal(c->listen, "[::1]:80");
	assert_string_equal(c->socket, "/run/d.sock");
	assert_string_equal(c->state, "/srv/state");
	assert_string_equal(c->policy, "/srv/policy.yaml");
	assert_int_equal(c->runs.concurrent, 7);
	assert_int_equal(c->runs.queue, 0);
	assert_int_equal(c->runs.drain_s, 120);
	assert_int_equal(c->runs.keep, 5);
	assert_int_equal(c->runs.keep_bytes, UINT64_C(3) << 29);
	assert_int_equal(c->runs.keep_s, 90);
	assert_int_equal(c->runs.n_levels, 3);
	assert_string_equal(c->runs.levels[2], "docker");
	assert_null(c->runs.levels[3]);
	assert_string_equal(c->runs.level, "docker,process");
	assert_true(c->runs.network);
	assert_int_equal(c->runs.limits.timeout_ms, 500);
	assert_int_equal(c->runs.limits.memory_bytes, 64 << 20);
	assert_int_equal(c->runs.limits.cpu_percent, 50);
	assert_int_equal(c->runs.limits.pids, 0);
	assert_int_equal(c->runs.max.cpu_percent, 150);
	assert_int_equal(c->runs.max.output_bytes, 2 << 20);
	assert_int_equal(c->runs.max.tmp_bytes, 3 << 20);
	assert_int_equal(c->runs.max.pids, 40);
	assert_int_equal(c->runs.max.files, 50);
	assert_int_equal(c->http.connections, 10);
	assert_int_equal(c->http.body_bytes, 1 << 20);
	assert_int_equal(c->http.body_s, 5);
	assert_int_equal(c->http.idle_s, 3600);
	assert_int_equal(c->http.n_hosts, 2);
	assert_string_equal(c->http.hosts[1], "b");
	assert_int_equal(c->http.n_origins, 1);
	assert_string_equal(c->http.origins[0], "https://a.example.org:8443");
	assert_true(c->pool.off);
	assert_int_equal(c->pool.memory_bytes, UINT64_C(2) << 30);
	assert_int_equal(c->pool.standby_max, 3);
	assert_int_equal(c->pool.idle_s, 600);
	assert_int_equal(c->pool.n_templates, 2);
	assert_string_equal(c->pool.templates[0].name, "p");
	assert_string_equal(c->pool.templates[0].preload[1], "re");
	assert_null(c->pool.templates[0].preload[2]);
	assert_string_equal(c->pool.templates[0].rehearsal, "print(1)");
	assert_string_equal(c->pool.templates[0].image, "/i");
	assert_int_equal(c->pool.templates[0].standby, 2);
	assert_string_equal(c->pool.templates[1].language, "node");
	assert_null(c->pool.templates[1].preload);
	assert_string_equal(c->audit.path, "/srv/a.db");
	assert_int_equal(c->audit.keep_days, 9);
	assert_int_equal(c->audit.keep_bytes, 1 << 30);
	assert_string_equal(c->log_level, "debug");
	assert_string_equal(c->log_format, "text");
	assert_int_equal(c->local.scopes, DW_SCOPE_RUN | DW_SCOPE_AUDIT);
	assert_int_equal(c->local.concurrent, 2);
	assert_int_equal(c->local.runs_per_minute, 30);
	assert_int_equal(c->local.cpu_s_per_day, 40);
	assert_string_equal(c->local.levels, "docker,none");
	assert_int_equal(c->local.max.pids, 10);
	dw_config_free(c);
}

static void each_mistake_has_file_line_and_key(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} all[] = {
		{"runs:\n  queue: 3\n  queues: 3\n",
	         "x.yaml:3: runs.queues: unknown key (did you mean queue?)"},
		{"a: 1\n\nzzzzzz: 2", "x.yaml:1: a: unknown key"},
		{"# x\n\nruns: {queue: 1, queue: 2}",
	         "x.yaml:3: runs.queue is set twice"},
		{"listen: ~\nlisten: 127.0.0.1:1", "x.yaml:2: listen is set twice"},
		{"<<: {listen: 127.0.0.1:1}", "x.yaml:1: <<: unknown key"},
		{"runs:\n  queue: many",
	         "x.yaml:2: runs.queue: \"many\" is not a whole number: use digits only "
	         "(42)"},
		{"runs:\n  queue: -1",
	         "x.yaml:2: runs.queue: \"-1\" is not a whole number: use digits only "
	         "(42)"},
		{"runs:\n  queue: 1000001",
	         "x.yaml:2: runs.queue must be 0 to 1000000, not \"1000001\""},
		{"runs:\n  queue: 99999999999999999999",
	         "x.yaml:2: runs.queue: \"99999999999999999999\" is too large: at most "
	         "18446744073709551615"},
		{"runs: {concurrent: 0}", "x.yaml:1: runs.concurrent must be at least 1"},
		{"runs: {concurrent: 4294967297}",
	         "x.yaml:1: runs.concurrent must be 1 to 1024, not \"4294967297\""},
		{"runs: {keep_bytes: 1k}",
	         "x.yaml:1: runs.keep_bytes must be 1M to 1T, not \"1k\""},
		{"runs: {drain: 1500ms}",
	         "x.yaml:1: runs.drain must be whole seconds, not \"1500ms\""},
		{"runs: {drain: soon}",
	         "x.yaml:1: runs.drain: \"soon\" is not a time: use seconds, or a number "
	         "with ms, s, m or h (500ms)"},
		{"runs: {levels: container}",
	         "x.yaml:1: runs.levels must be a list, such as [a, b]"},
		{"runs: {levels: []}",
	         "x.yaml:1: runs.levels must have 1 to 8 entries, not 0"},
		{"runs:\n  levels:\n  - container\n  - dockr\n",
	         "x.yaml:4: runs.levels must be none, process, container, docker or "
	         "microvm, not \"dockr\" (did you mean docker?)"},
		{"runs: {levels: [container, container]}",
	         "x.yaml:1: runs.levels: container is given twice"},
		{"runs:\n  levels: [docker]\n",
	         "x.yaml:2: runs.levels: the default level, container, is not in the "
	         "list; set runs.level"},
		{"runs:\n\n  level: none\n",
	         "x.yaml:3: runs.level: none is not one of runs.levels"},
		{"runs: {level: [docker, docker]}",
	         "x.yaml:1: runs.level: \"docker\" is given twice"},
		{"local:\n  levels: [process]\n",
	         "x.yaml:2: local.levels: process is not one of runs.levels"},
		{"runs: {network: yes}", "x.yaml:1: runs.network must be true or false"},
		{"runs: {network: 'true'}",
	         "x.yaml:1: runs.network must be true or false"},
		{"runs:\n limits:\n  memory: 5\n",
	         "x.yaml:3: runs.limits.memory must be at least 1M, not 5 bytes (did "
	         "you mean 5M?)"},
		{"runs:\n max:\n  timeout: 0\n",
	         "x.yaml:3: runs.max.timeout must be at least 1ms"},
		{"runs:\n limits: {pids: 9}\n max:\n  pids: 8\n",
	         "x.yaml:2: runs.limits.pids must be at most runs.max.pids"},
		{"runs: 5", "x.yaml:1: runs must be a mapping of keys to values"},
		{"- runs", "x.yaml:1: the file must be a mapping of keys to values"},
		{"listen: [127.0.0.1:1]",
	         "x.yaml:1: listen must be one value, without a tag"},
		{"listen: !!binary YQ==",
	         "x.yaml:1: listen must be one value, without a tag"},
		{"[a]: 1", "x.yaml:1: must be one value, without a tag"},
		{"state: ''", "x.yaml:1: state must not be empty"},
		{"state: \"/a\\0b\"", "x.yaml:1: state must not contain a NUL"},
		{"state: here",
	         "x.yaml:1: state: \"here\" must be a path that begins with /"},
		{"policy: a.yaml",
	         "x.yaml:1: policy: \"a.yaml\" must be a path that begins with /"},
		{"policy: a/b",
	         "x.yaml:1: policy: \"a/b\" must be a path that begins with /"},
		{"listen: localhost:80",
	         "x.yaml:1: listen: \"localhost:80\" is not an address and a port, such "
	         "as 127.0.0.1:7443 or [::1]:7443"},
		{"http: {origins: ['*']}",
	         "x.yaml:1: http.origins: \"*\" is not an origin: https://app.example.org, "
	         "without a path"},
		{"http: {origins: ['https://a/']}",
	         "x.yaml:1: http.origins: \"https://a/\" is not an origin: "
	         "https://app.example.org, without a path"},
		{"http: {hosts: ['a:80']}",
	         "x.yaml:1: http.hosts: \"a:80\" is not a plain host name without a "
	         "port, such as dewar.example.org"},
		{"pool:\n  templates:\n  - name: a\n    language: python\n  - name: b\n",
	         "x.yaml:5: pool.templates: a template must have a name and a language"},
		{"pool:\n  templates:\n  - name: a\n    languag: python\n",
	         "x.yaml:4: pool.templates.languag: unknown key (did you mean language?)"},
		{"pool:\n  templates: [{name: a, language: c}]\n",
	         "x.yaml:2: pool.templates.language: c does not support warm cells"},
		{"pool:\n  templates: [{name: a, language: klingon}]\n",
	         "x.yaml:2: pool.templates.language: unknown language \"klingon\"; must "
	         "be one of python, javascript, typescript, ruby, php, perl, lua, r, "
	         "bash, sh, zsh, c, c++, go, rust, java, binary"},
		{"pool:\n  templates:\n  - &x {name: a, language: sh}\n  - *x\n",
	         "x.yaml:3: pool.templates: a is given twice"},
		{"log: {level: warn}",
	         "x.yaml:1: log.level must be debug, info, warning or error, not "
	         "\"warn\""},
		{"local: {scopes: [runs]}",
	         "x.yaml:1: local.scopes must be run, admin, audit or approve, not "
	         "\"runs\" (did you mean run?)"},
		{"runs:\n  queue: 1\n queue: 2",
	         "x.yaml:3: not valid YAML: did not find expected key"},
		{"runs: {}\n---\nlisten: 127.0.0.1:1",
	         "x.yaml:3: must contain one document; a second one begins here"},
		{"runs: {}\n# a\nlog: \xff\n",
	         "x.yaml:3: not valid YAML: invalid leading UTF-8 octet"},
		{"a: *b", "x.yaml:1: not valid YAML: found undefined alias"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		assert_refused(all[i].text, strlen(all[i].text), all[i].why);
	assert_refused("runs: {}\n\0", 10,
	               "x.yaml:2: not valid YAML: control characters are not allowed");
}

static void the_error_about_a_very_long_key_is_truncated(void **state)
{
	struct dw_config *config = NULL;
	struct dw_error err = {0};
	char text[3000];

	(void)state;
	memset(text, 'k', sizeof(text));
	memcpy(text, "runs: {", 7);
	(void)strcpy(text + 900, ": 1}");
	assert_int_equal(dw_config_parse("x", text, strlen(text), &config, &err), -1);
	assert_non_null(strstr(err.text, "x:1: runs.kkkk"));
	assert_non_null(strstr(err.text, "unknown key"));
}

static void endless_nesting_is_refused(void **state)
{
	struct dw_config *config = NULL;
	struct dw_error err = {0};
	static char text[5000]; /* libyaml's time grows with the square of the length */

	(void)state;
	memset(text, '[', sizeof(text));
	assert_int_equal(dw_config_parse("x", text, sizeof(text), &config, &err), -1);
	/* A mapping that contains itself. */
	assert_refused("runs: &r\n  limits: *r\n", 22,
	               "x.yaml:2: runs.limits.limits: unknown key");
}

static void the_example_has_the_defaults(void **state)
{
	struct dw_config *config = NULL;
	struct dw_error err = {0};

	(void)state;
	if (dw_config_load(EXAMPLE, &config, &err) < 0)
		fail_msg("%s", err.text);
	assert_defaults(config);
	dw_config_free(config);
}

static void the_example_with_all_comments_enabled_is_valid(void **state)
{
	autofree char *text = read_whole(EXAMPLE);
	struct dw_config *config;
	char *from = text, *to = text;

	(void)state;
	/* "#key", but not "# words" */
	for (; *from != '\0'; from++)
		if (*from != '#' || from[1] == ' ' || from[1] == '\n')
			*to++ = *from;
	*to = '\0';
	config = good(text);
	assert_string_equal(config->listen, "127.0.0.1:7443");
	assert_int_equal(config->runs.max.files, 4096);
	assert_int_equal(config->pool.n_templates, 2);
	assert_int_equal(config->local.max.memory_bytes, 1 << 30);
	dw_config_free(config);
}

static void the_documentation_contains_the_example(void **state)
{
	autofree char *page = read_whole(PAGE), *text = read_whole(EXAMPLE);

	(void)state;
	assert_non_null(strstr(page, text));
}

static void the_error_names_a_file_that_cannot_be_read(void **state)
{
	char path[] = "/tmp/dewar-test-config-XXXXXX";
	struct dw_config *config = NULL;
	struct dw_error err = {0};
	autoclose int fd = -1;

	(void)state;
	assert_int_equal(dw_config_load("/nowhere/x.yaml", &config, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "/nowhere/x.yaml"));
	assert_int_equal(dw_config_load("/tmp", &config, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);

	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (1 << 20) + 1), 0);
	assert_int_equal(dw_config_load(path, &config, &err), -1);
	assert_non_null(strstr(err.text, "larger than"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(dw_config_load(path, &config, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_file_the_defaults_apply),
		cmocka_unit_test(every_key_is_understood),
		cmocka_unit_test(each_mistake_has_file_line_and_key),
		cmocka_unit_test(the_error_about_a_very_long_key_is_truncated),
		cmocka_unit_test(endless_nesting_is_refused),
		cmocka_unit_test(the_example_has_the_defaults),
		cmocka_unit_test(the_example_with_all_comments_enabled_is_valid),
		cmocka_unit_test(the_documentation_contains_the_example),
		cmocka_unit_test(the_error_names_a_file_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
