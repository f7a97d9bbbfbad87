/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launch.h"

enum dw_report_stage dw_launch_stage;
