#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests that an export grows while clients use it, and that nothing is lost.  Runs inside a VM with
# krdma.ko, krdma_blk_test.ko and fio, in virtual time.  The two addresses of one machine stand for
# two hosts, as in own.sh.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
other_address=fd77::1
test=/sys/kernel/debug/krdma_blk_test
export=$config/exports/grow
attach=$config/devices/grow
late=$config/devices/late

# size DISK: print its size in MiB.
size()
{
	echo $(($(cat "/sys/block/${1#/dev/}/size") / 2048))
}

# grows MIB: the disk has this size.
grows()
{
	local tries=0

	until [ "$(size "$disk")" = "$1" ] || [ $tries -ge 300 ]; do
		usleep 100000
		tries=$((tries + 1))
	done
	[ "$(size "$disk")" = "$1" ] || {
		echo "the disk has $(size "$disk") MiB"
		return 1
	}
}

# Pages that the machine has allocated since it has started.
pages_allocated()
{
	awk '/^pgalloc_/ { pages += $2 } END { print pages }' /proc/vmstat
}

check "the module is loaded" load_module
check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
check "an export of 3 MiB" export_new grow 3M
check "is attached" device_new grow $here_address queues=2 hold_seconds=600
check "and by a reader" device_new other $other_address export=grow read_only=1
disk=$(disk grow)
reader=$(disk other)
fill $work/wanted 3
check "it is written" write_direct $work/wanted "$disk" 1M

# What is refused changes nothing.
refused "it cannot become smaller" "Invalid argument" put $export/size 2M
refused "nor have half a block more" "Invalid argument" put $export/size 3146240
refused "nor more memory than there is" "Cannot allocate memory" put $export/size 64G
before=$(pages_allocated)
refused "the tool says so, too" "not enough memory; nothing has changed" krdma blk grow grow 64G
check "and nothing is taken from others for it" [ $(($(pages_allocated) - before)) -lt 20000 ]
put $test/refuse "krdma_mr_register_sg -12"
refused "nor more than its device can register" "Cannot allocate memory" put $export/size 9M
put $test/refuse "krdma_mr_register -27"
refused "nor more than its table has space for" "File too large" put $export/size 9M
put $test/refuse off
check "it may keep its size" put $export/size 3M
is "no client has noticed that" 0 "/sys/block/${disk#/dev/}/krdma/reconnects"
is "its size is the same" 3145728 $export/size
# Proves: F3
check "and so are the data" same $work/wanted "$disk"

# Larger, with the first slab of memory filled up, and with new ones.
check "it grows" krdma blk grow grow 4M
check "and the disk does" grows 4
becomes "the reader is back" live $config/devices/other/state 60
is "the reader's disk has grown, too" 8192 "/sys/block/${reader#/dev/}/size"
head -c 1048576 /dev/zero >>$work/wanted
# Proves: F3
check "the data are there, and zeroes behind them" same $work/wanted "$disk"
check "for the reader, too" same $work/wanted "$reader"

# Beside requests.
(verified "$disk" --size=4M --number_ios=3000 >$work/said 2>&1; echo $? >$work/verified) &
for mib in 6 9 16; do
	check "it grows to $mib MiB beside requests" put $export/size ${mib}M
	check "and the disk does" grows $mib
done
wait
# Proves: F3
check "fio finds what it has written" [ "$(cat $work/verified)" = 0 ]
fill $work/wanted 16
check "the whole disk is written" write_direct $work/wanted "$disk" 1M
becomes "the reader is back" live $config/devices/other/state 60
check "and reads it" same $work/wanted "$reader"

check "it leaves" device_end other

# Telling users that the disk has grown may take memory, which may have to be written to the disk.
# So requests do not wait for that.
put $test/stall "kobject_uevent_env any"
check "it grows" put $export/size 17M
becomes "its users are about to be told" stalled $test/stall 30
becomes "the device is live meanwhile" live $attach/state 30
check "its disk has grown" grows 17
rm -f $work/read
(read_one "$disk" >$work/said 2>&1; echo $? >$work/reading; mv $work/reading $work/read) &
becomes "and is read" 0 $work/read 30
# Proves: F3
check "before they are told" grep -q stalled $test/stall
told=$(cat /sys/kernel/uevent_seqnum)
put $test/stall go
tries=0
until [ "$(cat /sys/kernel/uevent_seqnum)" -gt "$told" ] || [ $tries -ge 100 ]; do
	usleep 100000
	tries=$((tries + 1))
done
check "they are told then" [ $tries -lt 100 ]

