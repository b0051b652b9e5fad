#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# krdma and its peers by turns, inside a VM with krdma.ko: each result is a line
# "ROUND PEER KIND NAME FIGURES".
#
# usage: guest.sh instructions|wall ROUNDS COUNT CONNECTIONS alone|perftest [--quick]
#
# bench-krdma and krdma_cost.ko are beside it, the others are programs of this machine.
# perftest's programs ask without end on both sides, so they are for several processors.

set -eu

here=$(dirname "$0")
mode=$1
rounds=$2
count=$3
conns=$4
with=$5
quick=${6:-}
address=10.77.0.1
krdma_port=7481
verbs_port=7482
cost=/sys/kernel/debug/krdma_cost
work=/tmp/bench
patience=600

bench_krdma=$here/bench-krdma
bench_verbs=bench-verbs

fail()
{
	echo "bench: $*" >&2
	exit 1
}

# ready NAME: until its server says so.
ready()
{
	local tries=$((patience * 10))

	until grep -q '^ready$' "$work/$1"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "the server of $1 is not there: $(cat "$work/$1")"
		usleep 100000
	done
}

# told ROUND PEER: the lines of a program, with whose they are.
told()
{
	sed "s/^/$1 $2 /"
}

# measure ROUND PEER PROGRAM PORT
measure()
{
	# shellcheck disable=SC2086 # words
	{
		$3 run $address "$4" --count "$count" latency
		# Who asks without end would keep the only processor from who is to answer.
		[ "$mode" = instructions ] || $3 run $address "$4" --count "$count" echo
		$3 run $address "$4" --event --count "$count" latency echo
		$3 run $address "$4" $quick --count "$count" depth bandwidth wake register connect
		[ "$conns" = 0 ] || $3 run $address "$4" --conns "$conns" --count "$count" many
	} >"$work/$2.figures" || fail "$2 has failed in round $1"
	told "$1" "$2" <"$work/$2.figures"
}

# Both ways within the kernel, which take the best of several rounds by themselves.
measure_kernel()
{
	local name figure

	echo "$address 1 later" >$cost/run
	while read -r name figure; do
		echo "$1 kernel-${name%%.*} value ${name#*.} $figure"
	done <$cost/results
}

# perftest ROUND NAME COLUMN FACTOR PROGRAM OPTION...: the column of its table, in
# nanoseconds if multiplied by the factor, or divided where it is a rate.
perftest()
{
	local round=$1 name=$2 column=$3 factor=$4 server figure
	shift 4

	"$@" -R -F >$work/perftest.server 2>&1 &
	server=$!
	until_listens "$server"
	# Their status says nothing: over rxe some cannot take back what they have made.
	"$@" -R -F $address >$work/perftest 2>&1 || :
	wait "$server" || :
	figure=$(awk -v column="$column" -v factor="$factor" '
		/^ *[0-9]+ +[0-9]+ / {
			print (factor > 0 ? $column * factor : -factor / $column)
		}' $work/perftest)
	[ -n "$figure" ] || fail "$*: $(cat $work/perftest)"
	echo "$round perftest value $name $figure"
}

# until_listens PROCESS: perftest's server, which says so to nobody.
until_listens()
{
	local tries=$((patience * 10))

	until rdma resource show cm_id | grep -q "state LISTEN .* pid $1 "; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "a server is not there: $(cat $work/perftest.server)"
		usleep 100000
	done
}

# A rate is of 2^20 bytes a second.
measure_perftest()
{
	local bytes rate

	perftest "$1" read.8.depth=1.poll 5 1000 ib_read_lat -s 8 -n "$count"
	perftest "$1" fetch-add.8.depth=1.poll 5 1000 ib_atomic_lat -A FETCH_AND_ADD -n "$count"
	for bytes in 4096 65536; do
		rate=$(awk -v bytes=$bytes 'BEGIN { printf "%.0f", -bytes * 1e9 / 1048576 }')
		perftest "$1" write.$bytes.depth=16.batch=4 4 "$rate" \
			ib_write_bw -s $bytes -n "$count" -t 16
	done
}

mkdir -p $work
: >$work/krdma
: >$work/verbs
insmod "$here/krdma_cost.ko"
$bench_krdma serve $address $krdma_port >$work/krdma 2>&1 &
krdma_server=$!
$bench_verbs serve $address $verbs_port >$work/verbs 2>&1 &
verbs_server=$!
ready krdma
ready verbs
for round in $(seq "$rounds"); do
	# Each is the first as often as the other.
	if [ $((round % 2)) = 1 ]; then
		measure "$round" krdma "$bench_krdma" $krdma_port
		measure "$round" verbs "$bench_verbs" $verbs_port
	else
		measure "$round" verbs "$bench_verbs" $verbs_port
		measure "$round" krdma "$bench_krdma" $krdma_port
	fi
	# They count the same in each round; and where there is little time, once is enough.
	if [ "$round" = 1 ] || [ "$mode$quick" = wall ]; then
		measure_kernel "$round"
		[ "$with" != perftest ] || measure_perftest "$round"
	fi
done
kill "$krdma_server" "$verbs_server"
wait
cat $work/krdma $work/verbs | grep -v '^ready$' >&2 || :
rmmod krdma_cost
