#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Storms: clients and servers exchange traffic (traffic.h) while this script injects faults again
# and again.  After the storm each client that is left must be served, and nothing may be missing
# or left behind.  Runs inside a VM, from a folder with traffic, disturb.sh and tap.sh in it, and
# prints TAP:
#
#	run.sh SCENARIO...
#
# KRDMA_STORM is the duration of each scenario in seconds (4).  KRDMA_SEED is the seed of all random
# choices (1): the same seed gives the same choices, but not the same timing.  With several
# machines the second one serves and the first one does the rest; they run one scenario at a time.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/storm/disturb.sh
. "$here/disturb.sh"

seconds=${KRDMA_STORM:-4}
seed=${KRDMA_SEED:-1}
work=$(mktemp -d) || exit 1
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
limit=${KRDMA_STORM_LIMIT:-60000}
# If rxe of 6.1 cannot send a packet because an address is missing, it forgets the work requests
# that wait for an acknowledgement.  In this time (ms), eight tries of one second each are over.
forgotten=20000
problems=$work/problems
interface=dummy0 there=10.77.0.1 there6=fd77::1
if [ "${NODES:-1}" != 1 ]; then
	interface=eth0 there=10.77.0.2 there6=fd77::2
fi
goodbye=7999

# problem TEXT: record why the scenario has failed.
problem()
{
	echo "$*" >>"$problems"
}

# roll BELOW: set $rolled to a number from 0 to BELOW - 1, which depends on the seed alone.
roll()
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	rolled=$((seed / 65536 % $1))
}

# doze FROM TO: sleep for a random number of ms.
doze()
{
	roll $(($2 - $1 + 1))
	usleep $((($1 + rolled) * 1000))
}

# now: seconds of uptime, because one of the scenarios sets the clock.
now()
{
	local time

	read -r time _ </proc/uptime
	echo "${time%.*}"
}

# storming: succeeds while time is left and no problem is recorded.
storming()
{
	[ "$(now)" -lt "$until" ] && [ ! -s "$problems" ]
}

# Processes have names: "server", "client1", and so on.  The successor of a killed process has the
# same name.

# start NAME ROLE OPTION...: start a process; its PID is then in $work/NAME.pid.
start()
{
	local name=$1 tries=0
	shift

	: >"$work/$name.out"
	"$here/traffic" "$@" -t "$limit" >>"$work/$name.out" 2>&1 </dev/null &
	echo $! >"$work/$name.pid"
	echo "$*" >"$work/$name.how"
	[ "$1" = serve ] || return 0
	until grep -q '^listening' "$work/$name.out"; do
		tries=$((tries + 1))
		if [ $tries -gt 600 ] || ! kill -0 "$!" 2>/dev/null; then
			problem "the server does not start: $(tail -n 3 "$work/$name.out")"
			return 1
		fi
		usleep 100000
	done
}

# again NAME: start the process again with the same options, after it was killed.
again()
{
	mv "$work/$1.out" "$work/$1.old"
	# shellcheck disable=SC2046 # words
	start "$1" $(cat "$work/$1.how")
}

pid_of()
{
	cat "$work/$1.pid"
}

# someone: set $chosen to the name of a random process.
someone()
{
	local count

	# shellcheck disable=SC2086 # words
	set -- $actors
	count=$#
	roll "$count"
	shift "$rolled"
	chosen=$1
}

# end NAME: notify the process that the storm is over; it must end with status 0.
end()
{
	local status=0 waited=0 tries=0

	# A process that has just been started may not have its signal handler yet.
	until grep -Eq '^(asking|listening)' "$work/$1.out" ||
		! kill -0 "$(pid_of "$1")" 2>/dev/null || [ $tries -gt 600 ]; do
		tries=$((tries + 1))
		usleep 100000
	done
	kill -TERM "$(pid_of "$1")" 2>/dev/null
	while kill -0 "$(pid_of "$1")" 2>/dev/null; do
		mend
		# Every twelve seconds, which is longer than a process needs to end.
		waited=$((waited + 1))
		[ $((waited % 60)) != 0 ] || mend_dumb
		usleep 200000
	done
	wait "$(pid_of "$1")" || status=$?
	sed "s/^/# $1: /" "$work/$1.out"
	[ $status = 0 ] || problem "$1 ends with $status: $(grep violation "$work/$1.out")"
	rm -f "$work/$1".*
}

# The devices' counts of their objects, without the devices' numbers, which change.
resources()
{
	rdma resource show 2>/dev/null | sed 's/^[0-9]*: //' | sort
}

# Number of pages that are pinned for devices.
pinned()
{
	cat /proc/sys/vm/stat_refresh
	awk '/^nr_foll_pin_acquired / { count += $2 } /^nr_foll_pin_released / { count -= $2 }
		END { print count }' /proc/vmstat
}

# same_again NAME WAS COMMAND...: wait up to a minute until COMMAND prints WAS.
same_again()
{
	local name=$1 was=$2 tries=0
	shift 2

	until [ "$("$@")" = "$was" ]; do
		tries=$((tries + 1))
		if [ $tries -gt 600 ]; then
			problem "$name: $was before, $("$@") after"
			return 1
		fi
		usleep 100000
	done
}