# No other client takes the place of one that is not back yet: neither while the memory changes, nor
# while the client connects again.
check "there is another writer" device_make late $other_address export=grow
put $test/stall "krdma_blk_memory_add any"
(put $export/size 18M; echo $? >$work/growing; mv $work/growing $work/grown) &
becomes "the memory is about to change" stalled $test/stall 30
is "and no client is connected" 0 $export/connections
refused "the other writer is refused" "Connection refused" put $late/enabled 1
put $test/stall go
becomes "it has grown" 0 $work/grown 30
becomes "the first one is back" live $attach/state 60
put $test/stall "krdma_blk_path_reconnect any"
check "it grows" put $export/size 20M
is "the first one is not back yet" stalled $test/stall
refused "the other writer is refused" "Connection refused" put $late/enabled 1
# Proves: F3
check "and that is why" [ "$(cat $export/refused_busy)" -ge 2 ]
put $test/stall go
becomes "the first one is back" live $attach/state 60
check "with all of its data" same $work/wanted "$disk"
check "and more" grows 20
check "it is detached" device_end grow
check "and now the other one is not refused" put $late/enabled 1
# Proves: F3
check "and finds them" same $work/wanted "$(disk late)"
check "it is detached, too" device_end late
check "the export is ended" export_end grow

# A client is the first reader while the export grows, so its registration of the memory is not one
# of those that have grown.
check "an export of 2 MiB" export_new grow 2M
check "is attached" device_new grow $here_address queues=1 hold_seconds=600
disk=$(disk grow)
fill $work/wanted 2
check "it is written" write_direct $work/wanted "$disk" 1M
put $test/stall "krdma_blk_serve_pause any"
rm -f $work/grown
(put $export/size 5M 2>$work/said; echo $? >$work/growing; mv $work/growing $work/grown) &
becomes "what it grows by is registered" stalled $test/stall 30
check "it has its first reader" device_new other $other_address export=grow read_only=1
reader=$(disk other)
put $test/refuse "krdma_mr_register_sg -12"
put $test/stall go
becomes "for whom it cannot be registered" 1 $work/grown 30
put $test/refuse off
check "that is the error" grep -q "Cannot allocate memory" $work/said
is "its size is the same" 2097152 $export/size
becomes "the writer is back" live $attach/state 60
becomes "and the reader" live $config/devices/other/state 60
# Proves: F3
check "with its data" same $work/wanted "$disk"
check "which the reader has, too" same $work/wanted "$reader"
check "the reader leaves" device_end other
check "so does the writer" device_end grow
check "the export is ended" export_end grow

check "an export of 2 MiB" export_new grow 2M
check "is attached" device_new grow $here_address queues=1 hold_seconds=600
disk=$(disk grow)
put $test/stall "krdma_blk_serve_pause any"
rm -f $work/grown
(put $export/size 5M; echo $? >$work/growing; mv $work/growing $work/grown) &
becomes "what it grows by is registered" stalled $test/stall 30
check "it has its first reader" device_new other $other_address export=grow read_only=1
reader=$(disk other)
put $test/stall go
becomes "it has grown" 0 $work/grown 30
becomes "the writer is back" live $attach/state 60
becomes "and the reader" live $config/devices/other/state 60
fill $work/wanted 5
check "all of it is written" write_direct $work/wanted "$disk" 1M
# Proves: F3
check "and the reader reads it" same $work/wanted "$reader"
check "the reader leaves" device_end other
check "the writer, too" device_end grow
check "the export is ended" export_end grow
# windows: print for how many devices and roles memory is registered.
windows()
{
	awk '$1 == "blk_window" { print $2 }' /sys/kernel/debug/krdma/objects
}

# The memory is not registered any more for a reader that has left, but for one that may return.
check "an export of 2 MiB" export_new grow 2M
check "is attached" device_new grow $other_address queues=1 hold_seconds=600
check "and by a reader" device_new other $here_address export=grow queues=1 read_only=1 \
	hold_seconds=600
network=$(ip -o -4 addr show to $here_address | awk '{ print $4 }')
interface=$(ip -o -4 addr show to $here_address | awk '{ print $2 }')
address_away
becomes "the reader is cut off" holding $config/devices/other/state 60
becomes "which the server notices" 1 $export/connections 60
check "it grows" put $export/size 3M
check "the reader may return to its memory" [ "$(windows)" = 2 ]
address_back
becomes "it does" live $config/devices/other/state 60
becomes "the writer is back" live $attach/state 60
check "the reader leaves" device_end other
becomes "and has no connection" 1 $export/connections 30
check "it grows" put $export/size 5M
# Proves: F3
check "for nobody but the writer" [ "$(windows)" = 1 ]
becomes "who is back" live $attach/state 60
check "the writer leaves, too" device_end grow
check "the export is ended" export_end grow
check "the modules are unloaded" rmmod krdma_blk_test krdma_blk
tap_end
