#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests a machine that swaps to krdma_blk, has no free memory and cannot start threads, while the
# cable to its server is pulled and plugged in again.  For tools/vm/run --nodes 2: machine 1 swaps,
# tests, and prints TAP; machine 2 serves, and pulls its own cable.
#
# KRDMA_SWAP=MIB	the size of the swap (96)
# KRDMA_FREE=MIB	how much memory of machine 1 there is for what swaps (all)
# KRDMA_RESERVE=KIB	vm.min_free_kbytes of machine 1 (65536); empty: as it is
# KRDMA_OFF=SECONDS	how long the cable is pulled (4)
# KRDMA_ROUNDS=N	how often (1)

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

swap=${KRDMA_SWAP:-96}
reserve=${KRDMA_RESERVE-65536}
off=${KRDMA_OFF:-4}
rounds=${KRDMA_ROUNDS:-1}

load_module || exit 1

# back NUMBER: wait up to two minutes until the other machine has connected again, since the server
# had accepted NUMBER connections, or is done.
back()
{
	local tries=0

	until [ "$(cat $config/exports/swap/accepted)" != "$1" ] ||
	      [ "$(cat $config/exports/pull/accepted)" -ge 2 ] || [ $tries -ge 120 ]; do
		tries=$((tries + 1))
		sleep 1
	done
}

# After machine 1 has attached "pull", machine 2 pulls its cable, and plugs it in for 12 s and until
# there is a connection again; until "pull" is attached once more.
if [ "${NODE:-1}" != 1 ]; then
	export_new swap "${swap}M" && export_new pull 64K || exit 1
	while [ "$(cat $config/exports/pull/accepted)" = 0 ]; do
		usleep 200000
	done
	sleep 5
	while [ "$(cat $config/exports/pull/accepted)" -lt 2 ]; do
		accepted=$(cat $config/exports/swap/accepted)
		vm-link 2 off
		sleep "$off"
		vm-link 2 on
		sleep 12
		back "$accepted"
	done
	while [ "$(cat $config/exports/pull/connections)" != 0 ]; do
		usleep 200000
	done
	export_end swap && export_end pull && rmmod krdma_blk
	exit
fi

# attach NAME: attach the device; retry until the server is there.
attach()
{
	local tries=0

	until put "$config/devices/$1/enabled" 1 2>/dev/null || [ $tries -ge 60 ]; do
		tries=$((tries + 1))
		usleep 500000
	done
	is "$1: memory of another machine is attached" live "$config/devices/$1/state"
}

# available: the MiB of memory that programs can still have.
available()
{
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

insmod "$here/krdma_core_test.ko" || exit 1
device_make swap 10.77.0.2 export=swap hold_seconds=120 queues=1
device_make pull 10.77.0.2 export=pull queues=1
attach swap
disk=$(disk swap)
check "swap is made on it" mkswap "$disk"
check "and used" swapon "$disk"
attach pull
put $config/devices/pull/enabled 0

# rxe allocates packets with GFP_ATOMIC.  If an allocation fails, the QP of the connection manager
# stays in error for good.  So keep a large reserve, which only such allocations can use.
[ -z "$reserve" ] || echo "$reserve" >/proc/sys/vm/min_free_kbytes
echo "# min_free_kbytes is $(cat /proc/sys/vm/min_free_kbytes)"
holder=''
if [ -n "${KRDMA_FREE:-}" ] && [ "$(available)" -gt "$KRDMA_FREE" ]; then
	"$here/swap" $(($(available) - KRDMA_FREE)) >$work/held &
	holder=$!
	becomes "the other memory is in use for good" held $work/held 300
fi
# Use all available memory and three quarters of the swap.
free=$(available)
echo "# $free MiB are available, $((free + swap * 3 / 4)) MiB are used"
"$here/swap" $((free + swap * 3 / 4)) /sys/kernel/debug/krdma_core_test/starve \
	"/sys/block/${disk#/dev/}/krdma/reconnects" "$rounds" $((rounds * (off + 86))) \
	>$work/all 2>&1
status=$?
sed 's/^/# /' $work/all
check "connections come back without threads and memory, and so does what was in swap" \
	[ $status = 0 ]
[ $status = 0 ] || {
	echo "# the device is $(cat $config/devices/swap/state): $(cat $config/devices/swap/error)"
	rdma resource show qp | grep ' type GSI ' | sed 's/^/# /'
}
[ -z "$holder" ] || kill "$holder"
awk '/^pswp/ { print "# " $0 }' /proc/vmstat
attach pull
check "swap is not used any more" swapoff "$disk"
check "the device is detached" device_end swap
check "and the other one" device_end pull
rmmod krdma_core_test
check "the module is unloaded" rmmod krdma_blk
tap_end
