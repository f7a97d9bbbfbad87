/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "languages/runtime.h"

const char *dw_runtime_opening(const struct dw_runtime *runtime, const char *code,
                               size_t len)
{
	const char *mark = runtime->opening[0];

	if (!mark || (len > 0 && memmem(code, len, mark, strlen(mark))))
		return "";
	return runtime->opening[1];
}
