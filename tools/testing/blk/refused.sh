#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests what a device of krdma_blk does about what is refused: a connection at one of its addresses,
# while another one answers slowly; a command, by the client's device; and a request, while others
# wait.  Runs inside a VM with krdma.ko, krdma_blk_test.ko and the program outsider, in virtual time.
# Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
test=/sys/kernel/debug/krdma_blk_test
trace=/sys/kernel/tracing
attach=$config/devices/refused
interface=$(ip -o -4 addr show to $here_address | awk '{ print $2 }')
network=$(ip -o -4 addr show to $here_address | awk '{ print $4 }')

now_ms()
{
	awk '{ print int($1 * 1000) }' /proc/uptime
}

# give FAULT: start a server that is not krdma_blk, on port 8003.
give()
{
	local tries=100

	rm -f $work/server
	"$here/outsider" give "$1" >$work/server &
	server=$!
	until grep -qs listening $work/server || [ $tries = 0 ]; do
		tries=$((tries - 1))
		usleep 100000
	done
}

# unserve: end that server.
unserve()
{
	kill $server
	wait $server 2>/dev/null
}

# begin NAME COMMAND...: run the command in the background.  $work/NAME then has its exit status.
begin()
{
	local name=$1
	shift

	rm -f "$work/$name"
	(
		"$@" >$work/said 2>&1
		echo $? >"$work/ending.$name"
		mv "$work/ending.$name" "$work/$name"
	) &
}

# await_file FILE SECONDS: wait until the file exists.
await_file()
{
	local tries=$(($2 * 10))

	until [ -e "$1" ] || [ $tries = 0 ]; do
		usleep 100000
		tries=$((tries - 1))
	done
	[ -e "$1" ]
}

# reconnects: print how often the connections were made again.
reconnects()
{
	cat "/sys/block/${disk#/dev/}/krdma/reconnects"
}

# await_reconnects COUNT: wait until they were made again so often.
await_reconnects()
{
	local tries=300

	until [ "$(reconnects)" -ge "$1" ] || [ $tries = 0 ]; do
		usleep 100000
		tries=$((tries - 1))
	done
	[ "$(reconnects)" -ge "$1" ]
}

# unsent: print how many requests could not be sent, and are blamed for that, while it is traced.
unsent()
{
	grep -c 'blame: .* status=2$' $trace/trace
}

# await_unsent COUNT: wait until so many could not be sent, or a request has ended.
await_unsent()
{
	local tries=100

	until [ "$(unsent)" -ge "$1" ] || [ -e $work/sent ] || [ $tries = 0 ]; do
		usleep 100000
		tries=$((tries - 1))
	done
}

check "the module is loaded" load_module
check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
check "an export" export_new refused 4M

# Of two addresses the first one refuses each connection at once, and the second one takes some
# seconds for each answer.  The device waits for that, however often it is refused.
check "is attached at the second of two addresses" \
	device_new refused "$here_address:8003 $here_address" queues=1 hold_seconds=600
disk=$(disk refused)
give refusal
put $test/delay "krdma_blk_conn_answer 2500"
since=$(now_ms)
check "its connections end" put $config/exports/refused/size 5M
becomes "though the first one refuses, it is at the slow one again" 1 \
	"/sys/block/${disk#/dev/}/krdma/reconnects" 30
becomes "and live" live $attach/state 5
took=$(($(now_ms) - since))
echo "# after $took ms, refused $(grep -c '^refused' $work/server) times"
# Proves: F3
check "as soon as that has answered twice" [ $took -le 8000 ]
is "which it says" "$here_address:7475" "/sys/block/${disk#/dev/}/krdma/remote"
check "the first one was asked again meanwhile" [ "$(grep -c '^refused' $work/server)" -ge 4 ]
put $test/delay off
check "it works" read_one "$disk"
check "and is detached" device_end refused
unserve

# A command that cannot be sent is the reason why the connection is lost, as any other request is.
[ -e $trace/trace ] || mount -t tracefs none $trace
check "the ends of requests are traced" \
	put $trace/kprobe_events "p:blame krdma_blk_request_blame status=%dx:u8"
put $trace/events/kprobes/blame/enable 1
fill $work/image 4
check "an export with a store" export_new stored 4M store=$work/image
for name in refused stored; do
	attach=$config/devices/$name
	check "$name: is attached" device_new $name $here_address queues=1 hold_seconds=600
	disk=$(disk $name)
	: >$trace/trace
	address_away
	becomes "$name: the address goes away" holding $attach/state 60
	if [ $name = refused ]; then
		begin sent blkdiscard -f -l 4096 "$disk"
	else
		begin sent read_one "$disk"
	fi
	number=0
	while [ $number -lt 4 ] && [ ! -e $work/sent ]; do
		number=$((number + 1))
		put $test/stall "krdma_blk_queue_push krdma_blk_path_start"
		address_back
		becomes "$name: the connections are there, $number" stalled $test/stall 60
		address_away
		put $test/stall go
		await_unsent $number
	done
	address_back
	becomes "$name: the device comes back" live $attach/state 60
	await_file $work/sent 60
	# Proves: F3
	check "a command that could not be sent is carried out then" grep -q '^0$' $work/sent
	check "$name: and it was known which: $(unsent) times" [ "$(unsent)" -ge 4 ]
	check "$name: is detached" device_end $name
done
put $trace/events/kprobes/blame/enable 0
: >$trace/kprobe_events
attach=$config/devices/refused
check "the export with a store is ended" export_end stored

