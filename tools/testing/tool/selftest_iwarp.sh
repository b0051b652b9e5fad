#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma selftest over siw.  siw has no atomics and no immediate data, and a bug that selftest
# finds: it lets peers read memory without permission.  Another one, which selftest would find, is
# corrected in the kernels that have siw (tools/vm/debug-patches).  See peer.sh.  Prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

before=$(resources)
patience=400

try krdma selftest --cycles 20 -t 600 siw0
# Proves: F9 (tool-iwarp)
ended "over siw" 1 '^PASS +connect ' '^PASS +send +' '^PASS +write +' '^PASS +read +' \
	'^PASS +read-sge ' '^PASS +atomic-write ' '^PASS +flush ' \
	'^PASS +no-right-to-write +refused: the connection ends' '^PASS +wrong-key ' \
	'^PASS +peer-killed ' "^NOT OFFERED +compare-swap +the device does not have 'atomic'$" \
	"^NOT OFFERED +send-immediate +the device does not have 'imm'$" \
	'^NOT OFFERED +send-no-receive +iwarp does not have it$' '!NOT RUN'
# This bug of siw is reported, and nothing else fails.
holds "what fails is what is known of siw" \
	[ "$(grep '^FAIL' "$work/out" | awk '{ print $2 }' | tr '\n' ' ')" = \
	"no-right-to-read " ]
holds "nothing is left behind" nothing_is_left "$before"
tap_end
