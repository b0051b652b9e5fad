#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma bench on one machine.  Runs inside a VM; see peer.sh.  Prints TAP.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

before=$(resources)
# Pattern for the four times in a row, which follow name, size and depth.
times='( +[0-9.]+){4}'

# await_count NUMBER PATTERN: "krdma stat connections" has so many lines with PATTERN, in the end.
await_count()
{
	local tries=0

	until [ "$(krdma stat connections | grep -cE -- "$2")" = "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
		usleep 100000
	done
}

# mean_fits FILE DEPTH: in the JSON of a result, the mean time times the rate is the number in
# flight, which is at most DEPTH.
mean_fits()
{
	awk -v mean="$(number "$1" avg)" -v rate="$(number "$1" per_second)" -v depth="$2" \
		'BEGIN { n = mean * rate / 1e9; exit !(n > depth * 0.3 && n < depth * 1.1) }'
}

# bytes_are TIMES OPERATION SIZE: in fields, an operation of SIZE bytes moves so many times that.
bytes_are()
{
	awk -F, -v times="$1" -v name="$2" -v size="$3" \
		'$1 == name { n = $8 / $7 / size / times; exit !(n > 0.99 && n < 1.01) }' "$work/out"
}

serve all krdma bench --listen
try krdma bench -c 20 --warm-up 2 $host
ended "without more words: write, read and send of three sizes" 0 \
	'^10\.77\.0\.1 port 7178, through rxe0, mode event$' "^write +64 +1$times " \
	"^write +65536 +1$times " "^read +4096 +1$times " "^send +64 +1$times .* 20$" \
	'!atomic' '!WRONG' '!not complete'
holds "a row for each, and two above" [ "$(wc -l <"$work/out")" = 11 ]

for operation in write read send; do
	try krdma bench -c 30 --warm-up 3 -s 0,1,63,4k,1M $host $operation
	ended "$operation, of sizes from 0 to 1 MiB" 0 "^$operation +0 +1$times +- " \
		"^$operation +1 +1$times " "^$operation +1048576 +1$times .* 30$"
	try krdma bench -c 333 --warm-up 7 -s 64,64k --depth 2,7,64 --batch 4 $host $operation
	ended "$operation, several at a time, in batches" 0 "^$operation +64 +2$times .* 333$" \
		"^$operation +65536 +7$times .* 333$" "^$operation +64 +64$times .* 333$"
	try krdma bench -t 0.3 -s 1k --poll --depth 1,8 $host $operation
	ended "$operation, with polling" 0 ', mode poll$' "^$operation +1024 +1$times " \
		"^$operation +1024 +8$times "
done
try krdma bench -c 100 --depth 1,8 $host atomic
ended "atomics" 0 "^atomic +8 +1$times .* 100$" "^atomic +8 +8$times .* 100$"
try krdma bench -c 5 $host connect
ended "connections" 0 "^connect +0 +1$times +- .* 5$"
try krdma bench -c 5 -s 64 $host6 read
ended "over IPv6" 0 '^fd77::1 port 7178' "^read +64 +1$times "
try krdma bench -d -c 5 -s 64 $host write
ended "more with -d" 0 '^ min avg mdev p90 us:( +[0-9.]+){4}$'
holds "a table has 80 columns" [ "$(awk 'length > 80' "$work/out" | wc -l)" = 0 ]
try krdma bench -t 0.5 --warm-up 0 -s 64 $host write
ended "by time" 0 "^write +64 +1$times "

# Several connections, threads and hosts, both directions, and others beside the measured ones

try krdma bench -d -c 400 -s 64 --connections 6 --threads 2 --depth 1,4 $host write read send
ended "several connections of two threads share the operations" 0 \
	'mode event, connections: 6, threads: 2$' "^write +64 +1$times .* 402$" \
	"^read +64 +4$times .* 402$" "^send +64 +4$times .* 402$" \
	'^ operations of a connection: 67 to 67$' '!WRONG'
begin krdma bench -t 60 -s 64 --connections 5 --threads 3 $host write
await "$work/out" depth
holds "all connections are there at once, of three threads" await_count 5 "$client krdma +connected"
holds "the threads are there" [ "$(find "/proc/$client/task" -mindepth 1 -maxdepth 1 | wc -l)" = 3 ]
leave INT "$client"
try krdma bench -c 40 -s 64 --threads 2 $host,$host6 read
ended "two hosts at once" 0 '^10\.77\.0\.1 port 7178, through rxe0$' \
	'^fd77::1 port 7178, through rxe0, mode event, connections: 4, threads: 4$' "^read .* 40$"
try krdma bench -c 5 --threads 2 --connections 3 $host connect
ended "threads that connect" 0 "^connect +0 +1$times +- .* [6-9]$"
try krdma bench -c 64 --threads 2 --connections 4 --depth 1,8 --batch 2 --poll $host atomic
ended "the counters of all connections are right" 0 "^atomic +8 +1$times .* 64$" \
	"^atomic +8 +8$times .* 64$" '!WRONG'
for depth in 1 8; do
	try krdma bench -j -t 0.3 -s 0,4k --depth $depth --both $host write read send
	cp "$work/out" "/out/bench-both-$depth.json"
	ended "both directions, depth $depth" 0 '"both":true' \
		"\"operation\":\"write\",\"size\":4096,\"depth\":$depth,.*\"data\":\"right\"" \
		"\"operation\":\"send\",\"size\":4096,.*\"data\":\"right\",\"time_of\":\"round_trip\"" \
		'!"data":"wrong"'
done
try krdma bench -c 400 -s 4k --both --depth 8 --csv $host write send
ended "both directions count" 0 '^write,4096,8,1,400,.*,1,plain,1,1,yes,0,0$' \
	'^send,4096,8,1,400,'
# A message that comes back has its bytes in both directions.
holds "the bytes of both" bytes_are 2 send 4096
holds "those of a write and a read are each counted once" bytes_are 1 write 4096
try krdma bench -c 300 -s 64k --both --depth 64 --threads 2 $host send
ended "many messages at a time come back to several" 0 "^send +65536 +64$times .* 300$" '!WRONG'
begin krdma bench -t 60 -s 64 --both --depth 8 $host write
await "$work/out" depth
holds "each has another one beside it" await_count 2 "$client krdma +connected"
leave INT "$client"
try krdma bench -j -c 50 -s 64 --load 2 --threads 2 $host write read
cp "$work/out" /out/bench-load.json
ended "others write meanwhile" 0 '"connections":2,' '"load":2' \
	'"operation":"read".*"load_bytes_per_second":[1-9][0-9]{3}'
try krdma bench -t 0.3 -s 64 --load 1 $host send
ended "what they write is said" 0 ', mode event, load: 1$' "^send +64 +1$times " \
	'^ load: [1-9][0-9.]* MiB/s$'
begin krdma bench -t 60 -s 64 --load 3 $host write
await "$work/out" depth
holds "they are there besides" await_count 4 "$client krdma +connected"
leave INT "$client"
ended "Ctrl-C ends them all" 130 '^not complete$'

# Times of many at a time

try krdma bench -j -c 300 -s 4k --depth 1,16 $host write
sed 's/.*"depth":1,/"depth":1,/' "$work/out" | sed 's/.*"depth":16,//' >"$work/deep"
tr '{' '\n' <"$work/out" | sed -n 's/"min".*"p50":\([0-9]*\),.*/\1/p' >"$work/medians"
holds "operations that wait for others take longer" \
	[ "$(sed -n 2p "$work/medians")" -gt "$(sed -n 1p "$work/medians")" ]
# Between a third and all of the 16 are in flight: rxe may complete one while it is posted.
holds "their mean fits the rate" mean_fits "$work/deep" 16

# JSON

try krdma bench -j -c 50 -s all --depth 1,4 $host write
cp "$work/out" /out/bench-all.json
holds "all sizes are 21, from 1 B to 1 MiB" [ "$status" = 0 -a \
	"$(tr '{' '\n' <"$work/out" | grep -c '"operation":"write"')" = 42 ]
try krdma bench -j -t 0.2 -s 64,4k --depth 1,4 --batch 2 $host write read send atomic connect
cp "$work/out" /out/bench.json
ended "JSON has it all" 0 '^\{"host":"10\.77\.0\.1","address":"10\.77\.0\.1","port":7178,' \
	'"device":"rxe0"' '"path_mtu":[1-9][0-9]+' '"mode":"event"' '"complete":true' \
	'\{"operation":"write","size":64,"depth":1,"batch":1,"count":[1-9][0-9]*,"elapsed_ns":' \
	'"per_second":[1-9][0-9]*,"bytes_per_second":[1-9][0-9]*,"data":"right","time_of":' \
	'"operation":"read","size":4096,"depth":4,"batch":2,' '"time_of":"round_trip"' \
	'"time_of":"completion"' '"operation":"atomic","size":8,"depth":4,"batch":2' \
	'"operation":"connect","size":0,"depth":1,' '"time_of":"connection","time_ns":\{"min":' \
	'!"data":"wrong"'
tr '{' '\n' <"$work/out" | grep '"operation"' >"$work/results"
holds "there are 15 results" [ "$(wc -l <"$work/results")" = 15 ]
holds "all data have been looked at, but of streams and connections" \
	[ "$(grep -c '"data":"right"' "$work/results")" = 12 -a \
	"$(grep '"data":"unchecked"' "$work/results" |
		grep -c '"operation":"send",.*"depth":4\|"operation":"connect"')" = 3 ]
holds "a measurement of 0.2 s takes no less" [ "$(number "$work/results" elapsed_ns)" -ge 200000000 ]

# Pictures

try krdma bench -c 50 -s 64,1k,16k --depth 1,8 --plot "$work/plot.svg" $host write read send
cp "$work/plot.svg" /out/bench.svg
ended "a picture does not keep the table away" 0 "^send +16384 +8$times "
cp "$work/plot.svg" "$work/out"
ended "the picture has three charts" 0 '^<\?xml version="1\.0" encoding="UTF-8"\?>$' \
	'^<svg xmlns="[^"]+/2000/svg" role="img"' '>Latency distribution</text>$' \
	'>Latency over message size</text>$' '>Bandwidth over message size</text>$' \
	'<title>krdma bench: rxe0 to 10\.77\.0\.1</title>' '^</svg>$' '>write 64B</text>' \
	'>send, depth 8</text>' '!<script' '!nan' '!href'
holds "the picture has a line for each" \
	[ "$(grep -c '<polyline class="line"' "$work/out")" = 20 ]
try krdma bench -c 5 --plot "$work/one.svg" $host connect
cp "$work/one.svg" "$work/out"
ended "of connections there is the distribution" 0 '>Latency distribution</text>$' \
	'!Bandwidth' '!message size'
try krdma bench -c 5 --unit gbit --plot "$work/gbit.svg" $host write
cp "$work/gbit.svg" "$work/out"
ended "a picture has the unit that one likes" 0 '>Gbit/s</text>$' '!MiB/s'
mknod "$work/null" c 1 3
try krdma bench -c 5 --plot "$work/null" $host write
ended "a picture is written to a device" 0 '^write '
holds "and does not replace it" [ -c "$work/null" ]
try krdma bench -c 5 --plot "$work" $host write
ended "a folder is no place for a picture" 1 '^krdma: cannot write the picture to .*: Is a directory$' \
	'!depth'
try krdma bench -c 5 --plot "$work/none/plot.svg" $host write
ended "a picture that cannot be written is said before" 1 \
	'^krdma: cannot write the picture to .*/none/plot\.svg' '!depth'

# Units, lines of fields, and two results side by side

try krdma bench -c 20 -s 64k --unit gbit $host write
ended "a rate is in Gbit/s if one likes" 0 '^ +size +depth .* Gbit/s +per s' '^write +65536 +1 '
try krdma bench -c 20 -s 64k --unit MB/s $host write
ended "and in MB/s" 0 ' MB/s +per s'
try krdma bench -c 20 -s 64 --depth 1,4 --csv $host write
ended "fields are separated by commas" 0 '^operation,size,depth,batch,count,elapsed_ns,' \
	'^write,64,1,1,20(,[0-9]+){3},right(,[0-9]+){8},1,plain,1,1,no,0,0$' \
	'^write,64,4,1,[0-9]+(,[0-9]+){3},right(,[0-9]+){8},1,plain,1,1,no,0,0$' \
	'!through'
holds "each line has as many fields as the first" \
	[ "$(awk -F, '{ print NF }' "$work/out" | sort -u)" = 24 ]
cat >"$work/old" <<END
{"results":[{"operation":"write","size":64,"depth":1,"batch":1,"per_second":1000,
"bytes_per_second":64000000,"time_ns":{"p50":4000}},
{"operation":"read","size":64,"depth":16,"batch":1,"per_second":10,"bytes_per_second":640}]}
END
sed -e 's/"p50":4000/"p50":3000/; s/:1000,/:1500,/; s/"depth":16/"depth":8/' "$work/old" >"$work/new"
try krdma bench --compare "$work/old" "$work/new"
ended "two results are compared in a terminal's 80 columns" 0 \
	'^write +64 +1 +4\.00 +3\.00 +-25\.0% +1000 +1500 +\+50\.0%$'
holds "and no more" [ "$(awk 'length > 80' "$work/out" | wc -l)" = 0 ]
try krdma bench -d --compare --unit mb "$work/old" "$work/new"
ended "with -d, also their bytes" 0 ' MB/s ' \
	'^write +64 +1 +4\.00 +3\.00 +-25\.0% +64\.00 +64\.00 +\+0\.0% +1000 +1500 +\+50\.0%$' \
	'^read +64 +16  only in the old one$' '^read +64 +8  only in the new one$'
try krdma bench -j -c 20 -s 64 $host write
cp "$work/out" "$work/saved"
try krdma bench --compare "$work/saved" "$work/saved"
ended "what was measured can be compared" 0 '^write +64 +1 .*\+0\.0%.*\+0\.0%$'
try krdma bench -j -c 20 -s 64,4k --depth 1,8 $host write read
cp "$work/out" "$work/before"
try krdma bench -j -c 20 -s 64,4k --depth 1,8 $host write read atomic
cp "$work/out" "$work/after"
try krdma bench --compare --plot "$work/both.svg" --unit mb "$work/before" "$work/after"
cp "$work/both.svg" /out/bench-compare.svg
ended "a picture does not keep the comparison away" 0 '^write +4096 +8 .*%$' '^atomic .* only in'
cp "$work/both.svg" "$work/out"
ended "two results are drawn" 0 '<title>krdma bench: two results</title>' '>Median latency</text>' \
	'>99th percentile of latency</text>' '>Bandwidth</text>' '>MB/s</text>' \
	'>write, old</text>' '>read, depth 8, new</text>' '>message size</text>' '^</svg>$' '!nan' '!atomic'
holds "each with two lines" [ "$(grep -c '<polyline class="line"' "$work/out")" = 24 ]
try krdma bench --compare --plot "$work/depths.svg" "$work/old" "$work/old"
cp "$work/depths.svg" "$work/out"
ended "results of one size are drawn over the depth" 0 '>operations in flight</text>' \
	'>write, new</text>' '!>message size<'
rm "$work/depths.svg"
# Elsewhere udev makes them.
[ -L /dev/stdin ] || ln -s /proc/self/fd/0 /dev/stdin
[ -L /dev/stdout ] || ln -s /proc/self/fd/1 /dev/stdout
# shellcheck disable=SC2016 # for the shell inside
try sh -c 'krdma bench --compare --plot /dev/stdout "$1/before" "$1/after" >&-' - "$work"
ended "a standard output that is closed takes no picture" 1 \
	'^krdma: cannot write the picture to /dev/stdout: Bad file descriptor'
# shellcheck disable=SC2016 # for the shell inside
try sh -c 'krdma bench --compare --plot /dev/stdin "$1/before" "$1/after" <"$1/before"' - "$work"
ended "nor does a standard input that is a file" 1 \
	'^krdma: cannot write the picture to /dev/stdin: Permission denied'
holds "their names are still links" [ -L /dev/stdout -a -L /dev/stdin ]
mkfifo -m 666 "$work/pipe"
cat "$work/pipe" >"$work/piped" &
try krdma bench --compare --plot "$work/pipe" "$work/before" "$work/after"
wait $!
holds "a pipe takes it" grep -q '^</svg>$' "$work/piped"
chown nobody "$work/pipe"
try krdma bench --compare --plot "$work/pipe" "$work/before" "$work/after"
ended "somebody else's does not" 1 'cannot write the picture to .*/pipe: Permission denied'
holds "and is still there" [ -p "$work/pipe" ]
rm "$work/pipe" "$work/piped"
try krdma bench --compare --plot "$work/nowhere/both.svg" "$work/before" "$work/after"
ended "a comparison whose picture cannot be written" 1 \
	'^krdma: cannot write the picture to .*/nowhere/both\.svg' '^write +64 +1 '
sed 's/"read"/"send"/; s/"write"/"send"/' "$work/old" >"$work/other"
sed -i 's/"size":64/"size":65/' "$work/other"
try krdma bench --compare "$work/old" "$work/other"
ended "what has nothing in common" 1 'have no measurement in common$'
echo '{"results":[{"operation":7}]}' >"$work/none"
try krdma bench --compare "$work/old" /
ended "a folder has no results, and is to be no file" 1 "^krdma: cannot read '/': Is a directory$" '!>'
try krdma bench --compare "$work/old" /dev/zero
ended "nor has what does not end" 1 "^krdma: cannot read '/dev/zero': File too large$"
cp "$work/old" "$work/theirs"
chmod 755 "$work"
chmod 600 "$work/theirs"
try su -s /bin/sh nobody -c "krdma bench --compare '$work/theirs' '$work/theirs'"
ended "results that cannot be read" 1 "^krdma: cannot read '.*/theirs': Permission denied$" '!>'
try sh -c "krdma bench --compare '$work/old' /proc/self/fd/0 <'$work/old'"
ended "results from standard input" 0 '^write +64 +1 .*\+0\.0%'
for file in "$work/none" "$work/nowhere" /etc/passwd /; do
	try krdma bench --compare "$work/old" "$file"
	ended "no result: ${file##*/}" 1 '^krdma: .*'"$file" 'krdma bench -j HOST'
done

# Interruption, and a peer that dies

begin krdma bench -t 60 -s 64 --plot "$work/plot.svg" $host write
await "$work/out" depth
usleep 500000
leave INT "$client"
ended "Ctrl-C ends it" 130 '^not complete$' '!^write'
holds "the picture of before is still there, and nothing else" \
	[ "$(echo "$work"/plot.svg*)" = "$work/plot.svg" -a -s "$work/plot.svg" ]
# In a directory that other users can write, they may have placed symbolic links.
echo theirs > "$work/victim"
ln -s victim "$work/link.svg"
ln -s victim "$work/link.svg.part"
try krdma bench -c 5 --plot "$work/link.svg" $host write
holds "a picture goes through no link" \
	[ "$(cat "$work/victim")" = theirs -a -s "$work/link.svg" -a ! -L "$work/link.svg" ]
begin krdma bench -j -t 60 -s 64 --depth 16 $host write
# Wait until its first operation has completed.
tries=0
until krdma stat connections | grep -qE " $client krdma +connected +[^ ]+ +[^ ]+ +[1-9]"; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] || break
	usleep 100000
