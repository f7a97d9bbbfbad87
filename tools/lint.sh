#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The linters: lint.sh [NAME...], all of them without a name. Wants a build/
# that meson has configured, for the compile commands and the made header.
#
# The linters are called by name.
# shellcheck disable=SC2317

set -euo pipefail
cd "$(dirname "$0")/.."

all=(includes codespell shellcheck cppcheck clang-tidy)

lint_includes()
{
	tools/check-includes.py
	tools/attacks.py lists --check
}

lint_codespell()
{
	codespell
}

lint_shellcheck()
{
	shellcheck tools/*.sh tests/*.sh tests/unit/*.sh tests/fuzz/*.sh .ci/run
	# Attacks are handed over as code, without a first line that names a shell.
	shellcheck --shell=bash attacks/*/*.sh
}

lint_cppcheck()
{
	cppcheck --quiet --enable=warning,performance,portability --inline-suppr \
		--std=c11 --library=posix,gnu --error-exitcode=1 -j "$(nproc)" \
		--suppressions-list=tools/cppcheck-suppressions.txt \
		-D_GNU_SOURCE -D__x86_64__ -DDW_LIBEXECDIR='""' -DDW_VERSION='""' \
		-I include -I src -I build -I . -i tools/grammars src include examples runners tools
}

# gcc has options that clang does not know; we are not here to hear of that. The runners
# talk to the kernel without a libc, which clang-tidy takes for garbage.
lint_clang-tidy()
{
	ninja -C build seccomp_filter.h attacks_table.h runners_embedded.h hooks_embedded.h \
		openapi_embedded.h policies_embedded.h >/dev/null
	find src examples -name '*.c' -print0 | sort -z |
		xargs -0 -n 4 -P "$(nproc)" clang-tidy -p build --quiet \
			--extra-arg=-Wno-unknown-warning-option \
			--extra-arg=-Wno-ignored-optimization-argument \
			--extra-arg=-Wno-unused-command-line-argument \
			2> >(grep -vE '^[0-9]+ warnings? generated\.$' >&2)
}

[ $# -gt 0 ] || set -- "${all[@]}"
status=0
for name; do
	echo "== $name"
	"lint_$name" || status=1
done
exit $status
