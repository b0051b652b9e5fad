#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# After a restart of the machine: what was enabled runs again, though the RDMA device comes later.
# The machine is then switched off with everything in use.  Prints TAP.

# shellcheck source=tools/testing/system/common.sh
. /try/common.sh

serve=krdma-serve@files.service
blk=krdma-blk@disk.service

same_on_disk()
{
	dd if=/dev/krdmab0 bs=1M count=8 iflag=direct status=none | cmp - /root/content
}

check "there is no RDMA device yet" not test -e /sys/class/infiniband/rxe0
check "an RDMA device comes later" await 60 test -e /sys/class/infiniband/rxe0
# Proves: F13 (units)
check "the server that was enabled runs" comes $serve
check "a client gets a file" await 20 gets data
check "the export that was enabled is there" comes $blk
check "a client attaches it" krdma blk attach 10.77.0.1 disk
# Proves: F13 (units)
check "and finds the data of before the restart, when there was a client" same_on_disk
check "the disk stays in use when the machine is switched off" sh -c 'sleep 1000 </dev/krdmab0 & :'
tap_end
