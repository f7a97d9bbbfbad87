/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draw the rows: times on a logarithmic scale, by method, with their bars and aims; below
 * the drawing, a table of bars and aims and whether they were met. One file serves light
 * and dark pages. All text in it comes from this program, so nothing is escaped.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "bench/bench.h"

#define CEILING (1U << 20)
#define WIDTH 940.0
#define MARGIN 28.0
#define PLOT_LEFT 330.0
#define PLOT_RIGHT 760.0
#define PLOT_TOP 112.0
#define ROW 30.0
#define GAP 14.0       /* between groups */
#define LINE 24.0      /* of the table of bars and aims */
#define MEASURED 650.0 /* the right edges of its columns */
#define BAR 730.0
#define AIM 805.0

static const char style[] =
	"<style>\n"
	".card{fill:#fff;stroke:#d8dee4}\n"
	"text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1f2328}\n"
	".title{font-size:19px;font-weight:600}\n"
	".dim{fill:#656d76}.small{font-size:12px}.strong{font-weight:600}\n"
	".end{text-anchor:end}.mid{text-anchor:middle}\n"
	".grid{stroke:#e4e8ec}.minor{stroke:#f3f5f7}\n"
	".bare{stroke:#8c959f;fill:#8c959f}.ours{stroke:#0969da;fill:#0969da}\n"
	".near{stroke-width:7;stroke-opacity:.3;stroke-linecap:round}.far{stroke-width:1.5}\n"
	".bar{stroke:#cf222e;stroke-width:2}.aim{stroke:#1a7f37;stroke-width:2;"
	"stroke-dasharray:3 2}\n"
	".good{fill:#1a7f37}.fair{fill:#9a6700}.bad{fill:#cf222e}\n"
	"@media (prefers-color-scheme:dark){\n"
	".card{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.dim{fill:#8d96a0}\n"
	".grid{stroke:#272d35}.minor{stroke:#171c23}\n"
	".bare{stroke:#8d96a0;fill:#8d96a0}.ours{stroke:#58a6ff;fill:#58a6ff}\n"
	".bar{stroke:#ff7b72}.aim{stroke:#56d364}\n"
	".good{fill:#56d364}.fair{fill:#e3b341}.bad{fill:#ff7b72}}\n"
	"</style>\n";

struct drawing {
	struct dw_buf *out;
	int low, high; /* the decades of the scale: 10^low to 10^high ms */
};

static bool is_drawn(const struct dw_bench_row *row)
{
	return row->plotted && row->skipped[0] == '\0' && row->n > 0;
}

/* The bar or aim for a row's median, in ms; NAN if it has none. */
static double in_ms(const struct dw_bench *b, const struct dw_bench_row *row, bool aim)
{
	const struct dw_bench_row *bare = dw_bench_find(b, row->bare);

	if (!bare || row->n_checks == 0)
		return NAN;
	return bare->p50_ms * (aim ? row->checks[0].aim : row->checks[0].bar);
}

static double x_of(const struct drawing *d, double ms)
{
	return PLOT_LEFT +
	       (log10(ms) - d->low) / (d->high - d->low) * (PLOT_RIGHT - PLOT_LEFT);
}

static void set_scale(const struct dw_bench *b, struct drawing *d)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < b->n_rows; i++) {
		const struct dw_bench_row *row = &b->rows[i];

		if (!is_drawn(row))
			continue;
		least = fmin(least, fmin(row->p50_ms, in_ms(b, row, true)));
		most = fmax(most, row->p99_ms);
	}
	if (most == 0)
		least = most = 1;
	d->low = (int)floor(log10(least));
	d->high = (int)ceil(log10(most));
	if (d->high == d->low)
		d->high++;
}

/* The height of all rows and of the gaps between groups. */
static double plot_height(const struct dw_bench *b)
{
	double height = 0;

	for (size_t i = 0; i < b->n_rows; i++) {
		if (!is_drawn(&b->rows[i]))
			continue;
		height += ROW + (b->rows[i].bare || height == 0 ? 0 : GAP);
	}
	return height;
}

static void draw_grid(const struct drawing *d, double bottom)
{
	for (int decade = d->low; decade <= d->high; decade++) {
		double ms = pow(10, decade);

		for (int k = 2; k < 10 && decade < d->high; k++)
			(void)dw_buf_printf(d->out,
			                    "<line class='minor' x1='%.1f' x2='%.1f' "
			                    "y1='%.1f' y2='%.1f'/>\n",
			                    x_of(d, k * ms), x_of(d, k * ms), PLOT_TOP,
			                    bottom);
		(void)dw_buf_printf(d->out,
		                    "<line class='grid' x1='%.1f' x2='%.1f' y1='%.1f' "
		                    "y2='%.1f'/>\n<text class='dim small mid' x='%.1f' "
		                    "y='%.1f'>%g ms</text>\n",
		                    x_of(d, ms), x_of(d, ms), PLOT_TOP, bottom,
		                    x_of(d, ms), bottom + 18, ms);
	}
}

