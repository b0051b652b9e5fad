#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma_blk between two machines, and pulls the cable between them.  For
# tools/vm/run --nodes 2: machine 2 exports memory; machine 1 attaches it, tests, and prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

load_module || exit 1

# Machine 2 serves until a client has attached "goodbye" and detached it again.
if [ "${NODE:-1}" != 1 ]; then
	"$here/outsider" give none >$work/server &
	export_new memory 16M shared=1 && export_new alone 4M exclusive=1 &&
		export_new goodbye 64K || exit 1
	while [ "$(cat $config/exports/goodbye/accepted)" = 0 ] ||
	      [ "$(cat $config/exports/goodbye/connections)" != 0 ]; do
		usleep 200000
	done
	kill $!
	export_end memory && export_end alone && export_end goodbye && rmmod krdma_blk
	exit
fi

there=10.77.0.2
attach=$config/devices/memory

# Retry until machine 2 serves.
device_make memory "10.77.0.9 $there" export=memory queues=2 hold_seconds=60
tries=0
until put $attach/enabled 1 2>/dev/null || [ $tries -ge 60 ]; do
	tries=$((tries + 1))
	usleep 500000
done
is "memory of another machine is attached, at the second address" live $attach/state
disk=$(disk memory)
fill $work/first 16
fill $work/second 16
check "it is written" write_direct $work/first "$disk"
check "and holds what was written" same $work/first "$disk"

# The cable is pulled while requests are in flight, and plugged in again.
write_direct $work/second "$disk" 16k 2>$work/writer &
writer=$!
usleep 300000
vm-link 2 off
becomes "a pulled cable is noticed" holding $attach/state 60
sleep 2
check "a writer waits meanwhile" [ -d "/proc/$writer" ]
vm-link 2 on
becomes "it is plugged in, and the connections come back" live $attach/state 60
# check() would wait in a subshell, and the writer is not a child of that.
wait "$writer"
check "the writer has noticed nothing" [ $? = 0 ]
# Proves: F3
check "every write has arrived" same $work/second "$disk"

# The same while fio writes and compares, in the second half of the disk.
verified "$disk" --offset=8M --time_based --runtime=$((${KRDMA_SECONDS:-3} + 10)) >$work/fio 2>&1 &
writer=$!
sleep 2
vm-link 2 off
becomes "a cable is pulled while fio writes and compares" holding $attach/state 60
sleep 5
vm-link 2 on
becomes "five seconds later it is plugged in" live $attach/state 60
wait "$writer"
# Proves: F3
check "fio has seen no error, and what it had written" [ $? = 0 ]
grep -v '^3;' $work/fio | sed 's/^/# fio: /'

