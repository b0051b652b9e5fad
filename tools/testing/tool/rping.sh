#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma ping --rping on one machine.  Runs inside a VM; see peer.sh.  Prints TAP.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

before=$(resources)

serve all krdma ping --rping --listen
for size in 16 17 64 4096 65535 65536; do
	try krdma ping --rping -c 5 -i 0 -s $size $host
	ended "five rounds of $size bytes" 0 "^PING 10\.77\.0\.1 port 7174 as rping: $size bytes" \
		"^$size bytes from 10\.77\.0\.1: seq=5 time=" '^5 transmitted, 5 received, 0% loss'
done
try krdma ping --rping -c 100 -i 0 -q $host
ended "a hundred rounds, through all the letters" 0 '100 transmitted, 100 received'
try krdma ping --rping -c 2 -i 0 $host6
ended "over IPv6" 0 '2 transmitted, 2 received'
try krdma ping --rping -j -c 2 -i 0.1 -s 4k $host
cp "$work/out" /out/rping.json
ended "JSON names the protocol" 0 '"protocol":"rping"' '"port":7174' '"received":2'

clients=''
for number in 1 2 3 4 5; do
	krdma ping --rping -q -c 30 -i 0 -s ${number}000 $host >"$work/client$number" 2>&1 &
	clients="$clients $!"
done
failed=0
for client in $clients; do
	wait "$client" || failed=$((failed + 1))
done
cat "$work"/client* >"$work/out"
holds "five clients at a time" [ $failed = 0 -a \
	"$(objects "$work/out" '^30 transmitted, 30 received, 0% loss')" = 5 ]

begin krdma ping --rping -i 0.05 $host
await "$work/out" 'seq=3 '
leave INT "$client"
ended "Ctrl-C ends it, with the summary" 130 ' 0% loss' '^rtt p50'

try krdma ping -P 7174 -c 1 $host
ended "a listening side of rping's is not taken for krdma's" 1 'but is another service' \
	'krdma ping --listen'
stop_server all
ended "a round is two messages and twice the text" 0 \
	'^10\.77\.0\.1:[0-9]+ left after 10 messages, 160 bytes$' \
	'^--- krdma ping --rping --listen at \*:7174 ---$' ' 0 failed, 0 refused; '

try krdma ping --rping -c 1 $host
ended "that nobody listens is said, and what to do" 1 \
	'^krdma: cannot connect to 10\.77\.0\.1 port 7174: connection refused' \
	'krdma ping --rping --listen'

serve gone krdma ping --rping --listen
begin krdma ping --rping -i 0.05 $host
await "$work/out" 'seq=3 '
leave KILL "$server"
finish
ended "a listening side that dies is the end, with the summary" 1 \
	'10\.77\.0\.1 has ended the connection' 'transmitted, '

serve stopped krdma ping --rping --listen
begin krdma ping --rping -i 0.05 -W 5 $host
await "$work/out" 'seq=3 '
kill -STOP "$server"
finish
ended "one that stops is the end: a round cannot be given up" 1 '^no answer from' \
	'has not ended the round' 'transmitted, '
kill -CONT "$server"
await "$work/servers/stopped" ' left after '
stop_server stopped
ended "the listening side goes on" 0 ' left after '

# Interoperation with rping, if it is in the VM: tools/vm/run --program rping

if command -v rping >/dev/null; then
	serve real krdma ping --rping --listen
	for size in 23 64 4096 65535; do
		try rping -c -a $host -C 5 -S $size -V -v
		holds "rping with $size bytes is served" [ "$status" = 0 -a \
			"$(objects "$work/out" '^ping data: rdma-ping-')" = 5 ]
	done
	stop_server real
	# Proves: F8
	ended "rping leaves as krdma does" 0 ' left after 10 messages' '4 clients served, 0 failed'
	for size in 23 64 4096 65535; do
		rping -s -a $host -C 5 -S $size -V >"$work/rping" 2>&1 &
		server=$!
		tries=0
		# rping does not print when it listens.
		until try krdma ping --rping -c 5 -i 0 -s $size $host
		      ! printed 'connection refused' || [ $tries -ge 300 ]; do
			tries=$((tries + 1))
			usleep 100000
		done
		ended "rping serves $size bytes" 0 '^5 transmitted, 5 received'
		gone $server
		holds "and finds its text right" [ "$status" = 0 ]
	done
else
	skip "rping itself" "it was not taken along: tools/vm/run --program rping"
fi

holds "nothing is left behind" nothing_is_left "$before"
tap_end
