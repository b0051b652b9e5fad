#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Counts the instructions of operations, inside a VM with krdma.ko and with a clock that counts
# instructions.  Prints a line for each operation: its name and the number.
#
#	count.sh short|long
#
# krdma_null.ko, krdma_cost.ko and ring are in the same folder.  short: over krdma_null, with few
# connections.  long: also with 10,000 connections, and over rxe.

here=$(dirname "$0")
files=/sys/kernel/debug/krdma_cost

# count LABEL ADDRESS CONNECTIONS instant|later [srq]: measures inside the kernel.
count()
{
	echo "$2 $3 $4${5:+ $5}" >$files/run || exit 1
	sed "s/^/$1./" $files/results
}

# rings CONNECTIONS: measures a program's ring.  Its status would be lost in a pipe.
rings()
{
	"$here/ring" 10.80.0.1 "$1" >/tmp/rings || exit 1
	sed 's/^/null./' /tmp/rings
}

set -e
ip link add null0 type dummy
ip link set null0 up
ip addr add 10.80.0.1/24 dev null0
insmod "$here/krdma_null.ko"
insmod "$here/krdma_cost.ko"
for conns in 1 100; do
	count null 10.80.0.1 "$conns" instant
	rings "$conns"
done
for conns in 10 100 1000; do
	count null 10.80.0.1 "$conns" instant srq
done
if [ "$1" = long ]; then
	count null 10.80.0.1 10000 instant srq
	count null 10.80.0.1 10000 instant
	rings 10000
	count rxe 10.77.0.1 1 later
fi
rmmod krdma_cost
rmmod krdma_null
ip link delete null0
