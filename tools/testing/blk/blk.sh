# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# Functions that the tests of krdma_blk share.  They configure exports and devices by configfs, as
# Documentation/blk.rst describes.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"

config=/sys/kernel/config/krdma_blk
work=/tmp/blk
mkdir -p $work

# check NAME COMMAND...: the command succeeds.
check()
{
	local name=$1 said
	shift

	if said=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "failed: $*
$said"
	fi
}

# refused NAME REASON COMMAND...: the command fails and prints REASON, a fixed string.
refused()
{
	local name=$1 reason=$2 said
	shift 2

	if said=$("$@" 2>&1); then
		not_ok "$name" "succeeded: $*
$said"
	elif echo "$said" | grep -qF "$reason"; then
		ok "$name"
	else
		not_ok "$name" "failed, but not with '$reason': $*
$said"
	fi
}

# says NAME PATTERN COMMAND...: the command fails, and its output matches PATTERN.
says()
{
	local name=$1 pattern=$2 said
	shift 2

	if said=$("$@" 2>&1); then
		not_ok "$name" "succeeded: $*"
	elif echo "$said" | grep -q "$pattern"; then
		ok "$name"
	else
		not_ok "$name" "said: $said"
	fi
}

# is NAME WANTED FILE: FILE contains WANTED.
is()
{
	local said

	said=$(cat "$3" 2>&1)
	if [ "$said" = "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "$3 says '$said', not '$2'"
	fi
}

# becomes NAME WANTED FILE SECONDS: FILE contains WANTED within SECONDS.
becomes()
{
	local tries=$(($4 * 5))

	while [ "$(cat "$3" 2>/dev/null)" != "$2" ] && [ $tries -gt 0 ]; do
		usleep 200000
		tries=$((tries - 1))
	done
	is "$1" "$2" "$3"
}

# requests_of DISK FIELD: print a field of the disk's statistics.
requests_of()
{
	awk -v field="$2" '{ print $field }' "/sys/block/${1#/dev/}/stat"
}

# await_request DISK FIELD WHAT: wait up to 30 s until that field has grown.
await_request()
{
	local tries=0 begun now

	begun=$(requests_of "$1" "$2") || return
	while [ $tries -lt 300 ]; do
		usleep 100000
		now=$(requests_of "$1" "$2") || return
		[ "$now" = "$begun" ] || return 0
		tries=$((tries + 1))
	done
	echo "$1 has completed no $3 for 30 s"
	return 1
}

# await_read DISK, await_write DISK: wait up to 30 s until DISK has completed one more.
await_read()
{
	await_request "$1" 1 read
}

await_write()
{
	await_request "$1" 5 write
}

load_module()
{
	modprobe configfs 2>/dev/null
	[ -d /sys/kernel/config/lost ] || mount -t configfs none /sys/kernel/config 2>/dev/null
	insmod "$here/krdma_blk.ko"
}

# address_away, address_back: remove the address $network of $interface, by which a device reaches
# its server, and add it again.  If rxe had to send a message of the connection manager meanwhile,
# the manager's QP is in error, and the device is made again, as an administrator would do it.  On
# 6.1 the QP does not look so, and hears nothing: there the log tells that it could not send.
manager_failures()
{
	dmesg | grep -c 'rxe: qp#1 Failed allocating skb' || :
}

# shellcheck disable=SC2154 # set by who uses these
address_away()
{
	failures=$(manager_failures)
	ip addr del "$network" dev "$interface"
}

# shellcheck disable=SC2154 # as above
address_back()
{
	ip addr add "$network" dev "$interface"
	rdma resource show qp 2>/dev/null | grep -q ' type GSI state ERR' ||
		[ "$(manager_failures)" != "$failures" ] || return 0
	echo "# the manager's queue pair of rxe0 is in error: the device is made again"
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev "$interface"
}

# put FILE VALUE: one write, by a program that prints the error of write().
put()
{
	printf '%s\n' "$2" | cat >"$1"
}

# export_make NAME SIZE [ATTRIBUTE=VALUE]...: create an export for all clients; do not enable it.
export_make()
{
	local dir=$config/exports/$1 size=$2
	shift 2

	mkdir "$dir" && put "$dir/size" "$size" && put "$dir/allow" any || return
	for one; do
		put "$dir/${one%%=*}" "${one#*=}" || return
	done
}

export_new()
{
	export_make "$@" && put "$config/exports/$1/enabled" 1
}

# export_end NAME: end the export by force.  Clients that have attached it lose it.
export_end()
{
	put "$config/exports/$1/force" 1 && put "$config/exports/$1/enabled" 0 &&
		rmdir "$config/exports/$1"
}

# device_make NAME ADDRESS [ATTRIBUTE=VALUE]...: create a device; do not attach it.
device_make()
{
	local dir=$config/devices/$1 address=$2
	shift 2

	mkdir "$dir" && put "$dir/remote" "$address" || return
	for one; do
		put "$dir/${one%%=*}" "${one#*=}" || return
	done
}

device_new()
{
	device_make "$@" && put "$config/devices/$1/enabled" 1
}

device_end()
{
	put "$config/devices/$1/enabled" 0 && rmdir "$config/devices/$1"
}

# disk NAME: print the path of the device's disk.
disk()
{
	echo "/dev/$(cat "$config/devices/$1/disk")"
}

# fill FILE MIB: write random data.  A run with the same random numbers has the same data.
fill()
{
	dd if=/dev/urandom of="$1" bs=1M count="$2" 2>/dev/null
}

# same FILE DISK: DISK begins with the data of FILE.  Drops the page cache before it compares.
same()
{
	echo 3 >/proc/sys/vm/drop_caches
	cmp -n "$(stat -c %s "$1")" "$1" "$2" 2>&1 | head -n 3 >$work/differ
	cat $work/differ
	[ ! -s $work/differ ]
}

write_direct()
{
	dd if="$1" of="$2" bs="${3:-64k}" oflag=direct conv=notrunc
}

read_one()
{
	dd if="$1" of=/dev/null bs=4k count=1 iflag=direct
}

# busy DISK WHAT: fio does that (randread or randwrite) until a request fails, and then fails itself.
busy()
{
	fio --name=busy --filename="$1" --rw="$2" --bs=64k --direct=1 --time_based --runtime=600 \
		>/dev/null 2>&1
}

# verified DISK OPTION...: fio writes at random offsets, and reads back and compares at intervals.
verified()
{
	local disk=$1
	shift

	fio --name=verified --filename="$disk" --rw=randwrite --bsrange=4k-64k --iodepth=16 \
		--ioengine=libaio --direct=1 --verify=crc32c --verify_fatal=1 \
		--verify_backlog=128 --randrepeat=1 --output-format=terse "$@"
}
