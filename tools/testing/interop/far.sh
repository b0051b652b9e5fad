#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Does one thing for both.sh, on the machine where the strangers are, whether that is the same
# one or another.  It is asked for on the input in one line; what it has to say is
# printed, and at the end "status NUMBER".
#
#	run COMMAND		and wait for its end
#	begin NAME COMMAND	in the background
#	listens PORT		until somebody there does
#	await NAME PATTERN	until what was begun has printed it
#	signal NAME SIGNAL	to what was begun
#	finish NAME		until what was begun has ended: what it printed, its status

work=/tmp/far
patience=120
mkdir -p $work

# until_so COMMAND...: until it succeeds; fails if that takes for ever.
until_so()
{
	local tries=0

	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt $((patience * 10)) ] || return 1
		usleep 100000
	done
}

listens()
{
	rdma resource show cm_id 2>/dev/null | grep -qE "state LISTEN .*src-addr [^ ]*:$1( |\$)"
}

begin()
{
	local at=$work/$1
	shift

	rm -f "$at".*
	# Nothing of it holds the line on which it was asked for.
	{
		# shellcheck disable=SC2016 # for the shell inside
		sh -c 'echo $$ >"$0.pid"; exec "$@"' "$at" "$@"
		echo $? >"$at.ended"
		mv "$at.ended" "$at.status"
	} >"$at.out" 2>&1 </dev/null &
	until_so [ -s "$at.pid" ]
}

finish()
{
	local at=$work/$1

	until_so [ -e "$at.status" ] || kill -KILL "$(cat "$at.pid")"
	until_so [ -e "$at.status" ]
	cat "$at.out"
	return "$(cat "$at.status")"
}

read -r what arguments
# shellcheck disable=SC2086 # the words of a command hold no spaces
set -- $arguments
case $what in
run) timeout -s KILL $patience "$@" 2>&1 </dev/null ;;
begin) begin "$@" ;;
listens) until_so listens "$1" ;;
await) until_so grep -qE "$2" "$work/$1.out" ;;
signal) kill "-$2" "$(cat "$work/$1.pid")" ;;
finish) finish "$1" ;;
*) false ;;
esac
echo "status $?"
