#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Runs the KUnit suites, inside a VM with krdma.ko loaded, and prints their
# results as TAP.
#
#	run.sh KRDMA_KUNIT.KO [-q] [-p PERSONALITY]... [SUITE...]
#
# Without SUITE, every suite below must have run, and no other one: a suite that is
# compiled out, or new and not listed, is a failure.  Otherwise only these run, each
# in a module that is loaded for it.
#
# With -p fake devices behave like those of a driver (personality.c).  SUITEs run for each
# driver; without SUITE, all that use a device.  The file personality.expected beside this
# script lists the cases that fail there: those must.  With -q slow cases are left out.

suites='krdma_device krdma_device_race krdma_fake_device krdma_limits krdma_link
krdma_private_data krdma_wr_split krdma_mr_desc krdma_names krdma_conn_state
krdma_address krdma_port krdma_device_notifier krdma_fake_cm krdma_fake_faults krdma_budget
krdma_data krdma_inline krdma_template krdma_iwarp krdma_post_errors krdma_ring_layout krdma_cq
krdma_cq_ready krdma_srq krdma_srq_end krdma_srq_share krdma_lane_frame krdma_lane
krdma_lane_queue krdma_fault krdma_no_memory krdma_qp_end
krdma_conn krdma_conn_end krdma_resolve krdma_listen krdma_mr krdma_mr_keys krdma_mr_turns
krdma_frwr krdma_mr_pin krdma_mr_stuck krdma_confine krdma_personality krdma_drivers'

# Those of krdma that use a device.
device_suites='krdma_device krdma_device_race krdma_address krdma_port krdma_device_notifier krdma_data
krdma_inline krdma_template krdma_iwarp krdma_post_errors krdma_cq krdma_cq_ready krdma_srq
krdma_srq_end
krdma_fault krdma_no_memory krdma_qp_end krdma_conn krdma_conn_end krdma_resolve krdma_listen
krdma_mr krdma_mr_keys krdma_mr_turns krdma_frwr krdma_mr_pin krdma_mr_stuck'

# One line, for looking up.
# shellcheck disable=SC2086 # a list of words
suites=$(printf '%s ' $suites)

results=0
failures=0
personality=
expected=${0%/*}/personality.expected
kunit=/sys/kernel/debug/kunit

result()
{
	results=$((results + 1))
	[ "$1" = ok ] || failures=$((failures + 1))
	echo "$1 $results $2"
}

# known SUITE CASE: why the case fails with this personality, if it is known to.
known()
{
	[ -n "$personality" ] || return 0
	awk -v who="$personality" -v suite="$1" -v name="$2" '
	!/^#/ && ($1 == who || $1 == "*") && $2 == suite && $3 == name {
		$1 = $2 = $3 = ""
		sub(/^ */, "")
		print
		exit
	}' "$expected"
}

# judged OK SUITE CASE: the result of a case.
judged()
{
	local why

	why=$(known "$2" "$3")
	case $why/$1 in
	/*) result "$1" "${personality:+$personality: }$2: $3" ;;
	sometimes*) result ok "$personality: $2: $3: $1, both are known ($why)" ;;
	*/ok) result "not ok" "$personality: $2: $3: passes, and is in ${expected##*/}" ;;
	*) result ok "$personality: $2: $3: fails, as is known ($why)" ;;
	esac
}

# The cases of one suite.  The file is KTAP: a line for each case is indented
# by one level, and what went wrong in it stands before it.
suite_cases()
{
	local line name planned='' seen=0

	while IFS= read -r line; do
		line=${line#"${line%%[! ]*}"}
		case $line in
		"ok "* | "not ok "*)
			name=${line#*ok }
			name=${name#* }
			[ "${name#- }" = "$1" ] && continue
			seen=$((seen + 1))
			judged "${line%%ok *}ok" "$1" "${name#- }"
			;;
		1..*) planned=${line#1..} ;;
		"KTAP version"* | "# Subtest: "* | "# module: "* | "# "*" pass:"*) ;;
		"#"*) echo "$line" ;;
		*) echo "# $line" ;;
		esac
	done <"$kunit/$1/results"
	[ "$seen" = "$planned" ] || result "not ok" "$1: ran to its end ($seen of ${planned:-?} cases)"
}

# Addresses for the tests of looking them up: on the interface of the fake device,
# and on one without a device.
addresses()
{
	# Another run in this machine has made them.
	[ ! -e /sys/class/net/kaddr0 ] || return 0
	ip addr add 10.76.0.1/32 dev lo &&
		ip -6 addr add fd76::1/128 dev lo nodad &&
		ip link add kaddr0 type dummy &&
		ip link set kaddr0 arp on up &&
		ip addr add 10.79.0.1/24 dev kaddr0
}

# Allocations that may sleep can be made to fail, too, without a word in the log.
injection()
{
	local injector

	for injector in failslab fail_page_alloc; do
		echo N >"/sys/kernel/debug/$injector/ignore-gfp-wait" &&
			echo 0 >"/sys/kernel/debug/$injector/verbose" || return
	done
}

# A case whose expectation fails may wait for a minute, several times, and insmod waits for it.
# A machine that takes insmod for hung would end there, with all cases that come after it.
patience()
{
	local seconds=/proc/sys/kernel/hung_task_timeout_secs

	[ ! -w "$seconds" ] || [ "$(cat "$seconds")" -ge 360 ] || echo 360 >"$seconds"
}

echo "TAP version 13"
patience
injection || result "not ok" "allocations can fail"
addresses || result "not ok" "the addresses for the tests"
# load_suites KO SUITE...: the results of what has run in the module.
load_suites()
{
	local ko=$1 said suite
	shift

	if ! said=$(insmod "$ko" "personality=$personality" 2>&1); then
		result "not ok" "krdma_kunit.ko loads ($said)"
		return
	fi
	for suite; do
		if [ -r "$kunit/$suite/results" ]; then
			suite_cases "$suite"
		else
			result "not ok" "$suite: has run"
		fi
	done
	for folder in "$kunit"/krdma*; do
		suite=${folder##*/}
		case " $suites " in
		*" $suite "*) ;;
		*) result "not ok" "$suite: is listed in ${0##*/}" ;;
		esac
	done
	if said=$(rmmod krdma_kunit 2>&1); then
		[ -n "$personality" ] || result ok "krdma_kunit.ko unloads"
	else
		result "not ok" "krdma_kunit.ko unloads ($said)"
	fi
}

ko=$1
shift
personalities=
while :; do
	case ${1:-} in
	-p)
		personalities="$personalities $2"
		shift
		;;
	-q)
		printf 'speed>slow' >/sys/module/kunit/parameters/filter ||
			result "not ok" "slow cases can be left out"
		;;
	*) break ;;
	esac
	shift
done
if [ $# -eq 0 ] && [ -z "$personalities" ]; then
	# shellcheck disable=SC2086 # a list of words
	load_suites "$ko" $suites
elif [ $# -eq 0 ]; then
	# shellcheck disable=SC2086 # a list of words
	set -- $device_suites
fi
# Without -p once, as nobody's.
for personality in ${personalities:-''}; do
	for suite; do
		printf %s "$suite" >/sys/module/kunit/parameters/filter_glob ||
			result "not ok" "$suite: can be chosen"
		load_suites "$ko" "$suite"
	done
done
echo "1..$results"
[ "$failures" -eq 0 ]
