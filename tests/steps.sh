# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The steps of the tests, for tests/run.sh. The default tier:
#
#   checks        format, include rules, wording, the table of concerns, the runner's own tests, the build
#   unit          cmocka and the inputs of tests/fuzz, under ASan and UBSan, built by clang
#   e2e           pytest over build/dewar, as the current user
#   e2e-plain     those of them that privilege changes, as a plain user made for the purpose
#   e2e-warm      the core of them in warm cells
#   serve         pytest over `build/dewar serve`: API contract, queue, keys, approvals
#   mcp           MCP on the wire
#   mutants       the escape suite with one wall of each class taken away
#   lint          codespell, shellcheck, and clang-tidy on the files that the change touches
#
# The full tier has all of that, and no test of these twice:
#
#   lint-all      cppcheck, and clang-tidy on the whole tree
#   release       unit tests and fuzz inputs again, as -O3 -DNDEBUG, warnings as errors
#   slow          the tests of e2e that are marked slow: the whole escape suite and others
#   plain-rest    the other e2e tests, and the daemon's, as a plain user
#   warm-rest     the other e2e tests in warm cells
#   clients       the official clients, inspector and conformance sets of MCP, from npm
#   docker        level docker, beside engines that the step starts: Docker, Podman, runsc
#   hosts         the hosts that people have, most of them booted as guests of QEMU
#   mutants-rest  the escape suite with each other wall taken away, one at a time
#   sanitize      e2e, serve, mcp and what engines may answer, under ASan and UBSan
#   threads       serve, and the unit tests that have threads, under ThreadSanitizer
#   arch          the build for arm64, and what qemu-user can run of its tests

default_steps=(checks unit e2e e2e-plain e2e-warm serve mcp mutants lint)
slow_steps=(lint-all release slow plain-rest warm-rest clients docker hosts mutants-rest sanitize
	threads arch)
# Has no deadline to miss, so it runs beside the steps after it, on the time that they leave.
background_step=lint-all

# How long the slow ones take on two cores, in seconds: CI starts none that would not fit.
declare -A usual_s=([release]=70 [slow]=180 [plain-rest]=340 [warm-rest]=110 [clients]=90
	[docker]=380 [hosts]=600 [mutants-rest]=80 [sanitize]=360 [threads]=220 [arch]=200
	[lint-all]=600)

python=/usr/bin/python3 # python3 on PATH may be another one, without pytest
root=$PWD
logs=$root/build/test-logs
results=$logs/results.tsv
plain_user=dewar-test-$$ # another run of the tests has a user of its own
workers=${DEWAR_WORKERS:-6}

pytest_options=()
may_be_empty="" # yes: it is no failure if pytest finds no test to run
chosen_tests=()
programs=$root/build # where the tests find dewar
as_user=()           # the command prefix that runs pytest as another user
stop=""

export PYTHONDONTWRITEBYTECODE=1
[ "${CI:-}" != true ] || export DEWAR_MUST_WORK=${DEWAR_MUST_WORK:-1}
[ -z "${DEWAR_SHUFFLE:-}" ] || pytest_options+=(--random-order-bucket=global
	"--random-order-seed=$DEWAR_SHUFFLE")

