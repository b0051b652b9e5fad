#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# krdma and programs that do not know krdma; see both.sh.  Prints TAP.
#
#	tools/testing/check interop
#
# With two machines the first one runs the tests, and the second one executes its commands.
#
#	run.sh [PART]...		utils, rpma or verbs; default: all of them

# shellcheck source=tools/testing/interop/both.sh
. "$(dirname "$0")/both.sh"

if [ "$NODE" != 1 ]; then
	mkdir -p /tmp/far
	nc -ll -p $far_port -e sh "$here/far.sh" &
	while [ ! -e /tmp/far/goodbye ]; do
		sleep 1
	done
	kill $!
	exit 0
fi

tries=0
until far run true; [ "$status" = 0 ]; do
	tries=$((tries + 1))
	if [ $tries -ge 600 ]; then
		not_ok "the strangers' machine answers" "$(tell)"
		tap_end
		exit 1
	fi
	usleep 200000
done

before=$(resources)
[ $# -gt 0 ] || set -- utils rpma verbs
for part; do
	# shellcheck source=/dev/null
	. "$here/$part.sh"
done
holds "nothing is left behind" nothing_is_left "$before"
far run touch /tmp/far/goodbye
tap_end
