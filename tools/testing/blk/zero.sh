#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests discard and zeroing by krdma_blk: the result, what is sent for it, and that a command which
# comes late has no effect.  krdma_blk_test.ko stalls the server while it executes one.  Runs inside
# a VM with krdma.ko and krdma_blk_test.ko, in virtual time.  The two addresses of one machine stand
# for two hosts, as in own.sh.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
other_address=fd77::1
test=/sys/kernel/debug/krdma_blk_test
attach=$config/devices/zero
mib=8
interface=$(ip -o -4 addr show to $here_address | awk '{ print $2 }')
network=$(ip -o -4 addr show to $here_address | awk '{ print $4 }')

# zeroed BLOCK COUNT: write zeroes to blocks of $work/wanted.
zeroed()
{
	dd if=/dev/zero of=$work/wanted bs=4k seek="$1" count="$2" conv=notrunc 2>/dev/null
}

# sent: print the number of packets that the RDMA device has sent.
sent()
{
	cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts
}

# few COMMAND...: the command succeeds, and the RDMA device sends fewer than 200 packets meanwhile.
few()
{
	local before after

	before=$(sent) || return
	"$@" || return
	after=$(sent) || return
	[ $((after - before)) -lt 200 ] || {
		echo "$((after - before)) packets were sent"
		return 1
	}
}

# begin COMMAND...: run the command in the background, and wait until the server is stalled.
# $work/ended then has the command's exit status.
begin()
{
	rm -f $work/ended
	(
		"$@" >$work/said 2>&1
		echo $? >$work/ending
		mv $work/ending $work/ended
	) &
	becomes "a command is executed, and is held up" stalled $test/stall 30
}