done
leave TERM "$client"
ended "SIGTERM ends it, and JSON says that it is not all" 1 '"complete":false' '"results":\[\]'
try sh -c "krdma bench -c 20 $host | head -n 1"
holds "a pipe that is closed ends it" [ "$status" = 0 -a "$(wc -l <"$work/out")" = 1 ]

stop_server all
ended "the listening side tells what its clients wanted" 0 \
	'^10\.77\.0\.1:[0-9]+: write, up to 64KiB, depth 1 left after 0 messages, 0 bytes$' \
	'^10\.77\.0\.1:[0-9]+: send, up to 1MiB, depth 1 left after ' '!connect' \
	'^10\.77\.0\.1:[0-9]+: send, up to 64KiB, depth 64 left after [1-9]' \
	'clients served, 0 failed, 0 refused; '

try krdma bench -c 1 $host
ended "that nobody listens is said, and what to do" 1 \
	'^krdma: cannot connect to 10\.77\.0\.1 port 7178: connection refused' \
	'krdma bench --listen$'

for operation in write read send; do
	for depth in 1 8; do
		serve gone$operation$depth krdma bench --listen
		begin krdma bench -t 60 -s 64 --depth $depth $host $operation
		await "$work/out" depth
		usleep 500000
		leave KILL "$server"
		finish
		ended "$operation, depth $depth: a listening side that dies is the end" 1 \
			'10\.77\.0\.1 has ended the connection|connection to 10\.77\.0\.1 is lost|connection is lost: 10\.77\.0\.1' \
			'^not complete$'
	done
