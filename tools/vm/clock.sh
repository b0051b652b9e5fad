# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The clock of a run, and what its machines say.  Sourced by run, which sets $virtual if the machine's
# time is virtual, $deadline, $events and, by then, $work.
# shellcheck disable=SC2154 # those

hertz=$(getconf CLK_TCK)
readonly hertz
now=0
# How many seconds have passed in which the machine said nothing and used no processor time.
idle=0
# What of a line has come so far.
begun=''

# look_at_clock: sets $now to the time, in seconds, that limits are compared with.  In virtual time
# that is the emulator's processor time.  A machine always has timers, so an emulator that uses no
# processor time for a minute waits for something that never comes: its deadline has passed.  The
# minute is counted in turns of next_event, not by the host's clock: that may be set, and it goes on
# while the host is paused.
look_at_clock()
{
	local fields time

	if [ -z "$virtual" ]; then
		now=$SECONDS
		return
	fi
	{ read -r fields <"/proc/$(cat "$work/pid1")/stat"; } 2>/dev/null || return 0
	# The fields after the process name, which may contain any character.
	read -ra fields <<<"${fields##*) }"
	time=$(((fields[11] + fields[12]) / hertz))
	if [ "$time" -gt "$now" ]; then
		now=$time
		idle=0
	elif [ "$idle" -gt 60 ]; then
		now=$deadline
	fi
}

# next_event: waits up to a second for a line that a machine says, and sets $event to it; fails if
# none has come.  On a busy host read can time out in the middle of a line.  Its rest comes next.
next_event()
{
	local part

	IFS= read -r -t 1 -u "$events" part || {
		begun+=$part
		idle=$((idle + 1))
		return 1
	}
	# shellcheck disable=SC2034 # for run
	event=$begun$part
	begun=''
	idle=0
}
