#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests queues for requests that their submitters poll for.  Runs inside a VM with krdma.ko, the tool
# and fio, in virtual time; with krdma_blk_test.ko, too, where the kernel has kprobes.  Prints TAP.
#
# KRDMA_SLOW=1		read and write less data

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
test=/sys/kernel/debug/krdma_blk_test
export=$config/exports/poll
attach=$config/devices/poll
reads=2000
loops=2
patience=25
if [ "${KRDMA_SLOW:-0}" = 1 ]; then
	reads=100
	loops=1
	patience=600
fi

# type DISK QUEUE: what the block layer uses the queue for.
type()
{
	cat "/sys/kernel/debug/block/${1#/dev/}/hctx$2/type"
}

# polled DISK OPTION...: as verified, by requests that fio polls for.  None of them is split: Linux
# 6.1 never completes such a request, also one of null_blk.
polled()
{
	local disk=$1
	shift

	verified "$disk" --ioengine=io_uring --hipri --bsrange=16k-16k "$@"
}

# What fio has printed besides its figures.
fio_said()
{
	grep -v '^3;' $work/fio | sed 's/^/# fio: /'
}

check "the module is loaded" load_module
if [ -e "$here/krdma_blk_test.ko" ]; then
	check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
fi
check "an export" export_new poll 16M
refused "16 queues of them leave none for others" "Invalid argument" \
	device_make many $here_address poll_queues=16
rmdir $config/devices/many
refused "more than 16 queues are not attached" "Invalid argument" \
	device_new many $here_address export=poll queues=8 poll_queues=9
is "which is said" "queues and poll_queues are more than 16 together" $config/devices/many/error
rmdir $config/devices/many
says "by the tool, too" "more than 16 together" \
	krdma blk attach $here_address poll -n many --queues 8 --poll-queues 9

check "without them" device_new poll $here_address queues=2
disk=$(disk poll)
is "nothing is polled for" 0 "/sys/block/${disk#/dev/}/queue/io_poll"
# The block layer finds requests that came in one list, when none has come alone yet: it counts them,
# and ends those that take too long.
rdma link delete rxe0
becomes "without its server it holds requests" holding $attach/state 30
fio --name=list --filename="$disk" --rw=randwrite --bs=4k --ioengine=io_uring --iodepth=32 \
	--iodepth_batch_submit=32 --direct=1 --number_ios=32 >/dev/null 2>&1 &
fio=$!
becomes "and the block layer counts all of a list" "$(printf '%8u %8u' 0 32)" \
	"/sys/block/${disk#/dev/}/inflight" 30
rdma link add rxe0 type rxe netdev dummy0
wait $fio
check "which all succeed in the end" [ $? = 0 ]
check "detached" device_end poll
check "with two of them" krdma blk attach $here_address poll --queues 1 --poll-queues 2
disk=$(disk poll)
is "it is" 1 "/sys/block/${disk#/dev/}/queue/io_poll"
is "the setting is shown" 2 $attach/poll_queues
refused "and does not change now" "Device or resource busy" put $attach/poll_queues 1
is "and each has a connection" 3 $export/connections
mount -t debugfs none /sys/kernel/debug 2>/dev/null
if [ -d "/sys/kernel/debug/block/${disk#/dev/}" ]; then
	check "the first queue is for all" [ "$(type "$disk" 0)" = default ]
	check "the others are for who polls" [ "$(type "$disk" 1)$(type "$disk" 2)" = pollpoll ]
fi

fill $work/wanted 16
check "written without polling" write_direct $work/wanted "$disk" 1M
check "and read" same $work/wanted "$disk"
# Each request that nobody polled for would end after 30 s.
read -r begun _ </proc/uptime
check "one by one, by who polls" fio --name=one --filename="$disk" --rw=randread --bs=4k \
	--ioengine=pvsync2 --hipri --direct=1 --number_ios=$reads
polled "$disk" --loops=$loops >$work/fio 2>&1
# Proves: F3
check "many at a time, and fio finds what it has written" [ $? = 0 ]
fio_said
read -r ended _ </proc/uptime
check "without waiting for a timeout" [ $((${ended%.*} - ${begun%.*})) -lt $patience ]
check "beside requests that are not polled for" write_direct $work/wanted "$disk" 1M
is "the connections were the same all the time" 0 "/sys/block/${disk#/dev/}/krdma/reconnects"

# What was submitted ends without its submitter.
fio --name=killed --filename="$disk" --rw=randread --bs=64k --ioengine=io_uring --hipri \
	--iodepth=32 --direct=1 --time_based --runtime=60 >/dev/null 2>&1 &
fio=$!
usleep 700000
kill -9 $fio
wait $fio 2>/dev/null
polled "$disk" --number_ios=300 >$work/fio 2>&1
check "others go on when a program that polls was killed" [ $? = 0 ]
fio_said

# Many requests reach their timeout while nobody polls.
polled "$disk" --iodepth=48 --time_based --runtime=45 >$work/fio 2>&1 &
fio=$!
check "it is being polled for, and written" await_write "$disk"
usleep 500000
killall -STOP fio
sleep 40
killall -CONT fio
wait $fio
check "a program that has not polled for 40 s goes on" [ $? = 0 ]
fio_said
is "the connections are still the same" 0 "/sys/block/${disk#/dev/}/krdma/reconnects"

# Connections that are lost, and posts that are refused.
polled "$disk" --time_based --runtime=15 >$work/fio 2>&1 &
fio=$!
for time in 1 2 3; do
	sleep 1
	# Once nobody polls meanwhile.
	[ $time != 2 ] || killall -STOP fio
	read -r begun _ </proc/uptime
	rdma link delete rxe0
	read -r ended _ </proc/uptime
	check "the device can be removed at once, $time" [ $((${ended%.*} - ${begun%.*})) -lt 10 ]
	becomes "the device goes while they are polled for, $time" holding $attach/state 30
	rdma link add rxe0 type rxe netdev dummy0
	becomes "the device comes back" live $attach/state 60
	[ $time != 2 ] || killall -CONT fio
done
wait $fio
# Proves: F3
check "fio has seen no error, and what it had written" [ $? = 0 ]
fio_said
if [ -e $test/cut ]; then
	put $test/cut krdma_conn_post_send
	polled "$disk" --iodepth_batch_submit=16 --loops=$loops >$work/fio 2>&1
	check "and with chains that are posted in parts" [ $? = 0 ]
	fio_said
	put $test/cut off
fi

# The end of waiting is told to who polls.
put $attach/hold_seconds 2
rdma link delete rxe0
becomes "the server is lost" holding $attach/state 30
refused "a request that is polled for fails" "Input/output error" fio --name=one \
	--filename="$disk" --rw=randread --bs=4k --ioengine=pvsync2 --hipri --direct=1 --number_ios=1
rdma link add rxe0 type rxe netdev dummy0
becomes "it is back" live $attach/state 60
put $attach/hold_seconds 60

# The device goes while it is polled.
polled "$disk" --time_based --runtime=60 >$work/fio 2>&1 &
fio=$!
check "it is polled for, and written" await_write "$disk"
check "detached by force while it is polled" krdma blk detach -f poll
wait $fio
check "fio has noticed" [ $? != 0 ]
export_end poll
[ ! -d $test ] || check "the other module is unloaded" rmmod krdma_blk_test
check "the module is unloaded" rmmod krdma_blk
tap_end
