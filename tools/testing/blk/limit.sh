#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests when requests of krdma_blk fail, and when they must not fail.  krdma_blk_test.ko stalls
# and refuses calls, to reach states that last too short to be met by chance.  Runs inside a VM
# with krdma.ko and krdma_blk_test.ko, in virtual time.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
test=/sys/kernel/debug/krdma_blk_test
trace=/sys/kernel/tracing
interface=dummy0
attach=$config/devices/limit
hold=5

now()
{
	cut -d . -f 1 /proc/uptime
}

now_ms()
{
	awk '{ print int($1 * 1000) }' /proc/uptime
}

# one read|write: transfer one block in the background.  $work/ended then has the exit status and
# the time of its end.
one()
{
	rm -f $work/ended
	(
		if [ "$1" = read ]; then
			read_one "$disk" >$work/one 2>&1
		else
			dd if=/dev/zero of="$disk" bs=4k count=1 oflag=direct >$work/one 2>&1
		fi
		echo "$? $(now)" >$work/ending
		mv $work/ending $work/ended
	) &
}

# ended NAME SINCE LEAST MOST: the transfer of one() fails, LEAST to MOST seconds after SINCE.
ended()
{
	local name=$1 since=$2 least=$3 most=$4 tries=0 status='' at took

	until [ -e $work/ended ] || [ $tries -ge $((most + 20)) ]; do
		sleep 1
		tries=$((tries + 1))
	done
	[ ! -e $work/ended ] || read -r status at <$work/ended
	took=$((${at:-0} - since))
	if [ -z "$status" ]; then
		not_ok "$name" "it has not ended after $(($(now) - since)) s; the device is $(cat $attach/state)"
	elif [ "$status" = 0 ]; then
		not_ok "$name" "it has succeeded"
	elif [ $took -lt "$least" ] || [ $took -gt "$most" ]; then
		not_ok "$name" "it has failed after $took s, not $least to $most"
	else
		ok "$name, after $took s"
	fi
}

# await_end: wait until the transfer of one() has ended.
await_end()
{
	local tries=0

	until [ -e $work/ended ] || [ $tries -ge 300 ]; do
		usleep 100000
		tries=$((tries + 1))
	done
}

# blames: print the statuses of the requests that have failed, while they are traced.
blames()
{
	sed -n 's/.*blame: .* status=\([0-9]*\)$/\1/p' $trace/trace | xargs
}

# await_blame COUNT: wait until so many have failed, or the transfer of one() has ended.
await_blame()
{
	local tries=0

	until [ "$(blames | wc -w)" -ge "$1" ] || [ -e $work/ended ] || [ $tries -ge 600 ]; do
		usleep 100000
		tries=$((tries + 1))
	done
}

# await_moved REMOTE: wait until the device is live at that address.  Sets $lost to the time when it was
# last seen live at another one, and $live to that when it is live there, in milliseconds.
await_moved()
{
	local state='' remote='' tries=0

	lost=$(now_ms)
	until [ "$state" = live ] && [ "$remote" = "$1" ] || [ $tries -ge 600 ]; do
		tries=$((tries + 1))
		usleep 50000
		read -r state <$attach/state
		read -r remote <"/sys/block/${disk#/dev/}/krdma/remote"
		[ "$state" != live ] || [ "$remote" = "$1" ] || lost=$(now_ms)
	done
	live=$(now_ms)
}

# batch: fio writes 64 blocks, up to 16 at a time, in the background; its process is $batch.
batch()
{
	fio --name=batch --filename="$disk" --rw=randwrite --bs=4k --ioengine=libaio --direct=1 \
		--iodepth=16 --iodepth_batch_submit=16 --number_ios=64 >$work/fio 2>&1 &
	batch=$!
}

# free_mib: print the MiB of memory that nothing uses.
free_mib()
{
	awk '/^MemFree:/ { print int($2 / 1024) }' /proc/meminfo
}

# reclaimers: print the names of the kernel's threads that may neither do I/O for memory nor wait
# for it, and may use the reserves: PF_MEMALLOC and PF_MEMALLOC_NOIO.
reclaimers()
{
	local name flags

	for stat in /proc/[0-9]*/stat; do
		# After the name, which is in parentheses: the state, and five numbers before the flags.
		name=$(sed 's/^[^(]*(\(.*\)) .*/\1/' "$stat" 2>/dev/null)
		# shellcheck disable=SC2046 # a list of words
		set -- $(sed 's/^.*) //' "$stat" 2>/dev/null)
		flags=${7:-0}
		[ $((flags & 0x80800)) != $((0x80800)) ] || echo "$name"
	done
}

# unplug / plug: delete the RDMA device, and add it again.
unplug()
{
	rdma link delete rxe0
}

plug()
{
	rdma link add rxe0 type rxe netdev dummy0
}

network=$(ip -o -4 addr show to $here_address | awk '{ print $4 }')
check "the module is loaded" load_module
check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
check "an export" export_new limit 4M
check "is attached" device_new limit $here_address hold_seconds=$hold queues=2
disk=$(disk limit)

# Where the kernel bounces what a device cannot reach, it maps no more than 256 KiB in one piece.
is "a segment has at most 64 KiB" 65536 "/sys/block/${disk#/dev/}/queue/max_segment_size"

# Without a race, requests fail at the limit.
unplug
becomes "the device goes" holding $attach/state 30
since=$(now)
one read
# Proves: F3
ended "a read fails at the limit" "$since" $((hold - 1)) $((hold + 5))
is "the device says so" failing $attach/state
one write
ended "the next request fails at once" "$(now)" 0 1
plug
becomes "the device comes back" live $attach/state 60
check "and works" read_one "$disk"