made_user=""
scratch=""
background="" # the pid of the step that runs beside the others
# Reached through trap.
# shellcheck disable=SC2317
clean_up()
{
	if [ -n "$made_user" ]; then
		userdel "$plain_user" 2>/dev/null
		rm -rf "/tmp/pytest-of-$plain_user" "/tmp/hsperfdata_$plain_user"
	fi
	[ -z "$scratch" ] || rm -rf "$scratch"
	[ -z "$background" ] || kill "$background"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

is_default()
{
	[[ " ${default_steps[*]} " = *" $1 "* ]]
}

usual_seconds()
{
	echo "${usual_s[$1]}"
}

# record SUITE OUTCOME NAME REASON COMMAND: a line of the results, as tests/tally.py reads it
record()
{
	printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$results"
}

# check NAME COMMAND...: the command is one test of this step; `build` is never left out.
check()
{
	local name=$1 start=$SECONDS
	local log=$logs/$step-$name.log
	shift
	[ ${#chosen_tests[@]} = 0 ] || [[ " build ${chosen_tests[*]} " = *" $name "* ]] || return 0
	if "$@" >"$log" 2>&1; then
		record "$step" passed "$name" "" ""
		echo "   ok   $step: $name ($((SECONDS - start)) s)"
	else
		record "$step" failed "$name" "see $log" "tests/run.sh $step $name"
		echo "   FAIL $step: $name ($((SECONDS - start)) s)"
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
	[ $status != 5 ] || [ "$may_be_empty" != yes ] || return 0
	if [ $status = 0 ]; then
		echo "   ok   $suite ($((SECONDS - start)) s)"
	else
		echo "   FAIL $suite ($((SECONDS - start)) s)"
		tail -n 60 "$log" | sed 's/^/        /'
	fi
	$python tests/tally.py add "$results" "$step" "${suite%-alone}" "$xml" "$status" "$log"
}

skip()
{
	record "$step" skipped all "not run: $1" "tests/run.sh $step"
	echo "   SKIP $step: $1"
}

# build FOLDER [MESON OPTIONS...]: the product, and what the tests start beside it
build()
{
	local folder=$1
	shift
	[ -f "$folder/build.ninja" ] || meson setup "$folder" "$@" || return
	ninja -C "$folder" all test-programs
}

# unit SUITE FOLDER [NAME...]: the unit tests, all or those that were asked for
unit()
{
	local suite=$1 folder=$2
	shift 2
	suite "$suite" "$folder/meson-logs/testlog.junit.xml" \
		meson test -C "$folder" --no-rebuild --print-errorlogs --timeout-multiplier 5 \
		"$@" "${chosen_tests[@]}"
}

# pytest SUITE MARKS PATH...: the tests with these marks, in parallel, then those that must run
# alone; or of the tests that were asked for, those that are below these paths.
pytest()
{
	local suite=$1 marks=$2 path test paths=()
	shift 2
	if [ ${#chosen_tests[@]} -gt 0 ]; then
		for test in "${chosen_tests[@]}"; do
			for path; do
				[[ $test != "$path"* ]] || paths+=("$test")
			done
		done
		[ ${#paths[@]} = 0 ] || run_pytest "$suite" "${paths[@]}"
		return
	fi
	run_pytest "$suite" -n "$workers" --dist loadgroup -m "($marks) and not exclusive" "$@"
	may_be_empty=yes run_pytest "$suite-alone" -m "($marks) and exclusive" "$@"
}

run_pytest()
{
	local suite=$1 xml=$logs/$1.xml
	shift
	[ ${#as_user[@]} = 0 ] || xml=$scratch/home/$suite.xml
	suite "$suite" "$xml" "${as_user[@]}" \
		env DEWAR_SUITE="${suite%-alone}" DEWAR="$programs/dewar" \
		DEWAR_EXAMPLE="$programs/example-hello" \
		$python -m pytest -c tests/pytest.ini --junitxml="$xml" "${pytest_options[@]}" "$@"
}

# ---- the default tier ----

step_checks()
{
	check format make --no-print-directory check-format
	check includes tools/lint.sh includes
	check prose tools/lint.sh prose
	check concerns $python tests/concerns.py check
	pytest runner "not slow" tests/runner
	check build build build ||
		stop="what does not build cannot be tested"
}

build_sanitized()
{
	CC=clang build build-sanitize --buildtype=debug -Dwerror=true -Dtests=enabled \
		-Db_sanitize=address,undefined -Db_lundef=false
}

sanitizer_options()
{
	export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:exitcode=99
	export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
	export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:exitcode=99
}

step_unit()
{
	sanitizer_options
	check build build_sanitized && unit unit build-sanitize
}

step_e2e()
{
	pytest e2e "not slow" tests/e2e
}

step_e2e-plain()
{
	as_plain pytest e2e-plain "privilege and not slow" tests/e2e
}

# Warm must behave as cold.
step_e2e-warm()
{
	DEWAR_WARM=standby pytest e2e-warm "core and not cold and not slow" tests/e2e
}

step_serve()
{
	pytest serve "not slow" tests/serve
}

step_mcp()
{
	pytest mcp "not slow" tests/mcp
}

# From the objects in build/; as root, some of them as a plain user.
step_mutants()
{
	pytest mutants "not slow" tests/escape
}

step_lint()
{
	check codespell tools/lint.sh codespell
	check shellcheck tools/lint.sh shellcheck
	check clang-tidy tools/lint.sh clang-tidy-changed
}

# ---- the full tier ----

step_lint-all()
{
	check cppcheck tools/lint.sh cppcheck
	check clang-tidy tools/lint.sh clang-tidy
}

step_release()
{
	check build build build-release --buildtype=release -Dwerror=true -Dtests=enabled &&
		unit release build-release
}

step_slow()
{
	pytest slow "slow" tests/e2e
}

step_plain-rest()
{
	as_plain pytest plain-rest "not once and (slow or not privilege)" tests/e2e
	as_plain pytest serve-plain "privilege" tests/serve
}

step_warm-rest()
{
	DEWAR_WARM=standby pytest warm-rest "not once and not cold and (slow or not core)" tests/e2e
}

step_clients()
{
	pytest clients "slow" tests/mcp
}

# The images are made first, and once: by themselves they take longer than many tests.
step_docker()
{
	if [ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null; then
		check images env -C tests $python -m engine images
	fi
	pytest docker "slow or not slow" tests/docker
}

# The image is made first, and once. Rows for the table are left in the logs.
step_hosts()
{
	if [ "$(id -u)" != 0 ]; then
		skip "only root makes the guests' image; run 'sudo tests/run.sh hosts'"
		return
	fi
	check image $python tests/hosts/image.py || return
	suite hosts "$logs/hosts.xml" \
		$python tests/hosts/guests.py --rows "$logs/hosts" --xml "$logs/hosts.xml"
	pytest hosts-local "slow or not slow" tests/hosts
	$python tests/hosts/table.py
	# Half of the page is about the machine that it was made on.
	[ "${CI:-}" != true ] || check table $python tests/hosts/table.py --check
}

step_mutants-rest()
{
	pytest mutants-rest "slow" tests/escape
}

# dewar-launch is never sanitized: see meson.build.
step_sanitize()
{
	sanitizer_options
	check build build_sanitized || return
	programs=$root/build-sanitize
	DEWAR_ASAN=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so") \
		pytest sanitize-e2e "not heavy" tests/e2e
	pytest sanitize-serve "not slow" tests/serve
	pytest sanitize-mcp "slow or not slow" tests/mcp/test_{approvals,clients,conformance,wire}.py
	pytest sanitize-docker "slow or not slow" tests/docker/test_bad_engine.py \
		tests/docker/test_collect.py tests/docker/test_no_engine.py
	programs=$root/build
}

step_threads()
{
	sanitizer_options
	CC=clang check build build build-threads --buildtype=debugoptimized -Dwerror=true \
		-Db_sanitize=thread -Db_lundef=false -Dtests=enabled || return
	[ ${#chosen_tests[@]} != 0 ] ||
		unit threads-unit build-threads pool approvals_many audit_many keys policy_watch
	programs=$root/build-threads
	pytest threads "not slow" tests/serve
	programs=$root/build
}

# Not emulated by qemu-user 7.2 as in Linux: openat2, with which many tests remove
# their folder at the end; seccomp and Landlock; namespaces; how descriptors are cut off.
not_emulated=(allowed approvals approvals_many audit audit_many audit_tamper cgroup cgroup_parent
	collect docker fd id keys known_bad landlock path pool report runtimes seccomp fuzz_allowed
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
	check build tools/arm64.sh build-arm64 || return
	mapfile -t names < <(meson test -C build-arm64 --list 2>/dev/null | sed 's/.* //' |
		grep -vxF -f <(printf '%s\n' "${not_emulated[@]}"))
	unit arch-unit build-arm64 "${names[@]}"
	for name in "${not_emulated[@]}"; do
		record arch-unit skipped "$name::all" "qemu-user does not emulate what it needs" ""
	done
	check version arm64_alike --version
	check policy arm64_alike policy explain --policy strict --json python -c \
		'import os; os.system("ls")'
	check analysis arm64_alike check --json python -c 'import os; os.system("ls")'
	check refused-none arm64_refuses none
	check refused-container arm64_refuses container
}

# ---- another user ----

# as_plain COMMAND...: with as_user set, where we are root, so that pytest runs as the plain user
as_plain()
{
	if [ "$(id -u)" != 0 ]; then
		# The pass above was a plain user's already; it is root's that is missing.
		skip "not root: all tests ran as $(id -un); run 'sudo make test' for the other half"
		return
	fi
	[ -n "$scratch" ] || make_plain_copy || return
	as_user=(setpriv --reuid "$plain_user" --regid "$plain_user" --init-groups --inh-caps=-all
		env -i -C "$scratch" PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
		HOME="$scratch/home" LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
		${DEWAR_MUST_WORK:+DEWAR_MUST_WORK="$DEWAR_MUST_WORK"})
	programs=$scratch/build
	"$@"
	programs=$root/build
	as_user=()
}

# The tests from a copy: the checkout may be where only root can go.
make_plain_copy()
{
	scratch=$(mktemp -d /tmp/test-dewar.XXXXXX) || return
	mkdir -p "$scratch/build" "$scratch/docs" "$scratch/home"
	find build -maxdepth 1 \( -type f -o -type l \) \( -name 'dewar*' -o -name 'ask-*' -o \
		-name 'example-*' -o -name 'libdewar.so*' \) -exec cp -a -t "$scratch/build" {} +
	cp -a README.md include packaging tests "$scratch"
	cp -a docs/man docs/THREAT_MODEL.md "$scratch/docs"
	useradd --home-dir "$scratch/home" --no-create-home --shell /bin/sh "$plain_user" || return
	made_user=yes
	chmod -R go+rX,go-w "$scratch"
	chown -R root:root "$scratch"
	chown "$plain_user:" "$scratch/home"
}
