#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Install the Debian packages that are missing: setup.sh build, test for the default tier of
# tests, or test-all for both; or only what each of them does at its end: setup.sh grammars
#
# Root is asked for only where something is missing. Everything comes from
# Debian, except for the grammars of `dewar check`, which are packages of npm
# pinned by a lock file. Elsewhere we say what is needed and go on: meson will
# tell what it does not find.

set -euo pipefail

build=(gcc libc6-dev libcurl4-openssl-dev libjansson-dev libmicrohttpd-dev libseccomp-dev
	libsqlite3-dev libsystemd-dev libtree-sitter-dev libyaml-dev meson nettle-dev ninja-build pkg-config python3 scdoc
	zlib1g-dev)
tools=(clang clang-format clang-tidy codespell cppcheck curl libclang-rt-14-dev libcmocka-dev openssl
	python3-jsonschema python3-pytest python3-pytest-random-order python3-pytest-xdist
	shellcheck binutils)
# An engine each for level docker, what images are made with, and a runtime beside runc.
engines=(busybox-static docker.io mmdebstrap netavark podman runc runsc)
# Another machine, built and run here.
machines=(gcc-aarch64-linux-gnu qemu-user)
# The hosts of tests/hosts: guests, and what their image is made with.
guests=(cpio e2fsprogs qemu-system-x86)
walls=(bubblewrap iproute2 passt sudo util-linux)
data=(python3-matplotlib python3-numpy python3-pandas python3-scipy python3-seaborn python3-sklearn)
languages=(esbuild g++ lua5.4 perl php-cli php-mbstring r-base-core ruby zsh)
# Another source's node (NodeSource's, say) refuses to live beside Debian's.
[ -x /usr/bin/node ] || languages+=(nodejs)
# For the grammars, and the clients of tests/mcp; that other source's node brings it.
command -v npm >/dev/null || languages+=(npm)

# Nothing of these packages is run, only compiled. Without them dewar is built all the
# same, and says so when it is asked to analyse code.
grammars()
{
	local folder=tools/grammars
	[ ! $folder/node_modules/.package-lock.json -nt $folder/package-lock.json ] || return 0
	if ! command -v npm >/dev/null; then
		echo "There is no npm to get grammars with: dewar check will not work." >&2
		return 0
	fi
	echo "Getting the grammars of dewar check"
	if ! (cd $folder && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
		echo "npm did not get the grammars: dewar check will not work." >&2
		return 0
	fi
	touch $folder/node_modules/.package-lock.json
	# What was configured without them is configured again.
	touch meson.build
}
cd "$(dirname "$0")/.."

case ${1:-build} in
grammars)
	grammars
	exit 0
	;;
build) wanted=("${build[@]}") ;;
test) wanted=("${build[@]}" "${tools[@]}" "${walls[@]}" "${data[@]}" "${languages[@]}") ;;
test-all) wanted=("${build[@]}" "${tools[@]}" "${walls[@]}" "${data[@]}" "${languages[@]}"
	"${engines[@]}" "${machines[@]}" "${guests[@]}") ;;
*)
	echo "usage: $0 build|test|test-all|grammars" >&2
	exit 2
	;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "This is not Debian. What we need, by Debian's names: ${wanted[*]}" >&2
	grammars
	exit 0
fi

# Also true of a package that another one provides (pkgconf for pkg-config).
have=$(dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' |
	sed -n 's/^installed //p' | sed 's/([^)]*)//g' | tr -s ' ,' '\n' | sort -u)
missing=()
for package in "${wanted[@]}"; do
	grep -qxF -- "$package" <<<"$have" || missing+=("$package")
done
if [ ${#missing[@]} = 0 ]; then
	grammars
	exit 0
fi

echo "Installing from Debian: ${missing[*]}"
install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends
	"${missing[@]}")
if [ "$(id -u)" = 0 ]; then
	as_root=()
elif command -v sudo >/dev/null; then
	as_root=(sudo)
else
	echo "We are neither root nor is there sudo. Run this as root, then try again:" >&2
	echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
	exit 1
fi

# A test starts the engine that it needs; a daemon that apt started would stay.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap '"${as_root[@]}" rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee $policy >/dev/null
	"${as_root[@]}" chmod 755 $policy
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" "${install[@]}"
grammars
