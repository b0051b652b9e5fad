#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma_blk against peers that are not krdma_blk.  Runs inside a VM with krdma.ko, the tool,
# and the program outsider; see outsider.c.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
outsider=$here/outsider

# answers NAME COUNT PATTERN: COUNT lines of $work/answers match PATTERN.
answers()
{
	local found

	found=$(grep -Ec "$3" $work/answers)
	if [ "$found" = "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "$found lines, not $2, are like '$3':
$(cat $work/answers)"
	fi
}

# attached_to NAME FAULT PATTERN [OPTION]...: the message of attaching, with OPTION, to a server with
# FAULT matches PATTERN.
attached_to()
{
	local name=$1 fault=$2 pattern=$3 said tries=0
	shift 3

	said=$(krdma blk attach $here_address:8003 hostile --queues 1 "$@" 2>&1) &&
		krdma blk detach -f hostile
	# The server prints this only when its own end of the connection is closed, too.
	until grep -q "^$fault: the client has left" $work/server || [ $tries -ge 200 ]; do
		tries=$((tries + 1))
		usleep 100000
	done
	if ! echo "$said" | grep -q "$pattern"; then
		not_ok "$name" "attaching to fault '$fault' said: $said"
	elif ! grep -q "^$fault: the client has left" $work/server; then
		not_ok "$name" "the turn was not that of '$fault': $(tail -n 1 $work/server)"
	else
		ok "$name"
	fi
}

# attached_at ADDRESS: the export is attached from and by another address of this machine.
attached_at()
{
	local status=0

	ip address add "$1/32" dev dummy0
	device_new other "$1" export=hostile secret=s queues=1 2>$work/said || status=1
	[ $status = 1 ] || device_end other
	rmdir $config/devices/other 2>/dev/null
	ip address del "$1/32" dev dummy0
	return $status
}

# serve WORD...: start the program as a server, as these words say; $server is its process.
serve()
{
	local tries=100

	rm -f $work/server
	$outsider "$@" >$work/server &
	server=$!
	until grep -qs listening $work/server || [ $tries = 0 ]; do
		tries=$((tries - 1))
		usleep 100000
	done
}

# give NAME...: start a server with these faults.
give()
{
	serve give "$@"
}

# unserve: end the server.
unserve()
{
	kill $server
	wait $server
}

check "the module is loaded" load_module
(umask 077; printf s >$work/secret)
check "an export with a secret" krdma blk serve -n hostile -s 1M -k $work/secret

# Hellos.  The client's number (bytes 8 to 15) and its nonce (from byte 40) can have any value.  The
# server does not reveal whether the export (bytes 16 to 39) exists.
check "a stranger asks in every wrong way" sh -c "$outsider ask $here_address hostile s >$work/answers"
answers "with too few bytes" 49 '^length ([0-9]|[1-3][0-9]|4[0-8]): refused, reason 1$'
answers "with the right hello" 1 '^length 56: challenged$'
answers "with another magic" 4 '^byte [0-3]: refused, reason 1$'
answers "with another version, or flags" 2 '^byte [45]: refused, reason 2$'
answers "as queues that there are not" 2 '^byte [67]: refused, reason 1$'
answers "as other clients" 8 '^byte ([89]|1[0-5]): challenged$'
answers "for another export" 24 '^byte (1[6-9]|[23][0-9]): challenged$'
answers "with another random number" 16 '^byte (4[0-9]|5[0-5]): challenged$'
answers "with the right answer, and is proved the secret" 1 '^answer: welcome, proved$'
answers "with an answer for the second time" 1 '^replayed: refused, reason 3$'
answers "with a wrong answer" 16 '^proof [0-9]*: refused, reason 3$'
answers "with one for another export" 1 '^other: refused, reason 3$'
answers "as one who has been there and has not" 1 '^return: refused, reason 10$'
is "who had a wrong answer was counted" 17 $config/exports/hostile/refused_secret
sleep 30
check "a stranger guesses" sh -c "$outsider guess $here_address hostile s 40 >$work/answers"
answers "forty times" 40 '^wrong: refused, reason 3$'
answers "and then does not get in with the right answer" 1 '^right: refused, reason 3$'
answers "but three seconds later" 1 '^later: welcome, proved$'

# Only so many wrong answers of an address are checked, and then one a second.  Meanwhile other
# addresses are served; by chance a few of them share the limit.
sleep 30
checked=$(cat $config/exports/hostile/refused_secret)
unchecked=$(cat $config/exports/hostile/refused_other)
since=$(cut -d . -f 1 /proc/uptime)
$outsider guess $here_address hostile s 1000 >$work/answers &
guesser=$!
tries=0
until [ "$(cat $config/exports/hostile/refused_other)" -gt "$unchecked" ] || [ $tries -ge 600 ]; do
	usleep 50000
	tries=$((tries + 1))
done
check "some answers of a stranger are not checked" [ $tries -lt 600 ]
checked=$(($(cat $config/exports/hostile/refused_secret) - checked))
took=$(($(cut -d . -f 1 /proc/uptime) - since + 1))
check "after twenty, but for one a second: $checked in $took s" \
	sh -c "[ $checked -ge 20 ] && [ $checked -le $((20 + took)) ]"
served=0
number=1
while [ $number -le 6 ]; do
	if attached_at 10.77.1.$number; then
		served=$((served + 1))
	fi
	number=$((number + 1))
done
check "clients at other addresses are served, $served of 6" [ $served -ge 4 ]
check "while it still guesses" kill $guesser
wait $guesser
sleep 30
becomes "nobody has stayed" 0 $config/exports/hostile/connections 60
# Proves: F3
check "others are served as before" krdma blk attach $here_address hostile -k $work/secret
krdma blk detach hostile
check "and all have gone" krdma blk end hostile

# Commands.
check "an export without a secret" export_new hostile 8M
check "is attached" device_new hostile $here_address
fill $work/data 8
write_direct $work/data "$(disk hostile)" 1M 2>/dev/null
device_end hostile
check "a stranger sends commands" sh -c "$outsider command $here_address hostile >$work/answers"
answers "they are offered to a writer who knows them" 7 '^flags 8: welcome, flags 6$'
answers "and not to one who does not" 3 '^flags 0: welcome, flags 0$'
answers "nor to a reader" 1 '^flags 12: welcome, flags 1$'
answers "valid ones are executed" 4 '^(zero|discard|last|longest): status 0, tag 655(3[2-5])$'
answers "others are refused" 11 '^(opcode|reserved|empty|odd|long|behind|across|huge|wraps)[-a-z0-3]*: status 1, tag 655[23][0-9]$'
answers "those of another length end the connection" 4 '^size: the connection has ended$'
answers "and so do those that were not offered" 1 '^without: the connection has ended$'
answers "and so does a write that takes the receive of one" 4 '^written: the connection has ended$'
answers "and those of a reader" 1 '^reader: the connection has ended$'
for range in 256:16 512:1 2047:1 1023:512; do
	dd if=/dev/zero of=$work/data bs=4k seek=${range%:*} count=${range#*:} conv=notrunc 2>/dev/null
done
check "the export is attached again" device_new hostile $here_address
# Proves: F3
check "only what was valid is zero" same $work/data "$(disk hostile)"

# Messages that invalidate rkeys of the export, which all its readers have.
check "a reader beside it" device_new reader $here_address export=hostile read_only=1
for _ in 1 2; do
	check "a stranger invalidates memory of readers" \
		sh -c "$outsider invalidate $here_address hostile >$work/answers"
	answers "its connections end" 2 '^(chunk|table): the connection has ended$'
	# Proves: F3
	check "others read as before" same $work/data "$(disk reader)"
	check "and write" write_direct $work/data "$(disk hostile)" 1M
done
is "no reader is dead" live $config/devices/reader/state

# And of another export, by a connection to the first one.
check "another export" export_new beyond 8M
check "is attached" device_new beyond $here_address
check "and written" write_direct $work/data "$(disk beyond)" 1M
check "and by one that reads" device_new beyond-reader $here_address export=beyond read_only=1
for _ in 1 2; do
	check "a stranger invalidates memory of another export" \
		sh -c "$outsider invalidate $here_address hostile beyond >$work/answers"
	answers "its connections end" 2 '^(chunk|table): the connection has ended$'
	# Proves: F3
	check "those of the other export read as before" same $work/data "$(disk beyond-reader)"
	check "and write" write_direct $work/data "$(disk beyond)" 1M
done
is "and none is dead" live $config/devices/beyond-reader/state
device_end beyond-reader
device_end beyond
check "it is ended" export_end beyond
device_end reader
device_end hostile
check "the export is ended" export_end hostile

# Slots of an export with a store.
fill $work/data 8
cp $work/data $work/wanted
check "an export with a store" export_new stored 8M store=$work/data
check "a stranger sends commands for slots" sh -c "$outsider slot $here_address stored >$work/answers"
answers "a writer is offered commands and slots" 1 '^flags 8: welcome, flags 14$'
answers "a reader slots" 1 '^flags 12: welcome, flags 9$'
answers "of that size" 1 '^slots of 131072 bytes$'
answers "valid ones are executed" 6 '^(read|write|stable|flush|zero|reader-read): status 0, tag '
answers "others are refused" 13 '^(other-slot|no-slot|long|empty|odd|across|flush-of-a-range|flush-from|stable-read|flags|opcode-[0-9]*): status 1, '
answers "and those of a reader that are not to read" 3 '^reader-(write|flush|zero): status 1, tag '
answers "a reader cannot write to a slot" 1 "^a reader's write: refused$"
answers "who does not know commands is refused" 1 '^without commands: refused, reason 2$'
# The slot of the write was not written before, and all the rest of that writes what was there.
dd if=/dev/zero of=$work/wanted bs=128k count=1 conv=notrunc 2>/dev/null
# Proves: F3
check "only what was valid is written" cmp $work/wanted $work/data
check "the export is ended" export_end stored

# Welcomes.
give none none short empty magic version flags more-keys slot no-slot odd-slot small-slot \
	huge-slot no-size odd-size \
	huge-size long-store no-block odd-block no-chunk odd-chunk small-chunk huge-chunk table-wraps \
	table-key table-elsewhere entry-wraps entry-reserved reader-zeroes writable parts-short \
	part-none part-odd part-small part-missing part-beyond part-many part-key part-wraps \
	old-offers old entry-key
krdma blk attach $here_address:8003 hostile --queues 1 >/dev/null 2>$work/said
check "a stranger's memory without a fault is attached" test -b /dev/krdmab0
check "and read" read_one /dev/krdmab0
check "and detached" krdma blk detach hostile
says "a server that does not prove that it knows the secret is not attached" "not proved" \
	krdma blk attach $here_address:8003 hostile --queues 1 -k $work/secret
none="no krdma_blk, or one of another version"
attached_to "a welcome that is too short" short "$none"
attached_to "a welcome without a word" empty "$none"
attached_to "another magic" magic "$none"
attached_to "another version" version "$none"
attached_to "flags that there are not" flags "$none"
attached_to "a table with more keys than the message has" more-keys "$none"
attached_to "slots of an export without them" slot "$none"
attached_to "an export with a store, without slots" no-slot "$none"
attached_to "slots that are no power of two" odd-slot "$none"
attached_to "slots that are smaller than a page" small-slot "$none"
attached_to "slots of 2 MiB" huge-slot "$none"
attached_to "no memory" no-size "$none"
attached_to "memory that is no multiple of a block" odd-size "$none"
attached_to "more memory than there are chunks" huge-size "$none"
attached_to "a store that is longer than a file can be" long-store "$none"
attached_to "blocks of no bytes" no-block "$none"
attached_to "blocks of 1024 bytes" odd-block "$none"
attached_to "chunks of no bytes" no-chunk "$none"
attached_to "chunks that are no power of two" odd-chunk "$none"
attached_to "chunks that are smaller than a page" small-chunk "$none"
attached_to "chunks of 2 GiB" huge-chunk "$none"
attached_to "a table that goes beyond all addresses" table-wraps "$none"
attached_to "a table with another key" table-key "the connection could not be made"
attached_to "a table that is somewhere else" table-elsewhere "the connection could not be made"
attached_to "a chunk that goes beyond all addresses" entry-wraps "$none"
attached_to "a table with more in it than there is" entry-reserved "$none"
attached_to "commands for a reader" reader-zeroes "$none"
attached_to "a disk to write for who asked to read" writable "$none" --read-only
attached_to "a table with several keys, of which the last byte is missing" parts-short "$none"
attached_to "keys that cover nothing" part-none "$none"
attached_to "keys that cover half an entry" part-odd "$none"
attached_to "keys that do not cover the table" part-small "$none"
attached_to "a key less than it takes" part-missing "$none"
attached_to "a key behind the last one" part-beyond "$none"
attached_to "more keys than a message can have" part-many "$none"
attached_to "a key in the midst that is another one" part-key "the connection could not be made"
attached_to "a table with several keys that goes beyond all addresses" part-wraps "$none"
attached_to "commands for a client who does not know them" old-offers "$none"

# A server from before there were commands refuses who knows them, and is asked again.
check "a server that does not know commands is attached" \
	krdma blk attach $here_address:8003 hostile --queues 1
is "without discard" 0 /sys/block/krdmab0/queue/discard_max_bytes
is "and without zeroing" 0 /sys/block/krdmab0/queue/write_zeroes_max_bytes
check "it is read" read_one /dev/krdmab0
check "and detached" krdma blk detach hostile

# With an invalid rkey a request fails at the limit.  Until then the server is asked once a second
# for another one.
hold=6
# Proves: F3
check "keys that are none are found when they are used" \
	krdma blk attach $here_address:8003 hostile --queues 1 --hold $hold
is "but not before" 0 /sys/block/krdmab0/krdma/reconnects
before=$(cut -d . -f 1 /proc/uptime)
refused "a read with one of them fails" "Input/output error" \
	dd if=/dev/krdmab0 of=/dev/null bs=4k count=1 skip=2 iflag=direct
took=$(($(cut -d . -f 1 /proc/uptime) - before))
times=$(cat /sys/block/krdmab0/krdma/reconnects)
check "at the limit: after $took s" \
	sh -c "[ $took -ge $((hold - 1)) ] && [ $took -le $((hold + 8)) ]"
check "the connection was not made much more often than that: $times times" \
	sh -c "[ $times -ge 5 ] && [ $times -le $((hold + 9)) ]"
refused "and a write fails, when it cannot arrive any more" "Input/output error" \
	dd if=/dev/zero of=/dev/krdmab0 bs=4k count=1 seek=2 oflag=direct
check "the device is detached" krdma blk detach -f hostile
unserve

# However often somebody takes a key away, the request is carried out with the next one.
give entry-key entry-key entry-key entry-key entry-key entry-key none
check "a server with invalid keys is attached" \
	krdma blk attach $here_address:8003 hostile --queues 1
# Proves: F3
check "a request is carried out when the key is valid" \
	dd if=/dev/krdmab0 of=/dev/null bs=4k count=1 skip=2 iflag=direct
is "for the seventh time" 6 /sys/block/krdmab0/krdma/reconnects
check "the device is detached" krdma blk detach hostile
unserve

# A server that ends each connection soon after it was made is not asked without a pause.
give brief
check "a server that ends connections is attached" \
	krdma blk attach $here_address:8003 hostile --queues 1
reconnects=/sys/block/krdmab0/krdma/reconnects
sleep 20
count=$(cat $reconnects)
echo "# $count times in 20 seconds"
# Proves: F3
check "it is not asked much more often than once a second" [ "$count" -le 45 ]
check "nor given up" [ "$count" -ge 10 ]
becomes "the device says why" "the connections are lost as soon as they are made" \
	$config/devices/hostile/error 30
unserve
give none
becomes "when the server does not end them, the device is live" live \
	$config/devices/hostile/state 30
check "and works" read_one /dev/krdmab0
check "the device is detached" krdma blk detach hostile
unserve

# An export whose table takes more than one key of rxe.  All of its chunks are the same memory.
give parts
check "an export of 300 GiB is attached" krdma blk attach $here_address:8003 hostile --queues 1
is "all of it" 629145600 /sys/block/krdmab0/size
dd if=/dev/krdmab0 bs=4k skip=78643199 count=1 iflag=direct 2>$work/said | head -c 14 >$work/block
# Proves: F3
check "its last block is read" grep -qx "the last block" $work/block
for gib in 127 128 255 256 299; do
	dd if=/dev/krdmab0 bs=4k skip=$((gib * 262144 + 255)) count=1 iflag=direct 2>$work/said |
		head -c 14 >$work/block
	is "and that of the first MiB behind $gib GiB" "the last block" $work/block
done
check "it is detached" krdma blk detach hostile
unserve

# A server invalidates memory that its client exports.
fill $work/data 8
check "an export of a host that is a client of another one" export_new beyond 8M
check "is attached" device_new beyond $here_address
check "and written" write_direct $work/data "$(disk beyond)" 1M
check "and a reader is beside it" device_new reader $here_address export=beyond read_only=1
check "it reads" same $work/data "$(disk reader)"
serve spoil $here_address beyond
# It may have gone before it is attached.
krdma blk attach $here_address:8003 hostile --queues 1 >$work/said 2>&1 || sed 's/^/# /' $work/said
tries=0
until grep -q "^none: the client has left" $work/server || [ $tries -ge 100 ]; do
	tries=$((tries + 1))
	usleep 100000
done
check "the client of one that invalidates memory leaves it" \
	grep -q "^none: the client has left" $work/server
unserve
krdma blk detach -f hostile 2>/dev/null
# Proves: F3
check "those of the export read as before" same $work/data "$(disk reader)"
check "and write" write_direct $work/data "$(disk beyond)" 1M
is "and none is dead" live $config/devices/reader/state
device_end reader
device_end beyond
check "the export is ended" export_end beyond

# unanswered NAME: a command fails within a minute and a half.  It is posted twice, because each
# connection may have it for 30 seconds, and may wait for the fence.
unanswered()
{
	local said status=0

	give "$1"
	check "a server that is $1 is attached" \
		krdma blk attach $here_address:8003 hostile --queues 1 --hold 1
	said=$(timeout 90 blkdiscard -z -l 4096 /dev/krdmab0 2>&1) || status=$?
	if [ $status = 1 ]; then
		ok "a command that it does not answer fails"
	else
		not_ok "a command that it does not answer fails" "status $status: $said"
	fi
	check "and the device is detached" krdma blk detach -f hostile
	unserve
}

unanswered silent
unanswered deaf
# Proves: F3
check "a server that does not reply leaves no disk behind" [ ! -e /dev/krdmab0 ]
check "the module is unloaded" rmmod krdma_blk
tap_end
