#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma stat and krdma top, which show the objects of processes from /proc.  Runs inside a
# VM; see peer.sh.  Prints TAP.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

before=$(resources)

# No process uses krdma

try krdma stat
ended "with nobody there, stat has its heads alone" 0 '^SESSION +PID +COMMAND ' '![0-9]'
try krdma stat -j
ended "and in JSON everything is empty" 0 \
	'^\{"sessions":\[\],"listeners":\[\],"connections":\[\],"rings":\[\],"srqs":\[\],"hidden_processes":0\}$'

# Two processes, with traffic between them

serve ping krdma ping --listen
krdma ping -q -i 0.01 $host >"$work/ping" 2>&1 </dev/null &
pinging=$!
tries=0
until [ "$(krdma stat connections | grep -c ' connected ')" = 2 ]; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] || break
	usleep 100000
done

try krdma stat
ended "each session has its line" 0 "^[0-9]+ +$server krdma +1 +[12] +1 +0 " \
	"^[0-9]+ +$pinging krdma +1 +0 +1 +0 "
try krdma stat connections
# Proves: F7
ended "each connection has its line, with both addresses" 0 \
	"$server krdma +connected +10\.77\.0\.1:7177 +10\.77\.0\.1:[0-9]+ " \
	"$pinging krdma +connected +10\.77\.0\.1:[0-9]+ +10\.77\.0\.1:7177 "
try krdma stat conn
ended "a kind may be shortened" 0 '^CONNECTION +SESSION'
try krdma stat listeners
ended "each listener has its line" 0 "^[0-9]+ +[0-9]+ +$server krdma +.*:7177 +no\$"
try krdma stat rings
ended "each ring has its line" 0 "^[0-9]+ +[0-9]+ +$pinging krdma +1 +[0-9]+ +[0-9]+ +[0-9]+\$"
try krdma stat srqs
ended "of what there is not, there is the head" 0 '^ID +SESSION' "!$server"

try krdma stat connections -i 0.5 -c 2
ended "again and again, what happens in a second" 0 'SENDS/s +RECEIVES/s' \
	"$server krdma +connected .* [0-9]+\.[0-9] +[0-9]+\.[0-9] "
holds "so many times" [ "$(objects "$work/out" '^CONNECTION')" = 2 ]
try krdma stat -j -i 0.5 -c 1
cp "$work/out" /out/stat.json
# Proves: F7
ended "JSON has all of it" 0 "\"pid\":$server,\"command\":\"krdma\"" '"state":"connected"' \
	'"sends_per_second":[0-9]+\.[0-9],' '"hidden_processes":0\}$'
try krdma stat -j sessions
ended "JSON of one kind has that alone" 0 '^\{"sessions":\[\{' '!connections'

try krdma top -c 2 -i 0.3
ended "top without a terminal shows one screen after the other" 0 \
	'^krdma: 2 sessions, [12] listeners, 2 connections, 2 rings$' \
	"^ +[0-9]+\.[0-9] +[0-9]+\.[0-9] +$pinging krdma +[0-9]+ connected +10\.77\.0\.1:7177\$"
holds "so many" [ "$(objects "$work/out" '^krdma: ')" = 2 ]
try krdma top -c 1 --sort conn
ended "connections in the order that one likes" 0 '^by conn$' " connected "
holds "which they have" [ "$(sed -n 's/.* krdma *\([0-9]*\) connected .*/\1/p' "$work/out")" = \
	"$(sed -n 's/.* krdma *\([0-9]*\) connected .*/\1/p' "$work/out" | sort -n)" ]
try krdma top -c 1 --sort peer --filter :7177
ended "and only those with a text" 0 '^by peer, only with: :7177$' " $pinging krdma " \
	"! $server krdma " '^krdma: 2 sessions, .* 2 connections'
try krdma top -c 1 --filter nonsense
ended "which may be none" 0 '^by total, only with: nonsense$' '! connected '
try krdma top --sort size
ended "an order that is none" 2 "^krdma: --sort knows no 'size'"
try krdma top --filter "$(printf %040d 0)"
ended "a filter that is too long" 2 '^krdma: --filter wants at most 31 letters'

# typed KEYS...: top at a terminal, where the keys are typed; a pause after each word.
typed()
{
	{
		sleep 1
		for word; do
			# shellcheck disable=SC2059 # it has escapes for keys
			printf "$word"
			sleep 1
		done
	} >"$work/keys.pipe" &
	status=0
	timeout -s KILL "$patience" "$(dirname "$0")/terminal" krdma top -i 30 <"$work/keys.pipe" \
		>"$work/screens" 2>&1 || status=$?
	tr -d '\r' <"$work/screens" | sed "s/$(printf '\033')\[[?0-9]*[a-zA-Z]//g" >"$work/out"
	: >"$work/err"
}

mkfifo "$work/keys.pipe"
typed n q
ended "a key changes the order at once, and q ends it" 0 '^by conn$'
typed '/:7177\r' q
ended "a filter is typed" 0 '^filter: :7177_$' '^by total, only with: :7177$'
typed /x '\010k' '\r' '\033' q
ended "a letter is taken back, and Escape ends the filter" 0 '^filter: x_$' '^filter: k_$' \
	'^by total, only with: k$'
typed '\003'
ended "Ctrl-C ends it at a terminal, too" 130 '^krdma: 2 sessions'

# Counters of ports

try krdma stat ports -i 1 -c 1
ended "the traffic of a port is there, each second" 0 \
	'^DEVICE +PORT +SENT/s +RECV/s +PKTSENT/s +PKTRECV/s +RETRANS/s ERRORS$' \
	'^rxe0 +1 +[-0-9.KMG]+ +[-0-9.KMG]+ +[1-9][0-9]*\.[0-9] +[1-9][0-9]*\.[0-9] +0\.0 +[0-9]+$'
