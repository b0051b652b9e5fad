#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Runs krdma and its peers in turn, inside a VM with krdma.ko.  Each result is a line
# "ROUND PEER KIND NAME FIGURES".
#
# usage: guest.sh instructions|wall ROUNDS COUNT CONNECTIONS PEER,... [--quick]
#
# PEER: further peers that are installed, of rpma, rping and perftest, or "alone".  bench-krdma
# and krdma_cost.ko are in the folder of this script, the others are programs of this machine.
# perftest's programs poll all the time on both sides, so they need several processors.

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
rpma_port=7483
rping_port=7484
# Few enough bytes not to matter; rping needs at least 27.
rping_size=64
cost=/sys/kernel/debug/krdma_cost
work=/tmp/bench
patience=600

bench_krdma=$here/bench-krdma
bench_verbs=bench-verbs
bench_rpma=bench-rpma

fail()
{
	echo "bench: $*" >&2
	exit 1
}

# is_there PEER
is_there()
{
	case ,$with, in
	*,"$1",*) return 0 ;;
	*) return 1 ;;
	esac
}

# ready NAME: waits until its server reports that it is ready.
ready()
{
	local tries=$((patience * 10))

	until grep -q '^ready$' "$work/$1"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "the server of $1 is not there: $(cat "$work/$1")"
		usleep 100000
	done
}

# told ROUND PEER: prefixes the lines of a program with the round and the peer.
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
		# A client that polls all the time would keep the only processor from the server.
		[ "$mode" = instructions ] || $3 run $address "$4" --count "$count" echo
		$3 run $address "$4" --event --count "$count" latency echo
		$3 run $address "$4" $quick --count "$count" depth bandwidth wake register connect
		[ "$conns" = 0 ] || $3 run $address "$4" --conns "$conns" --count "$count" many
	} >"$work/$2.figures" || fail "$2 has failed in round $1"
	told "$1" "$2" <"$work/$2.figures"
}

# measure_rpma ROUND: the part of the same work that librpma has, which needs no message; only
# connections that share nothing.
measure_rpma()
{
	# shellcheck disable=SC2086 # words
	{
		$bench_rpma run $address $rpma_port --count "$count" latency
		$bench_rpma run $address $rpma_port --event --count "$count" latency
		$bench_rpma run $address $rpma_port $quick --count "$count" depth register
		$bench_rpma run $address $rpma_port --quick --count "$count" connect
	} >$work/rpma.figures || fail "rpma has failed in round $1"
	told "$1" rpma <$work/rpma.figures
}

# Both ways within the kernel.  krdma_cost.ko takes the best of several rounds by itself.
measure_kernel()
{
	local name figure

	echo "$address 1 later" >$cost/run
	while read -r name figure; do
		echo "$1 kernel-${name%%.*} value ${name#*.} $figure"
	done <$cost/results
}

# perftest ROUND NAME COLUMN FACTOR PROGRAM OPTION...: prints the column of its table, multiplied
# by the factor to get nanoseconds, or the factor divided by the column if that is a rate.
perftest()
{
	local round=$1 name=$2 column=$3 factor=$4 server figure
	shift 4

	"$@" -R -F >$work/perftest.server 2>&1 &
	server=$!
	until_listens "$server" perftest.server
	# Their exit status is of no use: over rxe some fail to destroy their objects.
	"$@" -R -F $address >$work/perftest 2>&1 || :
	wait "$server" || :
	figure=$(awk -v column="$column" -v factor="$factor" '
		/^ *[0-9]+ +[0-9]+ / {
			print (factor > 0 ? $column * factor : -factor / $column)
		}' $work/perftest)
	[ -n "$figure" ] || fail "$*: $(cat $work/perftest)"
	echo "$round perftest value $name $figure"
}

# until_listens PROCESS LOG: for a server that does not report that it is ready.
until_listens()
{
	local tries=$((patience * 10))

	until rdma resource show cm_id | grep -q "state LISTEN .* pid $1 "; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "a server is not there: $(cat "$work/$2")"
		usleep 100000
	done
}

# The kernel's CLOCK_MONOTONIC in nanoseconds: the clocks of a shell are too coarse.
now()
{
	awk '/^now at / { print $3; exit }' /proc/timer_list
}

# rping_takes COUNT: nanoseconds of a client with COUNT round trips, including its start and end.
rping_takes()
{
	local began

	began=$(now)
	timeout $patience rping -c -a $address -p $rping_port -S $rping_size -C "$1" \
		>$work/rping 2>&1 || fail "rping: $(cat $work/rping)"
	echo $(($(now) - began))
}

# measure_rping ROUND: rping prints no times, so one round trip is the difference between two runs.
measure_rping()
{
	local few=10 more=$((2 * count + 100)) server short long

	rping -s -P -a $address -p $rping_port >$work/rping.server 2>&1 &
	server=$!
	until_listens "$server" rping.server
	# The first run takes longer.
	rping_takes $few >/dev/null
	short=$(rping_takes $few)
	long=$(rping_takes $((few + more)))
	kill "$server"
	# The shell would report that it was killed.
	wait "$server" 2>/dev/null || :
	echo "$1 rping value rping.$rping_size $(((long - short) / more))"
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
: >$work/rpma
insmod "$here/krdma_cost.ko"
$bench_krdma serve $address $krdma_port >$work/krdma 2>&1 &
krdma_server=$!
$bench_verbs serve $address $verbs_port >$work/verbs 2>&1 &
verbs_server=$!
rpma_server=''
if is_there rpma; then
	$bench_rpma serve $address $rpma_port >$work/rpma 2>&1 &
	rpma_server=$!
	ready rpma
fi
ready krdma
ready verbs
for round in $(seq "$rounds"); do
	# Each of them comes first equally often.
	if [ $((round % 2)) = 1 ]; then
		measure "$round" krdma "$bench_krdma" $krdma_port
		measure "$round" verbs "$bench_verbs" $verbs_port
	else
		measure "$round" verbs "$bench_verbs" $verbs_port
		measure "$round" krdma "$bench_krdma" $krdma_port
	fi
	# They count the same in each round; with little time, one round is enough.
	if [ "$round" = 1 ] || [ "$mode$quick" = wall ]; then
		! is_there rpma || measure_rpma "$round"
		measure_kernel "$round"
		! is_there rping || measure_rping "$round"
		! is_there perftest || measure_perftest "$round"
	fi
done
# shellcheck disable=SC2086 # a missing one is no word
kill "$krdma_server" "$verbs_server" $rpma_server
wait
cat $work/krdma $work/verbs $work/rpma | grep -v '^ready$' >&2 || :
rmmod krdma_cost
