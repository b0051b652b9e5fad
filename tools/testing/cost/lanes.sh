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
# What a first message saves at least if it goes with the request, of the same programs.
readonly lanes_early_saves=20000
# What a write or a read of 8 bytes, of 4 KiB and of 64 KiB takes with a window, by plain ones, in
# percent.
declare -rA lanes_window=([8]=127 [4096]=107 [65536]=103)

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

lanes_early_saves()
{
	local early late

	early=$(lanes_figure programs.lane.open-request-close.early.batch=1)
	late=$(lanes_figure programs.lane.open-request-close.late.batch=1)
	is "0$early > 0"
	is "${early}+$lanes_early_saves < ${late}+0"
}

lanes_windows_are_cheap()
{
	local operation size window plain most

	for operation in write read; do
		for size in 8 4096 65536; do
			most=${lanes_window[$size]}
			window=$(lanes_figure "window.$operation.$size")
			plain=$(lanes_figure "plain.$operation.$size")
			is "0$plain > 0"
			is "0$window > 0"
			is "$window+0 <= $plain * $most / 100"
		done
	done
}

check "lanes.says_what_is_wrong_with_its_options" lanes_options
check "lanes.measures" lanes_measures
check "lanes.a_lane_of_the_kernel_is_cheap" lanes_are_cheap
check "lanes.a_lane_of_programs_is_cheap" lanes_of_programs_are_cheap
check "lanes.a_message_that_goes_early_saves_one_of_its_own" lanes_early_saves
check "lanes.the_device_s_work_is_cheap" lanes_windows_are_cheap
