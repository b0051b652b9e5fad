# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests what the end of a process that is killed costs.  Sourced by run, after idle.sh, which has is().
# shellcheck disable=SC2154 # $topdir and $work

# Most instructions of the end of a process with 1,000 connections.
declare -rA kill_most=([plain]=150000000 [lane]=30000000)

kill_options()
{
	misused "no connections" "usage: " "$topdir/tools/bench/kill/run" 0
	misused "too many" "usage: " "$topdir/tools/bench/kill/run" 100000
}

kill_measures()
{
	"$topdir/tools/bench/kill/run" 100 1000 >"$work/kill" 2>"$work/kill.progress" || {
		cat "$work/kill" "$work/kill.progress"
		return 1
	}
}

# kill_figure NAME: prints the figure of that name.
kill_figure()
{
	awk -v name="$1" '$1 == name { print $2 }' "$work/kill"
}

kill_is_cheap()
{
	local kind

	for kind in plain lane; do
		is "0$(kill_figure "kill.$kind.conns=1000.all") > 0"
		is "$(kill_figure "kill.$kind.conns=1000.all")+0 < ${kill_most[$kind]}"
	done
}

# Ten times the connections take ten times the work, and not more.
kill_grows_linearly()
{
	local kind few

	for kind in plain lane; do
		few=$(kill_figure "kill.$kind.conns=100.all")
		is "0$few > 0"
		is "$(kill_figure "kill.$kind.conns=1000.all")+0 < 10.5 * 0$few"
	done
}

check "kill.says_what_is_wrong_with_its_options" kill_options
check "kill.measures" kill_measures
check "kill.a_process_with_1000_connections_ends_cheaply" kill_is_cheap
check "kill.the_work_grows_linearly" kill_grows_linearly
