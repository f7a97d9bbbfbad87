#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# same.sh FILE PROGRAM ARGUMENT...: succeeds if the program, which may be built for another
# architecture, writes exactly the contents of FILE.

set -euo pipefail
file=$1
shift
read -r -a wrapper <<<"${MESON_EXE_WRAPPER:-}"
"${wrapper[@]}" "$@" | cmp "$file" -
