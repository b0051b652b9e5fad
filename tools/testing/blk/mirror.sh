#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Mirrors two exports by md, loses one of them in the midst of writes, and takes it back: the data
# stay whole, and so do the file systems on the mirror.  Runs inside a VM with krdma.ko, the tool,
# mdadm, mkfs.ext4, e2fsck, mkfs.xfs, xfs_repair, fio, and the modules of md and XFS.  Prints TAP.
#
# KRDMA_SLOW=1		write less data

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
md=/sys/block/md0/md
hold=2
requests=4000
[ "${KRDMA_SLOW:-0}" != 1 ] || requests=800

# There is no udev.
export MDADM_NO_UDEV=1

# same_halves NAME: md compares the halves, block by block.
same_halves()
{
	put $md/sync_action check
	becomes "$1: the halves are compared" idle $md/sync_action 300
	is "$1: and are the same" 0 $md/mismatch_cnt
}

half_attach()
{
	device_new "$1" $here_address hold_seconds=$hold
}

# half_back NAME: attach it as another client, and let md write what is missing.
half_back()
{
	# md drops a half when a write to it has failed.
	becomes "$1: md goes on with one half" 1 $md/degraded 60
	check "$1: it is taken out" mdadm -q --manage /dev/md0 --remove failed --remove detached
	[ ! -e "$config/devices/$1" ] || device_end "$1"
	[ -e "$config/exports/$1" ] || check "$1: exported again, empty" export_new "$1" 64M
	check "$1: attached again" half_attach "$1"
	check "$1: back in the mirror" mdadm -q --manage /dev/md0 --add "$(disk "$1")"
	becomes "$1: and complete" 0 $md/degraded 300
}

# The work that is going on while a half is lost.
copy_source()
{
	local i

	for i in 1 2 3; do
		cp -r "$here/source" "$work/mount/$i" && sync || return
	done
}

copy_begins()
{
	local tries=0

	until [ -d $work/mount/1 ] || [ $tries -ge 3000 ]; do
		usleep 10000
		tries=$((tries + 1))
	done
	[ -d $work/mount/1 ]
}

# file_system TYPE NAME CHECKER...: on the mirror, which loses the half NAME meanwhile.
file_system()
{
	local type=$1 half=$2 copying i
	shift 2

	mkdir -p $work/mount
	check "$half: mounted" mount -t "$type" /dev/md0 $work/mount
	copy_source >$work/copied 2>&1 &
	copying=$!
	check "$half: the copies begin" copy_begins
	"lose_$half"
	check "$half: in the midst of the copies" [ -d "/proc/$copying" ]
	wait $copying
	check "$half: the copies have gone on" [ $? = 0 ]
	sed 's/^/# cp: /' $work/copied
	half_back "$half"
	umount $work/mount
	echo 3 >/proc/sys/vm/drop_caches
	check "$half: mounted again" mount -t "$type" -o ro /dev/md0 $work/mount
	for i in 1 2 3; do
		check "$half: copy $i is whole" diff -r "$here/source" $work/mount/$i
	done
	umount $work/mount
	check "$half: the file system is sound" "$@"
	same_halves "$half"
}

# The client gives its device up.
lose_left()
{
	check "left: detached by force" krdma blk detach -f left
}

# The server ends the export, with its data.
lose_right()
{
	check "right: its export ends" export_end right
}

for module in md-mod raid1 libcrc32c xfs; do
	[ ! -e "$here/modules/$module.ko" ] || insmod "$here/modules/$module.ko"
done
check "the module is loaded" load_module
for half in left right; do
	check "$half: exported" export_new $half 64M
	check "$half: attached" half_attach $half
done
# Both are empty, and so the same.
check "a mirror of both" mdadm -q --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 \
	--assume-clean "$(disk left)" "$(disk right)"
same_halves "at first"

# Without a file system: every block that fio has written is read back and compared.
verified /dev/md0 --number_ios=$requests >$work/fio 2>&1 &
verifying=$!
check "it is being written" await_write /dev/md0
lose_right
check "right: in the midst of writes" [ -d /proc/$verifying ]
wait $verifying
# Proves: F3
check "fio finds what it has written, whichever half is there" [ $? = 0 ]
grep -v '^3;' $work/fio | sed 's/^/# fio: /'
half_back right
same_halves "right"

check "ext4 is made" mkfs.ext4 -q /dev/md0
file_system ext4 left e2fsck -fn /dev/md0
# It is smaller than XFS supports.
check "XFS is made" mkfs.xfs -q -f --unsupported /dev/md0
file_system xfs right xfs_repair -n /dev/md0

# The comparison notices a difference.
dd if=/dev/urandom of="$(disk left)" bs=64k seek=512 count=1 oflag=direct conv=notrunc 2>/dev/null
put $md/sync_action check
becomes "the halves are compared once more" idle $md/sync_action 300
check "and a difference is found" [ "$(cat $md/mismatch_cnt)" -gt 0 ]

check "the mirror ends" mdadm -q --stop /dev/md0
for half in left right; do
	check "$half: detached" krdma blk detach $half
	check "$half: ended" krdma blk end $half
done
check "the module is unloaded" rmmod krdma_blk
tap_end
