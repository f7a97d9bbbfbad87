#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tap.sh PROGRAM: a cmocka program's report, as meson understands it. cmocka
# 1.1 writes a skipped test as "not ok 2 # SKIP name", which meson counts as
# failed. What is built for another machine runs in what meson names for it.

set -o pipefail
read -r -a wrapper <<<"${MESON_EXE_WRAPPER:-}"
CMOCKA_MESSAGE_OUTPUT=TAP "${wrapper[@]}" "$@" |
	sed -u 's/^not ok \([0-9]*\) # SKIP \(.*\)/ok \1 - \2 # SKIP see its source/'