try krdma stat ports -d
ended "and every counter of its driver" 0 '^ +hw_counters/sent_pkts [1-9][0-9]*$' \
	'^ +hw_counters/completer_retry_err [0-9]+$' '!lifespan' '![0-9]/s' '!cannot be read'
try krdma stat port -j -c 1 -i 0.3
cp "$work/out" /out/stat-ports.json
ended "JSON has them" 0 '^\{"ports":\[\{"device":"rxe0","port":1,' '"sent_packets":[1-9]' \
	'"sent_packets_per_second":[0-9]+\.[0-9],' '"hw_counters":\{.*"sent_pkts":[1-9]' \
	'"unreadable":0'

# A folder of other files, in place of the driver's: numbers, and what is none.
port=/sys/class/infiniband/rxe0/ports/1
odd=$work/odd
mkdir "$odd" "$odd/folder"
echo 18446744073709551615 >"$odd/sent_bytes"
echo 7 >"$odd/local_ack_timeout_err"
echo 5 >"$odd/packet_seq_err"
printf 2 >"$odd/retry_exceeded_err"
echo 12 >"$odd/lifespan"
: >"$odd/empty"
echo -5 >"$odd/negative"
echo 'N/A (no PMA)' >"$odd/none"
echo 18446744073709551616 >"$odd/huge"
echo 0x10 >"$odd/hex"
echo '1 2' >"$odd/two"
printf '\n' >"$odd/line"
printf '%0100d\n' 1 >"$odd/long"
ln -s /etc/passwd "$odd/link"
mkfifo "$odd/pipe"
echo 3 >"$odd/$(printf 'bell\007\033[31m')"
mount --bind "$odd" $port/hw_counters
try krdma stat ports -d
ended "odd files are no counters" 0 \
	'^rxe0 +1 +16\.0E +- +- +- +12 +2$' '^ +hw_counters/sent_bytes 18446744073709551615$' \
	'^ +hw_counters/retry_exceeded_err 2$' '^ +11 more cannot be read$' \
	'!empty|negative|none|huge|hex|two|line|long|link|pipe|folder|lifespan' '^ +hw_counters/bell.* 3$'
holds "a name cannot control the terminal" sh -c "! grep -q \"\$(printf '\\033')\" '$work/out'"
try krdma stat ports -j
cp "$work/out" /out/stat-ports-odd.json
ended "in JSON, what is not counted is null" 0 '"sent_bytes":18446744073709551615,' \
	'"received_bytes":null,"sent_packets":null,' '"retransmissions":12,"errors":2,' \
	'"counters":\{\}' '"unreadable":11'
# A counter that is reset has no rate until the next reading.
(sleep 1; echo 3 >"$odd/packet_seq_err") &
try krdma stat ports -i 3 -c 1
ended "a counter that goes back has no rate" 0 '^rxe0 +1 +0 +- +- +- +- +2$'
wait $!
rm -r "${odd:?}"/*
try krdma stat ports
ended "a driver without counters has dashes" 0 '^rxe0 +1( +-){6}$' '!cannot be read'
umount $port/hw_counters
grep -qs '^nobody:' /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
try su -s /bin/sh nobody -c 'krdma stat ports'
ended "another user sees the counters, too" 0 '^rxe0 +1 .*[0-9]$' '!not shown'

# Another user sees the number of hidden processes, but nothing of them

grep -qs '^nobody:' /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
try su -s /bin/sh nobody -c 'krdma stat'
ended "another user is told that there are others" 0 \
	'^krdma: [0-9]+ processes of other users are not shown; root sees all$' "!$server"
try su -s /bin/sh nobody -c 'krdma stat -j'
ended "and in JSON how many" 0 '^\{"sessions":\[\],.*"hidden_processes":[1-9][0-9]*\}$'

# interrupted COMMAND...: Ctrl-C ends the command while it waits for the next output.
interrupted()
{
	begin krdma "$@"
	await "$work/out" '.'
	leave INT "$client"
	holds "Ctrl-C ends krdma $*" [ "$status" = 130 ]
}

interrupted stat -i 1
interrupted stat ports -i 1
interrupted stat -j -c 1000
interrupted top -i 60
interrupted trunk -i 1

# The processes have ended

leave INT "$pinging"
stop_server ping
try krdma stat -j
ended "those who have ended are gone" 0 '^\{"sessions":\[\],'

# Invalid command lines

try krdma stat nonsense
ended "no such kind" 2 "^krdma: 'nonsense' is not a kind of object"
try krdma stat sessions more
ended "a word too many" 2 "takes no further argument 'more'"
for wrong in '-i 0' '-i 0.09' '-i x' '-i -1' '-c 0' '-c -1' '-c x'; do
	# shellcheck disable=SC2086 # two words
	try krdma stat $wrong
	ended "stat $wrong" 2 "^krdma: ${wrong% *}(:| needs ).*'${wrong#* }'"
	# shellcheck disable=SC2086 # two words
	try krdma top $wrong
	ended "top $wrong" 2 "^krdma: ${wrong% *}(:| needs ).*'${wrong#* }'"
done
try krdma stat -c 1 -i 200ms
ended "an interval may have a unit" 0 'SENDS/s'
try krdma top -j
ended "top has no JSON, and says what has" 2 "use 'krdma stat -j -i 2'"
try krdma stat help
ended "stat helps" 0 '^Usage: krdma stat'
try krdma top -h
ended "top helps" 0 '^Usage: krdma top'

holds "nothing is left" nothing_is_left "$before"
tap_end
