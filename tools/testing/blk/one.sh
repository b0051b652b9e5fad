#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma_blk on one machine, which attaches its own memory over RDMA.  Runs inside a VM with
# krdma.ko, the tool, mkfs.ext4, e2fsck, blkdiscard and fio.  Prints TAP.
#
# KRDMA_SLOW=1		write less data
# KRDMA_SECONDS=N	run fio for N seconds
# KRDMA_ROUNDS=N	delete the RDMA device N times

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
mib=32
[ "${KRDMA_SLOW:-0}" != 1 ] || mib=8

# swap_file DISK: write a file to tmpfs from a cgroup whose memory limit is lower than the size of
# the file, and compare it.  The file must have gone to DISK, the only swap device.
swap_file()
{
	local group=$work/groups/small

	mkdir -p $work/groups $work/memory
	mount -t cgroup2 none $work/groups && echo +memory >$work/groups/cgroup.subtree_control &&
		mkdir "$group" && echo "$((mib / 2))M" >"$group/memory.max" || return
	mount -t tmpfs -o size=64M none $work/memory || return
	sh -c "echo \$\$ >$group/cgroup.procs && cp $work/most $work/memory/file" || return
	[ "$(awk -v disk="$1" '$1 == disk { print $4 }' /proc/swaps)" -gt 1000 ] || {
		cat /proc/swaps
		return 1
	}
	cmp $work/most $work/memory/file
}

check "the module is loaded" load_module
is "it listens everywhere" "[::]:7475" $config/listen

# Attributes and their limits.
says "a size that is none" "size" krdma blk serve -n a -s 0x
refused "a size that is no multiple of a block" "Invalid argument" export_new odd 1000
rmdir $config/exports/odd
mkdir $config/exports/set
put $config/exports/set/allow any
refused "an export without a size is not enabled" "Invalid argument" put $config/exports/set/enabled 1
refused "a block size of 1024" "Invalid argument" put $config/exports/set/block_size 1024
refused "a network of 33 bits" "Invalid argument" put $config/exports/set/allow 10.0.0.0/33
refused "a secret of 65 bytes" "Invalid argument" put $config/exports/set/secret \
	"$(printf %065d 1)"
check "an IPv6 network and an address" put $config/exports/set/allow "fd00::/8 10.0.0.1"
put $config/exports/set/size 9223372036854775296
refused "more memory than can be described" "Invalid argument" put $config/exports/set/enabled 1
put $config/exports/set/size 1M
check "it is enabled" put $config/exports/set/enabled 1
refused "and does not change then" "Device or resource busy" \
	put $config/exports/set/block_size 512
refused "nor where it listens" "Device or resource busy" put $config/listen 10.77.0.1
export_end set
refused "a name of 25 characters" "File name too long" mkdir $config/exports/abcdefghijklmnopqrstuvwxy
check "it listens at one address and port" put $config/listen 10.77.0.1:8001
check "an export there" export_new there 1M
says "which is not found at the usual port" "no krdma_blk listens" krdma blk attach $here_address there
check "but at that one" krdma blk attach $here_address:8001 there
check "and is detached" krdma blk detach there
export_end there
put $config/listen "[::]:7475"

# Secrets and allowed addresses.
(umask 077; echo right >$work/right; echo wrong >$work/wrong)
check "an export with a secret" krdma blk serve -n locked -s 4M -k $work/right --allow 10.77.0.0/24,fd77::/64
says "attached without one" "wants a secret" krdma blk attach $here_address locked
says "or with another one" "secret is wrong" krdma blk attach $here_address locked -k $work/wrong
is "is counted" 1 $config/exports/locked/refused_secret
says "an export that is not there is none to whom has a secret" "secret is wrong" \
	krdma blk attach $here_address other -k $work/right
says "or has none" "wants a secret" krdma blk attach $here_address other
says "an address without a way" "cannot attach" krdma blk attach 192.0.2.1 locked
check "attached with the right one" krdma blk attach $here_address locked -k $work/right
check "detached by the name of its disk" krdma blk detach /dev/krdmab0
check "over IPv6" krdma blk attach "[fd77::1]:7475" locked -k $work/right
check "detached" krdma blk detach locked
krdma blk end locked
krdma blk serve -n stranger -s 1M --allow 10.99.0.0/16
says "an address that is not allowed" "not for this address" krdma blk attach $here_address stranger
krdma blk end stranger
krdma blk serve -n open -s 1M --allow any
says "a server that does not know the secret" "not proved" krdma blk attach $here_address open -k $work/right
is "has no record of whom that has made leave" "" $config/exports/open/clients
check "so its export is ended" krdma blk end open