# What this side's device refuses is not tried for long: it would be refused again.
put $test/refuse "krdma_conn_lkey 4660 0 krdma_blk_request_map"
since=$(now)
one read
ended "with an invalid lkey a read fails soon" "$since" 0 $((hold - 2))
# Proves: F3
check "after it was tried three times" [ "$(cat $test/refuse)" = 3 ]
put $test/refuse off
becomes "the device comes back" live $attach/state 60
check "and works" read_one "$disk"

# The device is lost when the connections have just been established, at each step of that.
for moment in "krdma_blk_fence_up krdma_blk_path_start" "krdma_blk_fence_lower krdma_blk_path_start" \
	"krdma_blk_queue_push krdma_blk_path_start" "krdma_blk_path_live any" \
	"krdma_blk_failback_start any"; do
	unplug
	becomes "$moment: the device goes" holding $attach/state 30
	put $test/stall "$moment"
	plug
	becomes "$moment: the device stalls there" stalled $test/stall 30
	unplug
	usleep 500000
	since=$(now)
	put $test/stall go
	one read
	ended "$moment: a loss there, and the limit comes" "$since" $((hold - 1)) $((hold + 5))
	plug
	becomes "$moment: the device comes back" live $attach/state 60
done

# The limit comes when the first of two queues is open again, and the second one is not.  It has
# requests that were posted before the loss.
rm -f $work/over
(
	fio --name=second --filename="$disk" --rw=randwrite --bs=4k --ioengine=libaio --direct=1 \
		--iodepth=8 --cpus_allowed=1 --time_based --runtime=100 >$work/fio 2>&1
	touch $work/over
) &
sleep 2
unplug
becomes "the device goes while the second queue is used" holding $attach/state 30
put $test/stall "krdma_blk_queue_push krdma_blk_path_start"
plug
becomes "one is open again" stalled $test/stall 30
becomes "the limit comes" failing $attach/state 30
put $test/stall go
becomes "the device is back" live $attach/state 60
tries=0
until [ -e $work/over ] || [ $tries -ge 300 ]; do usleep 100000; tries=$((tries + 1)); done
# Proves: F3
check "and every request ends" [ -e $work/over ]

# The work item of the limit runs late, after the device has come back and gone again.
unplug
becomes "the device goes" holding $attach/state 30
sleep $((hold - 1))
put $test/stall "krdma_blk_expire any"
becomes "the limit comes, and is held up" stalled $test/stall 30
plug
becomes "the device comes back meanwhile" live $attach/state 60
unplug
becomes "and goes again" holding $attach/state 30
since=$(now)
one read
put $test/stall go
# Proves: F3
ended "the old limit fails nothing of the new wait" "$since" $((hold - 1)) $((hold + 5))
plug
becomes "the device comes back" live $attach/state 60

# A request is lost twice: its limit counts from the first time, that of the device from the second.
# No attempt to connect begins or ends when the request is due.
unplug
becomes "the device goes" holding $attach/state 30
since=$(now)
one read
sleep 2
put $test/stall "krdma_blk_queue_push krdma_blk_path_start"
plug
becomes "the connections are there again" stalled $test/stall 30
unplug
usleep 500000
put $test/stall "krdma_conn_create any"
becomes "and lost again" stalled $test/stall 30
# Proves: F3
ended "a request that is lost twice fails at its limit" "$since" $((hold - 1)) $((hold + 2))
put $test/stall go
plug
becomes "the device comes back" live $attach/state 60

# The address of this side goes away whenever the connections are there again, and a write is posted
# that cannot be sent.  rxe says of that what others say of a wrong request.
[ -e $trace/trace ] || mount -t tracefs none $trace
check "the ends of a write are traced" put $trace/kprobe_events "p:blame krdma_blk_request_blame status=%dx:u8"
put $trace/events/kprobes/blame/enable 1
: >$trace/trace
put $attach/hold_seconds 600
address_away
becomes "the address goes away" holding $attach/state 60
one write
rounds=0
number=0
# The connections may be lost before the write is posted.
while [ "$number" -lt 5 ] && [ $rounds -lt 15 ] && [ ! -e $work/ended ]; do
	rounds=$((rounds + 1))
	put $test/stall "krdma_blk_queue_push krdma_blk_path_start"
	address_back
	becomes "the connections are there, $rounds" stalled $test/stall 60
	address_away
	put $test/stall go
	await_blame $((number + 1))
	number=$(blames | wc -w)
done
address_back
becomes "the device comes back" live $attach/state 60
await_end
echo "# the connections were lost $rounds times, and the write failed with $(blames)"
# Proves: F3
check "a write that could not be sent five times is carried out then" grep -q "^0 " $work/ended
check "and it was posted five times" [ "$number" -ge 5 ]
put $trace/events/kprobes/blame/enable 0
: >$trace/kprobe_events
put $attach/hold_seconds $hold

# The limit is changed while the device waits for its connections.
unplug
becomes "the device goes" holding $attach/state 30
one read
check "the wait is made longer" put $attach/hold_seconds 30
since=$(now)
sleep $((hold + 5))
is "the limit of before has no meaning" holding $attach/state
check "and shorter" put $attach/hold_seconds 1
ended "it ends at once" "$(now)" 0 6
put $attach/hold_seconds 60
plug
becomes "the device comes back" live $attach/state 60

