#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The linters: lint.sh [NAME...] runs these, or all of them. clang-tidy-changed runs clang-tidy on the
# files that differ from the last landed commit (tests/concerns.py). Needs a configured build/ for the
# compile commands and the generated headers.
#
# The linters are called by name.
# shellcheck disable=SC2317

set -euo pipefail
cd "$(dirname "$0")/.."

all=(includes prose codespell shellcheck cppcheck clang-tidy)

lint_includes()
{
	tools/check-includes.py && tools/attacks.py lists --check
}

lint_prose()
{
	tools/check-prose.py
}

lint_codespell()
{
	codespell
}

lint_shellcheck()
{
	# tests/run.sh with tests/steps.sh, which is a part of it. Attacks are handed over as code,
	# without a first line that names a shell.
	shellcheck tools/*.sh tests/unit/*.sh tests/fuzz/*.sh .ci/run &&
		shellcheck -x -a tests/run.sh &&
		shellcheck --shell=bash attacks/*/*.sh
}

lint_cppcheck()
{
	cppcheck --quiet --enable=warning,performance,portability --inline-suppr \
		--std=c11 --library=posix,gnu --error-exitcode=1 -j "$(nproc)" \
		--suppressions-list=tools/cppcheck-suppressions.txt \
		-D_GNU_SOURCE -D__x86_64__ -DDW_LIBEXECDIR='""' -DDW_VERSION='""' \
		-I include -I src -I build -I . -i tools/grammars src include bench examples runners tools
}

# Compile commands name generated headers, and gcc's options, which clang does not know. The runners
# call the kernel without a libc, which clang-tidy takes for garbage.
run_clang-tidy()
{
	ninja -C build seccomp_filter.h attacks_table.h runners_embedded.h hooks_embedded.h \
		openapi_embedded.h policies_embedded.h >/dev/null
	xargs -r -n 4 -P "$(nproc)" clang-tidy -p build --quiet \
		--extra-arg=-Wno-unknown-warning-option \
		--extra-arg=-Wno-ignored-optimization-argument \
		--extra-arg=-Wno-unused-command-line-argument \
		2> >(grep -vE '^[0-9]+ warnings? generated\.$' >&2)
}

lint_clang-tidy()
{
	find src bench examples -name '*.c' | sort | run_clang-tidy
}

# A changed header is seen through the sources that include it.
lint_clang-tidy-changed()
{
	local file
	tests/concerns.py files .c .h | while read -r file; do
		case $file in
		src/*.c | bench/*.c | examples/*.c) echo "$file" ;;
		src/*.h | include/*.h)
			grep -rl --include='*.c' "[\"<]${file#*/}[\">]" src bench examples || true
			;;
		bench/*.h) grep -rl --include='*.c' "[\"<]${file}[\">]" bench || true ;;
		esac
	done | sort -u | run_clang-tidy
}

[ $# -gt 0 ] || set -- "${all[@]}"
status=0
for name; do
	echo "== $name"
	"lint_$name" || status=1
done
exit $status