# Peers that are not krdma_blk.
check "an export beside strangers" krdma blk serve -n plain -s 1M --allow any
refused "a stranger who asks for a connection is refused" \
	"no listener, or one for another service" krdma ping -c 1 --port 7475 $here_address
krdma ping --listen --port 8002 >$work/stranger 2>&1 &
stranger=$!
tries=0
until grep -q '^listening at ' $work/stranger || [ $tries -ge 600 ]; do
	tries=$((tries + 1))
	usleep 100000
done
says "and one who gives it is left" "no krdma_blk" krdma blk attach $here_address:8002 plain
kill $stranger
wait $stranger 2>/dev/null
check "the export is there as before" krdma blk attach $here_address plain
is "with a queue for each processor" "$(grep -c ^processor /proc/cpuinfo)" \
	$config/devices/plain/queues
krdma blk detach plain
krdma blk end plain

# Reads return what was written.
fill $work/first $mib
fill $work/second $mib
check "an export" krdma blk serve -n data -s ${mib}M --allow any
check "attached with four queues" krdma blk attach $here_address data --queues 4
disk=$(disk data)
is "its size" $((mib * 2048)) "/sys/block/${disk#/dev/}/size"
head -c 1048576 /dev/zero >$work/zero
check "it is zero" same $work/zero "$disk"
check "written past the cache" write_direct $work/first "$disk" 1M
check "and read" same $work/first "$disk"
# Proves: F3
check "written in pieces that are no power of two" write_direct $work/second "$disk" 36k
check "and read again" same $work/second "$disk"
dd if=$work/first of="$disk" bs=100k conv=fsync 2>/dev/null
check "and through the cache" same $work/first "$disk"
# In several commands, which the block layer has at hand together.
check "zeroes are written where they are wanted" blkdiscard -z -o 1M -l 5M "$disk"
dd if=/dev/zero of=$work/first bs=1M seek=1 count=5 conv=notrunc 2>/dev/null
check "and nowhere else" same $work/first "$disk"
check "what is discarded" blkdiscard -o 7M -l 1M "$disk"
dd if=/dev/zero of=$work/first bs=1M seek=7 count=1 conv=notrunc 2>/dev/null
# Proves: F3
check "is zero, and nothing else" same $work/first "$disk"
# Proves: F3
check "fio finds what it has written" verified "$disk" --time_based --runtime="${KRDMA_SECONDS:-3}"
check "and with sizes from one block on" verified "$disk" --bsrange=4k-1M --number_ios=200
krdma blk list | sed "s/^/# /"
krdma blk serve -n 7 -s 64K --allow any
krdma blk attach -j $here_address 7 >/out/blk-attach.json
check "a name that is a number" [ -s /out/blk-attach.json ]
krdma blk list -j >/out/blk-list.json
check "is a name in JSON, too" grep -q '"export":"7"' /out/blk-list.json
krdma blk detach 7
krdma blk end 7
refused "the module is not unloaded now" "Resource temporarily unavailable" rmmod krdma_blk

# A file system, swap, and a device that is in use.
check "a file system is made" mkfs.ext4 -q "$disk"
mkdir -p $work/mount
check "mounted" mount -t ext4 "$disk" $work/mount
check "a folder of a kernel's source is copied there" cp -r "$here/source" $work/mount/
says "a mounted device is not detached" "in use" krdma blk detach data
umount $work/mount
echo 3 >/proc/sys/vm/drop_caches
mount -t ext4 -o ro "$disk" $work/mount
check "it is there when it is mounted again" diff -r "$here/source" $work/mount/source
umount $work/mount
# Proves: F3
check "the file system is sound" e2fsck -fn "$disk"
check "swap is made on it" mkswap "$disk"
check "and used" swapon "$disk"
head -c $((mib * 750000)) $work/second >$work/most
check "memory goes there and comes back" swap_file "$disk"
umount $work/memory
rmdir $work/groups/small
umount $work/groups
check "and not any more" swapoff "$disk"
check "the device is detached" krdma blk detach data

