#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The firmware knows Microsoft's keys, and shim Debian's.  The own key is to become one of the owner of
# the machine: mokutil asks for that.  Prints TAP.

# shellcheck source=tools/testing/system/signed.sh
. /try/signed.sh

# As a person types it, twice: MokManager asks for it at the next start.
import()
{
	printf 'krdma key\nkrdma key\n' | mokutil --import /try/own.der
}

check_enforced
check "mokutil says so, too" says 'SecureBoot enabled' mokutil --sb-state
check "modules that are signed with the own key are installed" install_from /try/own
check "the module that is signed with the own key is refused, because nobody knows the key" \
	says 'Key was rejected by service|Required key not available' not modprobe krdma
check "krdma doctor says that modules must be signed with a known key" doctor_asks_for_a_key
check "mokutil takes the key" import
check "the key waits for the next start" says 'CN ?= ?krdma modules' mokutil --list-new
tap_end
