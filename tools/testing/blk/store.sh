#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests exports whose data are in a block device or a file: what arrives there, when it is stable,
# and that nothing arrives late.  krdma_blk_test.ko stalls the store, and makes it fail.  Runs in a
# VM with krdma.ko, krdma_blk_test.ko, brd and fio, in virtual time.  The two addresses of one
# machine stand for two hosts, as in own.sh.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
other_address=fd77::1
test=/sys/kernel/debug/krdma_blk_test
attach=$config/devices/store
mib=32
ram=/dev/ram0
interface=$(ip -o -4 addr show to $here_address | awk '{ print $2 }')
network=$(ip -o -4 addr show to $here_address | awk '{ print $4 }')
hung=/proc/sys/kernel/hung_task_timeout_secs
seconds=$(cat $hung)

# serve NAME PATH [OPTION]...: export a store to all.
serve()
{
	local name=$1 path=$2
	shift 2

	krdma blk serve -n "$name" --store "$path" --allow any "$@"
}

# begin COMMAND...: run the command in the background.  $work/ended then has its exit status.
begin()
{
	rm -f $work/ended
	(
		"$@" >$work/said 2>&1
		echo $? >$work/ending
		mv $work/ending $work/ended
	) &
}

# writes BLOCK COUNT: write blocks of 64 KiB of $work/wanted to the disk, to the same place.
writes()
{
	dd if=$work/wanted of="$disk" bs=64k skip="$1" seek="$1" count="$2" oflag=direct conv=notrunc
}

reads()
{
	dd if="$disk" of=/dev/null bs=64k skip="$1" count=1 iflag=direct
}

# stable: write the first 64 KiB of the disk, each write with FUA.
stable()
{
	fio --name=stable --filename="$disk" --rw=write --bs=16k --size=64k --ioengine=psync \
		--direct=1 --sync=1 --output-format=terse
}

check "the module is loaded" load_module
check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
check "there are block devices" modprobe brd rd_nr=2 rd_size=$((mib * 1024))
fill $work/wanted $mib

# What is refused.
refused "a store that is not there" "No such file" serve none /dev/none
refused "what is neither block device nor file" "neither a block device nor a file" serve none /dev/null
refused "a folder" "Is a directory" serve none /tmp
refused "a path that is not absolute" "'ram0' is not a valid store" serve none ram0
refused "a store that is too small" "larger than --store" serve none $ram -s 64M
refused "a store and a file that keeps the data" "keeps the data without --keep" serve none $ram -K $work/keep
refused "the module refuses both, too" "Invalid argument" export_new none 1M store=$ram file=$work/keep
rmdir $config/exports/none
refused "neither size nor store" "needs --name, and --size or --store" krdma blk serve -n none --allow any
check "a file system on one of them" mkfs.ext4 -q /dev/ram1
mkdir -p $work/mnt
check "is mounted" mount -t ext4 /dev/ram1 $work/mnt
refused "a store that is mounted" "mounted or in use" serve none /dev/ram1
refused "blocks that are smaller than those of the store" "larger than --block-size" \
	sh -c "modprobe null_blk nr_devices=1 bs=4096 gb=1 && krdma blk serve -n none --store /dev/nullb0 --allow any --block-size 512"
put $test/refuse "vfs_fsync -5"
refused "a store to which what was written cannot be flushed" "Input/output error" \
	export_new none 1M store=$ram
put $test/refuse off
rmdir $config/exports/none
check "no export is left of that" sh -c "! ls -d $config/exports/*/"

# A file that two exports have: one would destroy the data of the other.
fill $work/image 1
cp $work/image $work/before
check "a file is exported" export_new image 1M store=$work/image
for one in store=$work/image file=$work/image file=$work/./image; do
	refused "not twice, by another export's ${one%%=*}" "busy" export_new second 1M "$one"
	rmdir $config/exports/second