# A disk that is open stays, and is independent of the disk of a new attachment.
krdma blk attach $here_address data >/dev/null
old=$(disk data)
exec 9<"$old"
says "a disk that is open is not detached" "in use" krdma blk detach data
check "but by force" krdma blk detach -f data
check "the device is attached again" krdma blk attach $here_address data
check "by another name than the one that is open" [ "$(disk data)" != "$old" ]
exec 9<&-
exec 9<"$(disk data)"
says "it is in use too" "in use" krdma blk detach data
exec 9<&-
check "until it is closed" krdma blk detach data

# Read-only and exclusive exports, and the block size.
krdma blk end data
krdma blk serve -n fixed -s 1M --allow any --read-only --block-size 512 --exclusive
check "a read-only export is attached" krdma blk attach $here_address fixed
disk=$(disk fixed)
is "its block size" 512 "/sys/block/${disk#/dev/}/queue/logical_block_size"
is "what it writes as a whole: a packet" 1024 "/sys/block/${disk#/dev/}/queue/physical_block_size"
refused "it cannot be written" "Operation not permitted" dd if=/dev/zero of="$disk" bs=4k count=1
check "it can be read" read_one "$disk"
says "an exclusive export has one client" "alone" krdma blk attach $here_address fixed -n more
krdma blk detach fixed
krdma blk end fixed

# The RDMA device is deleted repeatedly under load.  The server listens at single addresses of it.
put $config/listen "$here_address [fd77::1]"
krdma blk serve -n load -s ${mib}M --allow any
krdma blk attach $here_address load --queues 2 >/dev/null
disk=$(disk load)
head -c $((mib * 524288)) $work/first >$work/half
write_direct $work/half "$disk" 1M 2>/dev/null
(while [ ! -e $work/stop ]; do write_direct $work/half "$disk" || touch $work/failed; done) 2>/dev/null &
writer=$!
(while [ ! -e $work/stop ]; do
	verified "$disk" --offset=$((mib / 2))M --number_ios=500 >$work/fio 2>&1 || touch $work/failed
done) &
reader=$!
round=1
while [ $round -le "${KRDMA_ROUNDS:-3}" ]; do
	sleep 1
	rdma link delete rxe0
	becomes "round $round: the device has gone" holding $config/devices/load/state 30
	rdma link add rxe0 type rxe netdev dummy0
	becomes "round $round: the connections are back" live $config/devices/load/state 60
	round=$((round + 1))
done
touch $work/stop
wait $writer $reader
# Proves: F3
check "nobody has noticed" [ ! -e $work/failed ]
check "what was written is there" same $work/half "$disk"
krdma blk attach "[fd77::1]" load -n more --read-only >/dev/null
check "it listens at each address again" krdma blk detach more

# The export is made again, with other memory.
put $config/exports/load/force 1
put $config/exports/load/enabled 0
becomes "the server has ended the export" holding $config/devices/load/state 30
(read_one "$disk" 2>/dev/null && touch $work/read) &
reader=$!
put $config/exports/load/enabled 1
becomes "it is there again, and empty" dead $config/devices/load/state 30
wait $reader
# Proves: F3
check "a read that waited has failed" [ ! -e $work/read ]
refused "and so does every other one" "Input/output error" read_one "$disk"
check "it is detached" krdma blk detach load

# The device is detached, and the export ended, under load.
check "it is attached again" krdma blk attach $here_address load
disk=$(disk load)
busy "$disk" randwrite &
writer=$!
busy "$disk" randread &
reader=$!
check "it is being written" await_write "$disk"
check "and read" await_read "$disk"
check "detached by force meanwhile" krdma blk detach -f load
wait $writer
check "the writer has noticed" [ $? != 0 ]
wait $reader
check "and the reader" [ $? != 0 ]
check "it is attached once more" krdma blk attach $here_address load
disk=$(disk load)
busy "$disk" randwrite &
writer=$!
check "and being written" await_write "$disk"
# Proves: F3
check "an export is ended while it is written" krdma blk end -f load
refused "the device is not removed while it is attached" "Device or resource busy" \
	rmdir $config/devices/load
check "it is detached by force, with who waits" krdma blk detach -f load
wait $writer
check "who waited has noticed" [ $? != 0 ]
check "the module is unloaded" rmmod krdma_blk
tap_end
