#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests the commands of the tool that use lanes.  Runs inside a VM; see peer.sh.  Prints TAP.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

before=$(resources)

# krdma ping

over='^PING 10\.77\.0\.1 port 7177: 64 bytes, through rxe0, over'
serve plain krdma ping --listen
try krdma ping --lane -c 2 -i 0 $host
ended "a peer without lanes gets a plain connection, and that is said" 0 \
	"$over a plain connection: the other side takes no lanes\$" '2 transmitted, 2 received'
stop_server plain
ended "which the listening side does not notice" 0 '[0-9] left after 2 messages' '!lane'
serve lanes krdma ping --listen --lane
cp "$work/servers/lanes" "$work/out"
ended "a listening side says that it takes lanes" 0 '^listening at \*:7177, also for lanes, answering '
try krdma ping --lane -c 3 -i 0 $host
# Proves: F14
ended "messages go over a lane, and that is said" 0 "$over a lane of trunk [1-9][0-9]*\$" \
	'^64 bytes from 10\.77\.0\.1: seq=3 ' '3 transmitted, 3 received, 0% loss'
for size in 0 1 63 4k 100k 1M; do
	try krdma ping --lane -c 3 -i 0 -s $size $host
	ended "messages of $size come back over a lane" 0 ' a lane of trunk ' '3 received, 0% loss'
done
try krdma ping --lane -c 2 -i 0 $host6
ended "a lane over IPv6" 0 ' a lane of trunk ' '^64 bytes from fd77::1: seq=2 '
try krdma ping -c 2 -i 0 $host
ended "who asks for no lane gets none" 0 '64 bytes, through rxe0$' '2 received'
try krdma ping -j --lane -c 2 -i 0 $host
cp "$work/out" /out/ping-lane.json
ended "JSON has the trunk of the lane" 0 '"kind":"lane","trunk":[1-9][0-9]*,"bytes":64'
krdma ping --lane -i 0.1 -q $host >"$work/one" 2>&1 &
first=$!
await "$work/one" ' a lane of trunk '
try krdma ping --lane -c 1 $host
holds "two lanes to one host share a trunk" [ "$(sed -n 's/.*of trunk //p' "$work/one")" = \
	"$(sed -n 's/.*of trunk //p' "$work/out")" ]
leave INT $first
# Longer than the silence after which the listening side probes plain connections.
try krdma ping --lane -c 2 -i 12 $host
ended "a lane that is silent for long stays" 0 '2 transmitted, 2 received, 0% loss'
begin krdma ping --lane -i 0.05 $host
await "$work/out" 'seq=3 '
stop_server lanes
ended "the listening side tells lanes from others" 0 \
	'^10\.77\.0\.1:[0-9]+ over a lane left after 3 messages, 192 bytes$' \
	'^10\.77\.0\.1:[0-9]+ left after 2 messages' ', 0 failed, 0 refused; '
finish
holds "a lane ends with the listening side" [ "$status" = 1 ]
serve first krdma ping --listen -P 1019
try krdma ping --listen --lane
ended "without its port there are no lanes" 1 'the address is in use, or port 1019, where' 'krdma doctor'
stop_server first

# krdma trunk

