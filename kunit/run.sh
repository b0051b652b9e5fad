#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Runs the KUnit suites, inside a VM with krdma.ko loaded, and prints their
# results as TAP.
#
#	run.sh KRDMA_KUNIT.KO
#
# Every suite below must have run, and no other one: a suite that is compiled
# out, or new and not listed, is a failure.

suites='krdma_device krdma_device_race krdma_fake_device krdma_limits krdma_link'

results=0
failures=0
kunit=/sys/kernel/debug/kunit

result()
{
	results=$((results + 1))
	[ "$1" = ok ] || failures=$((failures + 1))
	echo "$1 $results $2"
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
			result "${line%%ok *}ok" "$1: ${name#- }"
			;;
		1..*) planned=${line#1..} ;;
		"KTAP version"* | "# Subtest: "* | "# module: "* | "# "*" pass:"*) ;;
		"#"*) echo "$line" ;;
		*) echo "# $line" ;;
		esac
	done <"$kunit/$1/results"
	[ "$seen" = "$planned" ] || result "not ok" "$1: ran to its end ($seen of ${planned:-?} cases)"
}

echo "TAP version 13"
if ! said=$(insmod "$1" 2>&1); then
	result "not ok" "krdma_kunit.ko loads ($said)"
else
	for suite in $suites; do
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
		result ok "krdma_kunit.ko unloads"
	else
		result "not ok" "krdma_kunit.ko unloads ($said)"
	fi
fi
echo "1..$results"
[ "$failures" -eq 0 ]
