#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Run tests in steps:
#
#   tests/run.sh                          the default tier, as `make test` does
#   tests/run.sh --all                    both tiers, as `make test-all` does
#   tests/run.sh --changed                what CI runs: the default tier, and what the change concerns
#   tests/run.sh STEP... [-k EXPR]        these steps only; -k as in pytest
#   tests/run.sh STEP TEST...             only these tests of a step, by the names that it prints
#   tests/run.sh ... --list               the names of the steps, and nothing is run
#
# tests/steps.sh defines the steps. Each writes one line per test to results.tsv; tests/tally.py sums
# them up and prints `N passed, N failed` on its last line. With CI=true or DEWAR_MUST_WORK a skipped
# test counts as failed, unless tests/accepted-skips names it. Logs are in build/test-logs.
#
# DEWAR_WORKERS is the number of tests that run at one time (6), DEWAR_SHUFFLE a number that decides
# a random order of them.

set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/steps.sh

usage()
{
	sed -n 's/^#   \(tests.*\)/\1/p' tests/run.sh
	echo "default tier: ${default_steps[*]}"
	echo "full tier also: ${slow_steps[*]}"
}

# The time that --changed may take; CI gives up much later.
changed_s=2400

steps=()
not_run=()
mode=named
list=""
while [ $# -gt 0 ]; do
	case $1 in
	--all) mode=all ;;
	--changed) mode=changed ;;
	-k)
		pytest_options+=(-k "${2:?-k needs an expression}")
		may_be_empty=yes
		shift
		;;
	--list) list=yes ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		if [ -n "$(type -t "step_$1")" ]; then
			steps+=("$1")
		elif [ ${#steps[@]} -gt 0 ] && [ "${1#-}" = "$1" ]; then
			chosen_tests+=("$1")
		else
			echo "run.sh: unknown step or option \"$1\"" >&2
			usage >&2
			exit 2
		fi
		;;
	esac
	shift
done
case $mode in
all) steps=("${default_steps[@]}" "${slow_steps[@]}") ;;
changed)
	words=$($python tests/concerns.py steps) || exit
	read -r -d '' -a concerned <<<"$words"
	steps=("${default_steps[@]}" "${concerned[@]}")
	[ -n "$list" ] || echo "Slow steps that this change concerns: ${concerned[*]:-none}"
	;;
named) [ ${#steps[@]} -gt 0 ] || steps=("${default_steps[@]}") ;;
esac
if [ -n "$list" ]; then
	printf '%s\n' "${steps[@]}"
	exit 0
fi

# Engines, guests and cross compilers are for slow steps; some take minutes to install.
for step in "${steps[@]}"; do
	if [ $mode != named ] && ! is_default "$step"; then
		tools/setup.sh test-all || exit
		break
	fi
done

run_step()
{
	local start=$SECONDS
	echo "== $step"
	"step_$step"
	printf '%s\t%d\n' "$step" $((SECONDS - start)) >>"$logs/times.tsv"
	echo "   $step took $((SECONDS - start)) s"
}

mkdir -p "$logs"
: >"$results"
: >"$logs/times.tsv"
for step in "${steps[@]}"; do
	if [ $mode = changed ] && ! is_default "$step" &&
		[ $((SECONDS + $(usual_seconds "$step"))) -gt $changed_s ]; then
		not_run+=("$step")
		continue
	fi
	if [ $mode != named ] && [ "$step" = $background_step ]; then
		(renice -n 10 -p $BASHPID && run_step) >"$logs/$step.out" 2>&1 &
		background=$!
		continue
	fi
	run_step
	if [ -n "$stop" ]; then
		echo "   We stop here: $stop."
		break
	fi
done
if [ -n "$background" ]; then
	wait "$background"
	background=""
	sed 1d "$logs/$background_step.out" # the first line is renice's
fi
echo
echo "Seconds: $(sed 's/\t/ /' "$logs/times.tsv" | paste -sd, | sed 's/,/, /g'); $SECONDS in all"
[ $mode != all ] || not_run+=(--all)
$python tests/tally.py sum "$results" "${not_run[@]}"
