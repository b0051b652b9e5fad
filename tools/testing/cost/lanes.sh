# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests what opening and closing a lane costs.  Sourced by run, after idle.sh, which has is().
# shellcheck disable=SC2154 # $topdir and $work

# Most instructions of a lane that is opened and closed, both ends: in the kernel and of programs,
# one after the other and 60 at a time.
readonly lanes_kernel=70000 lanes_kernel_many=32000
readonly lanes_programs=120000 lanes_programs_many=107000
readonly lanes_numbers_many=51000

lanes_options()
{
	misused "too much" "usage: " "$topdir/tools/bench/lanes/run" 1
}

lanes_measures()
{
	"$topdir/tools/bench/lanes/run" >"$work/lanes" 2>"$work/lanes.progress" || {
		cat "$work/lanes" "$work/lanes.progress"
		return 1
	}
}

# lanes_figure NAME: prints the figure of that name.
lanes_figure()
{
	awk -v name="$1" '$1 == name { print $2 }' "$work/lanes"
}

lanes_are_cheap()
{
	is "0$(lanes_figure krdma.lane.open-close.batch=1) > 0"
	is "$(lanes_figure krdma.lane.open-close.batch=1)+0 < $lanes_kernel"
	is "0$(lanes_figure krdma.lane.open-close.batch=60) > 0"
	is "$(lanes_figure krdma.lane.open-close.batch=60)+0 < $lanes_kernel_many"
}

lanes_of_programs_are_cheap()
{
	is "0$(lanes_figure programs.lane.open-close.batch=1) > 0"
	is "$(lanes_figure programs.lane.open-close.batch=1)+0 < $lanes_programs"
	is "0$(lanes_figure programs.lane.open-close.batch=60) > 0"
	is "$(lanes_figure programs.lane.open-close.batch=60)+0 < $lanes_programs_many"
	is "0$(lanes_figure programs.numbers.open-close.batch=60) > 0"
	is "$(lanes_figure programs.numbers.open-close.batch=60)+0 < $lanes_numbers_many"
}

check "lanes.says_what_is_wrong_with_its_options" lanes_options
check "lanes.measures" lanes_measures
check "lanes.a_lane_of_the_kernel_is_cheap" lanes_are_cheap
check "lanes.a_lane_of_programs_is_cheap" lanes_of_programs_are_cheap
