#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# same.sh FILE PROGRAM ARGUMENT...: does the program, which may be for another machine, write
# what is in the file?

set -euo pipefail
file=$1
shift
read -r -a wrapper <<<"${MESON_EXE_WRAPPER:-}"
"${wrapper[@]}" "$@" | cmp "$file" -
