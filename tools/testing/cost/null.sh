#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma on the null device, which completes everything at once and does nothing.  Runs inside
# a VM with krdma.ko and the tool; krdma_null.ko and krdma_cost.ko are beside this script.  Prints
# TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"

files=/sys/kernel/debug/krdma_cost
address=10.80.0.1

# check NAME COMMAND...
check()
{
	local name=$1 said
	shift

	if said=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "$said"
	fi
}

# refuses NAME PATTERN COMMAND...
refuses()
{
	local name=$1 pattern=$2 said
	shift 2

	if said=$("$@" 2>&1); then
		not_ok "$name" "it succeeded"
	elif echo "$said" | grep -q "$pattern"; then
		ok "$name"
	else
		not_ok "$name" "said: $said"
	fi
}

interface()
{
	ip link add null0 type dummy && ip link set null0 up && ip addr add $address/24 dev null0
}

is_seen()
{
	krdma dev | grep -q '^[0-9]*: null0: transport iwarp'
}

# works CONNECTIONS RESULTS [srq]: posts all kinds of work requests through krdma, with and without
# templates, and through verbs, or only messages through an SRQ, and checks each completion.
works()
{
	echo "$address $1 instant${3:+ $3}" >$files/run && [ "$(grep -c . $files/results)" = "$2" ]
}

# fits: a connection, which has a cache of its own size, takes little over 1 KiB, and its QP is in
# memory of 1 KiB.
fits()
{
	awk '{ bytes[$1] = $2 }
		END { exit !(bytes["conn"] > 0 && bytes["conn"] <= 1088 &&
			bytes["qp"] > 0 && bytes["qp"] <= 1024) }' $files/sizes || {
		cat $files/sizes
		return 1
	}
}

# dd says why a write fails, echo does not.
ask()
{
	echo "$1" | dd of=$files/run
}

nothing_is_left()
{
	local tries=0

	while [ $tries -lt 80 ]; do
		! rdma resource show | grep null0 | grep -q '\(pd\|cq\|qp\|cm_id\|mr\) [1-9]' || {
			tries=$((tries + 1))
			usleep 250000
			continue
		}
		return 0
	done
	rdma resource show
	return 1
}

refuses "null.needs_its_interface" "No such device" insmod "$here/krdma_null.ko"
check "null.has_an_interface" interface
check "null.loads" insmod "$here/krdma_null.ko"
check "null.is_seen_by_krdma" is_seen
check "cost.loads" insmod "$here/krdma_cost.ko"
check "null.does_what_krdma_and_verbs_ask" works 1 22
check "null.has_many_connections" works 100 14
check "null.has_a_shared_receive_queue" works 10 2 srq
check "cost.a_connection_and_its_queue_pair_take_some_1_KiB_each" fits
refuses "null.refuses_where_nobody_listens" "refused" insmod "$here/krdma_ping.ko" address=$address
refuses "null.is_at_no_other_address" "assign" ask "10.80.0.2 1 instant"
refuses "cost.takes_no_nonsense" "Invalid argument" ask "$address 2 instant"
refuses "cost.takes_no_other_queue" "Invalid argument" ask "$address 10 instant rq"
refuses "cost.takes_no_other_way" "Invalid argument" ask "$address 1 instant only rings write 1"
refuses "cost.takes_no_other_work" "Invalid argument" ask "$address 1 instant only krdma walk 1"
check "null.is_left_empty" nothing_is_left
check "cost.unloads" rmmod krdma_cost
check "null.unloads" rmmod krdma_null
check "null.gives_its_interface_back" ip link delete null0
tap_end
