/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/call.h"

const struct dw_mcp_extra dw_mcp_extra = {0};
