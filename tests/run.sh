#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every test there is, quick ones first; `make test` calls this once the
# packages are there.
#
#   checks     format, include rules, the build
#   unit       cmocka, and the inputs of tests/fuzz: as built, and as -O3 -DNDEBUG
#              with warnings as errors
#   e2e        pytest over build/dewar, as the user we are
#   e2e-warm   the part of it that runs programs again, in warm cells where there are any
#   e2e-plain  the same, and the daemon's, as a plain user made for the purpose, where we
#              are root
#   serve      pytest over `build/dewar serve`, with real clients
#   mcp        the official clients, inspector and conformance suite of MCP, from npm
#   docker     pytest over build/dewar, beside engines that it starts: Docker and Podman;
#              and the escape suite in their containers
#   hosts      the hosts that people have, booted as guests of QEMU, in each of which the core
#              of the tests runs
#   mutants    the escape suite again, with one wall taken away at a time
#   sanitize   unit, e2e and what engines may answer again, under ASan and UBSan, built by clang
#   arch       the build for arm64, with warnings as errors; its unit tests, and what else
#              qemu-user can run of it
#   lint       codespell, shellcheck, cppcheck, clang-tidy
#
# Each step writes one line a test to results.tsv; tests/tally.py adds them up and
# says `N passed, N failed` on its last line. With CI=true or DEWAR_MUST_WORK a
# test that skips itself has failed, unless tests/accepted-skips names it. Logs
# are in build/test-logs.
#
# run.sh STEP... runs only those.

set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

python=/usr/bin/python3 # python3 on PATH may be anybody's, without pytest
root=$PWD
logs=$root/build/test-logs
results=$logs/results.tsv
plain_user=dewar-test
all_steps=(checks unit e2e e2e-warm e2e-plain serve mcp docker hosts mutants sanitize arch lint)

export PYTHONDONTWRITEBYTECODE=1
[ "${CI:-}" != true ] || export DEWAR_MUST_WORK=${DEWAR_MUST_WORK:-1}