done

# Of several connections, one says why.
serve gone krdma bench --listen
begin krdma bench -t 60 -s 64 --connections 4 --threads 4 --load 1 $host write
await "$work/out" depth
usleep 500000
leave KILL "$server"
finish
ended "a listening side that dies is the end of all threads" 1 '^not complete$' \
	'10\.77\.0\.1 has ended the connection|connection to 10\.77\.0\.1 is lost|connection is lost: 10\.77\.0\.1'
holds "one of them says why" [ "$(grep -c 'has ended the connection\|is lost' "$work/err")" = 1 ]

serve stopped krdma bench --listen
begin krdma bench -t 60 -W 5 -s 64 $host send
await "$work/out" depth
usleep 500000
kill -STOP "$server"
finish
ended "one that stops is not waited for" 1 "10\.77\.0\.1 does not answer: the operation 'send'"
kill -CONT "$server"
stop_server stopped

# Limits of a listening side

serve small krdma bench --listen --poll --max-size 4k --max-memory 20k
try krdma bench -c 10 -s 64,8k $host write
ended "a size above the limit is refused, with the limit" 1 'refuses messages longer than 4KiB'
try krdma bench -c 10 -s 4k $host write read
ended "one at the limit is not" 0 '^read +4096'
try krdma bench -c 100 -s 4k --depth 8 $host send
ended "a listening side that polls" 0 '^send +4096'
begin krdma bench -t 60 -s 3k $host send
await "$work/out" depth
try krdma bench -c 1 -s 4k $host send
ended "more memory than all may have is refused" 1 'has reached its limit of clients or memory'
leave INT "$client"
try krdma ping -P 7178 -c 1 $host
ended "another service is refused" 1 'runs another service at port 7178'
stop_server small
ended "those were told apart" 0 'was refused: it requests more than the limits allow' \
	'was refused: the limit of clients or memory is reached' 'was refused: it requests another service' \
	'0 failed, 3 refused'

