#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests attaching step by step: what each queue gets, and that a device that cannot be attached
# leaves nothing, whichever step fails.  krdma_blk_test.ko makes them fail.  Runs in a VM with
# krdma.ko and krdma_blk_test.ko, in virtual time.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
test=/sys/kernel/debug/krdma_blk_test
counts=/sys/kernel/debug/krdma/objects
trace=/sys/kernel/tracing
device=$config/devices/steps
processors=$(grep -c ^processor /proc/cpuinfo)

# objects: print the number of krdma's objects, by kind, when it does not change any more; not the
# server's records of clients.
objects()
{
	local before='' now tries=0

	now=$(grep -v '^blk_client ' $counts)
	while [ "$now" != "$before" ] && [ $tries -lt 100 ]; do
		before=$now
		usleep 300000
		now=$(grep -v '^blk_client ' $counts)
		tries=$((tries + 1))
	done
	echo "$now"
}

# nothing [STEP]: what was there before an attempt to attach is there, and nothing else.  A client
# that does not wait for the server's answer may have been accepted, and does not know that.  So the
# server expects it to return.
nothing()
{
	local now

	case ${1:-} in
	krdma_conn_wait*) ;;
	*) [ -z "$(cat $config/exports/steps/clients)" ] || return ;;
	esac

	now=$(objects)
	[ "$now" = "$objects" ] || {
		echo "$objects" >$work/before
		echo "$now" >$work/now
		diff $work/before $work/now
		return 1
	}
	[ "$(cat $device/state)" = detached ] && [ "$(cat $device/enabled)" = 0 ] &&
		[ -z "$(cat $device/disk)" ] && ! ls -d /sys/block/krdmab* 2>/dev/null &&
		[ "$(cat $config/exports/steps/connections)" = 0 ]
}

# vectors: print which completion vectors were asked for, of the CQs made since "clear".
vectors()
{
	sed -n 's/.*wanted=\(-*[0-9]*\).*/\1/p' $trace/trace | xargs
}

check "the module is loaded" load_module
check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
check "an export" export_new steps 4M

# Each queue has the vector of its number, and so do those that are polled: the block layer has
# processor i use queue i.  krdma takes it modulo the number of the device's vectors.
[ -e $trace/trace ] || mount -t tracefs none $trace
check "the vectors are traced" put $trace/kprobe_events "p:vector krdma_vector_get wanted=%si:s32"
put $trace/events/kprobes/vector/filter "wanted >= 0"
put $trace/events/kprobes/vector/enable 1
: >$trace/trace
check "a device with some queues, of which some are polled" \
	device_new steps $here_address queues=4 poll_queues=2
check "each has its vector: $(vectors)" [ "$(vectors)" = "0 1 2 3 0 1" ]
: >$trace/trace
check "the connections end" put $config/exports/steps/size 6M
becomes "and are made again" 1 "/sys/block/$(cat $device/disk)/krdma/reconnects" 60
becomes "all of them" live $device/state 60
check "with the same vectors: $(vectors)" [ "$(vectors)" = "0 1 2 3 0 1" ]
put $trace/events/kprobes/vector/enable 0
: >$trace/kprobe_events
check "it is written by each processor" sh -c "fio --name=each --filename=/dev/$(cat $device/disk) \
	--rw=randwrite --bs=4k --ioengine=libaio --direct=1 --iodepth=4 --number_ios=50 \
	--numjobs=$processors --cpus_allowed=0-$((processors - 1)) --cpus_allowed_policy=split"
check "it is detached" device_end steps
becomes "and the server has noticed" 0 $config/exports/steps/connections 60

# After it has grown, an export expects its clients to return for 20 seconds.
sleep 20

