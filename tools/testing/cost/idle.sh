# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests what idle connections cost.  Sourced by run, after bench.sh, which has check().
# shellcheck disable=SC2154 # $topdir and $work

readonly idle_conns=64 idle_seconds=20
# Most instructions of a keepalive: its work item, the write, and the peer's acknowledgement.
readonly idle_most=20000

idle_options()
{
	misused "no connections" "usage: " "$topdir/tools/bench/idle/run" 0
	misused "no time" "usage: " "$topdir/tools/bench/idle/run" 10 x
}

idle_measures()
{
	"$topdir/tools/bench/idle/run" $idle_conns $idle_seconds >"$work/idle" 2>"$work/idle.progress" || {
		cat "$work/idle" "$work/idle.progress"
		return 1
	}
}

# idle_figure NAME: prints the figure of that name.
idle_figure()
{
	awk -v name="$1" '$1 == name { print $2 }' "$work/idle"
}

# is EXPRESSION: fails, and prints it, if it is not true.
is()
{
	awk "BEGIN { exit !($1) }" || echo "not true: $1"
}

# Each end probes every five seconds, and a probe is a packet and its acknowledgement.
idle_probes()
{
	local never probed probes=$((idle_conns * 2 / 5))

	never=$(idle_figure idle.never.conns=$idle_conns.packets-per-second)
	probed=$(idle_figure idle.default.conns=$idle_conns.packets-per-second)
	is "${never:--1} == 0"
	is "${probed:-0} > 1.9 * $probes && ${probed:-0} < 2.3 * $probes"
}

idle_is_cheap()
{
	local never probed

	never=$(idle_figure idle.never.conns=$idle_conns.instructions-per-second)
	probed=$(idle_figure idle.default.conns=$idle_conns.instructions-per-second)
	is "${probed:-0} > ${never:-0}"
	is "${probed:-1e12} - ${never:-0} < $idle_most * $idle_conns * 2 / 5"
}

# A message and its acknowledgement, and nothing else.
idle_talks()
{
	is "$(idle_figure talk.never.conns=$idle_conns.packets-per-message)+0 == 2"
	is "$(idle_figure talk.default.conns=$idle_conns.packets-per-message)+0 == 2"
}

check "idle.says_what_is_wrong_with_its_options" idle_options
check "idle.measures" idle_measures
# Proves: E14
check "idle.each_end_probes_in_its_interval_and_never_without" idle_probes
check "idle.a_probe_is_cheap" idle_is_cheap
# Proves: E14
check "idle.nothing_is_added_where_messages_flow" idle_talks
