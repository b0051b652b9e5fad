#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests the fence of krdma_blk (blk/fence.c): packets of a write that come late, after the write has
# failed and its block was written again, change nothing.  Runs inside a VM with krdma.ko and
# the program late.  Prints TAP.
#
# KRDMA_ROUNDS=N	do it N times
#
# Client and server are one machine, whose clock jumps when nobody has work, so seconds cost
# nothing.  What rxe sends to its own device does not pass the network.  So the client has an rxe
# device at one end of a veth, and the server one at the other end; what leaves the client's end is
# late.  A second client of the same export has another way, on which nothing is late.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

rounds=${KRDMA_ROUNDS:-3}
near=10.79.0.1 far=10.79.0.2 here_address=10.77.0.1

# end_of DEVICE ADDRESS OTHER-DEVICE OTHER-ADDRESS: make one end of the veth a link to the other.
# Both addresses are local, so the local table must not be asked first for what is sent.
end_of()
{
	local hardware

	read -r hardware <"/sys/class/net/$3/address"
	echo 0 >"/proc/sys/net/ipv4/conf/$1/rp_filter"
	echo 1 >"/proc/sys/net/ipv4/conf/$1/accept_local"
	ip addr add "$2/24" dev "$1" && ip link set "$1" up && ip link set "$3" up &&
		ip neigh add "$4" lladdr "$hardware" nud permanent dev "$1" &&
		ip route add "$4" dev "$1" src "$2" table 79 &&
		ip rule add pref 10 iif lo to "$4" lookup 79 &&
		# The connection manager looks for the way back to who asks for a connection.
		ip rule add pref 11 iif "$1" from "$2" to "$4" lookup 79
}

wire()
{
	modprobe veth && modprobe sch_netem && ip link add late0 type veth peer name late1 &&
		end_of late0 $near late1 $far && end_of late1 $far late0 $near &&
		ip rule add pref 100 lookup local && ip rule del pref 0 &&
		rdma link add rxe1 type rxe netdev late0 && rdma link add rxe2 type rxe netdev late1
}

# moved_and_late ROUND: the device has a second address and does not reach its limit: it repeats a
# late write there.  Then it writes the block again, from processor 1.
moved_and_late()
{
	local ms=$((1500 + $1 % 5 * 1000)) disk

	echo "round $1, late by $ms ms"
	printf 'a%08191d' "$1" >$work/early
	printf 'b%04095d' "$1" >$work/later
	device_new late "$far $here_address" export=memory queues=2 || return
	disk=$(disk late)
	"$here/late" late0 delay $ms &&
		taskset 1 dd if=$work/early of="$disk" bs=8k oflag=direct &&
		[ "$(cat "/sys/block/${disk#/dev/}/krdma/reconnects")" -ge 1 ] &&
		taskset 2 dd if=$work/later of="$disk" bs=4k oflag=direct conv=notrunc &&
		"$here/late" late0 delay 0 && "$here/late" late0 await &&
		same $work/later "$other" && device_end late
}

# moved_and_late_rounds COUNT
moved_and_late_rounds()
{
	local round=1

	while [ $round -le "$1" ]; do
		moved_and_late $round || return
		round=$((round + 1))
	done
}

check "the module is loaded" load_module
check "there is a way on which packets can be late" wire
check "an export for several writers" export_new memory 64K shared=1
check "is attached there" device_new late $far export=memory queues=2 hold_seconds=1
check "and from elsewhere" device_new other $here_address export=memory queues=2
other=$(disk other)
disk=$(disk late)
"$here/late" late0 rounds "$rounds" $config/devices/late/state "$disk" "$other"
status=$?
# Proves: F3
check "what is late does not come in behind an error" [ $status = 0 ]
check "the device is detached" device_end late
# Proves: F3
check "nor behind a write of the same device at its next address" \
	moved_and_late_rounds $((rounds / 50 + 1))
device_end other
export_end memory
check "the module is unloaded" rmmod krdma_blk
tap_end