serve json krdma bench --listen -q
stop_server json
krdma bench --listen -j -d >"$work/json" 2>"$work/json.err" &
server=$!
await "$work/json.err" '^krdma: listening at '
try krdma bench -c 3 --warm-up 1 -s 64 $host send connect
leave INT "$server"
cp "$work/json" "$work/out"
cp "$work/json" /out/bench-listen.json
ended "the listening side speaks JSON, too" 130 \
	'"wish":"send, up to 64B, depth 1","messages":4,"bytes":256,"end":"left"\}$' \
	'"wish":"connect","messages":0' '"clients_served":5,"clients_failed":0'

# Invalid command lines

wrong()
{
	local name=$1 pattern=$2
	shift 2

	try krdma bench "$@"
	ended "$name" 2 "^krdma: $pattern" '!through rxe0'
}

wrong "no host" 'no host is given'
wrong "no such operation" "'fly' is not an operation" $host fly
wrong "an operation twice" "the operation 'read' is named twice" $host read write read
wrong "a depth of nothing" '--depth needs a number from 1 to 1024' --depth 1,0 $host
wrong "a size above all" '-s needs a size up to 16MiB' -s 64,17M $host
wrong "no time" '-t must be greater than 0' -t 0 $host
wrong "no time to end" '-W must be greater than 0' -W 0 $host
wrong "a host for the listening side" '--listen takes no host' --listen $host
wrong "a size for the listening side" '-s is for the side that measures' --listen -s 64
wrong "an unknown unit" '--unit needs MiB/s, MB/s or Gbit/s' --unit Mbit $host
wrong "fields and JSON" '--csv or --json, not both' -j --csv $host
wrong "a picture of the listening side" '--plot is for the side that measures' --listen --plot a
wrong "one result alone" '--compare takes two files' --compare "$work/old"
wrong "a comparison that measures" '--compare measures nothing: leave -c out' --compare -c 1 a b
wrong "more threads than connections" '--connections must not be less than --threads' \
	--threads 4 --connections 3 $host
