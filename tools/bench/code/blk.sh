#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Reads and writes of krdma_blk between the marks of the plugin, inside a VM.  Prints a line for
# each count: the number of requests, and its name.
#
# usage: blk.sh REQUESTS

set -eu

here=$(dirname "$0")
requests=$1
mib=64

echo 0 >/proc/sys/kernel/kptr_restrict
modprobe configfs 2>/dev/null || true
mount -t configfs none /sys/kernel/config
insmod "$here/krdma_blk.ko"
krdma blk serve -n ram -s ${mib}M --allow any >/dev/null
krdma blk attach 10.77.0.1 ram --queues 1 >/dev/null
disk=$(cat /sys/kernel/config/krdma_blk/devices/ram/disk)
echo none >"/sys/block/$disk/queue/scheduler"
dd if=/dev/zero of="/dev/$disk" bs=1M count=$mib conv=fsync 2>/dev/null
# The addresses of the modules' functions, while they are loaded.
cat /proc/kallsyms >/out/symbols

for rw in randread randwrite; do
	for job in 1:1 32:1 32:32; do
		code-begin
		fio --name=work --filename="/dev/$disk" --rw=$rw --bs=4k --iodepth=${job%:*} \
			--number_ios="$requests" --size=${mib}M --io_size=1T --ioengine=libaio \
			--direct=1 --norandommap --iodepth_batch_submit=${job#*:} \
			--iodepth_batch_complete_min=${job#*:} --output-format=terse >/dev/null
		code-end
		echo "$requests $rw of 4 KiB, depth ${job%:*}, ${job#*:} at a time"
	done
done
krdma blk detach ram
krdma blk end ram
rmmod krdma_blk