# await_lanes NUMBER: wait until as many lanes are connected.
await_lanes()
{
	local tries=0

	until [ "$(krdma trunk -d | grep -c '^ *lane .* connected ')" = "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt $((patience * 10)) ] || return 1
		usleep 100000
	done
}

try krdma trunk
ended "without lanes there are no trunks" 0 '^TRUNK +DEVICE +STATE ' '![0-9] +rxe0'
serve lanes krdma ping --listen --lane
krdma ping --lane -i 0.02 -q $host >"$work/one" 2>&1 &
first=$!
krdma ping --lane -i 0.02 -q $host >"$work/two" 2>&1 &
second=$!
await_lanes 4
try krdma trunk
# Both ends are here, with a number each.
ended "each trunk has its line" 0 \
	'^[0-9]+ +rxe0 +up +10\.77\.0\.1 +10\.77\.0\.1 +2 +[1-9][0-9]* +0 +[1-9][0-9]* +[0-9]+$' \
	'^the kernel has [2-9] trunks, [4-9] lanes, 0 windows$' '!lane '
holds "there are as many as ends" [ "$(objects "$work/out" ' rxe0 ')" = 2 ]
try krdma trunk -d
ended "and each lane, with -d" 0 \
	"^ +lane [0-9]+ +$first krdma +connected +10\.77\.0\.1:[0-9]+ +10\.77\.0\.1:7177 " \
	"^ +lane [0-9]+ +$second krdma +connected " "^ +lane [0-9]+ +$server krdma +connected "
number=$(sed -n 's/.*of trunk //p' "$work/one")
holds "its number is that of krdma ping" grep -q "^$number  *rxe0 " "$work/out"
try krdma trunk -i 0.5 -c 2
ended "again and again, what happens in a second" 0 'SENDS/s +DIRECT/s +RECEIVES/s' \
	'^[0-9]+ +rxe0 +up .* 2 +[0-9]+\.[0-9] +0\.0 +[0-9]+\.[0-9] +[0-9]+$'
holds "so many times" [ "$(objects "$work/out" '^TRUNK')" = 2 ]
try krdma trunk -j
cp "$work/out" /out/trunk.json
ended "JSON has all of it" 0 "\"trunk\":$number,\"device\":\"rxe0\",\"state\":\"up\"" \
	'"peer":"10\.77\.0\.1"' "\"pid\":$second,\"command\":\"krdma\"" \
	'"sends_completed":[1-9][0-9]*,"sends_direct":0,' \
	'"kernel_trunks":[2-9],"kernel_lanes":[4-9],"kernel_windows":0,"hidden_processes":0\}$'
try krdma trunk -j -i 0.5 -c 1
cp "$work/out" /out/trunk-rates.json
ended "and rates" 0 '"sends_per_second":[1-9][0-9]*\.[0-9],"sends_direct_per_second":0\.0,"receives_per_second":'
try krdma stat -j
ended "krdma stat tells lanes from others" 0 "\"qp\":0,\"kind\":\"lane\",\"trunk\":$number," \
	'"lanes":true,"waiting":'
grep -qs '^nobody:' /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
try su -s /bin/sh nobody -c 'krdma trunk -j'
ended "another user sees how many processes are hidden, and nothing of them" 0 \
	'^\{"trunks":\[\],"without_descriptor":\[\],"kernel_trunks":null,"kernel_lanes":null,"kernel_windows":null,"hidden_processes":[1-9][0-9]*\}$'
leave INT $second
await_lanes 2
leave INT $first
stop_server lanes
try krdma trunk
ended "trunks whose lanes have ended are gone" 0 '![0-9] +rxe0'
# A program that knows its lanes by numbers, and has no descriptor of any.
here=$(dirname "$0")
"$here/lane_kv" serve $host >"$work/many" 2>&1 </dev/null &
many=$!
tries=0
until krdma stat listeners | grep -q lane_kv; do
	tries=$((tries + 1))
	[ $tries -lt $((patience * 10)) ] || break
	usleep 100000
done
"$here/stranger" --lane $host 7479 "" 00 0 >"$work/one" 2>&1 </dev/null &
first=$!
"$here/stranger" --lane $host 7479 "" 00 0 >"$work/two" 2>&1 </dev/null &
second=$!
await "$work/one" 'have arrived'
await "$work/two" 'have arrived'
try krdma trunk -d
ended "lanes without a descriptor are not shown, and that is said" 0 \
	"^ +lane [0-9]+ +$first stranger +connected " "^ +lane [0-9]+ +$second stranger +connected " \
	"! $many lane_kv" \
	"^session [0-9]+ of process $many, lane_kv: connections without a descriptor, lanes or others: 2\$"
try krdma trunk -j
cp "$work/out" /out/trunk-many.json
ended "and JSON has it" 0 \
	"\"without_descriptor\":\[\{\"session\":[0-9]+,\"pid\":$many,\"command\":\"lane_kv\",\"conns\":2\}\]"
leave KILL $first
leave KILL $second
leave KILL $many
try krdma trunk
ended "no such connection, no line" 0 '!without a descriptor'
for wrong in '-i 0' '-i x' '-c 0'; do
	# shellcheck disable=SC2086 # two words
	try krdma trunk $wrong
	ended "trunk $wrong" 2 "^krdma: ${wrong% *}(:| wants | needs ).*'${wrong#* }'"
done
try krdma trunk nonsense
ended "trunk takes no word" 2 "takes no argument 'nonsense'"
try krdma trunk help
ended "trunk helps" 0 '^Usage: krdma trunk'

# krdma bench

serve plain krdma bench --listen
try krdma bench --lanes 3 -c 6 -s 64 $host
ended "without lanes at the other side, plain connections are measured" 0 \
	'^10\.77\.0\.1 port 7178, through rxe0, mode event, plain connections: 3: the other side takes no lanes$' \
	'^connect .* 6$' '^send +64 +1 .* 6$'
stop_server plain
serve bench krdma bench --listen --lane
begin krdma bench --lanes 20 -t 60 -s 64 $host send
await_lanes 40
leave INT "$client"
ended "all lanes are open at a time" 130 ', mode event, lanes: 20, of trunk [1-9][0-9]*$' '^not complete$'
begin krdma bench --lanes 2 -t 60 -s 4k $host write
await_lanes 4
tries=0
until krdma trunk | grep -q 'lanes, [1-9][0-9]* windows$'; do
	tries=$((tries + 1))
	[ $tries -lt $((patience * 10)) ] || break
	usleep 100000
done
try krdma trunk
ended "what the device does by windows is counted" 0 \
	'^[0-9]+ +rxe0 +up +.* 2 +[1-9][0-9]* +[1-9][0-9]* +[0-9]+ +[0-9]+$' \
	'lanes, [1-9][0-9]* windows$'
leave INT "$client"
try krdma bench --lanes 20 -c 60 -s 8,4k $host
ended "lanes are opened and closed, and used in turn" 0 ', lanes: 20, of trunk [1-9][0-9]*$' \
	'^connect +0 +1( +[0-9.]+){4} +- +[0-9]+ +60$' '^send +8 +1( +[0-9.]+){5} +[0-9]+ +60$' \
	'^send +4096 +1 .* 60$' '!WRONG'
try krdma bench --lanes 4 -c 40 -s 8,64k $host write read
ended "lanes write and read memory of the other side" 0 ', lanes: 4, of trunk [1-9][0-9]*$' \
	'^write +8 +1 .* 40$' '^read +65536 +1 .* 40$' '!WRONG'
try krdma bench --lane -c 40 $host atomic
ended "and add to it" 0 '^atomic +8 +1 .* 40$' '!WRONG'
try krdma bench -j --lanes 4 -c 8 -s 8 $host
cp "$work/out" /out/bench-lanes.json
# Proves: F14
ended "JSON has their number and their trunk" 0 '"connections":4,"kind":"lane","trunk":[1-9]' \
	'"operation":"connect","size":0,"depth":1,"batch":1,"count":8,' \
	'"operation":"send",.*"data":"right"'
try krdma bench -j --lanes 4 --plain -c 8 -s 8 $host
cp "$work/out" /out/bench-plain.json
ended "as many plain connections can be measured" 0 '"connections":4,"kind":"plain","trunk":0' \
	'"count":8,'
try krdma bench --compare /out/bench-plain.json /out/bench-lanes.json
ended "and compared" 0 '^connect +0 +1 ' '^send +8 +1 ' '!only'
try krdma bench --lane -c 5 -s 64 --csv $host
ended "one lane, as a line of fields" 0 '^connect,0,1,1,5,.*,1,lane,1,1,no,0,0$' \
	'^send,64,1,1,5,.*,right,.*,1,lane,1,1,no,0,0$'
try krdma bench -c 5 -s 64 $host write send
ended "a listening side that takes lanes serves plain connections" 0 '^write +64 ' '^send +64 '
stop_server bench
ended "the listening side has served all" 0 ' over a lane: send, up to 4KiB, depth 1 left after ' \
	', 0 failed, 0 refused; '

# krdma doctor

try krdma doctor
# Proves: E13
ended "doctor says that listeners can take lanes, and the limits" 0 \
	'^OK +lanes +listeners can take lanes, with port 1019 for trunks; 0 of them do now$' \
	'^OK +trunks +this host has [0-9]+ of 1024 trunks; a user may have 128, and a trunk 65536 lanes$'
serve plain krdma ping --listen
plain=$server
serve lanes krdma bench --listen --lane
try krdma doctor $host 7177
ended "a host that takes no lanes at a port" 0 '; 2 of them do now$' \
	'^OK +lane +10\.77\.0\.1 takes no lanes at port 7177, so connections are plain ones$'
try krdma doctor $host 7178
ended "and one that does" 0 '^OK +lane +10\.77\.0\.1 takes lanes at port 7178$'
leave INT "$server"
leave INT "$plain"
serve taken krdma ping --listen -4 -P 1019
try krdma doctor
# Proves: E13
ended "the port of trunks is in use" 0 \
	'^WARN +lanes +no listener can take lanes: port 1019, where trunks connect, is in use$' \
	'^ +rdma resource show cm_id \| grep :1019 '
try sh -c 'rdma resource show cm_id | grep :1019'
holds "what it says shows who has it" grep -q 'krdma\|rdma' "$work/out"
leave INT "$server"

holds "nothing is left behind" nothing_is_left "$before"
tap_end
