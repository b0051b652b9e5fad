#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Runs tests against one krdma.ko after the other, inside a VM in which krdma is not loaded.
#
#	guest.sh LIST
#
# Each line of LIST names a folder with a krdma.ko, and a test:
#
#	FOLDER kunit SUITE
#	FOLDER core [CASE...]
#	FOLDER e2e PROGRAM
#
# Files that are not in FOLDER are taken from the folder "common" beside this script.  The results
# of a test stand between "# begin FOLDER" and "# end FOLDER", and so do the lines of the kernel's
# log that are not clean ("# log LINE").  After such a line, or if the module does not unload, the
# kernel's later reports prove nothing about the next test, and the script ends.

here=$(dirname "$0")
# Seconds of the virtual clock after which a test that waits forever is killed.
limit=${KRDMA_MUTANT_LIMIT:-900}

# file NAME: prints the path of the file in FOLDER, or else of the common one.
file()
{
	if [ -e "$here/$folder/$1" ]; then
		echo "$here/$folder/$1"
	else
		echo "$here/common/$1"
	fi
}

# within_limit COMMAND...: COMMAND must be a path.  Given a bare name, busybox starts its own applet
# of that name, which has other options.
within_limit()
{
	local status=0

	timeout -s KILL "$limit" "$@" || status=$?
	[ "$status" -lt 124 ] || echo "not ok - ends within $limit s (status $status)"
	[ "$status" -eq 0 ] || echo "not ok - status $status"
}

run_core()
{
	local name

	mkdir -p /tmp/core
	cp "$here"/common/core/* /tmp/core/
	for name in krdma_core_test krdma_echo krdma_ping; do
		cp "$(file "$name.ko")" /tmp/core/
	done
	KRDMA_STORM=0 within_limit /bin/sh /tmp/core/run.sh "$@"
	rm -rf /tmp/core
}

run_test()
{
	local kind=$1
	shift

	case $kind in
	kunit) within_limit /bin/sh "$here/common/kunit.sh" "$(file krdma_kunit.ko)" "$@" ;;
	core) run_core "$@" ;;
	e2e)
		KRDMA_SEED=1 KRDMA_SLOW=1 KRDMA_KO=$(file krdma.ko) \
			within_limit /bin/sh "$here/common/e2e/run.sh" "$@"
		;;
	*) echo "not ok - there is no kind of test '$kind'" ;;
	esac
}

# leaks: prints what kmemleak finds, if the kernel has it.
leaks()
{
	local kmemleak=/sys/kernel/debug/kmemleak

	[ -w "$kmemleak" ] || return
		# Objects that are freed after a grace period must be gone, and an object must look
		# unreferenced in more than one scan.
	usleep 6000000
	echo scan >"$kmemleak"
	echo scan >"$kmemleak"
	grep -A 20 '^unreferenced object' "$kmemleak" | grep -E '^unreferenced|krdma' |
		grep -B 1 krdma | sed -n 's/^/# log /p'
	echo clear >"$kmemleak"
}

# unload: unloads krdma.ko; waits a little for what ends in the background.
unload()
{
	local said tries=0

	for holder in /sys/module/krdma/holders/*; do
		[ ! -e "$holder" ] || rmmod "${holder##*/}" 2>/dev/null
	done
	while ! said=$(rmmod krdma 2>&1); do
		tries=$((tries + 1))
		if [ "$tries" -ge 20 ]; then
			echo "not ok - krdma.ko unloads ($said)"
			return 1
		fi
		usleep 250000
	done
}

taint()
{
	# An out-of-tree (4096), unsigned (8192) module and KUnit (262144) are expected.
	echo $(($(cat /proc/sys/kernel/tainted) & ~(4096 | 8192 | 262144)))
}

while read -r folder words; do
	echo "# begin $folder"
	echo "mutant: begin $folder" >/dev/kmsg
	dmesg -c >/dev/null
	dirty=''
	if said=$(insmod "$(file krdma.ko)" 2>&1); then
		# shellcheck disable=SC2086 # a list of words
		run_test $words
		unload || dirty=1
	else
		echo "not ok - krdma.ko loads ($said)"
	fi
	[ -n "$dirty" ] || leaks
	dmesg -c >/tmp/log
	grep -E -f "$here/common/patterns" /tmp/log >/tmp/complaints && dirty=1
	sed 's/^/# log /' /tmp/complaints
	[ "$(taint)" = 0 ] || dirty=1
	echo "mutant: end $folder" >/dev/kmsg
	echo "# end $folder"
	[ -z "$dirty" ] || exit 0
done <"$1"
