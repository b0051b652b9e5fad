#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma ping, bench and selftest between two machines, and the examples with a hub, and pulls
# the cable between them; see peer.sh, and tools/vm/run --nodes 2.  Machine 1 tests and prints TAP.  Machine 2 listens until
# machine 1 connects to port $goodbye.  It exits with 0 if its listening sides have printed what is
# expected.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

here=$(dirname "$0")
before=$(resources)
host=10.77.0.2 host6=fd77::2
goodbye=7999

listening_side()
{
	local name result=0 hub

	"$here/hub_kv_server" :7474 >"$work/servers/hub" 2>&1 </dev/null &
	hub=$!
	until krdma stat listeners | grep -q hub_kv_server; do
		kill -0 $hub || exit 1
		usleep 100000
	done
	# reach() connects to ping.  It starts after the other services, so they listen by then.
	serve bench krdma bench --listen
	bench=$server
	serve selftest krdma selftest --listen
	selftest=$server
	serve rping krdma ping --rping --listen
	rping=$server
	serve ping krdma ping --listen
	# shellcheck disable=SC2034 # all three are taken by their names
	ping=$server
	serve goodbye krdma ping --listen -P $goodbye
	patience=1200
	await "$work/servers/goodbye" ' left after ' || result=1
	patience=120
	leave INT "$server"
	kill -0 $hub || result=1
	leave KILL $hub
	sed 's/^/# hub: /' "$work/servers/hub"
	server=$selftest
	stop_server selftest
	[ "$status" = 0 ] || result=1
	for name in bench rping ping; do
		eval "server=\$$name"
		stop_server $name
		[ "$status" = 0 ] || result=1
		sed "s/^/# $name: /" "$work/out" "$work/err"
		# The cable was pulled while each listening side had a client.
		printed ' has vanished after ' || {
			echo "# $name: nobody has vanished"
			result=1
		}
	done
	nothing_is_left "$before" || result=1
	exit $result
}

# reach: wait until the other machine listens.
reach()
{
	local tries=0

	until try krdma ping -c 1 -W 2 $host; [ "$status" = 0 ]; do
		tries=$((tries + 1))
		[ $tries -lt 60 ] || {
			not_ok "the other machine listens" "$(tell)"
			tap_end
			exit 1
		}
		sleep 1
	done
}

[ "${NODE:-1}" = 1 ] || listening_side
reach

# With the cable plugged in

try krdma ping -c 20 -i 0 -s 4k $host
ended "messages cross the cable" 0 '20 transmitted, 20 received, 0% loss'
try krdma ping -c 5 -i 0 $host6
ended "over IPv6, too" 0 '5 transmitted, 5 received, 0% loss'
try krdma ping --rping -c 5 -i 0 -s 65536 $host
ended "rounds of rping's cross the cable" 0 '5 transmitted, 5 received, 0% loss'
try krdma bench -j -c 100 -s 64,64k --depth 1,8 $host write read send atomic connect
cp "$work/out" /out/bench-apart.json
ended "operations cross the cable" 0 '"complete":true' '!"data":"wrong"'
try krdma selftest --peer $host --cycles 5 --memory 4M -t 100 --only s rxe0
# Proves: F9
ended "the device passes with the other machine" 0 '^PASS +send +' '^PASS +shared-receive-queue ' \
	' 0 failed, '

# A hub there, and one for each client here

try "$here/hub_kv_client" $host:7474 color green
ended "a key is set over there" 0
long=$(printf '%06000d' 7)
try "$here/hub_kv_client" "[$host6]:7474" long "$long"
ended "a value that is longer than a message, over IPv6" 0
try "$here/hub_kv_client" $host:7474 long
ended "it comes back" 0 "^$long\$"
try "$here/hub_kv_client" $host:7474 colour
ended "there is no such key over there" 1 '^hub_kv_client: No such file'

# The cable is pulled while each listening side has a client

begin krdma ping -i 0.2 -W 3 $host
await "$work/out" 'seq=3 '
krdma ping --rping -i 0.2 $host >"$work/rping" 2>&1 &
rping=$!
await "$work/rping" 'seq=2 '
krdma bench -t 600 --depth 4 $host write >"$work/bench" 2>&1 &
bench=$!
await "$work/bench" depth
sleep 1
vm-link 2 off
finish
ended "a peer that has vanished is the end, with the summary" 1 '^no answer from 10\.77\.0\.2: ' \
	'the connection is lost: 10\.77\.0\.2 does not answer any more' '% loss' '^rtt p50'
gone $rping
cp "$work/rping" "$work/out"
ended "of rping's rounds, too" 1 '10\.77\.0\.2 (does not answer any more|has not ended the round)' \
	'% loss'
gone $bench
cp "$work/bench" "$work/out"
ended "of measurements, too" 1 '10\.77\.0\.2 does not answer' '^not complete$'
try krdma ping -c 1 -W 2 $host
ended "who cannot be reached is not waited for without end" 1 '^krdma: .*10\.77\.0\.2' \
	'!transmitted'
try "$here/hub_kv_client" $host:7474 color
ended "nor is a hub" 1 '^hub_kv_client: '
begin krdma ping -W 100 $host
sleep 1
leave INT "$client"
holds "Ctrl-C ends connecting" [ "$status" = 130 ]

# The listening sides probe after ten seconds of silence, and take some more without an answer to
# notice.
sleep 40
vm-link 2 on
reach
ok "with the cable in again, it answers again"
try krdma bench -c 50 $host
ended "and can be measured" 0 '^send +65536 '
try "$here/hub_kv_client" $host:7474 color
ended "the hub there has kept the key" 0 '^green$'
try krdma ping -P $goodbye -c 1 $host
ended "goodbye" 0 '1 received'
holds "nothing is left behind" nothing_is_left "$before"
tap_end
