#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma ping on one machine.  Runs inside a VM; see peer.sh.  Prints TAP.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

before=$(resources)

# Text output

serve all krdma ping --listen
# For a test below: this client is silent for so long that the listening side probes whether it is
# alive.
krdma ping -c 2 -i 14 $host >"$work/silent" 2>&1 &
silent=$!
try krdma ping -c 5 -i 0.05 $host
ended "five messages are answered" 0 '^PING 10\.77\.0\.1 port 7177: 64 bytes, through rxe0$' \
	'^64 bytes from 10\.77\.0\.1: seq=1 time=[0-9.]+ ms$' 'seq=5 ' '!seq=6 ' \
	'^5 transmitted, 5 received, 0% loss, time [0-9]+ ms$' \
	'^rtt min/avg/max/mdev = ([0-9.]+/){3}[0-9.]+ ms$' \
	'^rtt p50/p90/p99/p99\.9 = ([0-9.]+/){3}[0-9.]+ ms$'
holds "each message has its line" [ "$(objects "$work/out" '^64 bytes from')" = 5 ]

for size in 0 1 63 4k 100k 1M; do
	try krdma ping -c 3 -i 0 -s $size $host
	ended "messages of $size come back" 0 '3 transmitted, 3 received, 0% loss'
done

try krdma ping -q -c 200 -i 0 $host
ended "without an interval, one message follows the other; -q shows the summary only" 0 \
	'200 transmitted, 200 received' '!seq='

try krdma ping -q -c 4 -i 300ms $host
took=$(sed -n 's/.*loss, time \([0-9]*\) ms/\1/p' "$work/out")
holds "four messages of an interval of 0.3 s take 0.9 s" [ "${took:-0}" -ge 900 ]

try krdma ping -c 2 -i 0 $host6
ended "IPv6 is spoken" 0 '^64 bytes from fd77::1: seq=2 '
try krdma ping -6 -c 1 $host
ended "an IPv4 address is no IPv6 address" 1 "cannot find the address of '10\.77\.0\.1' \(IPv6\)"
try krdma ping -c 1 -I $host $host
ended "one's own address can be chosen" 0 '1 transmitted, 1 received'
try krdma ping -c 1 -I 10.99.0.1 $host
ended "of one's own address, it must be one" 1 'krdma: cannot reach 10\.77\.0\.1'
try krdma ping -c 1 -I rxe0 $host
ended "one's own address is no name" 1 "'rxe0' is not an IP address"
echo "$host friend" >>/etc/hosts
try krdma ping -c 1 friend
ended "a name is looked up" 0 '^PING friend \(10\.77\.0\.1\) port' '^--- friend krdma ping'

try krdma ping -c 3 -i .1 -D $host
ended "an interval begins with a point; -D shows the time of day" 0 '3 received' \
	'^\[20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:]{8}\.[0-9]{6}[+-][0-9]{2}:[0-9]{2}\] 64 bytes from 10\.77\.0\.1: seq=1 time='
try krdma ping -w 1 -i .2 $host
ended "-w ends it" 0 '^[456] transmitted, [456] received, 0% loss, time (1[0-9]{3}|9[0-9]{2}) ms'
try krdma ping -w 1 -W 60 10.77.0.99
ended "-w ends it where nobody answers" 1 '10\.77\.0\.99 does not answer'
try krdma ping -w 0 $host
ended "-w wants time" 2 '-w must be greater than 0'
try krdma ping --listen -w 1
ended "-w is not for the side that listens" 2 '-w is for the side that asks'

# JSON

try krdma ping -j -c 3 -i 0 -s 4k $host
cp "$work/out" /out/ping.json
ended "JSON is one object" 0 '^\{"host":"10\.77\.0\.1",.*\}\}$' '"address":"10\.77\.0\.1"' \
	'"port":7177' '"protocol":"krdma"' '"device":"rxe0"' '"kind":"plain","trunk":0' \
	'"bytes":4096' '"transmitted":3' \
	'"received":3' '"lost":0' '"wrong":0' '"late":0' '"elapsed_ns":[0-9]+' \
	'"rtt_ns":\{"min":[0-9]+,"avg":[0-9]+,"max":[0-9]+,"mdev":[0-9]+,"p50":[0-9]+,' \
	'"p90":[0-9]+,"p99":[0-9]+,"p99_9":[0-9]+\}' '!^PING'
