/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest program that uses libdewar: run a line of untrusted Python, and
 * print its output and the walls around it.
 *
 *	cc hello.c $(pkg-config --cflags --libs dewar) -o hello
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dewar/dewar.h"

static const char code[] = "print(2 ** 64)\n";

int main(void)
{
	struct dw_result *res = NULL;
	struct dw_error err = {0};
	struct dw_request req;
	char *walls;
	int status;

	dw_request_init(&req);
	req.language = "python";
	req.code = (struct dw_bytes){code, strlen(code)};
	req.level = "container";
	req.limits.timeout_ms = 10000;

	/* -1 is a failure of Dewar, without a result; everything else is a result. */
	if (dw_run(&req, &res, &err) < 0) {
		(void)fprintf(stderr, "hello: %s\n", err.text);
		return EXIT_FAILURE;
	}

	(void)fwrite(res->out[DW_STDOUT], 1, res->out_len[DW_STDOUT], stdout);
	(void)fwrite(res->out[DW_STDERR], 1, res->out_len[DW_STDERR], stderr);
	walls = dw_result_walls_line(res);
	if (walls)
		(void)puts(walls);
	if (res->status != DW_STATUS_SUCCESS)
		(void)fprintf(stderr, "hello: %s: %s\n", dw_reason_name(res->reason),
		              res->hint);

	status = res->status == DW_STATUS_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
	free(walls);
	dw_result_free(res);
	dw_request_finish(&req);
	return status;
}
