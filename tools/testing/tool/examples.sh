#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests the example programs of the library.  Runs inside a VM, with the programs in the folder of
# this file; see peer.sh.  Prints TAP.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

here=$(dirname "$0")
before=$(resources)

# await_listener NAME: wait until the program listens.  Its output is a file, so it is buffered and may
# be written only at exit; krdma stat knows.
await_listener()
{
	local tries=0

	until krdma stat listeners | grep -q "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || break
		usleep 100000
	done
}

# both NAME CLIENT-ARGUMENT...: start a server, and run its client.  The server's exit status and
# output are appended to the client's output.
both()
{
	local name=$1
	shift

	"$here/${name}_server" >"$work/server" 2>&1 </dev/null &
	server=$!
	await_listener "${name}_server"
	try "$here/${name}_client" "$@"
	gone "$server"
	echo "the server ends with $status" >>"$work/out"
	cat "$work/server" >>"$work/out"
	status=0
}

both simple $host 7471 'a line'
ended "the simple ones" 0 '^the server has answered: A LINE$' '^the client has written: a line$' \
	'^the server ends with 0$'
both thin $host
ended "the thin ones" 0 'bytes written, read back and checked$' '^the client says: ' \
	'^and has left: ' '^the server ends with 0$'
# A server of keys and values, with a value that is longer than a message sent as a whole.
"$here/hub_kv_server" $host:7474 >"$work/server" 2>&1 </dev/null &
server=$!
tries=0
until krdma stat listeners | grep -q hub_kv_server; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] || break
	usleep 100000
done
long=$(printf '%06000d' 7)
try "$here/hub_kv_client" $host:7474 color green
ended "a key is set" 0
try "$here/hub_kv_client" $host:7474 long "$long"
ended "a long value is set" 0
try "$here/hub_kv_client" $host:7474 color
ended "and had by another client" 0 '^green$'
try "$here/hub_kv_client" $host:7474 long
ended "and the long one" 0 "^$long\$"
try "$here/hub_kv_client" $host:7474 colour
ended "there is no such key" 1 '^hub_kv_client: No such file'
# Of a client that takes no long messages.
try "$here/hub_short" $host:7474 long
ended "who cannot take the value is told so" 0 '^90: Message too long$'
try "$here/hub_short" $host:7474 color
ended "and takes another one" 0 '^0: '
kill $server
gone "$server"
try "$here/hub_kv_client" $host:7474 color
ended "the server is gone" 1 '^hub_kv_client: Connection refused$'
try "$here/hub_kv_client" $host:7474
ended "keys and values, without arguments" 2 '^usage: hub_kv_client HOST:PORT'

try "$here/simple_client" $host 7471
ended "nobody serves" 1 '^simple_client: not connected: Connection refused$'
try "$here/simple_client"
ended "without arguments" 2 '^usage: simple_client HOST'
try "$here/thin_client"
ended "thin, without arguments" 2 '^usage: thin_client ADDRESS'


"$here/kv" serve >"$work/server" 2>&1 </dev/null &
server=$!
await_listener kv
try "$here/kv" $host planet earth
ended "a key is stored" 0
try "$here/kv" $host planet
ended "a key is found" 0 '^earth$'
try "$here/kv" $host planet mars
ended "a key is stored once more" 0
try "$here/kv" $host planet
ended "a key has its last value" 0 '^mars$' '!earth'
try "$here/kv" $host moon
ended "a key is not found" 1 '^kv: no such key$'
descriptors=$(find "/proc/$server/fd" -type l | sed 's|.*/||' | sort -n | tail -n 1)
leave KILL "$server"
# There is a descriptor for the connection of a client, and none for its ring or another client.
sh -c "ulimit -n $((descriptors + 2)) && exec '$here/kv' serve" >"$work/server" 2>&1 </dev/null &
server=$!
await_listener kv
try "$here/kv" $host planet
ended "a client for whom there is no descriptor" 1 '^kv: cannot connect: Connection refused$'
try "$here/kv" $host planet
ended "and one after it" 1 '^kv: cannot connect: Connection refused$'
holds "are no reason for the server to end" kill -0 "$server"
leave KILL "$server"
try "$here/kv" $host planet
ended "no store" 1 '^kv: cannot connect: Connection refused$'

"$here/echo_many" serve >"$work/server" 2>&1 </dev/null &
server=$!
await_listener echo_many
# More clients in all than it serves at a time.
tries=0
while [ $tries -lt 70 ]; do
	try "$here/echo_many" $host 7475 "client $tries"
	[ "$status" = 0 ] || break
	tries=$((tries + 1))