holds "JSON is one line" [ "$(wc -l <"$work/out")" = 1 ]
holds "the median is between least and greatest" \
	[ "$(number "$work/out" min)" -le "$(number "$work/out" p50)" -a \
	"$(number "$work/out" p50)" -le "$(number "$work/out" max)" ]
try krdma -j ping -d -c 3 -i 0 $host
cp "$work/out" /out/ping-details.json
ended "with -d, each message is an object, too" 0 \
	'^\{"seq":1,"bytes":64,"answer":"answered","time_ns":[0-9]+\}$' '"transmitted":3'
holds "these objects are a line each" [ "$(wc -l <"$work/out")" = 4 ]
try krdma ping --pretty -c 1 $host
ended "JSON can be pretty" 0 '^  "transmitted": ?1,$'

# Interruption, and closed output

begin krdma ping $host
await "$work/out" 'seq=2 '
leave INT "$client"
ended "Ctrl-C ends it, with the summary" 130 'transmitted, ' ' 0% loss' '^rtt p50'
begin krdma ping -i 0 -q $host
await "$work/out" '^PING'
usleep 700000
leave TERM "$client"
ended "SIGTERM ends it, also in full speed" 0 'transmitted, ' ' 0% loss'
begin krdma ping -i 60 $host
await "$work/out" 'seq=1 '
leave INT "$client"
ended "Ctrl-C does not wait for the interval" 130 '^1 transmitted, 1 received'
try sh -c "krdma ping -i 0 $host | head -n 3"
holds "a pipe that is closed ends it" [ "$status" = 0 -a "$(wc -l <"$work/out")" = 3 ]
# shellcheck disable=SC2016 # for the shell inside
try sh -c 'trap "" PIPE; { krdma ping -i 0 '$host'; echo $? >'"$work"'/rc; } | head -n 3'
holds "so it does where SIGPIPE is ignored" [ "$(cat "$work/rc")" = 1 ]
try sh -c "krdma ping -c 3 -i 0 $host >/dev/full"
ended "a full disk is an error" 1 'cannot write to standard output'

# Several clients at the same time

clients=''
for number in 1 2 3 4 5 6 7 8; do
	krdma ping -q -c 60 -i 0.01 -s ${number}k $host >"$work/client$number" 2>&1 &
	clients="$clients $!"
done
failed=0
for client in $clients; do
	wait "$client" || failed=$((failed + 1))
done
cat "$work"/client* >"$work/out"
holds "eight clients at a time are served" [ $failed = 0 -a \
	"$(objects "$work/out" '^60 transmitted, 60 received, 0% loss')" = 8 ]

gone $silent
cp "$work/silent" "$work/out"
ended "a client that is silent for long stays" 0 '2 transmitted, 2 received, 0% loss'

stop_server all
ended "Ctrl-C ends the listening side, with a summary" 0 \
	'^10\.77\.0\.1:[0-9]+ left after 5 messages, 320 bytes$' '^\[fd77::1\]:[0-9]+ left after 2' \
	'^--- krdma ping --listen at \*:7177 ---$' '^[0-9]+ clients served, 0 failed, 0 refused; '

# Listening sides that are missing, die or stop

try krdma ping -c 1 $host
ended "that nobody listens is said, and what to do" 1 \
	'^krdma: cannot connect to 10\.77\.0\.1 port 7177: connection refused' \
	'krdma ping --listen$' \
	'!transmitted'
try krdma ping -c 1 -W 1 10.77.0.99
ended "that nobody has the address is said" 1 '^krdma: .*10\.77\.0\.99'
try krdma ping -c 1 192.0.2.1
ended "that there is no way is said" 1 \
	'^krdma: cannot reach 192\.0\.2\.1: no RDMA device here has a route to 192\.0\.2\.1' \
	'krdma doctor 192\.0\.2\.1'

for signal in INT KILL; do
	serve gone$signal krdma ping --listen
	begin krdma ping -i 0.05 $host
	await "$work/out" 'seq=3 '
	leave $signal "$server"
	finish
	ended "a listening side that ends by SIG$signal is the end, with the summary" 1 \
		'10\.77\.0\.1 has ended the connection' 'transmitted, ' '^rtt p50'