static void draw_mark(const struct drawing *d, const char *class, double ms, double y)
{
	if (isfinite(ms))
		(void)dw_buf_printf(d->out,
		                    "<line class='%s' x1='%.1f' x2='%.1f' y1='%.1f' "
		                    "y2='%.1f'/>\n",
		                    class, x_of(d, ms), x_of(d, ms), y - 11, y + 11);
}

static void draw_row(const struct drawing *d, const struct dw_bench *b,
                     const struct dw_bench_row *row, double y)
{
	const char *class = row->bare ? "ours" : "bare";
	double p50 = x_of(d, row->p50_ms), p95 = x_of(d, row->p95_ms);
	double p99 = x_of(d, row->p99_ms);
	char ms[32], ratio[32];

	draw_mark(d, "bar", in_ms(b, row, false), y);
	draw_mark(d, "aim", in_ms(b, row, true), y);
	(void)dw_buf_printf(d->out,
	                    "<g class='%s'><line class='near' x1='%.1f' x2='%.1f' "
	                    "y1='%.1f' y2='%.1f'/><line class='far' x1='%.1f' x2='%.1f' "
	                    "y1='%.1f' y2='%.1f'/><line class='far' x1='%.1f' x2='%.1f' "
	                    "y1='%.1f' y2='%.1f'/><circle cx='%.1f' cy='%.1f' "
	                    "r='5'/></g>\n",
	                    class, p50, p95, y, y, p50, p99, y, y, p99, p99, y - 5, y + 5,
	                    p50, y);
	dw_bench_format(ms, sizeof(ms), row->p50_ms, "ms");
	dw_bench_format(ratio, sizeof(ratio), row->ratio_to_bare, "x");
	(void)dw_buf_printf(d->out,
	                    "<text class='end' x='%.1f' y='%.1f'>%s</text>\n"
	                    "<text class='end strong' x='%.1f' y='%.1f'>%s</text>\n"
	                    "<text class='end dim' x='%.1f' y='%.1f'>%s</text>\n",
	                    PLOT_LEFT - 16, y + 4.5, row->title, PLOT_RIGHT + 90, y + 4.5,
	                    ms, WIDTH - MARGIN, y + 4.5, row->bare ? ratio : "");
}

static double draw_plot(const struct drawing *d, const struct dw_bench *b)
{
	double bottom = PLOT_TOP + plot_height(b), y = PLOT_TOP;
	bool first = true;

	draw_grid(d, bottom);
	for (size_t i = 0; i < b->n_rows; i++) {
		const struct dw_bench_row *row = &b->rows[i];

		if (!is_drawn(row))
			continue;
		y += row->bare || first ? 0 : GAP;
		draw_row(d, b, row, y + ROW / 2);
		y += ROW;
		first = false;
	}
	return bottom;
}

static void draw_head(const struct drawing *d, const struct dw_bench_host *host)
{
	(void)dw_buf_printf(
		d->out,
		"<text class='title' x='%.1f' y='42'>How long one run takes</text>\n"
		"<text class='dim' x='%.1f' y='64'>On a logarithmic scale. dewar bench, %s, as %s: Linux %s, %ld "
		"cores, load %.2f</text>\n",
		MARGIN, MARGIN, host->date, host->user, host->kernel, host->cpus,
		host->load);
	(void)dw_buf_printf(
		d->out,
		"<g class='ours'><line class='near' x1='%.0f' x2='%.0f' y1='92' y2='92'/>"
		"<line class='far' x1='%.0f' x2='%.0f' y1='92' y2='92'/>"
		"<line class='far' x1='%.0f' x2='%.0f' y1='87' y2='97'/>"
		"<circle cx='%.0f' cy='92' r='5'/></g>"
		"<text class='small dim' x='%.0f' y='96'>p50, to p95, to p99</text>\n",
		PLOT_LEFT, PLOT_LEFT + 26, PLOT_LEFT, PLOT_LEFT + 40, PLOT_LEFT + 40,
		PLOT_LEFT + 40, PLOT_LEFT, PLOT_LEFT + 50);
	(void)dw_buf_printf(d->out,
	                    "<line class='bar' x1='%.0f' x2='%.0f' y1='84' y2='100'/>"
	                    "<text class='small dim' x='%.0f' y='96'>bar for p50</text>\n"
	                    "<line class='aim' x1='%.0f' x2='%.0f' y1='84' y2='100'/>"
	                    "<text class='small dim' x='%.0f' y='96'>aim</text>\n",
	                    PLOT_LEFT + 190, PLOT_LEFT + 190, PLOT_LEFT + 198,
	                    PLOT_LEFT + 290, PLOT_LEFT + 290, PLOT_LEFT + 298);
	(void)dw_buf_printf(d->out,
	                    "<text class='end small dim' x='%.1f' y='96'>p50</text>\n"
	                    "<text class='end small dim' x='%.1f' y='96'>of bare</text>\n",
	                    PLOT_RIGHT + 90, WIDTH - MARGIN);
}