done
ended "one thread serves 70 clients, one after the other" 0 '^client 69$'
for client in 1 2 3 4 5 6 7 8; do
	"$here/echo_many" $host 7475 "at once $client" >"$work/many.$client" 2>&1 &
done
tries=0
while [ $tries -lt "$patience" ] && [ "$(cat "$work"/many.* | grep -c '^at once ')" != 8 ]; do
	tries=$((tries + 1))
	sleep 1
done
cat "$work"/many.* >"$work/out"
status=0
ended "and eight at once" 0 '^at once 1$' '^at once 8$'
leave KILL "$server"

"$here/echo_worker" >"$work/server" 2>&1 </dev/null &
server=$!
await_listener echo_worker
try "$here/echo_many" $host 7476 "to a worker"
ended "a worker serves a client" 0 '^to a worker$'
try "$here/echo_many" $host 7476 "to the next one"
ended "and the next worker the next" 0 '^to the next one$'
leave KILL "$server"

# Clients with lanes, which have a number each and no descriptor.
"$here/lane_kv" serve $host >"$work/server" 2>&1 </dev/null &
server=$!
await_listener lane_kv
try "$here/lane_kv" $host planet earth
ended "a key is stored, by a request that comes with the connection" 0 '^earth$'
try "$here/lane_kv" $host planet
ended "and found" 0 '^earth$'
try "$here/lane_kv" $host moon
ended "another key is not found" 1 '^lane_kv: cannot find the key: No such file or directory$'
try "$here/lane_kv" many 500 $host planet
ended "500 clients are answered" 0 '^500 clients were answered$'
try "$here/lane_kv" $host planet mars
ended "and one after them" 0 '^mars$'
# KEY, and a value of no bytes, from a client that has no receive for the answer.
key=$(printf moon | od -An -tx1 | tr -d ' ')
try "$here/stranger" --lane $host 7479 "" "00000000$key$(printf '%0240d' 0)" 1
ended "a client that does not take its answer is left" 0 '^1 have arrived$' '^ended$'
try "$here/lane_kv" $host planet
ended "and the others are served" 0 '^mars$'
leave KILL "$server"
try "$here/lane_kv" $host planet
ended "no store for lanes" 1 '^lane_kv: cannot connect: Connection refused$'
try "$here/lane_kv" many 0 $host planet
ended "no clients" 2 '^usage: lane_kv serve ADDRESS$'

# Memory of a server for many clients, 1000 bytes of it.
"$here/remote_malloc" --serve 1000 >"$work/server" 2>&1 </dev/null &
server=$!
await_listener remote_malloc
try "$here/remote_malloc" $host "a text"
ended "memory of a server is had, written, read and given back, over a lane" 0 \
	'^a lane: 7 bytes at 0x[0-9a-f]+, rkey 0x[0-9a-f]+$' '^read back: a text$' '^given back$'
for client in 1 2 3 4 5 6 7 8; do
	"$here/remote_malloc" $host "piece $client" 1 >"$work/piece.$client" 2>&1 &
done
tries=0
while [ $tries -lt "$patience" ] && [ "$(cat "$work"/piece.* | grep -c '^given back$')" != 8 ]; do
	tries=$((tries + 1))
	sleep 1
done
cat "$work"/piece.* >"$work/out"
status=0
for client in 1 2 3 4 5 6 7 8; do
	holds "one of eight at once finds its own text: $client" \
		grep -q "^read back: piece $client\$" "$work/piece.$client"
done
long=$(printf '%0999d' 7)
"$here/remote_malloc" $host "$long" 1000 >"$work/holder" 2>&1 </dev/null &
client=$!
holds "one client has all of it" await "$work/holder" '^a lane: 1000 bytes at '
try "$here/remote_malloc" $host "a text"
ended "then there is none for another" 1 \
	'^remote_malloc: cannot allocate: the server has not enough left; ask for less, or later$'
leave KILL "$client"
tries=0
try "$here/remote_malloc" $host "$long"
while [ "$status" != 0 ] && [ $tries -lt "$patience" ]; do
	tries=$((tries + 1))
	sleep 1
	try "$here/remote_malloc" $host "$long"
done
ended "the memory of a killed client is free again" 0 '^a lane: 1000 bytes at ' '^given back$'
try "$here/remote_malloc" $host "${long}0"
ended "a piece that is larger than all of it" 1 '^remote_malloc: cannot allocate: the server has not'
leave KILL "$server"
try "$here/remote_malloc" $host "a text"
ended "no server" 1 '^remote_malloc: cannot connect: Connection refused$'
try "$here/remote_malloc" $host
ended "remote memory, without a text" 2 '^usage: remote_malloc --serve'

holds "nothing is left" nothing_is_left "$before"
tap_end
