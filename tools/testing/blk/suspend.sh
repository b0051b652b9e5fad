#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests suspending a machine that has disks and exports of krdma_blk, as far as the kernel's own
# tests of that go (CONFIG_PM_DEBUG), and that it does not hibernate.  Runs in a VM with krdma.ko,
# krdma_blk_test.ko and fio, in virtual time.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
test=/sys/kernel/debug/krdma_blk_test
attach=$config/devices/sleeper
mib=8

# sleep_to LEVEL STATE: suspend, or hibernate, up to LEVEL of the kernel's tests, and wake up.
sleep_to()
{
	put /sys/power/pm_test "$1" && put /sys/power/state "$2"
}

# await_waiting DISK NUMBER: wait up to 30 s until NUMBER writes to DISK have begun and not ended.
await_waiting()
{
	local tries=0 count=0

	while [ "$count" -lt "$2" ] && [ $tries -lt 300 ]; do
		usleep 100000
		read -r _ count <"/sys/block/${1#/dev/}/inflight"
		tries=$((tries + 1))
	done
	echo "# $count writes wait"
	[ "$count" -ge "$2" ]
}

# spread_writes DISK: a program for each of two processors, with 16 writes at a time, that verifies
# them.  Nothing but the two waits for them, so they can be frozen.
spread_writes()
{
	verified "$1" --numjobs=2 --cpus_allowed=0,1 --cpus_allowed_policy=split --size=2m \
		--offset_increment=2m --randseed=7
}

# boottime: seconds, also of the time for which the machine was suspended.
boottime()
{
	cut -d . -f 1 /proc/uptime
}

if [ ! -e /sys/power/pm_test ]; then
	skip "suspending" "this kernel has no tests of that"
	tap_end
	exit
fi
echo "# states: $(cat /sys/power/state /sys/power/mem_sleep | xargs)"
put /sys/module/suspend/parameters/pm_test_delay 1
check "the module is loaded" load_module
check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
fill $work/data $mib
cp $work/data $work/image

# With requests in flight.
for kind in memory store; do
	store=''
	[ $kind = memory ] || store=store=$work/image
	# shellcheck disable=SC2086 # one word, or none
	check "$kind: an export" export_new sleeper ${mib}M $store
	check "$kind: is attached" device_new sleeper $here_address queues=2 poll_queues=1
	disk=$(disk sleeper)
	verified "$disk" --time_based --runtime=16 >$work/fio 2>&1 &
	fio=$!
	check "$kind: it is being written" await_write "$disk"
	for level in freezer freezer devices devices; do
		check "$kind: the machine sleeps, $level" sleep_to $level mem
		sleep 1
	done
	wait $fio
	status=$?
	grep -v '^3;' $work/fio | sed 's/^/# fio: /'
	check "$kind: fio has seen no error, and what it had written" [ $status = 0 ]
	is "$kind: the device is live" live $attach/state
	check "$kind: it is written" write_direct $work/data "$disk"
	check "$kind: and has what was written" same $work/data "$disk"
	check "$kind: it is detached" device_end sleeper
	check "$kind: the export is ended" export_end sleeper
done

# The connections are lost, and the machine sleeps then.  Requests wait, and so does the limit.
check "an export" export_new sleeper ${mib}M
check "is attached" device_new sleeper $here_address hold_seconds=600
disk=$(disk sleeper)
rdma link delete rxe0
becomes "the device goes" holding $attach/state 30
check "the machine sleeps" sleep_to devices mem
is "the device waits" holding $attach/state
rdma link add rxe0 type rxe netdev dummy0
becomes "it comes back" live $attach/state 60
check "and works" write_direct $work/data "$disk"
check "with what was written" same $work/data "$disk"

# An image of this machine has the memory of its exports.
refused "with an export, the machine does not hibernate" "busy" sleep_to freezer disk
check "the disk works" same $work/data "$disk"
check "it is detached" device_end sleeper
check "the export is ended" export_end sleeper
# Proves: F3
check "without an export it does" sleep_to freezer disk
check "and an export is made then" export_new sleeper 1M
check "and ended" export_end sleeper

# What waits for the server belongs to the queues of processors, and these are switched off.  Their
# requests do not keep the machine awake, and are carried out when the server is back.
hold=25
for how in processor sleep; do
	if [ $how = sleep ] && ! grep -q deep /sys/power/mem_sleep; then
		skip "$how" "this machine has no sleep in which processors are switched off"
		continue
	fi
	check "$how: an export" export_new sleeper ${mib}M
	check "$how: is attached" device_new sleeper $here_address queues=2 hold_seconds=$hold
	disk=$(disk sleeper)
	check "$how: it is written" write_direct $work/data "$disk"
	rdma link delete rxe0
	becomes "$how: the device goes" holding $attach/state 30
	spread_writes "$disk" >$work/fio 2>&1 &
	fio=$!
	check "$how: writes of both processors wait" await_waiting "$disk" 32
	before=$(boottime)
	if [ $how = processor ]; then
		check "$how: it is switched off" put /sys/devices/system/cpu/cpu1/online 0
	else
		put /sys/power/mem_sleep deep
		check "$how: the machine sleeps" sleep_to processors mem
	fi
	took=$(($(boottime) - before))
	echo "# $took s"
	# Proves: F3
	check "and nothing has waited for the server" [ $took -lt 15 ]
	is "$how: the device does" holding $attach/state
	rdma link add rxe0 type rxe netdev dummy0
	becomes "$how: the server is back" live $attach/state 60
	wait $fio
	status=$?
	grep -v '^3;' $work/fio | sed 's/^/# fio: /'
	# Proves: F3
	check "every write was carried out, and nothing has failed" [ $status = 0 ]
	[ $how = sleep ] || check "$how: it is switched on" put /sys/devices/system/cpu/cpu1/online 1
	check "$how: the disk is written by both" spread_writes "$disk"
	check "$how: it is detached" device_end sleeper
	check "$how: the export is ended" export_end sleeper
done

# A server that has slept does not execute what its client may have failed meanwhile.
if grep -q deep /sys/power/mem_sleep; then
	put /sys/power/mem_sleep deep
	check "an export with a store" export_new sleeper ${mib}M store=$work/image
	check "is attached" device_new sleeper $here_address queues=1
	disk=$(disk sleeper)
	put $test/stall2 "krdma_blk_conn_lease any"
	put $test/stall "krdma_blk_read_command any"
	becomes "the server is about to check its client" stalled $test/stall2 30
	# A program that can be frozen while it waits.
	fio --name=one --filename="$disk" --rw=write --bs=4k --number_ios=1 --ioengine=libaio \
		--direct=1 >$work/fio 2>&1 &
	writer=$!
	becomes "and a command waits" stalled $test/stall 30
	put /sys/module/suspend/parameters/pm_test_delay 8
	before=$(boottime)
	check "the machine sleeps" sleep_to core mem
	put $test/stall go
	put $test/stall2 go
	echo "# for $(($(boottime) - before)) s"
	wait $writer
	check "it is written" [ $? = 0 ]
	# Proves: F3
	check "and the command was sent again" \
		[ "$(cat "/sys/block/${disk#/dev/}/krdma/reconnects")" -ge 1 ]
	check "it is detached" device_end sleeper
	check "the export is ended" export_end sleeper
else
	echo "# this machine has no state in which time stands still"
fi
put /sys/power/pm_test none

check "the modules are unloaded" rmmod krdma_blk_test krdma_blk
tap_end