# The most important of tools/vm/verdict.patterns, checked here to name the scenario.  The whole
# log is judged after the command.
log_is_clean()
{
	dmesg | sed -n "$((log_before + 1)),\$p" |
		grep -E '\bBUG:|\bWARNING:|KASAN:|UBSAN:|ODEBUG:|\bOops\b|possible (circular|recursive)|inconsistent lock|blocked for more than|refcount_t:|Out of memory' \
			>"$work/splats" || return 0
	problem "the kernel has complained: $(head -n 3 "$work/splats")"
}

used()
{
	cat /sys/module/krdma/refcnt
}

begin_storm()
{
	: >"$problems"
	echo "# storm $1, seed $seed, $seconds s, Linux $(uname -r)"
	before=$(resources)
	pins=$(pinned)
	log_before=$(dmesg | wc -l)
	actors=''
	forgetful=''
	case "$1 $(uname -r)" in
	link\ 6.1.* | address\ 6.1.*) forgetful="-o $forgotten" ;;
	esac
	# One of the clients does not run as root.
	chmod 666 /dev/krdma
	# shellcheck disable=SC2154 # set by begin_others
	[ "${NODES:-1}" = 1 ] || return 0
	# shellcheck disable=SC2086 # words
	start server serve -s "$seed" $forgetful && actors=server
}

# clients COUNT OPTION...: start clients with two connections each, by IPv4 and IPv6 in turn.
clients()
{
	local count=$1 number address
	shift

	for number in $(seq "$count"); do
		address=$there
		[ $((number % 2)) = 1 ] || address=$there6
		# shellcheck disable=SC2086 # words
		start "client$number" ask -a "$address" -s $((seed + number)) $forgetful "$@"
		actors="$actors client$number"
	done
	until=$(($(now) + seconds))
}

# give_up: a process that has ended too early is a problem.  After a problem, kill all processes,
# because they may wait for each other in vain.
give_up()
{
	local actor

	for actor in $actors; do
		kill -0 "$(pid_of "$actor")" 2>/dev/null && continue
		problem "$actor has ended before it was to"
	done
	[ -s "$problems" ] || return 0
	for actor in $actors; do
		kill -KILL "$(pid_of "$actor")" 2>/dev/null
	done
}

# calm: end all processes after the storm, and check that nothing is left behind.
calm()
{
	local actor

	give_up
	for actor in $actors; do
		[ "$actor" = server ] || end "$actor"
	done
	case " $actors " in *" server "*) end server ;; esac
	same_again "objects of devices" "$before" resources
	same_again "pinned pages" "$pins" pinned
	if [ -d /sys/module/krdma ] && same_again "users of the module" 0 used; then
		rmmod krdma || problem "krdma does not unload"
		insmod /vm/krdma.ko || problem "krdma does not load again"
	fi
	log_is_clean
	[ ! -s "$problems" ]
}

# holds NAME COMMAND...: the test passes if COMMAND succeeds.
holds()
{
	local name=$1
	shift

	if "$@"; then
		ok "$name"
	else
		not_ok "$name" "$(cat "$problems")"
	fi
}

# listen_for_goodbye: start to listen, or again; the output is appended to $work/goodbye.
listen_for_goodbye()
{
	krdma ping --listen -P $goodbye >>"$work/goodbye" 2>&1 &
	listening=$!
}

# Repeat SIGINT until the program ends: the shell starts background processes with SIGINT ignored,
# so a signal that comes before the program has installed its handler is lost.
listen_no_more()
{
	while kill -INT "$listening" 2>/dev/null; do
		usleep 100000
	done
	wait "$listening"
}

# serve_others SCENARIO: the second machine serves until the first one says goodbye.
serve_others()
{
	begin_storm "of others"
	start server serve && actors=server
	[ "$1" != death ] || others_death
	: >"$work/goodbye"
	listen_for_goodbye
	until grep -q ' left after ' "$work/goodbye" || [ -s "$problems" ]; do
		if mend; then
			# It listened at the old device.
			listen_no_more
			listen_for_goodbye
		fi
		usleep 200000
	done
	listen_no_more
	# The server's probes find clients that have vanished, whether or not the cable is back.
	calm && exit
	sed 's/^/# /' "$problems"
	exit 1
}

[ "${NODE:-1}" = 1 ] || serve_others "$1"
for scenario; do
	if [ "$(type "storm_$scenario" 2>/dev/null)" = "" ]; then
		not_ok "storm" "there is no storm '$scenario'"
		continue
	fi
	began=$(now)
	"storm_$scenario"
	echo "# storm $scenario took $(($(now) - began)) s"
done
if [ "${NODES:-1}" != 1 ]; then
	tries=0
	until krdma ping -P $goodbye -c 1 -W 2 "$there" >/dev/null 2>&1; do
		mend
		tries=$((tries + 1))
		if [ $tries -gt 60 ]; then
			not_ok "the other machine is told" "it cannot be reached"
			break
		fi
		sleep 1
	done
fi
tap_end
