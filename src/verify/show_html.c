/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "verify/verify.h"

/*
 * The page is a single file that loads nothing, with a few lines of script for the
 * filter. All text that may come from a cell goes through escaped().
 */

#define PAGE_MAX (16U << 20)

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<title>dewar verify</title>\n<style>\n"
	":root{color-scheme:light dark;--ink:#1d2733;--soft:#5d6b7a;--line:#dfe5ea;"
	"--page:#fff;--card:#f6f8fa;--good:#1a7f4b;--goodbg:#e3f4ea;--bad:#b3261e;"
	"--badbg:#fbe4e2;--open:#8a6100;--openbg:#fdf2d6;--dunno:#6b3fa0;--dunnobg:#efe7fa}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#9aa7b4;"
	"--line:#303a45;--page:#14181d;--card:#1c2229;--good:#6fd19b;--goodbg:#14321f;"
	"--bad:#ff8d85;--badbg:#43191a;--open:#f0c052;--openbg:#3a2d0c;--dunno:#c8a8f2;"
	"--dunnobg:#2d2140}}\n"
	"body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);"
	"max-width:72rem;margin:0 auto;padding:2rem 1rem 4rem}\n"
	"h1{margin:0 0 .2rem;font-size:1.7rem}h2{margin:2.4rem 0 .6rem;font-size:1.1rem}\n"
	"p.soft,.soft{color:var(--soft)}\n"
	".cards{display:flex;flex-wrap:wrap;gap:.8rem;margin:1.4rem 0}\n"
	".card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;"
	"padding:.8rem 1.1rem;min-width:13rem;max-width:18rem}\n"
	".card b{display:block;margin-bottom:.3rem}\n"
	".bar{display:flex;height:.6rem;border-radius:.3rem;overflow:hidden;margin:.4rem 0}\n"
	".bar i{display:block}\n"
	"input{font:inherit;padding:.45rem .7rem;width:22rem;max-width:100%;color:inherit;"
	"background:var(--card);border:1px solid var(--line);border-radius:.4rem}\n"
	"table{border-collapse:collapse;width:100%}th{text-align:left;font-weight:600;"
	"color:var(--soft);font-size:.85rem}\n"
	"th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);"
	"vertical-align:top}\n"
	"td.v{width:11rem}summary{cursor:pointer}summary code{font-size:.92rem}\n"
	"details[open]{padding-bottom:.6rem}dl{display:grid;grid-template-columns:8rem 1fr;"
	"gap:.2rem 1rem;margin:.6rem 0;font-size:.9rem}dt{color:var(--soft)}dd{margin:0}\n"
	"pre{background:var(--card);border:1px solid var(--line);border-radius:.4rem;"
	"padding:.7rem;overflow:auto;font-size:.8rem;line-height:1.4;max-height:26rem;"
	"tab-size:4}\n"
	".tag{display:inline-block;padding:.05rem .6rem;border-radius:1rem;"
	"font-size:.85rem}\n"
	".contained{color:var(--good);background:var(--goodbg)}"
	".escaped{color:var(--bad);background:var(--badbg);font-weight:700}"
	".not_promised{color:var(--open);background:var(--openbg)}"
	".cannot_tell{color:var(--dunno);background:var(--dunnobg)}\n"
	"i.contained{background:var(--good)}i.escaped{background:var(--bad)}"
	"i.not_promised{background:var(--open)}i.cannot_tell{background:var(--dunno)}\n"
	"</style>\n";

static const char script[] =
	"<script>\n"
	"document.getElementById('find').oninput=e=>{const w=e.target.value.toLowerCase();"
	"document.querySelectorAll('tr[data-t]').forEach(r=>r.hidden=!r.dataset.t."
	"includes(w));"
	"document.querySelectorAll('section').forEach(s=>s.hidden=!s.querySelector("
	"'tr[data-t]:not([hidden])'))}\n"
	"</script>\n</html>\n";

static void escaped(struct dw_buf *page, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			(void)dw_buf_puts(page, "&lt;");
			break;
		case '>':
			(void)dw_buf_puts(page, "&gt;");
			break;
		case '&':
			(void)dw_buf_puts(page, "&amp;");
			break;
		case '"':
			(void)dw_buf_puts(page, "&quot;");
			break;
		default:
			(void)dw_buf_add(page, text, 1);
		}
	}
}

static const char *label_of(const struct dw_row *row)
{
	static const char *const words[] = {
		[DW_CONTAINED] = "contained",
		[DW_ESCAPED] = "escaped",
		[DW_NOT_PROMISED] = "not promised",
		[DW_CANNOT_TELL] = "cannot tell",
	};
	_Static_assert(ARRAY_SIZE(words) == DW_VERDICT_COUNT, "a label for each verdict");

	return row->wall ? row->wall : words[row->verdict];
}

static void put_bar(struct dw_buf *page, const struct dw_summary *sum)
{
	size_t all = 0;

	for (int v = 0; v < DW_VERDICT_COUNT; v++)
		all += sum->by[v];
	(void)dw_buf_puts(page, "<div class=\"bar\">");
	for (int v = 0; v < DW_VERDICT_COUNT && all > 0; v++)
		if (sum->by[v] > 0)
			(void)dw_buf_printf(page,
			                    "<i class=\"%s\" style=\"width:%.2f%%\"></i>",
			                    dw_verdict_name(v),
			                    100.0 * (double)sum->by[v] / (double)all);
	(void)dw_buf_puts(page, "</div>");
}

