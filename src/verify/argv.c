/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "verify/verify_own.h"

/*
 * Arguments: FILE TEXT PROGRAM [ARG]... Writes TEXT to /tmp/FILE, unless FILE is "",
 * and executes PROGRAM with its arguments and the path of that file.
 */
static const char exec_code[] = "import os, sys\n"
				"name, text, *command = sys.argv[1:]\n"
				"if name:\n"
				"    command.append('/tmp/' + name)\n"
				"    with open(command[-1], 'wb') as file:\n"
				"        file.write(os.fsencode(text))\n"
				"os.execvp(command[0], command)\n";

void dw_argv_add(struct dw_argv *w, ...)
{
	const char *word;
	va_list ap;

	va_start(ap, w);
	while ((word = va_arg(ap, const char *)) != NULL)
		if (w->n < DW_ARGV_MAX - 1)
			w->argv[w->n++] = word;
	va_end(ap);
}

void dw_argv_add_copy(struct dw_argv *w, const char *word)
{
	size_t len = strlen(word) + 1;
	char *at = w->storage + w->used;

	if (w->used + len > sizeof(w->storage))
		return;
	memcpy(at, word, len);
	w->used += len;
	dw_argv_add(w, at, NULL);
}

void dw_argv_add_options(struct dw_argv *w, const char *options, const char *base)
{
	char word[256];

	while (*options) {
		size_t len = strcspn(options, " ");
		const char *mark = strstr(options, "{base}");

		if (mark && mark < options + len)
			(void)snprintf(word, sizeof(word), "%.*s%s%.*s",
			               (int)(mark - options), options, base,
			               (int)(len - (size_t)(mark - options) - 6),
			               mark + 6);
		else
			(void)snprintf(word, sizeof(word), "%.*s", (int)len, options);
		dw_argv_add_copy(w, word);
		options += len;
		options += strspn(options, " ");
	}
}

const char *dw_argv_interpreter(const char *language, const char **ret_file)
{
	static const struct {
		const char *language;
		const char *program;
		const char *file;
	} known[] = {
		{"python", "python3", "main.py"},  {"bash", "bash", "main.sh"},
		{"javascript", "node", "main.js"}, {"perl", "perl", "main.pl"},
		{"ruby", "ruby", "main.rb"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(language, known[i].language) == 0) {
			*ret_file = known[i].file;
			return known[i].program;
		}
	return NULL;
}

const char *dw_argv_warm(struct dw_argv *args, const struct dw_attack *attack,
                         const char *attacks)
{
	const char *file = "", *program;

	if (strcmp(attack->language, "python") == 0)
		return attack->source;
	if (attack->language[0] == '\0') {
		dw_argv_add(args, "", "", attacks, attack->name, NULL);
		return exec_code;
	}
	program = dw_argv_interpreter(attack->language, &file);
	dw_argv_add(args, file, attack->source, program ? program : "false", NULL);
	return exec_code;
}
