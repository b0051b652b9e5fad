# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Clean systems, in which packages are tried: each is what debootstrap makes, below a folder of its
# own, so that the machine's own packages are not touched.  The systems and the packages that they
# download are kept in the cache.  Sourced by programs that set $work to a folder of their own.
# shellcheck disable=SC2154 # that

# shellcheck source=tools/vm/packages.sh
. "$topdir/tools/vm/packages.sh"

# Days for which a system in the cache is used.
readonly SYSTEM_DAYS=30

readonly systems=$krdma_cache/systems

# system_fresh FILE: true if the system in the cache is new enough.
system_fresh()
{
	[ -z "${KRDMA_REFRESH:-}" ] && [ -n "$(find "$1" -mtime "-$SYSTEM_DAYS" 2>/dev/null)" ]
}

# keep_system ROOT FILE: writes the system to the cache.
keep_system()
{
	tar -C "$1" --numeric-owner --exclude='./proc/*' --exclude='./var/cache/apt/archives/*' \
		-cf "$2.new" .
	mv "$2.new" "$2"
}

# unpack_system FILE ROOT: starts with a copy of the system in the cache.
unpack_system()
{
	rm -rf "$2"
	mkdir -p "$2"
	tar -C "$2" --numeric-owner -xpf "$1"
}

# base_system SUITE: the smallest system of this release, with its package sources, to the file
# $systems/SUITE.tar.
base_system()
{
	local suite=$1 file=$systems/$1.tar root=$work/base

	! system_fresh "$file" || return 0
	step "making a system of $suite with debootstrap"
	need_space "$systems" 3000 "the systems in which packages are tried"
	mkdir -p "$systems/archives-$suite/partial"
	rm -rf "$root"
	debootstrap --variant=minbase --cache-dir="$systems/archives-$suite" "$suite" "$root" \
		"$(packages_mirror "$suite")" >"$work/debootstrap.log" 2>&1 ||
		die "debootstrap could not make a system of $suite: $(tail -n 1 "$work/debootstrap.log"); the whole log: $work/debootstrap.log"
	with_lock "packages-$suite" packages_use "$suite"
	rm -f "$root"/etc/apt/sources.list.d/*
	cp "$packages_dir/sources.list" "$root/etc/apt/sources.list"
	# The way to the network is the machine's.
	# It is thrown away: a crash in between costs nothing.
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
	grep '^Acquire::' "$packages_dir/apt.conf" >"$root/etc/apt/apt.conf.d/90network" || :
	echo 'APT::Install-Recommends "false";' >"$root/etc/apt/apt.conf.d/90small"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod 755 "$root/usr/sbin/policy-rc.d"
	enter "$suite" "$root" apt-get -q update >"$work/update.log" 2>&1 ||
		die "apt-get update failed in the system of $suite: $(tail -n 1 "$work/update.log")"
	keep_system "$root" "$file"
	rm -rf "$root"
}

# link_packages FROM TO: gives the folder TO the packages of the folder FROM, without copying them
# where the file system allows it.
link_packages()
{
	find "$1" -maxdepth 1 -name '*.deb' -exec cp -lft "$2" {} + 2>/dev/null ||
		find "$1" -maxdepth 1 -name '*.deb' -exec cp -ut "$2" {} +
}

# enter SUITE ROOT COMMAND...: runs the command in the system, with processes and mounts of its own.
# The packages that other systems have downloaded are there, and those that the command downloads
# are kept for the next one; but apt's lock is the system's, because others run at the same time.
enter()
{
	local archives=$systems/archives-$1 root=$2 status=0
	local own=$root/var/cache/apt/archives
	shift 2

	mkdir -p "$own/partial"
	link_packages "$archives" "$own"
	unshare --mount --pid --ipc --uts --fork --kill-child --mount-proc="$root/proc" \
		chroot "$root" \
		env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \
		DEBIAN_FRONTEND=noninteractive "$@" || status=$?
	link_packages "$own" "$archives"
	find "$own" -maxdepth 1 -name '*.deb' -delete
	return $status
}