# A fail-fast request does not wait: its submitter has another path.
check "a request that is not to wait is done" put $test/failfast "$disk"
unplug
becomes "the device goes" holding $attach/state 30
since=$(now)
refused "a request that is not to wait fails" "Link has been severed" put $test/failfast "$disk"
check "at once" [ $(($(now) - since)) -le 1 ]
plug
becomes "the device comes back" live $attach/state 60

# A request that was merged into a readahead has its flags, and waits nevertheless.
unplug
becomes "the device goes" holding $attach/state 30
(put $test/failfast "$disk merged" 2>$work/one; echo $? >$work/ended) &
merged=$!
sleep 2
plug
becomes "the device comes back" live $attach/state 60
wait $merged
# Proves: F3
check "a request that was merged with one that is not to wait has waited" grep -q '^0$' $work/ended
rm $work/ended

# A driver refuses work requests, as during a reset.
for errno in 5 22 12; do
	one write
	while [ ! -e $work/ended ]; do usleep 100000; done
	rm -f $work/failed $work/stop
	(
		while [ ! -e $work/stop ]; do
			dd if=/dev/urandom of="$disk" bs=64k count=8 oflag=direct 2>/dev/null || touch $work/failed
		done
	) &
	writer=$!
	put $test/refuse "rxe_post_send -$errno"
	sleep 1
	check "posts are refused" [ "$(cat $test/refuse)" -gt 0 ]
	put $test/refuse off
	becomes "the device is back" live $attach/state 60
	touch $work/stop
	wait $writer
	check "errno $errno of the driver for a second is no error" [ ! -e $work/failed ]
done
put $attach/hold_seconds $hold
put $test/refuse "rxe_post_send -5"
since=$(now)
one write
ended "if it does not end, the limit comes" "$since" $((hold - 1)) $((hold + 5))
put $test/refuse off
becomes "the device is back" live $attach/state 60
put $attach/hold_seconds 60

# Requests that come together are posted together.  Of each such chain only a part is accepted, so
# its last request, the one that is signaled, is posted later, or on another connection.
put $test/cut krdma_conn_post_send
verified "$disk" --iodepth_batch_submit=16 --loops=4 >$work/fio 2>&1
check "chains that are posted in parts are executed" [ $? = 0 ]
check "there were some" [ "$(cat $test/cut)" -gt 0 ]
grep -v '^3;' $work/fio | sed 's/^/# fio: /'
verified "$disk" --iodepth_batch_submit=16 --time_based --runtime=15 >$work/fio 2>&1 &
fio=$!
for time in 1 2 3; do
	sleep 1
	unplug
	becomes "the device goes while they are posted, $time" holding $attach/state 30
	plug
	becomes "the device comes back" live $attach/state 60
done
wait $fio
check "fio has seen no error, and what it had written" [ $? = 0 ]
grep -v '^3;' $work/fio | sed 's/^/# fio: /'
put $test/cut off

# The connections are taken down while a batch is being submitted, of which some requests are mapped
# and none is posted.  A connection does not end before they are unmapped.
put $test/spin "krdma_conn_map_sg 8"
batch
becomes "a batch is held up in its midst" stalled $test/spin 30
put $config/exports/limit/size 5M &
grower=$!
becomes "the connections are lost" holding $attach/state 30
usleep 300000
put $test/spin go
becomes "and come back" live $attach/state 60
wait $grower $batch
check "the batch is executed" grep -q "io=256KiB" $work/fio

# Pages cannot be mapped for DMA.
put $test/refuse "ib_dma_virt_map_sg 0"
one read
sleep 2
check "a request waits to be mapped" [ ! -e $work/ended ]
put $test/refuse off
tries=0
until [ -e $work/ended ] || [ $tries -ge 100 ]; do usleep 100000; tries=$((tries + 1)); done
check "and is done then" grep -q "^0 " $work/ended
put $test/refuse "ib_dma_virt_map_sg 0"
since=$(now)
one read
# Proves: F3
ended "it does not wait for ever" "$since" 28 35
put $test/refuse off

# The time that a request has waited for connections does not count for that.
put $attach/hold_seconds 120
unplug
becomes "the device goes" holding $attach/state 30
one write
sleep 35
put $test/stall "krdma_blk_queue_push krdma_blk_path_start"
plug
becomes "the connections are there again" stalled $test/stall 30
put $test/refuse "ib_dma_virt_map_sg 0"
put $test/stall go
tries=0
until [ "$(cat $test/refuse)" -gt 0 ] || [ $tries -ge 100 ]; do usleep 100000; tries=$((tries + 1)); done
check "a request that has waited for them cannot be mapped" [ $tries -lt 100 ]
sleep 2
check "and waits" [ ! -e $work/ended ]
put $test/refuse off
tries=0
until [ -e $work/ended ] || [ $tries -ge 100 ]; do usleep 100000; tries=$((tries + 1)); done
# Proves: F3
check "and is done when it can be" grep -q "^0 " $work/ended
put $attach/hold_seconds 60

check "the device is detached" device_end limit

# After 113 commands and 15 of 16 writes, of which none was signaled, krdma has the 15th signaled to
# itself alone: half of the SQ.  So no completion reports the writes.  The 16th is not accepted, and
# the connection is lost.
check "attached with one queue" device_new limit $here_address queues=1
disk=$(disk limit)
put "/sys/block/${disk#/dev/}/queue/scheduler" none
number=0
while [ $number -lt 113 ]; do
	blkdiscard -f -l 4096 "$disk" 2>/dev/null
	number=$((number + 1))