done

# A stopped listening side keeps its connection, because its device still answers.  In an emulated
# machine this one test takes two thirds of the processor time of the script.
if [ "${KRDMA_QUICK:-0}" != 1 ]; then
	serve stopped krdma ping --listen
	begin krdma ping -i 0.2 -W 2 $host
	await "$work/out" 'seq=2 '
	kill -STOP "$server"
	await "$work/out" '^no answer from 10\.77\.0\.1: seq=[0-9]+, waited [0-9]+ ms'
	await "$work/out" '^not sent to 10\.77\.0\.1: seq=[0-9]+, 8 messages are unanswered'
	kill -CONT "$server"
	await "$work/out" '^late answer from 10\.77\.0\.1: seq='
	last=$(sed -n 's/.*seq=\([0-9]*\).*/\1/p' "$work/out" | tail -n 1)
	await "$work/out" "^64 bytes from 10\.77\.0\.1: seq=($((last + 2))|$((last + 3))) "
	leave INT "$client"
	ended "one that stops for a while loses messages, and is met again" 130 \
		'^no answer from' '^not sent' '^late answer' 'transmitted, .* 8 late, [0-9.]+% loss'
	stop_server stopped
	ended "the listening side has not noticed" 0 '1 clients served, 0 failed'
fi

# Limits of a listening side

