#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# MokManager has enrolled the own key at the start of the machine.  Prints TAP.

# shellcheck source=tools/testing/system/signed.sh
. /try/signed.sh

check "the firmware enforces Secure Boot" secure_boot_is_on
check "the key is enrolled" says 'already enrolled' mokutil --test-key /try/own.der
# Proves: F13 (secure-boot)
check "the module that is signed with the enrolled key is loaded" modprobe krdma
check_loaded
check "the units are stopped" systemctl stop krdma-serve@files
check "the modules are unloaded" sh -c 'rdma link delete rxe0; modprobe -r krdma_blk krdma'
check "modules without a signature are installed" install_from /try/unsigned
check_refused
tap_end
