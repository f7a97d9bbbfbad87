/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/words.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* FILE, or "" for none; what is to be in it; PROGRAM and its ARGUMENTS. */
static const char exec_code[] = "import os, sys\n"
				"name, text, *command = sys.argv[1:]\n"
				"if name:\n"
				"    command.append('/tmp/' + name)\n"
				"    with open(command[-1], 'wb') as file:\n"
				"        file.write(os.fsencode(text))\n"
				"os.execvp(command[0], command)\n";

void dw_words_add(struct dw_words *w, const char *word)
{
	if (w->n < DW_WORDS_MAX - 1)
		w->argv[w->n++] = word;
}

void dw_words_add_copy(struct dw_words *w, const char *word)
{
	size_t len = strlen(word) + 1;
	char *at = w->room + w->used;

	if (w->used + len > sizeof(w->room))
		return;
	memcpy(at, word, len);
	w->used += len;
	dw_words_add(w, at);
}

void dw_words_add_options(struct dw_words *w, const char *options, const char *base)
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
		dw_words_add_copy(w, word);
		options += len;
		options += strspn(options, " ");
	}
}

const char *dw_words_interpreter(const char *language, const char **ret_file)
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

const char *dw_words_warm(struct dw_words *args, const struct dw_attack *attack,
                          const char *attacks)
{
	const char *file = "", *program;

	if (strcmp(attack->language, "python") == 0)
		return attack->source;
	if (attack->language[0] == '\0') {
		dw_words_add(args, "");
		dw_words_add(args, "");
		dw_words_add_copy(args, attacks);
		dw_words_add(args, attack->name);
		return exec_code;
	}
	program = dw_words_interpreter(attack->language, &file);
	dw_words_add(args, file);
	dw_words_add(args, attack->source);
	dw_words_add(args, program ? program : "false");
	return exec_code;
}
