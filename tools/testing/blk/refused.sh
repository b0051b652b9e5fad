#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests what a device of krdma_blk does about what is refused at once: a connection at one of its
# addresses, while another one answers slowly.  Runs inside a VM with krdma.ko, krdma_blk_test.ko
# and the program outsider, in virtual time.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1
test=/sys/kernel/debug/krdma_blk_test
attach=$config/devices/refused

now_ms()
{
	awk '{ print int($1 * 1000) }' /proc/uptime
}

# give FAULT: start a server that is not krdma_blk, on port 8003.
give()
{
	local tries=100

	rm -f $work/server
	"$here/outsider" give "$1" >$work/server &
	server=$!
	until grep -qs listening $work/server || [ $tries = 0 ]; do
		tries=$((tries - 1))
		usleep 100000
	done
}

# unserve: end that server.
unserve()
{
	kill $server
	wait $server 2>/dev/null
}

check "the module is loaded" load_module
check "and the one that brings about what is needed" insmod "$here/krdma_blk_test.ko"
check "an export" export_new refused 4M

# Of two addresses the first one refuses each connection at once, and the second one takes some
# seconds for each answer.  The device waits for that, however often it is refused.
check "is attached at the second of two addresses" \
	device_new refused "$here_address:8003 $here_address" queues=1 hold_seconds=600
disk=$(disk refused)
give refusal
put $test/delay "krdma_blk_conn_answer 2500"
since=$(now_ms)
check "its connections end" put $config/exports/refused/size 5M
becomes "though the first one refuses, it is at the slow one again" 1 \
	"/sys/block/${disk#/dev/}/krdma/reconnects" 30
becomes "and live" live $attach/state 5
took=$(($(now_ms) - since))
echo "# after $took ms, refused $(grep -c '^refused' $work/server) times"
# Proves: F3
check "as soon as that has answered twice" [ $took -le 8000 ]
is "which it says" "$here_address:7475" "/sys/block/${disk#/dev/}/krdma/remote"
check "the first one was asked again meanwhile" [ "$(grep -c '^refused' $work/server)" -ge 4 ]
put $test/delay off
check "it works" read_one "$disk"
check "and is detached" device_end refused
unserve

check "the export is ended" export_end refused
check "the modules are unloaded" rmmod krdma_blk_test krdma_blk
tap_end