done
check "nothing has happened to it" cmp $work/before $work/image
check "the export is ended" export_end image
check "a file is only read" export_new image 1M store=$work/image read_only=1
check "by two" export_new second 1M store=$work/image read_only=1
refused "while none writes it" "busy" export_new third 1M store=$work/image
rmdir $config/exports/third
check "the second one is ended" export_end second
check "and the first one" export_end image
check "a file keeps the data of one" export_new image 1M file=$work/kept
refused "not those of another one, also before there is one" "busy" \
	export_new second 1M file=$work/kept
rmdir $config/exports/second
check "the export is ended, too" export_end image
check "then another one has it" export_new second 1M file=$work/kept
check "and is ended" export_end second
rm $work/kept

# The file of the first one does not exist when that is enabled.
for one in store=$work/kept file=$work/./kept; do
	check "a file is to keep data, $one" export_new image 1M file=$work/kept
	check "and is there at once, for root alone" [ "$(stat -c %a $work/kept)" = 600 ]
	# What a program writes there is not what is tested.
	cp $work/image $work/kept
	refused "no other export has it then" "busy" export_new second 1M "$one"
	rmdir $config/exports/second
	check "it is ended, $one" export_end image
	rm $work/kept
done

# It is another file under the same name when the data are to be written.
check "a file keeps data" export_new image 1M file=$work/kept
mv $work/kept $work/moved
cp $work/image $work/kept
check "a file in its place is the store of another export" export_new second 1M store=$work/kept
says "it is not written" "File exists" put $config/exports/image/enabled 0
# Proves: F3
check "and has what it had" cmp $work/before $work/kept
check "the other export is ended" export_end second
check "then the file is written" export_end image
check "with the zeroes of the first" cmp -n 1048576 /dev/zero $work/kept
rm $work/kept $work/moved

# The number of a file that was removed is that of the next one that is made: no two have it at the
# same time, and only one of them is there.
fill $work/data 1
cp $work/data $work/mnt/first
cp $work/data $work/mnt/second
check "a file keeps data" export_new image 1M file=$work/mnt/first
check "and another one those of another export" export_new second 1M file=$work/mnt/second
number=$(stat -c %i $work/mnt/first)
rm $work/mnt/first $work/mnt/second
# Proves: F3
check "both were removed, and the second one is made anew" put $config/exports/second/enabled 0
if [ "$(stat -c %i $work/mnt/second)" = "$number" ]; then
	ok "with the number of the first"
else
	skip "with the number of the first" "the file system has given it another one"
fi
check "and has its data" cmp $work/data $work/mnt/second
check "the second one is removed" rmdir $config/exports/second
# Proves: F3
check "the first one is made anew" export_end image
check "and has its data, too" cmp $work/data $work/mnt/first
rm $work/mnt/first $work/mnt/second

