#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Compares krdma_blk with NVMe over Fabrics, inside a VM.  Both export the same amount of memory
# to the VM itself over the same RDMA device, and fio runs on each in turn.  The results are in
# /out.  There, the file requests has a line for each run: job, whose disk, round, and how many
# requests the block layer has made of each of fio's; 0 if it does not count those of that disk.
#
# usage: block.sh ROUNDS SCALE; SCALE is the number of requests of 4 KiB in a job.
# environment: CRC=/path/of/a/module that computes the checksums, MTU of the network, POLL=1 for
# requests that fio polls for.

set -eu

here=$(dirname "$0")
rounds=$1
scale=$2
address=10.77.0.1
nvmet=/sys/kernel/config/nvmet
mib=64
engine=libaio
[ -z "${POLL:-}" ] || engine='io_uring --hipri'

# A request has at most 32 segments of 64 KiB for krdma_blk.  The pages of usual memory are not
# adjacent, so each is a segment, and what is longer than 128 KiB is split.
huge=mmaphuge

# Another checksum or MTU applies to connections that are made later.
prepare()
{
	if [ -n "${CRC:-}" ]; then
		rdma link delete rxe0
		insmod "$CRC"
		rdma link add rxe0 type rxe netdev dummy0
	fi
	if [ -n "${MTU:-}" ]; then
		ip link set dummy0 mtu "$MTU"
	fi
}

krdma_start()
{
	modprobe configfs 2>/dev/null || true
	mount -t configfs none /sys/kernel/config
	insmod "$here/krdma_blk.ko"
	krdma blk serve -n ram -s ${mib}M --allow any >/dev/null
	# The same number as the other one uses by default.
	krdma blk attach $address ram --queues "$(nproc)" ${POLL:+--poll-queues "$(nproc)"} >/dev/null
	krdma_disk=$(cat /sys/kernel/config/krdma_blk/devices/ram/disk)
}

krdma_stop()
{
	krdma blk detach ram
	krdma blk end ram
	rmmod krdma_blk
}

nvme_start()
{
	local host=00000000-0000-0000-0000-000000000001 tries=100

	modprobe brd rd_nr=1 rd_size=$((mib * 1024))
	modprobe nvmet-rdma
	modprobe nvme-rdma
	mkdir $nvmet/subsystems/ram
	echo 1 >$nvmet/subsystems/ram/attr_allow_any_host
	mkdir $nvmet/subsystems/ram/namespaces/1
	echo /dev/ram0 >$nvmet/subsystems/ram/namespaces/1/device_path
	echo 1 >$nvmet/subsystems/ram/namespaces/1/enable
	mkdir $nvmet/ports/1
	echo rdma >$nvmet/ports/1/addr_trtype
	echo ipv4 >$nvmet/ports/1/addr_adrfam
	echo $address >$nvmet/ports/1/addr_traddr
	echo 4420 >$nvmet/ports/1/addr_trsvcid
	ln -s $nvmet/subsystems/ram $nvmet/ports/1/subsystems/ram
	printf '%s' "transport=rdma,traddr=$address,trsvcid=4420,nqn=ram,hostid=$host," \
		"hostnqn=nqn.2014-08.org.nvmexpress:uuid:$host${POLL:+,nr_poll_queues=$(nproc)}" \
		>/dev/nvme-fabrics
	until [ -b /dev/nvme0n1 ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ]
		usleep 100000
	done
	nvme_disk=nvme0n1
}

nvme_stop()
{
	echo 1 >/sys/class/nvme/nvme0/delete_controller
	rm $nvmet/ports/1/subsystems/ram
	rmdir $nvmet/ports/1
	echo 0 >$nvmet/subsystems/ram/namespaces/1/enable
	rmdir $nvmet/subsystems/ram/namespaces/1 $nvmet/subsystems/ram
}

# ready DISK: disables the scheduler, and allocates all of the disk's memory.
ready()
{
	local scheduler=/sys/block/$1/queue/scheduler

	# The multipath disk of an NVMe namespace may have none.
	[ ! -e "$scheduler" ] || echo none >"$scheduler"
	dd if=/dev/zero of="/dev/$1" bs=1M count=$mib conv=fsync 2>/dev/null
}

# completed DISK: prints how many reads and writes it has completed.
completed()
{
	awk '{ print $1 + $5 }' "/sys/block/$1/stat"
}

# work NAME DISK ROUND RW SIZE DEPTH REQUESTS [BATCH]: BATCH requests are submitted
# and awaited at a time.
work()
{
	local base=$4-$5-$6${8:+-by-$8} memory=malloc before

	case $5 in
	*m) memory=$huge ;;
	esac
	before=$(completed "$2")
	# shellcheck disable=SC2086 # one option, or two
	fio --name=work --filename="/dev/$2" --rw="$4" --bs="$5" --iodepth="$6" \
		--number_ios="$7" --size=${mib}M --io_size=1T --direct=1 \
		--ioengine=$engine \
		--norandommap --randrepeat=1 --group_reporting --iodepth_batch_submit="${8:-1}" \
		--iodepth_batch_complete_min="${8:-1}" --iomem=$memory \
		--output-format=json --output="/out/$base.$1.$3" >/dev/null
	echo "$base $1 $3 $((($(completed "$2") - before + $7 / 2) / $7))" >>/out/requests
}

# For the memory of one job: of pages of 2 MiB.
pages=/proc/sys/vm/nr_hugepages
[ ! -e $pages ] || echo 16 >$pages
if [ "$(cat $pages 2>/dev/null)" != 16 ]; then
	echo "there are no huge pages: requests of 1 MiB are split"
	huge=malloc
fi
prepare
krdma_start
nvme_start
ready "$krdma_disk"
ready "$nvme_disk"
for round in $(seq "$rounds"); do
	for job in randread:4k:1:1 randwrite:4k:1:1 randread:4k:32:1 randwrite:4k:32:1 \
		randread:4k:32:1:16 randwrite:4k:32:1:16 read:128k:8:20 write:128k:8:20 \
		read:1m:8:100 write:1m:8:100; do
		IFS=: read -r rw size depth part batch <<-END
			$job
		END
		work krdma "$krdma_disk" "$round" "$rw" "$size" "$depth" $((scale / part)) ${batch:+"$batch"}
		work nvme "$nvme_disk" "$round" "$rw" "$size" "$depth" $((scale / part)) ${batch:+"$batch"}
	done
done
krdma_stop
nvme_stop