# vacated N: wait until N clients of "small" have left, so that their places are free.
vacated()
{
	local tries=0

	until [ "$(objects "$work/servers/small" ' left after ')" -ge "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt $((patience * 10)) ] || return 1
		usleep 100000
	done
}

serve small krdma ping --listen -P 7200 --max-size 1k --max-clients 2 --max-memory 40k
try krdma ping -P 7200 -c 1 -s 1025 $host
ended "a message above the limit is refused, with the limit" 1 \
	'^krdma: 10\.77\.0\.1 refuses messages longer than 1KiB$' 'max-size'
try krdma ping -P 7200 -c 1 -s 1k $host
ended "one at the limit is not" 0 '1 received'
vacated 1
krdma ping -P 7200 -i 0.1 -s 1k $host >"$work/first" 2>&1 &
first=$!
krdma ping -P 7200 -i 0.1 -s 1k $host >"$work/second" 2>&1 &
second=$!
await "$work/first" 'seq=1 '
await "$work/second" 'seq=1 '
try krdma ping -P 7200 -c 1 -s 0 $host
ended "one client more than the limit is refused" 1 \
	'has reached its limit of clients or memory' 'max-clients'
leave INT $second
vacated 2
try krdma ping -P 7200 -c 1 -s 0 $host
ended "when one has left, there is room" 0 '1 received'
leave INT $first
vacated 4
# Use another file: await could still match the old output in the first one.
krdma ping -P 7200 -i 0.1 -s 1k $host >"$work/last" 2>&1 &
first=$!
await "$work/last" 'seq=1 '
stop_server small
ended "a client at the end of the listening side is let go" 0 ' was disconnected after [0-9]+ messages' \
	' was refused: it requests more than the limits allow after 0 messages' \
	' was refused: the limit of clients or memory is reached after 0 messages' ', 2 refused; '
wait $first

serve memory krdma ping --listen --max-memory 40k
krdma ping -i 0.1 -s 2k $host >"$work/large" 2>&1 &
first=$!
await "$work/large" 'seq=1 '
try krdma ping -c 1 -s 1k $host
ended "more memory than all may have is refused" 1 \
	'has reached its limit of clients or memory' 'max-memory'
try krdma ping -c 1 -s 512 $host
ended "less than that is not" 0 '1 received'
leave INT $first
stop_server memory

# Clients of other services, and addresses

serve ping krdma ping --listen
try krdma bench -P 7177 -c 1 $host write
ended "another service is refused, with what is meant" 1 'runs another service at port 7177' \
	'krdma bench --listen'
try krdma ping --rping -P 7177 -c 1 $host
ended "one that does not say what it wants is refused" 1
stop_server ping
ended "those were told apart" 0 ' was refused: it requests another service' '2 refused'

serve one krdma ping --listen -I $host -q
try krdma ping -c 1 $host
ended "a listening side at one address is met there" 0 '1 received'
try krdma ping --listen
ended "two do not listen at one port" 1 '^krdma: cannot listen at (0\.0\.0\.0|\[::\]):7177: ' 'krdma dev|-p'
try krdma ping --listen -I 10.99.0.1
ended "nobody listens at an address of somebody else" 1 'cannot listen at 10\.99\.0\.1:7177'
stop_server one
ended "a quiet listening side says nothing of its clients" 0 '!left after' '1 clients served'

krdma ping --listen -j -d >"$work/json" 2>"$work/json.err" &
server=$!
await "$work/json.err" '^krdma: listening at '
try krdma ping -c 2 -i 0 $host
leave INT $server
cp "$work/json" "$work/out"
cp "$work/json" /out/ping-listen.json
ended "the listening side speaks JSON, too" 130 \
	'^\{"client":"10\.77\.0\.1:[0-9]+","kind":"plain","messages":2,"bytes":128,"end":"left"\}$' \
	'^\{"address":"\*:7177","clients_served":1,"clients_failed":0,"clients_refused":0,"messages":2,"bytes":128\}$'

# Limits of the module

objects=$(cat /sys/module/krdma/parameters/max_objects)
chmod 666 /dev/krdma
echo 0 >/sys/module/krdma/parameters/max_objects
try su -s /bin/sh nobody -c "krdma ping -c 1 $host"
ended "a limit that is reached has a name" 1 \
	'^krdma: cannot create a ring: this user has 0 of 0 allowed: objects$' \
	'^The limit is in /sys/module/krdma/parameters/max_objects; all of them: krdma info$' '!quota'
echo "$objects" >/sys/module/krdma/parameters/max_objects
ports=$(cat /sys/module/krdma/parameters/max_ports)
echo 0 >/sys/module/krdma/parameters/max_ports
try su -s /bin/sh nobody -c "krdma ping -c 1 $host"
ended "so has that of ports" 1 '^krdma: cannot reach 10\.77\.0\.1: this user has 0 of 0 allowed: ports$' \
	'^The limit is in /sys/module/krdma/parameters/max_ports; ' '!quota'
try su -s /bin/sh nobody -c "krdma ping --listen"
ended "and for one that listens" 1 '^krdma: cannot listen at .*: this user has 0 of 0 allowed: ports$' \
	'^The limit is in ' '!quota'
echo "$ports" >/sys/module/krdma/parameters/max_ports
chmod 600 /dev/krdma

# Invalid command lines

wrong()
{
	local name=$1 pattern=$2
	shift 2

	try krdma ping "$@"
	ended "$name" 2 "^krdma: $pattern" '!transmitted'
}

wrong "no host" 'no host is given'
wrong "two hosts" "'b' is a second host" a b
wrong "a count of nothing" '-c needs a number from 1' -c 0 $host
wrong "an interval that is none" '-i needs a time .*, not .fast.' -i fast $host
wrong "no time to answer" '-W must be greater than 0' -W 0 $host
wrong "a size above all" '-s needs a size up to 1MiB, .* not .2M.' -s 2M $host
wrong "a port that is none" '-P needs a number from 1 to 65535' -P 70000 $host
wrong "an option without its value" "the option '-c' needs a value" $host -c
wrong "an unknown option" "unknown option '-x'" -x $host
wrong "an unknown long option" "unknown option '--fast'" --fast $host
wrong "a host for the listening side" '--listen takes no host' --listen $host
wrong "a count for the listening side" '-c is for the side that asks' --listen -c 3
wrong "a limit for the side that asks" '--max-clients is for --listen' --max-clients 3 $host
wrong "lanes in rping's format" '--lane or --rping, not both' --lane --rping $host
wrong "a size that rping has not" 'with --rping, -s is from 16 to 65536' --rping -s 15 $host
try krdma ping --help
ended "help is there" 0 '^Usage: krdma ping ' 'krdma-ping\(8\)'
cp "$work/out" "$work/help"
try krdma help ping
holds "'krdma help ping' is the same" cmp -s "$work/out" "$work/help"

holds "nothing is left behind" nothing_is_left "$before"
tap_end
