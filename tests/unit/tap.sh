#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tap.sh PROGRAM: a cmocka program's report, as meson understands it. cmocka
# 1.1 writes a skipped test as "not ok 2 # SKIP name", which meson counts as
# failed.

set -o pipefail
CMOCKA_MESSAGE_OUTPUT=TAP "$@" |
	sed -u 's/^not ok \([0-9]*\) # SKIP \(.*\)/ok \1 - \2 # SKIP see its source/'
