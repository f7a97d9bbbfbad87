#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Fuzz: run.sh [SECONDS] [TARGET...], each target in turn, 30 seconds unless said
# otherwise; `make fuzz` calls this. Needs clang with libFuzzer.
#
# An input that reaches new code is merged into corpus/TARGET. A crash is kept in
# build-fuzz/crashes/TARGET, and the script exits with 1: fix it, and move the input to
# regression/TARGET under a name that says what it shows.

set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-30}
shift $(($# > 0))
build="build-fuzz"
inputs=tests/fuzz
files_max=50 # small files replay fast, and few can be looked through
status=0

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

[ -f $build/build.ninja ] || CC=clang meson setup $build -Dfuzz=true \
	-Db_sanitize=address,undefined -Db_lundef=false
ninja -C $build fuzzers
if [ $# = 0 ]; then
	for source in "$inputs"/fuzz_*.c; do
		name=${source##*/fuzz_}
		set -- "$@" "${name%.c}"
	done
fi

for target; do
	corpus=$inputs/corpus/$target
	found=$build/found/$target
	crashes=$build/crashes/$target
	folders=("$corpus")
	[ ! -d "$inputs/regression/$target" ] || folders+=("$inputs/regression/$target")
	mkdir -p "$found" "$crashes"

	echo "== $target"
	# stdout is what --help and the like would print to.
	if ! "$build/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
		-close_fd_mask=1 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$crashes/" "$found" "${folders[@]}"; then
		echo "$target: the input is in $crashes" >&2
		status=1
		continue
	fi

	# Merge only inputs that reach new code, smallest first, up to files_max.
	rm -rf "$found.new"
	mkdir "$found.new"
	cp "$corpus"/* "$found.new"
	"$build/fuzz_$target" -merge=1 -use_counters=0 -close_fd_mask=1 -verbosity=0 "$found.new" "$found"
	have=$(find "$corpus" -type f | wc -l)
	while read -r _ input; do
		[ "$have" -lt $files_max ] || break
		[ ! -e "$corpus/$input" ] || continue
		cp "$found.new/$input" "$corpus"
		have=$((have + 1))
	done < <(find "$found.new" -type f -printf '%s %f\n' | sort -n)
	echo "$target: $(find "$found" -type f | wc -l) inputs found, $have kept"
done
exit $status