# A block device.
check "a block device is exported" serve store $ram
is "all of it" $((mib * 1048576)) $config/exports/store/size
is "under its path" $ram $config/exports/store/store
check "the tool lists it" sh -c "krdma blk list | grep -q ' store $ram'"
refused "it cannot be mounted here meanwhile" "busy" mount -t ext4 $ram $work/mnt
refused "nor exported twice" "mounted or in use" serve twice $ram
check "it is attached" device_new store $here_address queues=2 hold_seconds=600
disk=$(disk store)
queue=/sys/block/${disk#/dev/}/queue
is "the disk has a write cache" "write back" "$queue/write_cache"
is "and FUA" 1 "$queue/fua"
is "and requests of a slot" 128 "$queue/max_hw_sectors_kb"
check "it is written" write_direct $work/wanted "$disk" 1M
# Proves: F3
check "and read" same $work/wanted "$disk"
# Proves: F3
check "fio finds what it has written" verified "$disk" --number_ios=2000
# The block layer has them as a list.
check "also when it submits 16 at a time" verified "$disk" --number_ios=600 --iodepth_batch_submit=16
check "with several programs" verified "$disk" --number_ios=600 --numjobs=3 --size=10M --offset_increment=10M
check "it is written again" write_direct $work/wanted "$disk" 64k
check "a reader beside it" device_new other $other_address export=store read_only=1
reader=$(disk other)
# Proves: F3
check "reads it" same $work/wanted "$reader"
refused "and cannot write" "Operation not permitted" write_direct $work/wanted "$reader"
is "it has no write cache" "write through" "/sys/block/${reader#/dev/}/queue/write_cache"
check "it leaves" device_end other

# A flush of the disk is one of the store.
put $test/refuse "krdma_blk_store_flush -5"
refused "the store cannot flush" "No data available" \
	dd if=$work/wanted of="$disk" bs=64k count=1 conv=fsync,notrunc
# Proves: F3
check "and was asked to" [ "$(cat $test/refuse)" -gt 0 ]
put $test/refuse off

# The first flush is the server's, the second one that of fio's system call.
put $test/stall "vfs_fsync_range any"
begin stable
becomes "a write with FUA waits" stalled $test/stall 30
read -r _ writing <"/sys/block/${disk#/dev/}/inflight"
# Proves: F3
check "until the store has flushed it" [ "$writing" = 1 ]
put $test/stall go
becomes "and completes then" 0 $work/ended 30

# Errors of the store.
put $test/refuse "krdma_blk_store_write -5"
refused "the store fails a write" "No data available" writes 0 1
put $test/refuse "krdma_blk_store_write -28"
refused "the store is full" "No space left" writes 0 1
put $test/refuse "krdma_blk_store_read -5"
refused "the store fails a read" "No data available" reads 0
put $test/refuse "krdma_blk_store_zero -5"
check "and a discard" sh -c "! blkdiscard -o 0 -l 65536 $disk"
put $test/refuse off
is "no connection was lost for that" 0 "/sys/block/${disk#/dev/}/krdma/reconnects"
check "the disk is written again" write_direct $work/wanted "$disk" 64k

# Zeroes.
check "zeroes are written" blkdiscard -z -o 1M -l 3M "$disk"
check "a part is discarded" blkdiscard -o 8M -l 2M "$disk"
dd if=/dev/zero of=$work/wanted bs=1M seek=1 count=3 conv=notrunc 2>/dev/null
dd if=/dev/zero of=$work/wanted bs=1M seek=8 count=2 conv=notrunc 2>/dev/null
# Proves: F3
check "both are zero, and nothing else" same $work/wanted "$disk"

# A store that is slow is not lost, however long it takes, and nothing else waits for it.
check "another export" export_new memory 2M
check "is attached" device_new memory $here_address
put $test/stall "krdma_blk_store_read any"
begin reads 0
becomes "the store does not answer" stalled $test/stall 30
check "a write to it is executed meanwhile" writes 40 1
sleep 40
check "a read of it waits" [ ! -e $work/ended ]
check "the other export is used meanwhile" \
	dd if=$work/wanted of="$(disk memory)" bs=64k count=16 oflag=direct
put $test/stall go
# Proves: F3
becomes "and is done then" 0 $work/ended 30
is "no connection was lost" 0 "/sys/block/${disk#/dev/}/krdma/reconnects"
device_end memory
export_end memory

# The connection is lost while the store writes.  The client repeats the write by the next one, and
# may write the same blocks after that.  So there is none before the end of the first.
cp $work/wanted $work/first
fill $work/wanted $mib
put $test/stall "krdma_blk_store_write any"
begin dd if=$work/first of="$disk" bs=64k seek=16 skip=16 count=1 oflag=direct conv=notrunc
becomes "the store is writing" stalled $test/stall 30
address_away
becomes "its connection is lost" holding $attach/state 30
address_back
sleep 15
is "there is no other one meanwhile" holding $attach/state
put $test/stall go
becomes "but then" live $attach/state 60
becomes "the write succeeds" 0 $work/ended 60
check "the disk is written" write_direct $work/wanted "$disk" 64k
sleep 2
# Proves: F3
check "and has what was written last" same $work/wanted "$disk"

# And while it reads.
put $test/stall "krdma_blk_store_read any"
begin cmp -n 65536 $work/wanted "$disk"
becomes "the store is reading" stalled $test/stall 30
address_away
becomes "its connection is lost" holding $attach/state 30
put $test/stall go
address_back
becomes "the device is back" live $attach/state 60
# Proves: F3
becomes "and the right data were read" 0 $work/ended 60

# The client gives up while a command waits for the server's processors.
put $attach/hold_seconds 1
put $test/stall "krdma_blk_read_command any"
begin dd if=$work/first of="$disk" bs=64k seek=20 skip=20 count=1 oflag=direct conv=notrunc
becomes "a write waits at the server" stalled $test/stall 30
address_away
becomes "the client fails it when it cannot be begun any more" 1 $work/ended 60
put $test/stall go
sleep 2
check "another one reads" device_new other $other_address export=store read_only=1
# Proves: F3
check "that it was not" same $work/wanted "$(disk other)"
check "and leaves" device_end other
address_back
becomes "the first one is back" live $attach/state 60
put $attach/hold_seconds 600

# Of a write only the data are posted; the command is not.
put $test/cut krdma_conn_post_send
begin writes 100 1
becomes "the connection is lost with it" holding $attach/state 30
check "something was cut" [ "$(cat $test/cut)" -gt 0 ]
put $test/cut off
becomes "and comes back" live $attach/state 60
becomes "the write is executed" 0 $work/ended 60
check "what it has written is there" same $work/wanted "$disk"

# Losses in the midst of many requests.
verified "$disk" --time_based --runtime=15 >$work/fio 2>&1 &
fio=$!
for time in 1 2 3; do
	sleep 1
	address_away
	becomes "the connections are lost beside requests, $time" holding $attach/state 30
	address_back
	becomes "and come back" live $attach/state 60
done
wait $fio
# Proves: F3
check "fio has seen no error, and what it had written" [ $? = 0 ]
grep -v '^3;' $work/fio | sed 's/^/# fio: /'
put $test/refuse "ib_dma_virt_map_sg 0"
begin reads 3
sleep 2
check "a request waits to be mapped" [ ! -e $work/ended ]
put $test/refuse off
becomes "and is done then" 0 $work/ended 30
put $test/refuse "rxe_post_send -5"
begin writes 7 1
sleep 1
put $test/refuse off
becomes "posts that are refused are no error" 0 $work/ended 60
becomes "the device is back" live $attach/state 60

# Evicted while the store writes.
put $test/stall "krdma_blk_store_write any"
begin writes 5 1
becomes "the store is writing" stalled $test/stall 30
writer=$(awk '$2 == "writer" { print $1 }' $config/exports/store/clients)
rm -f $work/evicted
(krdma blk evict store "$writer"; echo $? >$work/evicted) >/dev/null 2>&1 &
sleep 5
# Proves: F3
check "an eviction waits for the store" [ ! -e $work/evicted ]
put $test/stall go
becomes "and ends then" 0 $work/evicted 30
becomes "the client is dead" dead $attach/state 60
becomes "and its write has failed" 1 $work/ended 60
check "it is detached" device_end store

# By force, the device is detached while the store does not answer.
check "it is attached again" device_new store $here_address hold_seconds=600
disk=$(disk store)
# That takes until the request's timeout of 30 seconds.
put $hung 0
put $test/stall "krdma_blk_store_write any"
begin writes 5 1
becomes "the store is writing" stalled $test/stall 30
writer=$(awk '$2 == "writer" { print $1 }' $config/exports/store/clients)
put $attach/force 1
check "the device is detached by force" device_end store
# Proves: F3
becomes "and the write has failed" 1 $work/ended 30

# What it has sent can still reach the store, also when it is forgotten.
rm -f $work/evicted $work/again
(krdma blk evict store "$writer"; echo $? >$work/evicted) >/dev/null 2>&1 &
sleep 2
(krdma blk evict store "$writer"; echo $? >$work/again) >/dev/null 2>&1 &
sleep 2
check "to evict the client waits for the store" [ ! -e $work/evicted ]
# Proves: F3
check "and so it does when that was done already" [ ! -e $work/again ]
put $test/stall go
becomes "the first eviction ends" 0 $work/evicted 30
becomes "and the other one says that there is no such client" 1 $work/again 30
put $hung "$seconds"
krdma blk end store -f

# Nobody can detach a device by force while it is being attached, which reads the partitions.  So that
# does not wait for a store that does not answer.
check "a block device is exported" serve store $ram
put $hung 0
put $test/stall "krdma_blk_store_read any"
begin device_new store $here_address hold_seconds=1
becomes "the store does not answer who attaches it" stalled $test/stall 30
becomes "the device is attached nevertheless" 0 $work/ended 100
is "before the store has answered" stalled $test/stall
put $test/stall go
put $hung "$seconds"
becomes "then it is live" live $attach/state 60
disk=$(disk store)
check "and is written" write_direct $work/wanted "$disk" 1M
# Proves: F3
check "and read" same $work/wanted "$disk"
check "it is detached" device_end store
check "and the export is ended" krdma blk end store

# Clients that share an export.  One is lost, and its write has failed before the store ends it: so
# the other one does not write before that.
check "an export is shared" serve store $ram -S
check "by a client" device_new store $here_address hold_seconds=1
check "and another one" device_new other $other_address export=store
disk=$(disk store)
put $test/stall "krdma_blk_store_write any"
begin dd if=$work/first of="$disk" bs=64k seek=30 skip=30 count=1 oflag=direct conv=notrunc
becomes "the store is writing for the first" stalled $test/stall 30
address_away
becomes "which fails the write" 1 $work/ended 60
rm $work/ended
disk=$(disk other)
begin writes 30 1
sleep 5
# Proves: F3
check "the other one does not write before that has ended" [ ! -e $work/ended ]
check "but reads" reads 3
# More writes wait than are executed at a time.
writers=
for name in third fourth fifth; do
	check "a $name client" device_new $name $other_address export=store queues=1
	one=$(disk $name)
	put "/sys/block/${one#/dev/}/queue/scheduler" none
	fio --name=$name --filename="$one" --rw=randwrite --bs=4k --offset=16M --size=4M \
		--number_ios=64 --iodepth=64 --iodepth_batch_submit=64 --ioengine=libaio \
		--direct=1 >/dev/null 2>&1 &
	writers="$writers $!"
done
tries=0
waiting=0
until [ "$waiting" -gt 140 ] || [ $tries -ge 100 ]; do
	usleep 100000
	tries=$((tries + 1))
	waiting=$(cat /sys/block/krdmab*/inflight | awk '{ sum += $2 } END { print sum }')
done
check "$waiting writes wait with it" [ "$waiting" -gt 140 ]
rm -f $work/read
(reads 3 >/dev/null 2>&1; echo $? >$work/read) &
tries=0
until [ -s $work/read ] || [ $tries -ge 100 ]; do usleep 200000; tries=$((tries + 1)); done
# Proves: F3
check "it still reads" grep -q '^0$' $work/read
put $test/stall go
becomes "it writes then" 0 $work/ended 30
for one in $writers; do
	wait "$one"
	check "so does one of the others" [ $? = 0 ]
done
for name in third fourth fifth; do
	check "the $name client leaves" device_end $name
done
address_back
check "and has what it has written" cmp -n 65536 $work/wanted "$disk" 1966080 1966080
becomes "the first one is back" live $attach/state 60
check "it is detached" device_end store
check "and the other one" device_end other
check "the export is ended" krdma blk end store

# The same, if the server has not checked the first one since: it was suspended, for example.
check "an export is shared again" serve store $ram -S
check "by a client of one connection" device_new store $here_address hold_seconds=1 queues=1
put $test/stall2 "krdma_blk_conn_lease any"
becomes "which is not checked any more" stalled $test/stall2 30
check "and another one" device_new other $other_address export=store queues=1
disk=$(disk store)
put $test/stall "krdma_blk_store_write any"
begin dd if=$work/first of="$disk" bs=64k seek=30 skip=30 count=1 oflag=direct conv=notrunc
becomes "the store is writing for the first again" stalled $test/stall 30
address_away
becomes "which fails the write again" 1 $work/ended 60
rm $work/ended
disk=$(disk other)
begin writes 30 1
sleep 5
# Proves: F3
check "nor does the other one write before that has ended" [ ! -e $work/ended ]
put $test/stall go
put $test/stall2 go
becomes "it writes then, too" 0 $work/ended 30
address_back
check "and has that" cmp -n 65536 $work/wanted "$disk" 1966080 1966080
becomes "the first one is back again" live $attach/state 60
check "it is detached again" device_end store
check "so is the other one" device_end other
check "the export is ended again" krdma blk end store

# A reader that is evicted while the store does not answer it keeps no writer out.
check "an export has a writer and a reader" serve store $ram
check "one that writes" device_new store $here_address hold_seconds=600
check "one that reads" device_new other $other_address export=store read_only=1
disk=$(disk other)
put $test/stall "krdma_blk_store_read any"
begin reads 0
becomes "the store does not answer the reader" stalled $test/stall 30
reader=$(awk '$2 == "reader" { print $1 }' $config/exports/store/clients)
krdma blk evict store "$reader" &
evicter=$!
address_away
becomes "the writer loses its connections" holding $attach/state 30
address_back
becomes "and is back while the reader is not answered" live $attach/state 60
is "the store has not answered" stalled $test/stall
put $test/stall go
wait $evicter
becomes "the reader has an error" 1 $work/ended 60
check "the writer leaves" device_end store
check "so does the reader" device_end other
check "the export of both is ended" krdma blk end store

# A file system, and what is left of it without krdma.
check "a block device is exported" serve store $ram
check "and attached" device_new store $here_address
disk=$(disk store)
umount $work/mnt
check "a file system is made" mkfs.ext4 -q "$disk"
check "and mounted" mount -t ext4 "$disk" $work/mnt
head -c 4194304 $work/wanted >$work/small
check "a file is written" cp $work/small $work/mnt/file
umount $work/mnt
refused "the export cannot be ended" "what has arrived is saved in $ram" krdma blk end store
check "it is detached" device_end store
check "and ended then" krdma blk end store
check "the store is free" mount -t ext4 $ram $work/mnt
# Proves: F3
check "and has the file" cmp $work/small $work/mnt/file
umount $work/mnt
check "the file system is whole" e2fsck -fn $ram

# A client of an export that is made again does not know what was not flushed.
check "it is exported" serve store $ram
check "and attached" device_new store $here_address
disk=$(disk store)
check "ended by force" krdma blk end store -f
check "and exported again" serve store $ram
becomes "the device is dead" dead $attach/state 60
# Proves: F3
check "it has no disk to read" sh -c "! dd if=$disk of=/dev/null bs=4k count=1 iflag=direct"
check "it is detached" device_end store
krdma blk end store -f

# A file, of which a part is exported, read-only or to grow.
check "a file system" mount -t ext4 /dev/ram1 $work/mnt
head -c $((16 * 1048576)) /dev/zero >$work/mnt/image
check "a part of a file is exported" serve file $work/mnt/image -s 8M
check "and attached" device_new file $here_address hold_seconds=600 queues=1
disk=$(disk file)
head -c $((8 * 1048576)) $work/wanted >$work/part
check "it is written" write_direct $work/part "$disk" 1M
check "it grows" krdma blk grow file 12M
tries=0
until [ "$(cat "/sys/block/${disk#/dev/}/size")" = 24576 ] || [ $tries -ge 100 ]; do
	usleep 100000
	tries=$((tries + 1))
done
is "and the disk does" 24576 "/sys/block/${disk#/dev/}/size"
refused "it cannot grow beyond the file" "has not as much" krdma blk grow file 20M
head -c $((4 * 1048576)) /dev/zero >>$work/part
# Proves: F3
check "the data are there" same $work/part "$disk"
check "also with FUA" stable
check "and with flushes" dd if=$work/part of="$disk" bs=64k count=4 conv=fsync,notrunc
before=$(stat -c %b $work/mnt/image)
check "what is discarded" blkdiscard -o 0 -l 4M "$disk"
# Proves: F3
check "is given back" [ "$(stat -c %b $work/mnt/image)" -lt "$before" ]
dd if=/dev/zero of=$work/part bs=1M count=4 conv=notrunc 2>/dev/null
check "and reads as zeroes" same $work/part "$disk"
check "fio finds what it has written" verified "$disk" --number_ios=500

# Commands are not signaled, and when they have been executed their work requests stay in the SQ for
# some time: up to 127 of them.  Then as many writes as there can be are posted, and the device's
# completions are not taken until all are, so none of their work requests leaves the SQ earlier.
# Twice, so that an odd number of work requests is free once: a write takes two, and half of one
# would end the connection.
put "/sys/block/${disk#/dev/}/queue/scheduler" none
cat >$work/prerun <<EOF
echo ready >$work/fio.ready
until [ -e $work/fio.go ]; do usleep 10000; done
EOF
for number in 127 128; do
	while [ $number -gt 0 ]; do
		blkdiscard -o 0 -l 4096 "$disk"
		number=$((number - 1))
	done
	rm -f $work/fio.go $work/fio.ready
	begin fio --name=many --filename="$disk" --rw=randwrite --bs=4k --ioengine=libaio \
		--direct=1 --iodepth=64 --iodepth_batch_submit=64 --number_ios=64 \
		--exec_prerun="sh $work/prerun"
	becomes "a program is about to write" ready $work/fio.ready 30
	put $test/refuse "krdma_cq_softirq 0"
	touch $work/fio.go
	tries=0
	until read -r _ writing <"/sys/block/${disk#/dev/}/inflight" && [ "$writing" -ge 56 ] ||
		[ $tries -ge 75 ]; do
		usleep 20000
		tries=$((tries + 1))
	done
	check "as many writes as there can be are posted behind executed commands: $writing" \
		[ "$writing" -ge 56 ]
	put $test/refuse off
	becomes "and executed" 0 $work/ended 30
	is "on the same connection" 1 "/sys/block/${disk#/dev/}/krdma/reconnects"
done
check "fio finds what it has written at the greatest depth" \
	verified "$disk" --number_ios=300 --iodepth=64 --bsrange=64k-128k
is "no connection was lost" 1 "/sys/block/${disk#/dev/}/krdma/reconnects"

# The store does not answer, and more commands wait for it than there are workers.
check "a reader of it" device_new reader $other_address export=file read_only=1
check "the file system stops" fsfreeze --freeze $work/mnt
begin verified "$disk" --number_ios=200 --iodepth=64
sleep 2
check "another store is exported meanwhile" serve store $ram
check "and attached" device_new store $other_address
# Proves: F3
check "and written" dd if=$work/wanted of="$(disk store)" bs=64k count=16 oflag=direct conv=notrunc
check "and detached" device_end store
check "and ended" krdma blk end store
check "the reader is detached, too" device_end reader
becomes "the server has noticed that" 1 $config/exports/file/connections 10
check "the writes wait" [ ! -e $work/ended ]
check "the file system goes on" fsfreeze --unfreeze $work/mnt
becomes "and so do they" 0 $work/ended 60

# A client that was evicted asks again and again, and is told the reason when the store has ended.
# Meanwhile it does not take all the places where requests of its address are answered.
# Who waits for the file system does not hang.
put $hung 0
check "the file system stops again" fsfreeze --freeze $work/mnt
begin writes 5 1
sleep 1
writer=$(awk '$2 == "writer" { print $1 }' $config/exports/file/clients)
rm -f $work/evicted
(krdma blk evict file "$writer"; echo $? >$work/evicted) >/dev/null 2>&1 &
sleep 300
check "another export" export_new memory 1M
# Proves: F3
check "is attached by the same address" device_new memory $here_address
check "and detached" device_end memory
check "and ended" export_end memory
check "the eviction waits" [ ! -e $work/evicted ]
is "and so does the client" holding $config/devices/file/state
check "the file system goes on" fsfreeze --unfreeze $work/mnt
put $hung "$seconds"
becomes "and the eviction ends" 0 $work/evicted 60
becomes "the client is dead" dead $config/devices/file/state 60
becomes "and its write has failed" 1 $work/ended 60
check "it is detached" device_end file
check "and attached again" device_new file $here_address
disk=$(disk file)

# A write with FUA that cannot be made stable: what was written before may be lost with it.
put $test/refuse "ext4_sync_file -5"
refused "a write with FUA is not stable" "No data available" stable
put $test/refuse off
refused "and a later flush says so" "No data available" \
	dd if=$work/part of="$disk" bs=64k count=1 conv=fsync,notrunc
check "it is detached" device_end file
refused "the export is ended by force" "its data are lost" krdma blk end file -f
check "and made again" serve file $work/mnt/image -s 8M
check "and attached" device_new file $here_address
disk=$(disk file)

# What the kernel reports only once is not forgotten.
put $test/refuse "ext4_sync_file -5"
refused "the file cannot be flushed" "No data available" \
	dd if=$work/part of="$disk" bs=64k count=1 conv=fsync,notrunc
put $test/refuse off
refused "it has lost data, and says so again" "No data available" \
	dd if=$work/part of="$disk" bs=64k count=1 conv=fsync,notrunc
check "it is detached" device_end file
refused "and not ended without a word" "cannot be saved in $work/mnt/image" krdma blk end file
refused "but by force" "its data are lost" krdma blk end file -f
check "a file that is only read" serve file $work/mnt/image --read-only
check "is attached" device_new file $here_address
refused "and cannot be written" "Operation not permitted" write_direct $work/part "$(disk file)"
check "it is detached" device_end file
check "the export is ended" krdma blk end file
umount $work/mnt

# A file system that can neither transfer directly nor make holes.
mkdir -p $work/ramfs
check "a file system in the page cache" mount -t ramfs none $work/ramfs
head -c 1048576 $work/wanted >$work/ramfs/image
head -c 1048576 $work/wanted >$work/image
check "a file of it is exported" serve cached $work/ramfs/image --block-size 512
check "and attached, with a queue that is polled" \
	device_new cached $here_address queues=1 poll_queues=1
disk=$(disk cached)
check "it has the data" same $work/image "$disk"
check "a part is discarded" blkdiscard -o 1536 -l 301056 "$disk"
check "and one is zeroed" blkdiscard -z -o 524288 -l 512 "$disk"
dd if=/dev/zero of=$work/image bs=512 seek=3 count=588 conv=notrunc 2>/dev/null
dd if=/dev/zero of=$work/image bs=512 seek=1024 count=1 conv=notrunc 2>/dev/null
# Proves: F3
check "both are zero, and nothing else" same $work/image "$disk"
# Proves: F3
check "fio finds what it has written, by polling" verified "$disk" --bsrange=512-64k \
	--number_ios=300 --ioengine=io_uring --hipri --iodepth=4
truncate -s 65536 $work/ramfs/image
refused "a file that was cut off ends too early" "No data available" \
	dd if="$disk" of=/dev/null bs=64k skip=4 count=1 iflag=direct
check "it is detached" device_end cached
check "the export is ended" krdma blk end cached
umount $work/ramfs

check "the modules are unloaded" rmmod krdma_blk_test krdma_blk
tap_end