# A request whose rkey is refused each time comes last: what is posted behind it would be flushed
# with it.  The second one is made while the device pauses, and so it is behind the first one.
give entry-key
check "a server with an invalid rkey is attached" \
	device_new refused $here_address:8003 queues=1 hold_seconds=40
disk=$(disk refused)
put "/sys/block/${disk#/dev/}/queue/scheduler" none
begin first dd if="$disk" of=/dev/null bs=4k count=1 skip=2 iflag=direct
check "a request with that is refused again and again" await_reconnects 5
becomes "until the device pauses" holding $attach/state 5
since=$(now_ms)
begin second dd if="$disk" of=/dev/null bs=4k count=1 skip=1 iflag=direct
await_file $work/second 60
took=$(($(now_ms) - since))
# Proves: F3
check "another one, behind it, does not wait for its limit" [ ! -e $work/first ]
check "and is carried out soon, after $took ms" [ $took -le 5000 ]
check "without an error" grep -q '^0$' $work/second
await_file $work/first 60
check "the first one fails at its limit" grep -qv '^0$' $work/first
check "the device is detached" device_end refused
unserve

# The same for a request that this side's device does not take.  The second one is behind the first
# one, in the list of those that wait.  Of a read from a store it is the second work request that is
# not taken: the one that fetches the data when the server has them ready.
for name in refused stored fetched; do
	[ $name = refused ] || check "an export with a store" export_new $name 4M store=$work/image
	attach=$config/devices/$name
	check "$name: is attached" device_new $name $here_address queues=1 hold_seconds=600
	disk=$(disk $name)
	put "/sys/block/${disk#/dev/}/queue/scheduler" none
	put $test/length "12288 -22"
	if [ $name = fetched ]; then
		begin first dd if="$disk" of=/dev/null bs=12k count=1 skip=1 iflag=direct
	else
		begin first dd if=/dev/zero of="$disk" bs=12k count=1 seek=1 oflag=direct
	fi
	check "$name: a request that the device does not take, again and again" await_reconnects 4
	since=$(now_ms)
	begin second dd if=/dev/zero of="$disk" bs=4k count=50 seek=8 oflag=direct
	await_file $work/second 60
	took=$(($(now_ms) - since))
	echo "# $name: after $took ms"
	# Proves: F3
	check "requests behind that are carried out soon" [ $took -le 5000 ]
	check "$name: without an error" grep -q '^0$' $work/second
	check "$name: the first one still waits" [ ! -e $work/first ]
	count=$(reconnects)
	sleep 20
	count=$(($(reconnects) - count))
	check "$name: the connections are kept for a second each time: $count" [ $count -le 20 ]
	check "$name: but are not given up" [ $count -ge 5 ]
	put $test/length off
	await_file $work/first 60
	# Proves: F3
	check "when the device takes the first one, it is carried out" grep -q '^0$' $work/first
	becomes "$name: the device is live" live $attach/state 10
	count=$(reconnects)
	sleep 5
	is "$name: and stays that" "$count" "/sys/block/${disk#/dev/}/krdma/reconnects"
	check "$name: is detached" device_end $name
	[ $name = refused ] || check "$name: the export is ended" export_end $name
done
attach=$config/devices/refused

# The connections are kept for a second because of such a request.  If they are lost before that, they
# are brief nevertheless, and there is a pause before they are made again.
check "is attached once more" device_new refused $here_address queues=1 hold_seconds=600
disk=$(disk refused)
put "/sys/block/${disk#/dev/}/queue/scheduler" none
put $test/length "12288 -22"
begin first dd if=/dev/zero of="$disk" bs=12k count=1 seek=1 oflag=direct
check "again a request is not taken" await_reconnects 4
since=$(now_ms)
for size in 10 11 12 13 14 15 16 17 18 19 20 21; do
	count=$(reconnects)
	put $config/exports/refused/size ${size}M
	await_reconnects "$((count + 1))" || break
done
took=$(($(now_ms) - since))
check "the connections end 12 times beside it" [ "$size" = 21 ]
# Proves: F3
check "they are made again with pauses" [ $took -ge 4000 ]
echo "# 12 times in $took ms"
put $test/length off
await_file $work/first 60
check "the request is carried out" grep -q '^0$' $work/first
check "and the device is detached" device_end refused

# A device asks whether its first address answers, and before it returns there for that, it is
# there already.
check "is attached at the second of two addresses" \
	device_new refused "10.77.0.99 $here_address" queues=1 hold_seconds=600
disk=$(disk refused)
put $test/stall "krdma_blk_path_move krdma_blk_failback_work"
ip addr add "10.77.0.99/${network#*/}" dev "$interface"
becomes "the first one answers" stalled $test/stall 60
check "the connections end" put $config/exports/refused/size 30M
becomes "and are made again" 1 "/sys/block/${disk#/dev/}/krdma/reconnects" 30
is "by the first address" "10.77.0.99:7475" "/sys/block/${disk#/dev/}/krdma/remote"
becomes "the device is live" live $attach/state 5
put $test/stall go
becomes "the old answer is dealt with" over $test/stall 5
sleep 5
# Proves: F3
check "and ends no connection" [ "$(reconnects)" = 1 ]
check "it is detached" device_end refused
ip addr del "10.77.0.99/${network#*/}" dev "$interface"

check "the export is ended" export_end refused
check "the modules are unloaded" rmmod krdma_blk_test krdma_blk
tap_end
