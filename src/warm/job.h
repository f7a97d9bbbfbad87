/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_JOB_H
#define DW_WARM_JOB_H

#include "levels/level.h"

/*
 * The letter to a program that waits (wire/enter.h): the code of a request, its
 * files, arguments and environment. Sent in one packet, or with a memfd if long.
 */
int dw_job_send(int sock, const struct dw_spec *spec, struct dw_error *err);

/* Would it be sent with a memfd? */
bool dw_job_is_long(const struct dw_spec *spec);

#endif
