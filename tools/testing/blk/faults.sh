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
check "the module is unloaded" rmmod krdma_blk
tap_end