done
put $test/cut "krdma_conn_post_send -11"
batch
becomes "the last one of a batch is not posted" 1 $test/cut 30
sleep 1
check "the connection is ended" put $config/exports/limit/size 6M
becomes "and made again" 1 "/sys/block/${disk#/dev/}/krdma/reconnects" 60
put $test/cut off
wait $batch
check "the batch is executed, too" grep -q "io=256KiB" $work/fio
check "the device is detached" device_end limit

# The block layer lets a write to a read-only disk pass.
check "attached for reading" device_new limit $here_address read_only=1
disk=$(disk limit)
refused "a write fails" "Input/output error" put $test/failfast "$disk write"
is "and the connections stay" 0 "/sys/block/${disk#/dev/}/krdma/reconnects"
check "the device is detached" device_end limit

# The export has several addresses, and the first one does not answer.
nobody=10.77.0.200
since=$(now)
check "attached at the second address" device_new limit "$nobody $here_address"
check "without waiting for the first one" [ $(($(now) - since)) -le 2 ]
disk=$(disk limit)
folder=/sys/block/${disk#/dev/}/krdma
is "it says which" "$here_address:7475" "$folder/remote"
check "and which memory it is" grep -Eq '^limit-[0-9a-f]{16}$' "$folder/id"
counts=/sys/kernel/debug/krdma/objects
check "all of it is counted" grep -q '^blk_disk 1$' $counts
check "and the server's part" [ "$(awk '$1 == "blk_client" { print $2 }' $counts)" -ge 1 ]
put $test/stall "krdma_blk_path_reconnect any"
ip address add $nobody/32 dev dummy0
becomes "the first one answers, and the device moves" stalled $test/stall 60
rm -f $work/ended
(put $test/failfast "$disk" 2>$work/one; echo $? >$work/ended) &
reader=$!
usleep 300000
put $test/stall go
becomes "when the first one answers, it goes back" "$nobody:7475" "$folder/remote" 60
becomes "and is live" live $attach/state 30
check "and works" read_one "$disk"
wait $reader
# Proves: F3
check "a request that is not to wait has waited for that" grep -q '^0$' $work/ended
rm $work/ended
ip address del $nobody/32 dev dummy0
unplug
becomes "the device goes" holding $attach/state 30
plug
becomes "without the first one, the second one is used again" "$here_address:7475" "$folder/remote" 60
becomes "and the device is live" live $attach/state 30

# The same when no request may wait for connections that are lost: these were not lost.
patience=$(cat $attach/hold_seconds)
put $attach/hold_seconds 0
put $test/stall "krdma_blk_path_make any"
ip address add $nobody/32 dev dummy0
becomes "the first one answers again, and the device moves" stalled $test/stall 60
one read
usleep 300000
put $test/stall go
becomes "it goes back again" "$nobody:7475" "$folder/remote" 60
becomes "and is live again" live $attach/state 30
tries=0
until [ -e $work/ended ] || [ $tries -ge 100 ]; do usleep 100000; tries=$((tries + 1)); done
# Proves: F3
check "a request has waited for that without a limit to wait" grep -q "^0 " $work/ended
put $attach/hold_seconds "$patience"
ip address del $nobody/32 dev dummy0
unplug
becomes "the device goes again" holding $attach/state 30
plug
becomes "and is at its second address" "$here_address:7475" "$folder/remote" 60
becomes "and live" live $attach/state 30

# The first one answers again while the device is being detached, which writes what is dirty.
put $test/stall "krdma_blk_path_move any"
ip address add $nobody/32 dev dummy0
becomes "the first one answers, and the device is about to move" stalled $test/stall 60
fill $work/wanted 1
exec 3<>"$disk"
cat $work/wanted >&3
put $attach/force 1
put $test/stall2 "del_gendisk any"
put $attach/enabled 0 &
detacher=$!
becomes "when it is being detached" stalled $test/stall2 30
put $test/stall go
usleep 500000
put $test/stall2 go
wait $detacher
exec 3>&-
is "it is detached" detached $attach/state
check "and attached again" put $attach/enabled 1
# Proves: F3
check "what was dirty has been written" same $work/wanted "$(disk limit)"
check "the device is detached" device_end limit
ip address del $nobody/32 dev dummy0

# The address in use goes away, and the other one answers.  The keepalive notices that, or a request
# that is not acknowledged.  From then on the device needs the time that it gives the first address.
for how in idle busy; do
	ip address add $nobody/32 dev dummy0
	check "$how: attached at the first of two addresses" \
		device_new limit "$nobody $here_address" queues=2
	disk=$(disk limit)
	is "$how: it says which" "$nobody:7475" "/sys/block/${disk#/dev/}/krdma/remote"
	if [ $how = busy ]; then
		fio --name=moved --filename="$disk" --rw=randwrite --bs=4k --ioengine=libaio --direct=1 \
			--iodepth=4 --rate_iops=20 --time_based --runtime=20 >$work/fio 2>&1 &
		writer=$!
		check "$how: it is written" await_write "$disk"
	fi
	since=$(now_ms)
	ip address del $nobody/32 dev dummy0
	await_moved "$here_address:7475"
	echo "# $how: noticed after $((lost - since)) ms, and live $((live - lost)) ms later"
	check "$how: it notices the loss of the address in time" [ $((lost - since)) -le 15000 ]
	# Proves: F3
	check "and is live at the other one soon" [ $((live - lost)) -le 2000 ]
	is "$how: which it says" "$here_address:7475" "/sys/block/${disk#/dev/}/krdma/remote"
	[ $how = idle ] || {
		wait "$writer"
		check "$how: no request has failed" [ $? = 0 ]
	}
	check "$how: it works" read_one "$disk"
	check "$how: it is detached" device_end limit
done

# The first address does not answer, and at the second one the server has too many requests to answer
# when the device connects again.  It asks there again soon, and does not wait for the first one.
check "attached at the second of two addresses" device_new limit "$nobody $here_address" queues=1
check "another export" export_new crowded 1M
put $test/stall "krdma_blk_window_open any"
device_new crowded $here_address queues=1 &
attacher=$!
becomes "its memory is being registered" stalled $test/stall 30
"$here/outsider" crowd $here_address crowded 40 >$work/crowd &
crowd=$!
tries=0
until [ "$(grep -c '^refused, reason 7$' $work/crowd)" -ge 20 ] || [ $tries -ge 100 ]; do
	usleep 100000
	tries=$((tries + 1))
done
check "the connections of the device end" put $config/exports/limit/size 8M
becomes "it is refused when it connects again" \
	"there are too many connections, or too many requests from this address" $attach/error 10
since=$(now_ms)
put $test/stall go
disk=$(disk limit)
await_moved "$here_address:7475"
echo "# after $((live - since)) ms"
# Proves: F3
check "when the others are answered, so is the device soon" [ $((live - since)) -le 2000 ]
wait $attacher $crowd
check "it works" read_one "$(disk limit)"
check "and is detached" device_end limit
check "and so is the first one" device_end crowded
check "its export is ended" export_end crowded

# The connections are lost while the disk is being added.
early=$config/devices/early
device_make early $here_address export=limit queues=2
put $test/stall "blk_mq_alloc_tag_set krdma_blk_disk_add"
put $early/enabled 1 &
attacher=$!
becomes "a device is about to add its disk" stalled $test/stall 30
unplug
becomes "and loses its connections" holding $early/state 30
usleep 300000
put $test/stall go
usleep 300000
plug
becomes "it comes back" live $early/state 60
wait $attacher
# Proves: F3
check "and is attached" [ "$(cat $early/enabled)" = 1 ]
disk=$(disk early)
is "with the blocks that it writes as a whole" 4096 "/sys/block/${disk#/dev/}/queue/physical_block_size"
check "it is detached" device_end early

# Requests are already held then, so the server must not be told that the client leaves.
device_make early $here_address export=limit queues=2
put $test/stall "device_add_disk any"
put $early/enabled 1 &
attacher=$!
becomes "a device adds its disk" stalled $test/stall 30
unplug
becomes "and loses its connections" holding $early/state 30
put $test/refuse "krdma_blk_table_read -5"
plug
tries=0
until [ "$(cat $test/refuse)" -gt 0 ] || [ $tries -ge 300 ]; do
	usleep 100000
	tries=$((tries + 1))
done
check "the first attempt to make them again fails in its midst" [ "$(cat $test/refuse)" -gt 0 ]
sleep 1
put $test/refuse off
becomes "a later one does not" live $early/state 20
put $test/stall go
wait $attacher
# Proves: F3
check "the device works" read_one "$(disk early)"
check "and is detached" device_end early

# The first of two addresses accepts the client, which leaves it, and uses the second one.
device_make early "$here_address fd77::1" export=limit queues=2
put $test/refuse "krdma_blk_table_read -5"
put $test/stall "krdma_blk_fence_raise any"
put $early/enabled 1 &
attacher=$!
becomes "an attempt at the first address has failed" stalled $test/stall 30
put $test/refuse off
put $test/stall go
wait $attacher
check "the second one is used" [ "$(cat $early/enabled)" = 1 ]
disk=$(disk early)
is "instead" "[fd77::1]:7475" "/sys/block/${disk#/dev/}/krdma/remote"
check "the device is detached" device_end early

# The last message by which a client connects is lost.  The client uses the connection, which is not
# established for the server, so the server cannot check the client.
device_make early $here_address export=limit queues=1
put $test/refuse "ib_send_cm_rtu 0"
check "a client connects without its last message" put $early/enabled 1
check "which was to be sent" [ "$(cat $test/refuse)" = 1 ]
put $test/refuse off
disk=$(disk early)
check "it uses the connection" read_one "$disk"
becomes "the server ends it in time" 1 "/sys/block/${disk#/dev/}/krdma/reconnects" 6
becomes "and accepts the next one" live $early/state 30
check "the device is detached" device_end early

# No thread can be started, and what has those that are there does not end: the server checks its
# clients nevertheless, every two seconds.  Nor can this shell start a program then.
check "threads can be taken" insmod "$here/krdma_core_test.ko"
check "a client connects" device_new early $here_address export=limit queues=1
for pool in 1 2; do
	state=
	sleep 20 &
	sleeper=$!
	echo $pool >/sys/kernel/debug/krdma_core_test/starve
	echo "krdma_blk_conn_lease any" >$test/stall
	wait $sleeper
	read -r state <$test/stall
	echo 0 >/sys/kernel/debug/krdma_core_test/starve
	put $test/stall go
	check "it is checked without a thread of pool $pool" [ "$state" = stalled ]
done
check "the device is detached" device_end early
rmmod krdma_core_test

# The time in which commands of a new connection are executed begins when it is accepted.
device_make early $here_address export=limit queues=1
put $test/stall "krdma_blk_client_settle any"
put $early/enabled 1 &
attacher=$!
becomes "a client is about to be accepted" stalled $test/stall 30
sleep 5
put $test/stall go
wait $attacher
disk=$(disk early)
check "its first command is executed" blkdiscard -l 4096 "$disk"
is "and does not end its connection" 0 "/sys/block/${disk#/dev/}/krdma/reconnects"
check "the device is detached" device_end early

# There is no memory for a connection request, several times.  Nobody else asks meanwhile.
put $test/refuse "krdma_listener_next -12"
device_make early $here_address export=limit
put $early/enabled 1 &
attacher=$!
sleep 4
check "there is no memory for a client's request" [ "$(cat $test/refuse)" -ge 3 ]
is "which waits" detached $early/state
put $test/refuse off
becomes "it is answered when there is some" live $early/state 5
wait $attacher
check "the device is detached" device_end early

# A client that is refused for want of memory takes the place of nobody.
check "a writer" device_new first $here_address export=limit hold_seconds=600
ip addr del "$network" dev dummy0
becomes "is cut off" holding $config/devices/first/state 60
becomes "which the server notices" 0 $config/exports/limit/connections 60
put $test/refuse "krdma_blk_commands_open -12"
refused "another one is refused" "Connection refused" device_new other fd77::1 export=limit
check "because the server has no memory" grep -q memory $config/devices/other/error
put $test/refuse off
rmdir $config/devices/other
ip addr add "$network" dev dummy0
becomes "the first one returns" live $config/devices/first/state 60
# Proves: F3
check "and can read" read_one "$(disk first)"
check "and is detached" device_end first

# A writer returns while another one, which could take its place, is being answered, and is evicted
# then.  The other one is accepted when the connection of the first one has gone, not earlier.  For
# that of a reader who leaves meanwhile it does not wait.
check "a writer" device_new first $here_address export=limit queues=1 hold_seconds=600
ip addr del "$network" dev dummy0
becomes "is cut off" holding $config/devices/first/state 60
becomes "which the server notices" 0 $config/exports/limit/connections 60
put $test/stall "krdma_blk_commands_open any"
device_new other fd77::1 export=limit queues=1 &
attacher=$!
becomes "another one is about to be accepted" stalled $test/stall 30
ip addr add "$network" dev dummy0
becomes "the first one returns" live $config/devices/first/state 60
check "a reader comes" device_new third fd77::1 export=limit queues=1 read_only=1
put $test/stall2 "krdma_blk_conn_end any"
writer=$(grep 10.77 $config/exports/limit/clients | cut -d ' ' -f 1)
krdma blk evict limit "$writer" &
evicter=$!
becomes "and is evicted" stalled $test/stall2 30
put $test/stall go
sleep 2
# Proves: F3
check "the other one is not accepted yet" [ "$(cat $config/devices/other/state)" = detached ]
put $test/stall "krdma_blk_conn_end any"
check "the reader leaves" device_end third
becomes "and its connection ends" stalled $test/stall 30
put $test/stall2 go
wait $evicter $attacher
is "it is accepted then" live $config/devices/other/state
# Proves: F3
check "while that of the reader still ends" grep -q stalled $test/stall
put $test/stall go
becomes "and the first one is dead" dead $config/devices/first/state 30
check "the other one is detached" device_end other
check "and the first one" device_end first

# The memory of an export is being registered, and many clients of one address wait for that.  They
# do not take the places of clients at other addresses, or of other exports.
check "another export" export_new slow 1M
put $test/stall "krdma_blk_window_open any"
device_new slow $here_address queues=1 &
attacher=$!
becomes "the memory of an export is being registered" stalled $test/stall 30
"$here/outsider" crowd $here_address slow 40 >$work/crowd &
crowd=$!
tries=0
until [ "$(grep -c '^refused, reason 7$' $work/crowd)" -ge 20 ] || [ $tries -ge 100 ]; do
	usleep 100000
	tries=$((tries + 1))
done
# Proves: F3
check "of too many clients at one address some are refused" [ $tries -lt 100 ]
check "while the others wait" [ "$(wc -l <$work/crowd)" -lt 40 ]
check "a client at another address is served" device_new other fd77::1 export=limit
# Proves: F3
check "which has waited for nothing" grep -q stalled $test/stall
check "and leaves" device_end other
# A device that is attached then, at the same address, has to ask again.
device_new other $here_address export=limit queues=1 2>$work/other &
other=$!
becomes "another one of their address is refused" \
	"there are too many connections, or too many requests from this address" \
	$config/devices/other/error 10
put $test/stall go
wait $attacher $crowd
check "all are answered in the end" [ "$(wc -l <$work/crowd)" = 40 ]
is "the first one is attached" live $config/devices/slow/state
wait $other
# Proves: F3
check "and the other one" [ "$(cat $config/devices/other/state)" = live ]
is "whose error is of the past" "" $config/devices/other/error
check "it leaves" device_end other
check "and the first one" device_end slow

# So do many clients of one IPv6 network, each at an address of its own.
check "the other export is ended" export_end slow
check "and made again" export_new slow 1M
put $test/stall "krdma_blk_window_open any"
device_new slow $here_address queues=1 &
attacher=$!
becomes "its memory is being registered" stalled $test/stall 30
number=1
while [ $number -le 64 ]; do
	ip -6 address add "fd77::99:$(printf %x $number)/64" dev dummy0 nodad
	number=$((number + 1))
done
"$here/outsider" crowd fd77::1 slow 64 fd77::99: >$work/crowd &
crowd=$!
tries=0
until [ "$(grep -c '^refused, reason 7$' $work/crowd)" -ge 16 ] || [ $tries -ge 200 ]; do
	usleep 100000
	tries=$((tries + 1))
done
# Proves: F3
check "of too many clients of one network some are refused" [ $tries -lt 200 ]
check "a client outside of the network is served" device_new other $here_address export=limit
# Proves: F3
check "and the others wait" grep -q stalled $test/stall
check "it leaves" device_end other
put $test/stall go
wait $attacher $crowd
check "all of them are answered in the end" [ "$(wc -l <$work/crowd)" = 64 ]
is "the first one is attached" live $config/devices/slow/state
while [ $number -gt 1 ]; do
	number=$((number - 1))
	ip -6 address del "fd77::99:$(printf %x $number)/64" dev dummy0
done
check "it leaves" device_end slow
check "the other export is ended for good" export_end slow

# Reading attributes does not wait for an attach in progress.
device_make slow $nobody
(put $config/devices/slow/enabled 1 2>$work/slow; touch $work/attached) &
attacher=$!
sleep 1
since=$(now)
for attribute in remote export queues hold_seconds state error disk; do
	cat $config/devices/slow/$attribute
done >$work/seen
check "a device that is being attached can be looked at" [ $(($(now) - since)) -le 1 ]
check "meanwhile" [ ! -e $work/attached ]
check "all of it" grep -q "^$nobody:7475" $work/seen
wait $attacher
check "it is not attached in the end" grep -q "timed out" $work/slow
rmdir $config/devices/slow

# lose NAME: the device loses its connection once.  The connection is established again after the
# provider has recovered.
lose()
{
	put $test/stall "krdma_blk_path_reconnect any"
	put $test/refuse "rxe_post_send -5"
	one read
	becomes "$1: the connection is lost" holding "$config/devices/$1/state" 30
	put $test/refuse off
	put $test/stall go
}

# The server's memory is larger, and then smaller, when the connection is established again.  The
# server is a program that welcomes each client with memory of another size.
"$here/outsider" give half none half >$work/server &
server=$!
tries=100
until grep -q listening $work/server || [ $tries = 0 ]; do
	tries=$((tries - 1))
	usleep 100000
done
check "memory of two pages is attached" device_new grown $here_address:8003 queues=1
grown=$config/devices/grown
disk=$(disk grown)
is "it has two pages" 16 "/sys/block/${disk#/dev/}/size"
lose grown
becomes "and comes back" live $grown/state 60
is "to four pages" 32 "/sys/block/${disk#/dev/}/size"
check "the last one can be read" dd if="$disk" of=/dev/null bs=4k skip=3 count=1 iflag=direct
lose grown
becomes "and memory that is less is other memory" dead $grown/state 60
check "the device is detached" device_end grown
kill $server
wait $server

# A device that registers only three pages at a time: chunks of two pages, and 768 entries of the
# table for each of its rkeys.
put $test/pages 3
check "an export whose table takes two rkeys" export_new parts 8M
check "is attached" device_new parts $here_address
disk=$(disk parts)
fill $work/wanted 8
check "and written" write_direct $work/wanted "$disk" 1M
# Proves: F3
check "and has its data" same $work/wanted "$disk"
check "it grows, to eight of them" put $config/exports/parts/size 48M
becomes "and the disk does" 98304 "/sys/block/${disk#/dev/}/size" 60
fill $work/more 40
cat $work/more >>$work/wanted
check "which is written behind that" dd if=$work/more of="$disk" bs=1M seek=8 oflag=direct
# Proves: F3
check "and has all data" same $work/wanted "$disk"
rm $work/more
dmesg -c >/dev/null
refused "more rkeys than that are not sent" "File too large" put $config/exports/parts/size 50M
dmesg >$work/log
check "the log says which device has no more" grep -q "rxe0 can register at most 48 MiB" $work/log
is "nothing has changed" 50331648 $config/exports/parts/size
check "it is detached" device_end parts
check "and ended" export_end parts
export_make parts 50M
refused "nor is such an export enabled" "File too large" put $config/exports/parts/enabled 1
put $config/exports/parts/size 48M
put $config/exports/parts/secret s
check "one that is as large as possible is, also with a secret" put $config/exports/parts/enabled 1
"$here/outsider" guess $here_address parts s 0 >$work/said
# Proves: F3
check "and the server's proof covers all of the rkeys" grep -q '^right: welcome, proved$' $work/said
check "it is attached with the secret" device_new parts $here_address secret=s
check "and read" read_one "$(disk parts)"
check "it is detached" device_end parts
check "and ended" export_end parts
put $test/pages off
unplug
plug

# A file that keeps data is emptied, and the disk does not confirm it: only the memory has the data.
fill $work/wanted 1
cp $work/wanted $work/kept
export_make kept 1M file=$work/kept
put $test/refuse "vfs_fsync -5"
check "an export whose file may have old data after a crash" put $config/exports/kept/enabled 1
put $test/refuse off
check "is attached" device_new kept $here_address
# Proves: F3
check "and has its data" same $work/wanted "$(disk kept)"
check "it is detached" device_end kept
check "and ended" export_end kept
check "the file has the data again" cmp $work/wanted $work/kept

# While the file is written, its size is another one than that of the export: after a crash in the
# midst of that it does not pass for complete.
check "an export that keeps its data" export_make kept 1M file=$work/kept
check "has those of before" put $config/exports/kept/enabled 1
put $test/stall "vfs_fsync krdma_blk_save_work"
export_end kept >$work/said 2>&1 &
ender=$!
becomes "it is ended, and its file is about to be synced" stalled $test/stall 30
check "the file has the data" cmp -n 1048576 $work/wanted $work/kept
cp $work/kept $work/crashed
since=$(now)
krdma blk list >$work/seen
# Proves: F3
check "meanwhile all exports can be listed" [ $(($(now) - since)) -le 1 ]
check "also the one that is written" grep -q "^export kept: .* allow any file $work/kept" $work/seen
put $test/stall go
wait $ender
check "the file is complete" cmp $work/wanted $work/kept
export_make crashed 1M file=$work/crashed
refused "what a crash would have left is refused" "File too large" put $config/exports/crashed/enabled 1
rmdir $config/exports/crashed
rm $work/crashed

# A file that cannot be truncated.  The data are in one place at least: while the export is enabled,
# in its memory.
check "an export that keeps its data" export_make kept 1M file=$work/kept
put $test/refuse "vfs_truncate -5"
refused "an export whose file is not emptied" "Input/output error" put $config/exports/kept/enabled 1
put $test/refuse off
# Proves: F3
check "has its data there" cmp $work/wanted $work/kept
put $test/change "vfs_truncate -5"
check "one whose file is emptied with an error" put $config/exports/kept/enabled 1
put $test/change off
check "is attached" device_new kept $here_address
# Proves: F3
check "and has its data" same $work/wanted "$(disk kept)"
check "and is detached" device_end kept
for number in 0 1 2; do
	put $test/refuse "vfs_truncate -5 $number"
	refused "it is not ended when a truncation fails, after $number" "Input/output error" \
		put $config/exports/kept/enabled 0
	put $test/refuse off
	is "it is enabled" 1 $config/exports/kept/enabled
	# Proves: F3
	check "what is in its file does not pass for complete" \
		[ "$(stat -c %s $work/kept)" != 1048576 ]
	check "it is attached again" device_new kept $here_address
	# Proves: F3
	check "and has its data" same $work/wanted "$(disk kept)"
	check "and is detached" device_end kept
done
put $test/refuse "vfs_fsync -5 1"
refused "nor when the length is not stable" "Input/output error" put $config/exports/kept/enabled 0
put $test/refuse off
check "its file is empty then" [ ! -s $work/kept ]
check "when nothing fails, it is ended" export_end kept
# Proves: F3
check "and the file has the data" cmp $work/wanted $work/kept
rm $work/kept

# The process that ends an export by force is killed when the clients have gone, and their data are
# about to be written.
echo 0 >$work/zero
echo 1 >$work/one
check "an export that keeps its data" export_new kept 1M file=$work/kept
check "is attached" device_new kept $here_address
check "and written" write_direct $work/wanted "$(disk kept)"
put $config/exports/kept/force 1
put $test/stall "kernel_write any"
cat $work/zero >$config/exports/kept/enabled &
ender=$!
becomes "it is ended by force, and its file is about to be written" stalled $test/stall 30
kill -9 $ender
put $test/stall go
wait $ender
is "it is ended nevertheless" 0 $config/exports/kept/enabled
# Proves: F3
check "and the file has all data" cmp $work/wanted $work/kept
check "the device is detached" device_end kept
put $test/stall "kernel_read krdma_blk_memory_load"
cat $work/one >$config/exports/kept/enabled &
enabler=$!
becomes "it is enabled, and its file is about to be read" stalled $test/stall 30
kill -9 $enabler
put $test/stall go
wait $enabler
is "it is not enabled then" 0 $config/exports/kept/enabled
check "and the file still has all data" cmp $work/wanted $work/kept
rmdir $config/exports/kept
rm $work/kept

# A device that uses its second address asks the first one whether it answers.  Memory reclaim may
# wait for that device meanwhile.
check "an export" export_new back 1M
check "is attached at a second address" \
	device_new back "10.77.0.99 $here_address" queues=1
put $test/stall "krdma_blk_probe krdma_blk_failback_work"
becomes "the first one is about to be asked" stalled $test/stall 40
reclaimers >$work/said
put $test/stall go
sed 's/^/# reclaims: /' $work/said
# Proves: F3
check "by a thread that does not wait for memory" grep -q kworker $work/said
check "the disk works" read_one "$(disk back)"
check "it is detached" device_end back
check "and the export ended" export_end back

# Devices can fail to end keys.  What they may still access is not used for anything else.
for outcome in 0 -5; do
	check "$outcome: an export" export_new keys 64M
	check "$outcome: is attached, which registers it" device_new keys $here_address queues=1
	check "$outcome: and detached" device_end keys
	put $test/change "krdma_mr_deregister $outcome"
	before=$(free_mib)
	check "$outcome: it is ended" export_end keys
	freed=$(($(free_mib) - before))
	count=$(cat $test/change)
	put $test/change off
	# Those of the chunks and of their table.
	check "$outcome: of $count keys" [ "$count" -ge 33 ]
	echo "# $freed MiB"
	if [ $outcome = 0 ]; then
		check "its memory is free" [ $freed -ge 48 ]
	else
		# Proves: F3
		check "what a device may still access is not free" [ $freed -le 16 ]
	fi
done

export_end limit
rmmod krdma_blk_test
check "the module is unloaded" rmmod krdma_blk
tap_end
