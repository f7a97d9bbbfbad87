#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tap.sh PROGRAM: prints the report of a cmocka program as TAP that meson reads. cmocka
# 1.1 writes a skipped test as "not ok 2 # SKIP name", which meson counts as
# failed. A program for another architecture runs in the wrapper that meson names.

set -o pipefail
read -r -a wrapper <<<"${MESON_EXE_WRAPPER:-}"
CMOCKA_MESSAGE_OUTPUT=TAP "${wrapper[@]}" "$@" |
	sed -u 's/^not ok \([0-9]*\) # SKIP \(.*\)/ok \1 - \2 # SKIP see its source/'
