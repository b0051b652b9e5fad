#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Hostile peers and a krdma server.  Runs inside a VM, from a folder with the programs of the
# Makefile beside this file, tap.sh and peer.sh.  Prints TAP.
#
#	run.sh SEED ACTIONS [VISIT]
#
# The peers do at least ACTIONS actions; or one peer makes only the visit VISIT, which has found
# something.  With KRDMA_PEER_PIN=1, krdma itself pins the memory that the server offers.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

here=$(dirname "$0")
seed=$1 actions=$2 visit=${3:-}
# Time limit for all visits together; a peer has a shorter one for each visit.
patience=${KRDMA_PEER_PATIENCE:-1500}
visits=$work/visits
truncate -s 131072 "$visits"

# count_of FILE WORDS: print the number before these words.
count_of()
{
	sed -n "s/.*[^0-9]\{0,1\}\b\([0-9][0-9]*\) $2.*/\1/p" "$1" | tail -n 1
}

# at_least NUMBER COUNT
at_least()
{
	[ "${1:-0}" -ge "$2" ]
}

pin=/sys/module/krdma/parameters/force_pin
echo "${KRDMA_PEER_PIN:-0}" >$pin
before=$(resources)
serve peers "$here/server" $host 7500 "$seed" "$visits"
if [ -n "$visit" ]; then
	try "$here/peer" $host 7500 "$seed" "$visits" 1 1 0 "$visit"
	sed 's/^/# /' "$work/out"
else
	try "$here/peer" $host 7500 "$seed" "$visits" "$actions" 3 1
	tail -n 1 "$work/out" | sed 's/^/# /'
	holds "so much was done" at_least "$(count_of "$work/out" 'hostile actions')" "$actions"
	# Proves: F8
	holds "an honest peer was served all the time" \
		at_least "$(count_of "$work/out" 'of them honest')" 1
fi
grep '^FOUND' "$work/out" | head -n 8 | sed 's/^/# /'
# Proves: F8
ended "what hostile peers must not do is refused, and all else is done" 0 '!^FOUND'
leave TERM "$server"
cp "$work/servers/peers" "$work/out"
cp "$work/servers/peers.err" "$work/err"
grep '^FOUND' "$work/out" | head -n 8 | sed 's/^/# /'
tail -n 1 "$work/out" | sed 's/^/# /'
if [ "$(cat $pin)" = Y ]; then
	# Proves: F6
	ended "of memory that krdma pins itself they reach what was offered, to the byte" 0 \
		' 0 findings$' '!^FOUND'
else
	# Proves: F8
	ended "a server finds its memory and its completions right after hostile peers" 0 \
		' 0 findings$' '!^FOUND'
fi
echo 0 >$pin
holds "nothing is left behind" nothing_is_left "$before"
tap_end
