/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void dw_id_make(char ret[DW_ID_MAX])
{
	unsigned char bytes[(DW_ID_MAX - 1) / 2];

	/* Up to 256 bytes come whole or not at all; only early boot has none. */
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}
