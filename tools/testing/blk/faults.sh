#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma_blk when allocations fail.  An export is enabled, and a device attached, repeatedly;
# each time another allocation fails.  Runs inside a VM with a kernel with fault injection, with
# krdma.ko, the tool, and the program fail; see fail.c.  Prints TAP.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

here_address=10.77.0.1

# sweep FILE VALUE UNDO: run fail, and print its output as TAP comments.
sweep()
{
	"$here/fail" "$@" >$work/swept 2>&1
	set -- $?
	sed 's/^/# /' $work/swept >&3
	return "$1"
}

exec 3>&1
check "the module is loaded" load_module
check "an export is made" export_make swept 4M
check "allocations fail while it is enabled" sweep $config/exports/swept/enabled 1 0
check "it is enabled when none fails" put $config/exports/swept/enabled 1
check "a device is made" device_make swept $here_address
# Proves: F3 (blk-debug)
check "allocations fail while it is attached" sweep $config/devices/swept/enabled 1 0
check "it is attached when none fails" put $config/devices/swept/enabled 1
fill $work/data 4
check "it is written" write_direct $work/data "$(disk swept)"
check "and read" same $work/data "$(disk swept)"
device_end swept
becomes "the server knows that it has gone" 0 $config/exports/swept/connections 60
export_end swept

# The same with a store, and a connection that is lost beside requests.
interface=$(ip -o -4 addr show to $here_address | awk '{ print $2 }')
network=$(ip -o -4 addr show to $here_address | awk '{ print $4 }')
check "a file for an export" cp $work/data $work/image
check "an export with a store is made" export_make stored 4M store=$work/image
check "allocations fail while it is enabled, too" sweep $config/exports/stored/enabled 1 0
check "it is enabled when none fails" put $config/exports/stored/enabled 1
check "a device is made" device_make stored $here_address hold_seconds=600
# Proves: F3 (blk-debug)
check "allocations fail while that is attached" sweep $config/devices/stored/enabled 1 0
check "it is attached when none fails" put $config/devices/stored/enabled 1
disk=$(disk stored)
check "it has the data" same $work/data "$disk"
check "it is discarded in part" blkdiscard -o 1M -l 1M "$disk"
verified "$disk" --number_ios=400 >$work/fio 2>&1 &
fio=$!
check "it is being written" await_write "$disk"
address_away
becomes "its connections are lost" holding $config/devices/stored/state 60
address_back
becomes "and come back" live $config/devices/stored/state 120
wait $fio
# Proves: F3 (blk-debug)
check "fio has seen no error, and what it had written" [ $? = 0 ]
device_end stored
export_end stored
check "the module is unloaded" rmmod krdma_blk
tap_end
