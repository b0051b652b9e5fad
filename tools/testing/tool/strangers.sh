#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests listening sides with clients that violate their protocol, on one machine.  Runs inside a VM
# with the program stranger; see stranger.c and peer.sh.  Prints TAP.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

before=$(resources)
stranger=$(dirname "$0")/stranger

# Fields of a hello: magic, version, service, operation, zero, length, depth.
magic=4b524474
ping_hello=${magic}01010100
bench_hello=${magic}0102

# answered NAME PORT HELLO PATTERN: the answer of the listening side to HELLO matches PATTERN.
answered()
{
	try "$stranger" $host "$2" "$3"
	ended "$1" 0 "$4"
}

serve ping krdma ping --listen
answered "ping: no hello" 7177 "" '^refused: version 1 verdict 1 '
answered "ping: half a hello" 7177 $magic '^refused: version 1 verdict 1 '
answered "ping: another magic" 7177 4b524475010101004000000008000000 '^refused: version 1 verdict 1 '
answered "ping: a later version" 7177 ${magic}02ffffffffffffffffffffff '^refused: version 1 verdict 2 '
answered "ping: what must be zero is not" 7177 ${magic}010101014000000008000000 \
	'^refused: version 1 verdict 1 '
answered "ping: another operation" 7177 ${magic}010103004000000008000000 \
	'^refused: version 1 verdict 3 '
answered "ping: the longest message there can be" 7177 ${ping_hello}ffffffff08000000 \
	'^refused: version 1 verdict 4 limit 1048576$'
answered "ping: the deepest queue there can be" 7177 ${ping_hello}40000000ffffffff \
	'^refused: version 1 verdict 5 limit 8$'
answered "ping: a right hello" 7177 ${ping_hello}4000000008000000 \
	'^connected: version 1 verdict 0 '

long=$(printf '%0256d' 0)
try "$stranger" $host 7177 ${ping_hello}4000000008000000 "$long" 1
ended "ping: a message longer than was said ends the connection" 0 '^0 have arrived, then: ' \
	'!^ended'
"$stranger" $host 7177 ${ping_hello}4000000008000000 00 60 >"$work/stranger" 2>&1 &
client=$!
await "$work/stranger" 'have arrived'
try krdma ping -c 10 -i 0 $host
ended "ping: one that takes no answers does not disturb others" 0 '10 received'
stop_server ping
ended "ping: nor does it keep the listening side from its end" 0 \
	' was disconnected after 1[0-9] messages' \
	'^10\.77\.0\.1:[0-9]+ .* after 0 messages' ' 8 refused; '
finish
cp "$work/stranger" "$work/out"
ended "ping: it is told" 0 '^ended$|then: '

serve bench krdma bench --listen
answered "bench: no such operation" 7178 ${bench_hello}07004000000001000000 \
	'^refused: version 1 verdict 3 '
answered "bench: no operation" 7178 ${bench_hello}00004000000001000000 \
	'^refused: version 1 verdict 3 '
answered "bench: no depth" 7178 ${bench_hello}03004000000000000000 \
	'^refused: version 1 verdict 5 limit 1024$'
answered "bench: too deep" 7178 ${bench_hello}03004000000001040000 \
	'^refused: version 1 verdict 5 limit 1024$'
answered "bench: too long" 7178 ${bench_hello}03000100000101000000 \
	'^refused: version 1 verdict 4 limit 16777216$'
answered "bench: more memory than there may be" 7178 ${bench_hello}01000000000100040000 \
	'^refused: version 1 verdict 6 '
answered "bench: no memory at all" 7178 ${bench_hello}03000000000001000000 \
	'^connected: version 1 verdict 0 '
try "$stranger" $host 7178 ${bench_hello}03004000000001000000 00 3
ended "bench: a message where none is wanted ends the connection" 0 'arrived, then: |^ended'
"$stranger" $host 7178 ${bench_hello}02004000000002000000 00 60 >"$work/streams" 2>&1 &
client=$!
await "$work/streams" 'have arrived'
try krdma bench -c 20 $host write
ended "bench: a stream whose answers nobody takes does not disturb others" 0 '^write +65536'
stop_server bench
ended "bench: nor does it keep the listening side from its end" 0 \
	' was disconnected after 60 messages'
finish
cp "$work/streams" "$work/out"
ended "bench: it is told" 0 '^ended$|then: '

serve rping krdma ping --rping --listen
try "$stranger" $host 7174 "" 0011 1
ended "rping: a message that is none ends the connection" 0 'connected: no answer' \
	'arrived, then: |^ended'
try "$stranger" $host 7174 "" 00000000000000000000000000000000 1
ended "rping: memory of no length ends the connection" 0 'arrived, then: |^ended'
try "$stranger" $host 7174 "" 000000000000100000001234ffffffff 1
ended "rping: more memory than there is room for ends the connection" 0 'arrived, then: |^ended'
try "$stranger" $host 7174 "" 00000000000010000000123400000040 1
ended "rping: memory that may not be read ends the connection" 0 'arrived, then: |^ended'
try krdma ping --rping -c 3 -i 0 $host
ended "rping: others are served" 0 '3 received'
stop_server rping
ended "rping: those were told apart" 0 ' was refused: it requests more than the limits allow' \
	' was refused: it requests another service' '1 clients served, 1 failed, 3 refused'

holds "nothing is left behind" nothing_is_left "$before"
tap_end
