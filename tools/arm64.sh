#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Build for arm64 on another machine, with warnings as errors: arm64.sh [FOLDER], which is
# build-arm64. tools/setup.sh test-all gets the compiler, and qemu-user for the tests:
#
#	tools/arm64.sh && meson test -C build-arm64
#
# The libraries are Debian's, unpacked to $DEWAR_CACHE (~/.cache/dewar) by mmdebstrap, with an
# apt of its own: this machine's packages and architectures stay as they are. The name of
# the folder changes with the list; remove it to have newer packages.

set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-build-arm64}
suite=bookworm
packages=(libc6-dev libcmocka-dev libcurl4-openssl-dev libjansson-dev libmicrohttpd-dev
	libseccomp-dev libsqlite3-dev libtree-sitter-dev libyaml-dev nettle-dev zlib1g-dev)

for tool in aarch64-linux-gnu-gcc meson ninja; do
	if ! command -v $tool >/dev/null; then
		echo "There is no $tool: run tools/setup.sh test-all." >&2
		exit 1
	fi
done

cache=${DEWAR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dewar}/arm64
key=$(echo "$suite ${packages[*]}" | sha256sum | cut -c 1-12)
sysroot=$cache/$key
mkdir -p "$cache"
exec 9>"$sysroot.lock"
flock 9
if [ ! -d "$sysroot" ]; then
	echo "Getting Debian's libraries for arm64: some minutes, and once only"
	mode=root
	[ "$(id -u)" = 0 ] || mode=unshare
	# As a tar file: unpacked as a folder it would belong to others where we are not root.
	rm -rf "$sysroot.part" "$sysroot.tar"
	mmdebstrap --quiet --mode=$mode --architectures=arm64 --variant=extract --format=tar \
		--include="$(IFS=,; echo "${packages[*]}")" --aptopt='Acquire::Languages none' \
		--dpkgopt='path-exclude=/usr/share/doc/*' $suite "$sysroot.tar"
	mkdir "$sysroot.part"
	tar -C "$sysroot.part" -xf "$sysroot.tar" --no-same-owner --exclude='./dev/*' \
		--exclude='./var/*'
	rm "$sysroot.tar"
	mv "$sysroot.part" "$sysroot"
fi

# One file: meson reads them again one by one, and a constant is not known in the next.
{
	printf "[constants]\nsysroot = '%s'\n\n" "$sysroot"
	cat tools/cross/arm64.ini
} >"$sysroot.ini.new"
cmp -s "$sysroot.ini.new" "$sysroot.ini" || mv "$sysroot.ini.new" "$sysroot.ini"
rm -f "$sysroot.ini.new"
flock -u 9

[ -f "$folder/build.ninja" ] ||
	meson setup "$folder" --cross-file "$sysroot.ini" -Dwerror=true -Dtests=enabled
ninja -C "$folder"
