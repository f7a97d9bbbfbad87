/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_ID_H
#define DW_BASE_ID_H

#include "dewar/result.h"

/* A name for a run that nobody has had before and nobody can guess. */
void dw_id_make(char ret[DW_ID_MAX]);

#endif
