#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Counts inside a VM with krdma.ko: first in the kernel, and then of programs; and last, writes and
# reads of lanes with windows beside those of plain connections.

set -e
here=$(dirname "$0")
files=/sys/kernel/debug/krdma_cost

insmod "$here/krdma_cost.ko"
echo "10.77.0.1 1 lanes" >$files/run
cat $files/results
rmmod krdma_cost
"$here/lanes" 10.77.0.1

# median KIND OPTION OPERATION SIZE: prints what one operation takes.
median()
{
	# shellcheck disable=SC2086 # $2 may be two words
	krdma bench --lanes 1 $2 -c 300 -s "$4" --csv 10.77.0.1 "$3" |
		awk -F , -v name="$1.$3.$4" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
			NR == 2 { print name, $column["p50_ns"] }'
}

krdma bench --listen --lane -q >/dev/null &
server=$!
sleep 1
for operation in write read; do
	for size in 8 4096 65536; do
		median window "" $operation $size
		median plain --plain $operation $size
	done
done
kill $server
