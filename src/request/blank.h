/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_REQUEST_BLANK_H
#define DW_REQUEST_BLANK_H

#include "dewar/request.h"
#include "dewar/result.h"

/* A result that knows its request and nothing else yet; NULL without memory. */
struct dw_result *dw_result_blank(const struct dw_request *req);

#endif
