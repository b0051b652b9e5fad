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

# await_waiting: wait until a connection request waits in a listener that takes none.
await_waiting()
{
	local tries=0

	until krdma stat -j | grep -q '"waiting":true'; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || break
		usleep 100000
	done
}

# rests PROCESS: in five seconds, it uses the processor for less than one, which has 100 ticks.  One
# that looks again and again uses all of them, or half of them where another program runs.
rests()
{
	local before

	before=$(awk '{ print $14 + $15 }' "/proc/$1/stat")
	sleep 5
	[ $(($(awk '{ print $14 + $15 }' "/proc/$1/stat") - before)) -lt 100 ]
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
ended "the server is gone" 1 '^hub_kv_client: Connection refused: nothing listens there'
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
descriptors=$(find "/proc/$server/fd" -type l | sed 's|.*/||' | sort -n | tail -n 1)
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
# There is a descriptor for one client, which stays.
sh -c "ulimit -n $((descriptors + 2)) && exec '$here/echo_many' serve" >"$work/server" 2>&1 </dev/null &
server=$!
await_listener echo_many
"$here/stranger" $host 7475 "" 00 0 >"$work/one" 2>&1 </dev/null &
first=$!
await "$work/one" '^connected'
begin "$here/echo_many" $host 7475 "the next"
await_waiting
holds "a server without a descriptor for the next client waits" rests "$server"
leave KILL "$first"
finish
ended "and serves it when it has one" 0 '^the next$'
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

# A server of a user who may have nine objects: four rings, an SRQ, a listener and three clients.
grep -qs '^nobody:' /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
objects=$(cat /sys/module/krdma/parameters/max_objects)
echo 9 >/sys/module/krdma/parameters/max_objects
chmod 666 /dev/krdma
sh -c "ulimit -l unlimited && exec su -s /bin/sh nobody -c 'exec $here/lane_kv serve $host'" \
	>"$work/server" 2>&1 </dev/null &
shell=$!
await_listener lane_kv
server=$(pidof lane_kv)
# Eight clients are there when it looks.
kill -STOP "$server"
for client in 1 2 3 4 5 6 7 8; do
	"$here/lane_kv" $host planet "of client $client" >"$work/few.$client" 2>&1 </dev/null &
done
tries=0
while [ $tries -lt "$patience" ] && [ "$(krdma trunk -d | grep -c ' lane_kv .* connecting ')" != 8 ]; do
	tries=$((tries + 1))
	sleep 1
done
kill -CONT "$server"
tries=0
while [ $tries -lt "$patience" ] && [ "$(cat "$work"/few.* | grep -c '^of client ')" != 8 ]; do
	tries=$((tries + 1))
	sleep 1
done
cat "$work"/few.* >"$work/out"
status=0
[ "$(grep -c '^of client ' "$work/out")" = 8 ] || status=1
ended "more clients at once than a server may have take turns" 0 '^of client 1$' '^of client 8$'
for number in 1 2 3; do
	"$here/stranger" --lane $host 7479 "" 00 0 >"$work/stays.$number" 2>&1 </dev/null &
	echo $! >"$work/process.$number"
	holds "no place is lost: $number" await "$work/stays.$number" '^connected'
done
begin "$here/lane_kv" $host planet mars
await_waiting
holds "a server without a place for the next client waits" rests "$server"
for number in 1 2 3; do
	leave KILL "$(cat "$work/process.$number")"
done
finish
ended "and serves it when it has one" 0 '^mars$'
kill -KILL "$server"
gone "$shell"
chmod 600 /dev/krdma
echo "$objects" >/sys/module/krdma/parameters/max_objects
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


# The device is removed under servers that have had a client.
# ends_with_device NAME CLIENT-ARGUMENT... -- SERVER-ARGUMENT...
ends_with_device()
{
	local name=$1 ask=''
	shift

	while [ "$1" != -- ]; do
		ask="$ask $1"
		shift
	done
	shift
	"$here/$name" "$@" >"$work/server" 2>&1 </dev/null &
	server=$!
	await_listener "$name"
	# shellcheck disable=SC2086 # words
	try "$here/$name" $ask
	rdma link delete rxe0
	gone "$server"
	cp "$work/server" "$work/out"
	ended "$name ends with its device" 1 "^$name: cannot .*: No such device\$"
	rdma link add rxe0 type rxe netdev dummy0
}

ends_with_device echo_many $host 7475 text -- serve
ends_with_device lane_kv $host planet mars -- serve $host
ends_with_device remote_malloc $host text -- --serve 1000

holds "nothing is left" nothing_is_left "$before"
tap_end
