#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The own key is in the firmware's list.  Prints TAP.

# shellcheck source=tools/testing/system/signed.sh
. /try/signed.sh

check_enforced
check_refused
check "modules that are signed with the own key are installed" install_from /try/own
# Proves: F13 (secure-boot)
check "the module that is signed with the own key is loaded" modprobe krdma
check_loaded
tap_end