made_user=""
scratch=""
stop=""
# Reached through trap.
# shellcheck disable=SC2317
clean_up()
{
	[ -z "$made_user" ] || userdel "$plain_user" 2>/dev/null
	[ -z "$scratch" ] || rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# check SUITE NAME COMMAND...: the command is one test.
check()
{
	local suite=$1 name=$2 start=$SECONDS
	local log=$logs/$suite-$name.log
	shift 2
	if "$@" >"$log" 2>&1; then
		printf '%s\tpassed\t%s\t\n' "$suite" "$name" >>"$results"
		echo "   ok   $suite: $name ($((SECONDS - start)) s)"
	else
		printf '%s\tfailed\t%s\tsee %s\n' "$suite" "$name" "$log" >>"$results"
		echo "   FAIL $suite: $name ($((SECONDS - start)) s)"
		tail -n 40 "$log" | sed 's/^/        /'
		return 1
	fi
}

# suite SUITE XML COMMAND...: the command writes a JUnit file, one entry a test.
suite()
{
	local suite=$1 xml=$2 start=$SECONDS status=0
	local log=$logs/$suite.log
	shift 2
	rm -f "$xml"
	timeout --foreground -k 10 2700 "$@" >"$log" 2>&1 || status=$?
	$python tests/tally.py add "$results" "$suite" "$xml" "$status" "$log"
	if [ $status = 0 ]; then
		echo "   ok   $suite ($((SECONDS - start)) s)"
	else
		echo "   FAIL $suite ($((SECONDS - start)) s)"
		tail -n 60 "$log" | sed 's/^/        /'
	fi
}

# build FOLDER [MESON OPTIONS...]
build()
{
	local folder=$1
	shift
	[ -f "$folder/build.ninja" ] || meson setup "$folder" "$@" || return
	ninja -C "$folder"
}

# unit SUITE FOLDER
unit()
{
	suite "$1" "$2/meson-logs/testlog.junit.xml" \
		meson test -C "$2" --print-errorlogs --timeout-multiplier 3
}

# e2e SUITE FOLDER [PYTEST OPTIONS...], over the programs in the folder
e2e()
{
	local suite=$1 folder=$2
	shift 2
	DEWAR_SUITE=$suite DEWAR=$folder/dewar DEWAR_EXAMPLE=$folder/example-hello \
		suite "$suite" "$logs/$suite.xml" \
		$python -m pytest -c tests/e2e/pytest.ini tests/e2e \
		--junitxml="$logs/$suite.xml" "$@"
}

step_checks()
{
	check checks format make --no-print-directory check-format
	check checks includes tools/lint.sh includes
	check checks build build build || stop="what does not build cannot be tested"
}

step_unit()
{
	unit unit build
	check unit build-release build build-release --buildtype=release -Dwerror=true &&
		unit unit-release build-release
}

step_e2e()
{
	e2e e2e "$root/build"
}

# Warm must behave as cold. Left out is what runs no program, what chooses the way
# itself, and what knows a program by a word on its command line, which a forked one
# does not have.
step_e2e-warm()
{
	local name ignore=()
	for name in approve bad_programs bench check cgroup2 cli_errors doctor doctor_hosts help hook library verify warm_languages; do
		ignore+=("--ignore=tests/e2e/test_$name.py")
	done
	DEWAR_WARM=standby e2e e2e-warm "$root/build" "${ignore[@]}"
}

# From a copy: the checkout may be where only root can go.
step_e2e-plain()
{
	if [ "$(id -u)" != 0 ]; then
		# The pass above was a plain user's already; it is root's that is missing.
		printf 'e2e-root\tskipped\tall\tnot run: we are not root, so the suite ran as %s only\n' \
			"$(id -un)" >>"$results"
		echo "   SKIP e2e as root: WE ARE NOT ROOT. Run 'sudo make test' for the other half."
		return
	fi

	scratch=$(mktemp -d /tmp/test-dewar.XXXXXX) || return
	mkdir -p "$scratch/build" "$scratch/docs" "$scratch/home"
	cp -a build/dewar build/dewar-launch build/dewar-docker build/dewar-guest \
		build/dewar-serve build/dewar-verify build/dewar-attacks \
		build/dewar-hook build/ask-hook build/ask-approval \
		build/example-hello build/libdewar.so* "$scratch/build"
	[ ! -e build/dewar-scope ] || cp -a build/dewar-scope "$scratch/build"
	cp -a include packaging tests "$scratch"
	cp -a docs/man docs/THREAT_MODEL.md "$scratch/docs"
	if ! id "$plain_user" >/dev/null 2>&1; then
		useradd --home-dir "$scratch/home" --no-create-home --shell /bin/sh "$plain_user" ||
			return
		made_user=yes
	fi
	chmod -R go+rX,go-w "$scratch"
	chown -R root:root "$scratch"
	chown "$plain_user:" "$scratch/home"

	as_plain e2e-plain tests/e2e
	as_plain serve-plain tests/serve/test_{approvals,crash,keys,life,pages,policy,rest,vanish}.py
}

# as_plain SUITE TESTS...: pytest as the plain user, in the copy
as_plain()
{
	local suite=$1
	shift
	suite "$suite" "$scratch/home/$suite.xml" \
		setpriv --reuid "$plain_user" --regid "$plain_user" --init-groups \
		--inh-caps=-all env -i -C "$scratch" \
		PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME="$scratch/home" \
		LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 DEWAR_SUITE="$suite" \
		DEWAR="$scratch/build/dewar" DEWAR_EXAMPLE="$scratch/build/example-hello" \
		${DEWAR_MUST_WORK:+DEWAR_MUST_WORK="$DEWAR_MUST_WORK"} \
		$python -m pytest -c tests/e2e/pytest.ini "$@" \
		--junitxml="$scratch/home/$suite.xml"
}

# serve SUITE FOLDER [PYTEST OPTIONS...]: a daemon of each test's own, on ports that are free
serve()
{
	local suite=$1 folder=$2
	shift 2
	DEWAR_SUITE=$suite DEWAR=$folder/dewar suite "$suite" "$logs/$suite.xml" \
		$python -m pytest -c tests/e2e/pytest.ini tests/serve \
		--junitxml="$logs/$suite.xml" --durations=20 "$@"
}

step_serve()
{
	serve serve "$root/build"
}

# mcp SUITE FOLDER [PYTEST OPTIONS...]: clients from npm, kept in ~/.cache/dewar/mcp
mcp()
{
	local suite=$1 folder=$2
	shift 2
	DEWAR_SUITE=$suite DEWAR=$folder/dewar suite "$suite" "$logs/$suite.xml" \
		$python -m pytest -c tests/e2e/pytest.ini tests/mcp \
		--junitxml="$logs/$suite.xml" --durations=20 "$@"
}

step_mcp()
{
	mcp mcp "$root/build"
}

# with_engines SUITE FOLDER TESTS...: those of tests/docker, over the programs in the folder
with_engines()
{
	local suite=$1 folder=$2
	shift 2
	DEWAR_SUITE=$suite DEWAR=$folder/dewar suite "$suite" "$logs/$suite.xml" \
		$python -m pytest -c tests/e2e/pytest.ini "$@" \
		--junitxml="$logs/$suite.xml" --durations=20
}

# The images are made first, and once: by themselves they take longer than many tests.
step_docker()
{
	local bed
	if [ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null; then
		check docker images env -C tests $python -m engine images
	fi
	with_engines docker "$root/build" tests/docker --ignore=tests/docker/test_escape.py
	for bed in docker podman docker+runsc; do
		DEWAR_BED=$bed with_engines "escape-$bed" "$root/build" tests/docker/test_escape.py
	done
}

# The image is made first, and once. Rows for the table are left in the logs.
step_hosts()
{
	if [ "$(id -u)" != 0 ]; then
		printf 'hosts\tskipped\tall\tnot run: only root makes the guests'"'"' image\n' >>"$results"
		echo "   SKIP hosts: WE ARE NOT ROOT. Run 'sudo make test' for them."
		return
	fi
	check hosts image $python tests/hosts/image.py || return
	suite hosts "$logs/hosts.xml" \
		$python tests/hosts/guests.py --rows "$logs/hosts" --xml "$logs/hosts.xml"
	DEWAR_SUITE=hosts-local DEWAR=$root/build/dewar suite hosts-local "$logs/hosts-local.xml" \
		$python -m pytest -c tests/e2e/pytest.ini tests/hosts/test_local.py \
		--junitxml="$logs/hosts-local.xml"
	$python tests/hosts/table.py
	# Half of the page is about the machine that it was made on.
	[ "${CI:-}" != true ] || check hosts table $python tests/hosts/table.py --check
}

# From the objects in build/; as root, some of them as a plain user.
step_mutants()
{
	suite mutants "$logs/mutants.xml" \
		$python -m pytest -c tests/e2e/pytest.ini tests/escape \
		--junitxml="$logs/mutants.xml"
}

# What is slow without sanitizers is left out with them. dewar-launch is never
# sanitized: see meson.build.
step_sanitize()
{
	export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:exitcode=99
	export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
	CC=clang check sanitize build build build-sanitize --buildtype=debug -Dwerror=true \
		-Db_sanitize=address,undefined -Db_lundef=false || return
	unit sanitize-unit build-sanitize
	DEWAR_ASAN=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so") \
		e2e sanitize-e2e "$root/build-sanitize" -m 'not slow'
	serve sanitize-serve "$root/build-sanitize" -m 'not slow'
	mcp sanitize-mcp "$root/build-sanitize" --ignore=tests/mcp/test_inspector.py
	with_engines sanitize-docker "$root/build-sanitize" tests/docker/test_bad_engine.py \
		tests/docker/test_collect.py tests/docker/test_no_engine.py
	unset ASAN_OPTIONS UBSAN_OPTIONS
}

# What qemu-user 7.2 does not emulate as Linux has it: openat2, with which many tests remove
# their folder at the end; seccomp and Landlock; namespaces; how descriptors are cut off.
not_emulated=(allowed approvals approvals_many audit audit_many audit_tamper cgroup cgroup_home
	collect docker fd keys known_bad landlock path pool report runtimes seccomp fuzz_allowed
	fuzz_collect)

# Both say the same.
arm64_alike()
{
	diff <(build/dewar "$@" 2>&1) <(qemu-aarch64 build-arm64/dewar "$@" 2>&1)
}

# It has no openat2 there, and says so instead of running anything.
arm64_refuses()
{
	! qemu-aarch64 build-arm64/dewar run --json --level "$1" python -c 'print(1)' \
		>"$logs/arch-refused.json" && cat "$logs/arch-refused.json" &&
		grep -q '"reason":"unavailable".*openat2()' "$logs/arch-refused.json"
}

step_arch()
{
	local name names
	check arch build tools/arm64.sh build-arm64 || return
	mapfile -t names < <(meson test -C build-arm64 --list 2>/dev/null | sed 's/.* //' |
		grep -vxF -f <(printf '%s\n' "${not_emulated[@]}"))
	suite arch-unit build-arm64/meson-logs/testlog.junit.xml \
		meson test -C build-arm64 --no-rebuild --print-errorlogs --timeout-multiplier 5 \
		"${names[@]}"
	for name in "${not_emulated[@]}"; do
		printf 'arch-unit\tskipped\t%s::all\tqemu-user does not emulate what it needs\n' \
			"$name" >>"$results"
	done
	check arch version arm64_alike --version
	check arch policy arm64_alike policy explain --policy strict --json python -c \
		'import os; os.system("ls")'
	check arch analysis arm64_alike check --json python -c 'import os; os.system("ls")'
	check arch refused-none arm64_refuses none
	check arch refused-container arm64_refuses container
}

step_lint()
{
	local name
	for name in codespell shellcheck cppcheck clang-tidy; do
		check lint "$name" tools/lint.sh "$name"
	done
}

mkdir -p "$logs"
: >"$results"
[ $# -gt 0 ] || set -- "${all_steps[@]}"
for step; do
	echo "== $step"
	"step_$step"
	if [ -n "$stop" ]; then
		echo "   We stop here: $stop."
		break
	fi
done
$python tests/tally.py sum "$results"
