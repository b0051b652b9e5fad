#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Run the test programs of this directory inside a VM, and merge their output into one TAP
# stream.  Fails if a test fails, if a program is missing, if a program ends before it has
# reported all planned tests, or if krdma has more objects after it than before.
#
#	run.sh [PROGRAM]...        for example: run.sh abi.64 device.32
#
# KRDMA_SLOW=1 shortens the stress tests, for a debug kernel.  The 32-bit and x32 programs are
# always shortened, because they test the layouts.  KRDMA_QUICK=1 shortens them as well, and keeps
# the limits of a kernel that is not slow.  x32 programs run in a kernel that was booted
# with syscall.x32=y, and are skipped elsewhere.

here=$(dirname "$0")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
objects=/sys/kernel/debug/krdma/objects

# Renumbers the results of one program, continuing after the previous program.  The counts are
# kept in $work/tally ("results failures") for the next program.
merge()
{
	awk -v program="$1" -v statusfile="$work/status" -v tallyfile="$work/tally" '
	BEGIN {
		getline tally < tallyfile
		close(tallyfile)
		split(tally, count, " ")
		results = count[1]
		failures = count[2]
		planned = -1
		own = 0
	}
	function report(verdict, name)
	{
		results++
		if (verdict == "not ok")
			failures++
		print verdict " " results " " program ": " name
		fflush()
	}
	/^(not )?ok [0-9]+/ {
		verdict = /^not/ ? "not ok" : "ok"
		name = $0
		sub(/^(not )?ok [0-9]+ *(- *)?/, "", name)
		own++
		report(verdict, name)
		next
	}
	/^1\.\.[0-9]+/ {
		planned = substr($0, 4) + 0
		next
	}
	/^TAP version/ { next }
	# Drop the lines of the harness that begin and end a test, and keep those between.
	/^#  RUN|^#          +OK / { next }
	/^#/ { print; fflush(); next }
	{ print "# " $0; fflush() }
	END {
		getline status < statusfile
		if (planned < 1)
			report("not ok", "planned its tests (it printed no plan)")
		else if (own != planned)
			report("not ok", "ran to its end (" own " results of " planned ")")
		if (status != 0)
			if (status > 128)
				report("not ok", "ended by itself (signal " status - 128 ")")
			else
				print "# " program " exited with status " status
		# A bad exit status without a failed result is a failure, too.
		if (status != 0 && status <= 128 && failures == count[2])
			report("not ok", "exits with 0 when all passes (status " status ")")
		print results " " failures > tallyfile
	}'
}

run()
{
	local slow="${KRDMA_SLOW:-0}" began now

	case $1 in
	*.32 | *.x32) slow=1 ;;
	esac
	echo 127 >"$work/status"
	read -r began _ </proc/uptime
	{
		KRDMA_SLOW=$slow "$here/$1" 2>&1
		echo $? >"$work/status"
	} | merge "$1"
	read -r now _ </proc/uptime
	echo "# $1 took $((${now%.*} - ${began%.*})) s"
}

# Prints the kinds of objects of which more exist than before; nothing without the module.
objects_left()
{
	[ -d /sys/module/krdma ] || return 0
	awk 'NR == FNR { before[$1] = $2; next }
		$2 > before[$1] + 0 { printf " %s %d", $1, $2 - before[$1] }' "$work/objects" "$objects" 2>&1
}

# skip NAME WHY: reports a skipped test in its own line.
skip()
{
	local results failures

	read -r results failures <"$work/tally"
	results=$((results + 1))
	echo "ok $results $1 # SKIP $2"
	echo "$results $failures" >"$work/tally"
}

# Retry, because connections end after their programs.
check_objects()
{
	local tries=0 left results failures verdict=ok

	while left=$(objects_left) && [ -n "$left" ] && [ "$tries" -lt 40 ]; do
		usleep 250000
		tries=$((tries + 1))
	done
	read -r results failures <"$work/tally"
	if [ -n "$left" ]; then
		echo "# objects are left:$left"
		failures=$((failures + 1))
		verdict="not ok"
	fi
	results=$((results + 1))
	echo "$verdict $results $1: leaves no object of krdma's"
	echo "$results $failures" >"$work/tally"
}

# If there are several machines, the first one runs the tests, and the others assist it.
if [ "${NODE:-1}" != 1 ]; then
	result=0
	for program; do
		"$here/$program" || result=1
	done
	exit $result
fi

echo "TAP version 13"
echo "0 0" >"$work/tally"
if ! cat "$objects" >"$work/objects"; then
	echo "not ok 1 krdma's objects can be counted"
	echo "1 1" >"$work/tally"
fi
if [ $# -eq 0 ]; then
	while read -r program; do
		set -- "$@" "$program"
	done <"$here/programs"
fi
for program; do
	case $program in
	skip-32-bit) skip "32-bit programs" "the compiler cannot make them (gcc-multilib)" ;;
	skip-x32) skip "x32 programs" "the compiler cannot make them (gcc-multilib)" ;;
	*.x32)
		if grep -qw syscall.x32=y /proc/cmdline; then
			run "$program"
			check_objects "$program"
		else
			skip "$program" "the kernel was not booted with syscall.x32=y"
		fi
		;;
	*)
		run "$program"
		check_objects "$program"
		;;
	esac
done
read -r results failures <"$work/tally"
echo "1..$results"
echo "# $results results, $failures failures"
[ "$results" -gt 0 ] && [ "$failures" -eq 0 ]
