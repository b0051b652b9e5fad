#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma monitor.  Runs inside a VM; see peer.sh.  Prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

before=$(resources)
time='^20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{3}[+-][0-9]{2}:[0-9]{2}'
utc='\{"time":"20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{3}Z"'

try krdma monitor -c 1
ended "what is there comes first" 0 "$time rxe0 \([0-9]+\): present; port 1 active on dummy0$"
holds "one line was asked for" [ "$(wc -l <"$work/out")" = 1 ]

try krdma dev -j
cp "$work/out" /out/dev.json
ended "the same, once and in full" 0 '"name":"rxe0"' '"netdev_name":"dummy0"'
try krdma info -j
cp "$work/out" /out/info.json
ended "and what there is of krdma" 0 '"device_count":1,'

# An RDMA device is added and removed, and its interface goes down and up.
begin krdma monitor
await "$work/out" 'rxe0'
ip link add dummy7 type dummy
ip link set dummy7 up
rdma link add rxe7 type rxe netdev dummy7
await "$work/out" 'rxe7 .*: added'
ip link set dummy7 down
await "$work/out" 'rxe7 .* port 1: port error'
ip link set dummy7 up
await "$work/out" 'rxe7 .* port 1: port active'
rdma link delete rxe7
await "$work/out" 'rxe7 .*: removed'
leave INT "$client"
# Proves: F7
ended "Ctrl-C ends it, and all that happened is told" 130 "$time rxe7 \([0-9]+\): added; port 1 " \
	'rxe7 \([0-9]+\) port 1: port error; now down on dummy7$' \
	'rxe7 \([0-9]+\) port 1: port active; now active on dummy7$' 'rxe7 \([0-9]+\): removed$'
holds "in its order" awk '
	/rxe7.*: added/ { added = NR }
	/rxe7.*port error/ && !error { error = NR }
	/rxe7.*port active/ { active = NR }
	/rxe7.*: removed/ { removed = NR }
	END { exit !(added && added < error && error < active && active < removed) }' "$work/out"

begin krdma monitor -j
await "$work/out" 'rxe0'
rdma link add rxe7 type rxe netdev dummy7
await "$work/out" '"event":"added","device_id":[0-9]+,"device":"rxe7"'
ip link set dummy7 down
await "$work/out" '"event":"port error"'
rdma link delete rxe7
await "$work/out" '"event":"removed"'
leave TERM "$client"
cp "$work/out" /out/monitor.jsonl
ended "JSON has it all" 143 \
	"^$utc,\"event\":\"present\",\"device_id\":[0-9]+,\"device\":\"rxe0\",\"ports\":\[\{\"port\":1,\"state\":\"active\",\"active_mtu\":1024,\"netdev_name\":\"dummy0\"\}\]\}$" \
	"^$utc,\"event\":\"added\",\"device_id\":[0-9]+,\"device\":\"rxe7\",\"ports\":\[" \
	"^$utc,\"event\":\"port error\",\"device_id\":[0-9]+,\"device\":\"rxe7\",\"port\":1,\"ports\":\[\{\"port\":1,\"state\":\"down\"" \
	"^$utc,\"event\":\"removed\",\"device_id\":[0-9]+,\"device\":\"rxe7\",\"ports\":\[\]\}$"
holds "one object in each line" [ "$(wc -l <"$work/out")" = "$(grep -c '^{.*}$' "$work/out")" ]

# The name of a removed device must be remembered: by now it belongs to another device or to none.
begin krdma monitor -c 3
await "$work/out" 'rxe0'
rdma link add rxe7 type rxe netdev dummy7
await "$work/out" 'rxe7'
rdma link delete rxe7
finish
ended "it ends after as many as were asked for" 0 'rxe7'
holds "no more and no fewer" [ "$(wc -l <"$work/out")" = 3 ]

# monitor notices that the reader of its output is gone, without waiting for an event.
mkfifo "$work/pipe"
begin krdma monitor
cp /dev/null "$work/piped"
krdma monitor >"$work/pipe" 2>"$work/piped.err" &
watcher=$!
head -n 1 <"$work/pipe" >"$work/piped"
gone "$watcher"
cp "$work/piped" "$work/said"
holds "a pipe that is closed ends it" [ "$status" = 0 ]
holds "what was read was right" grep -q rxe0 "$work/said"
leave INT "$client"

# And so if its output is a socket.
begin "$here/socketpair" krdma monitor
finish
ended "a socket whose peer is gone ends it" 0 'rxe0'

# shellcheck disable=SC2016 # for the shell inside
try sh -c 'krdma monitor -c 1 >/dev/full'
ended "output that cannot be written fails" 1 'cannot write to standard output'
for words in 'monitor now' 'monitor -c 0' 'monitor -c x' 'monitor -c' 'monitor --nonsense'; do
	# shellcheck disable=SC2086 # words
	try krdma $words
	ended "not understood: krdma $words" 2 '^krdma: '
done
for words in 'monitor help' 'monitor -h' 'help monitor'; do
	# shellcheck disable=SC2086 # words
	try krdma $words
	ended "help: krdma $words" 0 '^Usage: krdma monitor'
done

ip link delete dummy7
holds "nothing is left of all this" nothing_is_left "$before"
tap_end