# One of the server's addresses does not work any more when the cable is plugged in.
check "the device is detached" device_end memory
check "attached with two addresses" device_new memory "$there fd77::2"
disk=$(disk memory)
remote=/sys/block/${disk#/dev/}/krdma/remote
is "it uses the first one" "$there:7475" "$remote"
interface=$(ip -o route get $there | sed 's/.* dev \([^ ]*\) .*/\1/')
ip neigh replace $there lladdr 02:00:00:00:00:99 nud permanent dev "$interface"
vm-link 2 off
becomes "a cable is pulled once more" holding $attach/state 60
vm-link 2 on
becomes "there is another way" live $attach/state 60
is "by the other address" "[fd77::2]:7475" "$remote"
head -c 8388608 $work/second >$work/half
check "to the same memory" same $work/half "$disk"
ip neigh del $there dev "$interface"

# The cable stays pulled for longer than hold_seconds.
check "the device is detached, too" device_end memory
device_new memory "$there" export=memory hold_seconds=3
disk=$(disk memory)
verified "$disk" --offset=8M --time_based --runtime=60 >$work/fio 2>&1 &
writer=$!
sleep 1
vm-link 2 off
refused "a read fails when the wait is over" "Input/output error" read_one "$disk"
is "the device says so" failing $attach/state
refused "the next one does not wait" "Input/output error" read_one "$disk"
wait "$writer"
check "fio ends" [ $? = 1 ]
check "with EIO" grep -q "Input/output error" $work/fio
vm-link 2 on
becomes "and yet it comes back" live $attach/state 60
check "with what was written" same $work/half "$disk"
check "the device is detached again" device_end memory

# A write is late: it leaves this machine 3.5 seconds after it was posted, when the device has
# given up its connection.  After the write has failed, another device writes the block again.  The
# server cannot know that both devices are the same client.
modprobe sch_netem
head -c 4096 $work/first >$work/early
head -c 4096 $work/second >$work/late
device_new memory "$there" hold_seconds=1 queues=2
disk=$(disk memory)
tc qdisc replace dev "$interface" root netem delay 3500ms
refused "a write fails whose packets are late" "Input/output error" write_direct $work/early "$disk" 4k
# netem keeps the delay of packets that it has already queued.
tc qdisc change dev "$interface" root netem delay 0ms
check "the device is detached by force" eval "put $attach/force 1 && device_end memory"
check "and attached again" device_new memory "$there"
disk=$(disk memory)
check "the block is written again" write_direct $work/late "$disk" 4k
sleep 5
# Proves: F3
check "and what was late has not come in behind it" same $work/late "$disk"
tc qdisc del dev "$interface" root
check "the device is detached once more" device_end memory

# The server detects that a client has died, and lets the next one attach.
device_new alone "$there" hold_seconds=1
device_make other "$there" export=alone
refused "an exclusive export has one client" "Connection refused" put $config/devices/other/enabled 1
vm-link 2 off
check "a device is detached without its server" device_end alone
sleep 1
vm-link 2 on
tries=0
until put $config/devices/other/enabled 1 2>/dev/null || [ $tries -ge 60 ]; do
	tries=$((tries + 1))
	usleep 500000
done
is "a client that has gone without a word makes room" live $config/devices/other/state
device_end other

# attached NAME: attach the device; retry for a minute until the other end accepts it.
attached()
{
	local tries=0

	until put "$config/devices/$1/enabled" 1 2>/dev/null || [ $tries -ge 120 ]; do
		tries=$((tries + 1))
		usleep 500000
	done
	[ "$(cat "$config/devices/$1/enabled")" = 1 ]
}

# sent NUMBER: wait until NUMBER packets have left the qdisc.
sent()
{
	local tries=0 packets=0

	while [ "$packets" -lt "$1" ] && [ $tries -lt 300 ]; do
		packets=$(tc -s qdisc show dev "$interface" | sed -n 's/.* bytes \([0-9]*\) pkt.*/\1/p')
		packets=${packets:-0}
		tries=$((tries + 1))
		usleep 100000
	done
	[ "$packets" -ge "$1" ]
}

# queued NUMBER: wait until NUMBER packets are queued in the qdisc.
queued()
{
	local tries=0

	until tc -s qdisc show dev "$interface" | grep -q "backlog [^ ]* ${1}p"; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return
		usleep 50000
	done
}

# A client dies between two packets of a write.  The qdisc has room for three of its four packets.
# Before they leave it, the client's RDMA device is removed, so the fourth packet is never sent.
# The other end is the program outsider, which does not check whether its peer is alive.
mtu=$(cat "/sys/class/net/$interface/mtu")
ip link set dev "$interface" mtu 1500
device_make torn "$there:8003" queues=1 hold_seconds=1
check "a program's memory is attached" attached torn
head -c 4096 /dev/zero | tr '\0' o >$work/old
head -c 4096 /dev/zero | tr '\0' n >$work/new
check "a block is written" write_direct $work/old "$(disk torn)" 4k
check "packets are slow from now on" tc qdisc add dev "$interface" root netem delay 5s limit 3
write_direct $work/new "$(disk torn)" 4k 2>$work/writer &
writer=$!
check "three packets are on their way" queued 3
rdma link delete rxe0 &
removal=$!
check "and arrive" sent 3
tc qdisc del dev "$interface" root
wait $removal
wait $writer
check "the write has failed" [ $? != 0 ]
put $config/devices/torn/force 1
device_end torn
rdma link add rxe0 type rxe netdev "$interface"
device_make torn "$there:8003" queues=1
check "the memory is attached again" attached torn
dd if="$(disk torn)" of=$work/block bs=4k count=1 iflag=direct 2>/dev/null
# Proves: F3
check "the block is a mixture" grep -Eq '^n+o+$' $work/block
check "of whole packets" [ "$(($(tr -d o <$work/block | wc -c) % 1024))" = 0 ]
device_end torn
ip link set dev "$interface" mtu "$mtu"

check "goodbye" device_new goodbye "$there"
device_end goodbye
check "the module is unloaded" rmmod krdma_blk
tap_end