wrong "no threads" '--threads needs a number from 1 to 64' --threads 0 $host
wrong "too much for a ring" 'that many operations in flight are too many for a thread' \
	--connections 100 --depth 1024 $host
wrong "both directions of an atomic" "--both measures write, read and send, and no 'atomic'" \
	--both $host write atomic
wrong "a load for the listening side" '--load is for the side that measures' --listen --load 1
wrong "lanes of threads" '--lanes uses one thread and one host' --lanes 2 --threads 2 $host
wrong "lanes of two hosts" '--lanes uses one thread and one host' --lanes 2 $host,$host6
wrong "a host that is none" "'$host,' has a comma without a host beside it" $host,
wrong "too many hosts" 'at most 16 hosts' a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q
wrong "no lanes" '--lanes needs a number from 1 to 1000' --lanes 0 $host
wrong "lanes, several at a time" '--lanes has one operation in flight' --lanes 2 --depth 4 $host
wrong "lanes, in batches" '--lanes has one operation in flight' --lane --batch 2 $host
wrong "plain connections without number" '--plain is for --lanes' --plain $host
wrong "lanes for the listening side" '--lanes is for the side that measures' --listen --lanes 2
wrong "a limit for the side that measures" '--max-size is for --listen' --max-size 1k $host
try krdma bench --help
ended "help is there" 0 '^Usage: krdma bench ' 'krdma-bench\(8\)'

holds "nothing is left behind" nothing_is_left "$before"
tap_end