static void draw_check(const struct drawing *d, const struct dw_bench_row *row,
                       const struct dw_bench_check *check, double y)
{
	bool bar = row->failed == 0 && dw_bench_reaches(check, check->bar);
	bool aim = bar && (isnan(check->aim) || dw_bench_reaches(check, check->aim));
	char value[32], goal[32], hope[32];

	dw_bench_format(value, sizeof(value), check->value, check->unit);
	dw_bench_format(goal, sizeof(goal), check->bar, check->unit);
	dw_bench_format(hope, sizeof(hope), check->aim, check->unit);
	(void)dw_buf_printf(d->out,
	                    "<text x='%.1f' y='%.1f'>%s</text>"
	                    "<text class='dim' x='%.1f' y='%.1f'>%s</text>"
	                    "<text class='end strong' x='%.1f' y='%.1f'>%s</text>"
	                    "<text class='end dim' x='%.1f' y='%.1f'>%s</text>"
	                    "<text class='end dim' x='%.1f' y='%.1f'>%s</text>"
	                    "<text class='end strong %s' x='%.1f' y='%.1f'>%s</text>\n",
	                    MARGIN, y, row->title, PLOT_LEFT + 60, y, check->what,
	                    MEASURED, y, value, BAR, y, goal, AIM, y, hope,
	                    aim   ? "good"
	                    : bar ? "fair"
	                          : "bad",
	                    WIDTH - MARGIN, y,
	                    !bar                ? "missed"
	                    : isnan(check->aim) ? "kept"
	                    : aim               ? "aim reached"
	                                        : "kept");
}

static void draw_checks_head(const struct drawing *d, double y)
{
	static const struct {
		double x;
		const char *text;
	} columns[] = {{MEASURED, "measured"}, {BAR, "bar"}, {AIM, "aim"}};

	(void)dw_buf_printf(d->out,
	                    "<text class='title' x='%.1f' y='%.1f'>Bars and aims</text>\n",
	                    MARGIN, y);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		(void)dw_buf_printf(
			d->out,
			"<text class='end small dim' x='%.1f' y='%.1f'>%s</text>\n",
			columns[i].x, y, columns[i].text);
}

static void draw_checks(const struct drawing *d, const struct dw_bench *b, double y)
{
	bool any = false;

	for (size_t i = 0; i < b->n_rows; i++)
		for (size_t j = 0; j < b->rows[i].n_checks; j++) {
			if (!any)
				draw_checks_head(d, y);
			any = true;
			y += LINE;
			draw_check(d, &b->rows[i], &b->rows[i].checks[j], y + 4);
		}
}

static double height_of(const struct dw_bench *b)
{
	double height = PLOT_TOP + plot_height(b) + 40;
	size_t checks = 0;

	for (size_t i = 0; i < b->n_rows; i++)
		checks += b->rows[i].n_checks;
	return height + (checks > 0 ? 50 + LINE * (double)checks : 0);
}

static void draw(const struct dw_bench *b, struct dw_buf *out)
{
	struct drawing d = {.out = out};
	double height = height_of(b);

	set_scale(b, &d);
	(void)dw_buf_printf(out,
	                    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f "
	                    "%.0f' width='%.0f' height='%.0f' role='img'>\n"
	                    "<title>How long one run takes, by method</title>\n",
	                    WIDTH, height, WIDTH, height);
	(void)dw_buf_puts(out, style);
	(void)dw_buf_printf(out,
	                    "<rect class='card' x='.5' y='.5' width='%.0f' height='%.0f' "
	                    "rx='8'/>\n",
	                    WIDTH - 1, height - 1);
	draw_head(&d, &b->host);
	draw_checks(&d, b, draw_plot(&d, b) + 64);
	(void)dw_buf_puts(out, "</svg>\n");
}

int dw_bench_write_svg(const struct dw_bench *b, int fd, struct dw_error *err)
{
	autobuf struct dw_buf out;
	int r;

	dw_buf_init(&out, CEILING);
	draw(b, &out);
	if (out.failed)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "draw the rows");
	r = dw_fd_write_all(fd, out.data, out.len);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "write the drawing");
	/* Cut off the rest of a longer file. It fails for a pipe; ignore that. */
	(void)!ftruncate(fd, (off_t)out.len);
	return 0;
}
