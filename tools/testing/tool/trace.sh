#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests the tracepoints of krdma.  Runs inside a VM; see peer.sh.  Prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

before=$(resources)
tracing=/sys/kernel/tracing
[ -d $tracing/events ] || mount -t tracefs tracefs $tracing

# traced PATTERN: wait until an event that matches PATTERN has been traced since the last fresh().
# Events can be late, because connections end in the background.
traced()
{
	local tries=0

	until grep -qE "$1" $tracing/trace; do
		tries=$((tries + 1))
		[ $tries -lt $((patience * 10)) ] || break
		usleep 100000
	done
	grep -v '^#' $tracing/trace | tail -n 40 >"$work/out"
	[ $tries -lt $((patience * 10)) ]
}

fresh()
{
	echo >$tracing/trace
}

fresh
echo 1 >$tracing/events/krdma/enable
ip link add dummy7 type dummy
ip link set dummy7 up
rdma link add rxe7 type rxe netdev dummy7
holds "a device that comes" traced 'krdma_device_add: id=[0-9]+ name=rxe7$'
rdma link delete rxe7
holds "and goes" traced 'krdma_device_remove: id=[0-9]+ name=rxe7$'
ip link del dummy7

serve ping krdma ping --listen
fresh
try krdma ping -c 1 $host
ended "somebody is connected" 0 '1 received'
# Proves: D14
holds "each request, by its name and with its result" traced \
	'krdma_ioctl: cmd=0x[0-9a-f]+ \(CONN_CONNECT\) ret=0$'
# Proves: D14, F7
holds "each step of a connection, by its names" traced \
	'krdma_conn_step: .* from=resolving route to=resolved event=route resolved error=0$'
holds "of the end that connects" traced 'krdma_conn_step: .* from=connecting to=connected event=established'
holds "and how it ends" traced 'krdma_conn_step: .* to=closed event=closed error=-?[0-9]+$'
try krdma ping -c 1 -P 9 $host
holds "why one could not be made" traced 'krdma_conn_step: .* event=rejected error=-111$'

# Trace tools know the values of no enumerator.
holds "a format has numbers instead of enumerators" \
	[ "$(grep -c '{ 7, "connected" }.*{ 10, "lost" }' $tracing/events/krdma/krdma_conn_step/format)" = 1 ]
holds "and all of them" \
	[ "$(grep -c 'KRDMA_' $tracing/events/krdma/krdma_conn_step/format)" = 0 ]

echo 0 >$tracing/events/krdma/enable
fresh
try krdma ping -c 1 $host
# Proves: D14
holds "nothing is traced that was not asked for" \
	[ "$(grep -vc '^#' $tracing/trace)" = 0 ]
stop_server ping
holds "nothing is left behind" nothing_is_left "$before"
tap_end
