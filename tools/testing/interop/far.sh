#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Executes one command for both.sh, on the machine where the other programs run, which may be the
# same machine or another one.  The command is one line of standard input.  Prints the output of the
# command, and at the end "status NUMBER".
#
#	run COMMAND		run it and wait for its end
#	begin NAME COMMAND	start it in the background
#	listens PORT		wait until a program listens there
#	await NAME PATTERN	wait until the program NAME has printed it
#	signal NAME SIGNAL	send it to the program NAME
#	finish NAME		wait for the end of the program NAME: its output, its status

work=/tmp/far
patience=120
mkdir -p $work

# until_so COMMAND...: repeat it until it succeeds; fails after $patience seconds.
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
	# The program must not keep the connection open on which the command came.
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