static void put_cards(struct dw_buf *page, const struct dw_rows *rows)
{
	(void)dw_buf_puts(page, "<div class=\"cards\">\n");
	for (size_t i = 0; i < rows->n_targets; i++) {
		struct dw_summary sum = dw_rows_sum(rows, &rows->targets[i]);

		(void)dw_buf_printf(page, "<div class=\"card\"><b>%s</b>",
		                    rows->targets[i].title);
		put_bar(page, &sum);
		(void)dw_buf_printf(
			page,
			"%zu contained<br>%zu escaped<br>%zu not promised<br>%zu cannot "
			"tell</div>\n",
			sum.by[DW_CONTAINED], sum.by[DW_ESCAPED], sum.by[DW_NOT_PROMISED],
			sum.by[DW_CANNOT_TELL]);
	}
	for (const char *const *a = rows->unavailable; *a; a += 2) {
		(void)dw_buf_printf(page,
		                    "<div class=\"card soft\"><b>%s</b>not on this host: ",
		                    a[0]);
		escaped(page, a[1]);
		(void)dw_buf_puts(page, "</div>\n");
	}
	(void)dw_buf_puts(page, "</div>\n");
}

static void put_title(struct dw_buf *page, const struct dw_rows *rows)
{
	struct dw_summary sum = dw_rows_sum(rows, NULL);
	struct utsname host = {0};
	time_t now = time(NULL);
	struct tm tm;
	char when[32] = "";

	(void)uname(&host);
	if (gmtime_r(&now, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", &tm);
	(void)dw_buf_printf(page, "<h1>%s</h1>\n",
	                    sum.by[DW_ESCAPED] == 0 ? "No promise was broken"
	                                            : "A promise was broken");
	(void)dw_buf_printf(
		page,
		"<p class=\"soft\">%zu attacks as %s, on Linux %s, by dewar %s, %s. A "
		"wall's name means that this wall stopped the attack. Every attack has "
		"succeeded on this host without walls, unless its verdict is <em>cannot "
		"tell</em>; open one for details.</p>\n",
		sum.attacks, rows->user, host.release, DW_VERSION, when);
}

static void put_item(struct dw_buf *page, const char *name, const char *text)
{
	(void)dw_buf_printf(page, "<dt>%s</dt><dd>", name);
	escaped(page, text);
	(void)dw_buf_puts(page, "</dd>");
}

/* Print n adjacent rows of one attack, one for each target. */
static void put_attack(struct dw_buf *page, const struct dw_row *row, size_t n)
{
	const struct dw_attack *attack = row->attack;

	(void)dw_buf_printf(page, "<tr data-t=\"%s ", attack->name);
	for (size_t i = 0; i < n; i++)
		(void)dw_buf_printf(page, "%s %s ", dw_verdict_name(row[i].verdict),
		                    label_of(&row[i]));
	(void)dw_buf_printf(page,
	                    "\"><td><details><summary><code>%s</code> <span class=\"soft\">",
	                    attack->name);
	escaped(page, attack->tries);
	(void)dw_buf_puts(page, "</span></summary><dl>");
	put_item(page, "promise", attack->promise);
	if (attack->because[0] != '\0')
		put_item(page, "because", attack->because);
	(void)dw_buf_printf(page, "<dt>without walls</dt><dd>%s, at %s: ",
	                    row->control == DW_ESCAPED ? "it succeeds" : "it fails",
	                    row->control_at);
	escaped(page, row->control_detail);
	(void)dw_buf_puts(page, "</dd>");
	for (size_t i = 0; i < n; i++)
		put_item(page, row[i].target->title, row[i].detail);
	(void)dw_buf_printf(page, "</dl><pre>");
	escaped(page, attack->source);
	(void)dw_buf_puts(page, "</pre></details></td>");
	for (size_t i = 0; i < n; i++)
		(void)dw_buf_printf(page,
		                    "<td class=\"v\"><span class=\"tag %s\">%s</span></td>",
		                    dw_verdict_name(row[i].verdict), label_of(&row[i]));
	(void)dw_buf_puts(page, "</tr>\n");
}

static void put_families(struct dw_buf *page, const struct dw_rows *rows)
{
	const char *family = NULL;
	size_t n;

	for (size_t i = 0; i < rows->n; i += n) {
		const struct dw_row *row = &rows->list[i];

		for (n = 1; i + n < rows->n && row[n].attack == row->attack; n++)
			;
		if (!family || strcmp(family, row->attack->family) != 0) {
			(void)dw_buf_printf(page,
			                    "%s<section><h2>%s</h2><table><tr><th>attack",
			                    family ? "</table></section>\n" : "",
			                    row->attack->family);
			for (size_t k = 0; k < rows->n_targets; k++)
				(void)dw_buf_printf(page, "<th>%s",
				                    rows->targets[k].title);
			(void)dw_buf_puts(page, "</tr>\n");
			family = row->attack->family;
		}
		put_attack(page, row, n);
	}
	if (family)
		(void)dw_buf_puts(page, "</table></section>\n");
}

int dw_show_html(const struct dw_rows *rows, int fd, struct dw_error *err)
{
	struct dw_buf page;
	int r;

	dw_buf_init(&page, PAGE_MAX);
	(void)dw_buf_puts(&page, head);
	put_title(&page, rows);
	put_cards(&page, rows);
	(void)dw_buf_puts(&page,
	                  "<input id=\"find\" type=\"search\" placeholder=\"Find an "
	                  "attack, a wall, a verdict\">\n");
	put_families(&page, rows);
	(void)dw_buf_puts(&page, script);
	/* The new page is complete: only now replace the page of an earlier run. */
	r = page.failed ? -ENOMEM : dw_fd_write_all(fd, page.data, page.len);
	if (r == 0 && ftruncate(fd, (off_t)page.len) < 0 && errno != EINVAL)
		r = -errno; /* EINVAL: the file is a pipe */
	dw_buf_finish(&page);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot write the page");
	return 0;
}