check "the module is loaded" load_module
check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
fill $work/wanted $mib
check "an export" export_new zero ${mib}M
check "is attached" device_new zero $here_address queues=2 hold_seconds=600
disk=$(disk zero)
queue=/sys/block/${disk#/dev/}/queue
is "a discard has 2 MiB" 2097152 "$queue/discard_max_bytes"
is "in blocks" 4096 "$queue/discard_granularity"
is "zeroing has as many" 2097152 "$queue/write_zeroes_max_bytes"
check "it is written" write_direct $work/wanted "$disk" 1M

# Ranges that begin and end anywhere, and cross the pieces of the server's memory.
check "zeroes are sent for in a few packets" few blkdiscard -z -o 1044480 -l 5242880 "$disk"
zeroed 255 1280
# Proves: F3
check "they are there, and nowhere else" same $work/wanted "$disk"
check "the last block is discarded" few blkdiscard -o $((mib * 1048576 - 4096)) -l 4096 "$disk"
zeroed $((mib * 256 - 1)) 1
check "and reads as zeroes" same $work/wanted "$disk"
check "a reader beside it" device_new other $other_address export=zero read_only=1
reader=$(disk other)
is "is not offered discard" 0 "/sys/block/${reader#/dev/}/queue/discard_max_bytes"
is "nor zeroing" 0 "/sys/block/${reader#/dev/}/queue/write_zeroes_max_bytes"
check "it cannot discard" sh -c "! blkdiscard $reader && ! blkdiscard -z $reader"
# Proves: F3
check "and reads the zeroes" same $work/wanted "$reader"
check "the reader leaves" device_end other

# Beside writes: one half is written and compared while the other one is discarded.
rm -f $work/stop $work/failed $work/discarded
(while [ ! -e $work/stop ]; do
	blkdiscard -o 4M -l 4M "$disk" || touch $work/failed
	blkdiscard -z -o 4M -l 4M "$disk" || touch $work/failed
	touch $work/discarded
done) &
discarder=$!
check "fio finds what it has written beside discards" verified "$disk" --size=4M --number_ios=1000
touch $work/stop
wait $discarder
check "no discard has failed" [ ! -e $work/failed ]
check "and some have been done" [ -e $work/discarded ]
head -c 4194304 /dev/zero >$work/zero
dd if="$disk" of=$work/half bs=1M skip=4 count=4 iflag=direct 2>/dev/null
check "what was discarded is zero" cmp $work/zero $work/half
check "the rest is discarded" few blkdiscard "$disk"
check "and the whole disk is zero" same $work/zero "$disk"

# The connection is lost while the server executes a command.  The client repeats it by the next
# connection, and may write the same blocks after that.  So there is none before the end of the
# first.
fill $work/wanted $mib
check "it is written again" write_direct $work/wanted "$disk" 1M
put $test/stall "krdma_blk_memory_at any"
begin blkdiscard -z -o 1M -l 1M "$disk"
address_away
becomes "its connection is lost" holding $attach/state 30
address_back
sleep 15
is "there is no other one meanwhile" holding $attach/state
put $test/stall go
becomes "but then" live $attach/state 60
becomes "the command succeeds" 0 $work/ended 60
check "the same blocks are written" write_direct $work/wanted "$disk" 1M
sleep 5
# Proves: F3
check "and are not zero" same $work/wanted "$disk"

# The client gives up while the command waits for the server's processors.
put $attach/hold_seconds 1
put $test/stall "krdma_blk_read_command any"
begin blkdiscard -z -o 2M -l 1M "$disk"
address_away
becomes "the client fails it when it cannot be executed any more" 1 $work/ended 60
put $test/stall go
sleep 2
check "another one reads" device_new other $other_address export=zero read_only=1
# Proves: F3
check "that it was not" same $work/wanted "$(disk other)"
check "and leaves" device_end other
address_back
becomes "the first one is back" live $attach/state 60
check "with what was there" same $work/wanted "$disk"

# It gives up while the command is being executed, and the processors do something else.
put $test/stall "krdma_blk_memory_at any"
begin blkdiscard -z -o 2M -l 2M "$disk"
address_away
becomes "the client fails one that is being executed" 1 $work/ended 60
put $test/stall go
sleep 2
check "another one reads" device_new other $other_address export=zero read_only=1
dd if="$(disk other)" of=$work/half bs=1M skip=3 count=1 iflag=direct 2>/dev/null
dd if=$work/wanted of=$work/rest bs=1M skip=3 count=1 2>/dev/null
# Proves: F3
check "that its second half was not executed" cmp $work/rest $work/half
check "and leaves" device_end other
address_back
becomes "the first one is back" live $attach/state 60
check "what was there is written again" write_direct $work/wanted "$disk" 1M

# Evicted while the server executes a command.
put $test/stall "krdma_blk_memory_at any"
begin blkdiscard -o 3M -l 1M "$disk"
writer=$(awk '$2 == "writer" { print $1 }' $config/exports/zero/clients)
rm -f $work/evicted
(krdma blk evict zero "$writer"; echo $? >$work/evicted) >/dev/null 2>&1 &
sleep 5
check "an eviction waits for a command" [ ! -e $work/evicted ]
put $test/stall go
becomes "that is its last" 0 $work/evicted 30
becomes "the client is dead" dead $attach/state 60
becomes "and its command has failed" 1 $work/ended 60
check "it is detached" device_end zero
check "the export is ended" export_end zero

# Blocks of 512 bytes.
check "an export of small blocks" export_new zero 1M block_size=512
check "is attached, too" device_new zero $here_address
disk=$(disk zero)
head -c 1048576 $work/wanted >$work/small
check "and written" write_direct $work/small "$disk"
check "one block is zeroed" blkdiscard -z -o 1536 -l 512 "$disk"
dd if=/dev/zero of=$work/small bs=512 seek=3 count=1 conv=notrunc 2>/dev/null
check "and no other" same $work/small "$disk"
device_end zero
export_end zero
check "the modules are unloaded" rmmod krdma_blk_test krdma_blk
tap_end