# Each step fails, for each queue of a device.  Nothing is left, and the next attempt is successful.
objects=$(objects)
device_make steps $here_address queues=2 poll_queues=1
objects=$(objects)
for step in "krdma_session_create -12" "krdma_conn_create -12" "krdma_conn_create -12 1" \
	"krdma_conn_create -12 2" "krdma_conn_resolve -12" "krdma_conn_resolve -113 1" \
	"krdma_device_query_attr -19" "krdma_device_query_attr -19 1" "krdma_cq_create -12" \
	"krdma_cq_create -12 1" "krdma_cq_create -12 2" "krdma_conn_create_qp -12" \
	"krdma_conn_create_qp -12 1" "krdma_conn_create_qp -12 2" "krdma_conn_create_qp -12 4" \
	"krdma_conn_post_recv -107" "krdma_conn_post_recv -107 70" "krdma_conn_connect -111" \
	"krdma_conn_connect -111 1" "krdma_conn_connect -111 2" "krdma_conn_wait -110" \
	"krdma_conn_wait -110 1" "krdma_conn_wait -110 3" "krdma_conn_wait -110 5" \
	"krdma_conn_accept -12" "krdma_conn_accept -12 1" "krdma_blk_table_read -5" \
	"krdma_blk_table_read -5 1" "krdma_blk_table_read -5 2" "krdma_conn_map_sg -12" \
	"krdma_conn_map_sg -12 1" "krdma_conn_map_sg -12 2" "krdma_blk_poll_wait 0" \
	"krdma_blk_poll_wait 0 1" "krdma_blk_poll_wait 0 2" "krdma_blk_commands_open -12" \
	"krdma_blk_commands_open -12 2" "blk_mq_alloc_tag_set -12" "__blk_mq_alloc_disk -12" \
	"device_add_disk -12" "bdi_register -12" "sysfs_create_groups -12"; do
	put $test/refuse "$step"
	if put $device/enabled 1 2>$work/said; then
		not_ok "$step: it is attached"
		put $device/enabled 0
	else
		ok "$step: it is not attached"
	fi
	check "$step: because of that, $(cat $work/said)" [ "$(cat $test/refuse)" -gt 0 ]
	put $test/refuse off
	becomes "$step: the server has noticed" 0 $config/exports/steps/connections 60
	check "$step: nothing is left" nothing "$step"
done
check "after all of these it is attached" put $device/enabled 1
fill $work/data 4
check "and written" write_direct $work/data "$(disk steps)"
check "and read" same $work/data "$(disk steps)"
check "and detached" put $device/enabled 0
becomes "and the server has noticed" 0 $config/exports/steps/connections 60
check "nothing is left" nothing

# The export ends while a device attaches, at each step of that, also for a later queue.
round=0
attached=0
put $device/hold_seconds 1
while [ $round -lt "${KRDMA_ROUNDS:-50}" ]; do
	for moment in krdma_conn_create krdma_conn_resolve krdma_cq_create krdma_conn_create_qp \
		krdma_conn_connect krdma_conn_wait krdma_blk_table_read blk_mq_alloc_tag_set \
		krdma_blk_disk_add device_add_disk; do
		put $test/stall "$moment any"
		put $device/enabled 1 2>/dev/null &
		attacher=$!
		tries=0
		until grep -q stalled $test/stall || [ $tries -ge 100 ]; do
			usleep 20000
			tries=$((tries + 1))
		done
		put $config/exports/steps/force 1
		put $config/exports/steps/enabled 0
		put $test/stall go
		if wait $attacher; then
			attached=$((attached + 1))
			put $device/force 1
			put $device/enabled 0
		fi
		put $config/exports/steps/enabled 1
		round=$((round + 1))
	done
done
# Proves: F3
check "an export has ended at $round moments, and only at the last of them it was attached" \
	sh -c "[ $attached -gt 0 ] && [ $attached -le $((round * 3 / 10)) ]"
check "it is attached then" put $device/enabled 1
check "the device works" read_one "$(disk steps)"
check "and is detached" put $device/enabled 0
becomes "the server has noticed" 0 $config/exports/steps/connections 60
# Proves: F3
check "nothing is left" nothing
rmdir $device

check "the export is ended" export_end steps
check "the modules are unloaded" rmmod krdma_blk_test krdma_blk
tap_end
