# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# Functions that the tests of the tool's commands share.  The tests run inside a VM, from a folder
# with this file and tap.sh in it:
#
#	tools/vm/run --file tools/testing/tool:/tool --file tools/testing/tap.sh:/tool/tap.sh \
#		-- sh /tool/ping.sh
#
# They leave JSON and pictures in /out (tools/vm/run --out DIR), to be checked outside the VM.  The
# script schemas checks the JSON.

# shellcheck disable=SC2034 # for the tests
host=10.77.0.1 host6=fd77::1

# Seconds.  No command takes longer than this, even on a busy machine.
patience=120

work=$(mktemp -d) || exit 1
mkdir -p "$work/servers" /out
trap 'rm -rf "$work"' EXIT

# try COMMAND...: run the command.  Its output is in $work/out and $work/err, its exit status in
# $status.  A command that hangs is killed, and its status is 137.
try()
{
	status=0
	timeout -s KILL "$patience" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# tell: print status and output of the command tried last, for a message.
tell()
{
	echo "status $status"
	sed 's/^/out: /' "$work/out" | tail -n 20
	sed 's/^/err: /' "$work/err" | tail -n 20
}

# printed PATTERN: the command tried last has printed PATTERN, on either stream.
printed()
{
	cat "$work/out" "$work/err" | grep -qE -- "$1"
}

# ended NAME STATUS PATTERN...: the command tried last ended with STATUS and printed each PATTERN.
# It did not print a PATTERN that begins with "!".
ended()
{
	local name=$1 wanted=$2 pattern wrong=''
	shift 2

	[ "$status" = "$wanted" ] || wrong="the status is not $wanted"
	for pattern; do
		case $pattern in
		!*) ! printed "${pattern#!}" || wrong="$wrong; there is /${pattern#!}/" ;;
		*) printed "$pattern" || wrong="$wrong; there is no /$pattern/" ;;
		esac
	done
	if [ -z "$wrong" ]; then
		ok "$name"
	else
		not_ok "$name" "$wrong
$(tell)"
	fi
}

# holds NAME COMMAND...: the command succeeds.
holds()
{
	local name=$1
	shift

	if "$@"; then
		ok "$name"
	else
		not_ok "$name" "not so: $*
$(tell)"
	fi
}

# await FILE PATTERN: wait until FILE has PATTERN; fail after $patience seconds.
await()
{
	local tries=0

	until grep -qE -- "$2" "$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt $((patience * 10)) ] || return 1
		usleep 100000
	done
}

# serve NAME COMMAND...: start a listening side in the background.  Its process is in $server, its
# output in $work/servers/NAME and NAME.err.
serve()
{
	local name=$1
	shift

	# await must not match the output of an earlier listening side of this name.
	rm -f "$work/servers/$name"
	"$@" >"$work/servers/$name" 2>"$work/servers/$name.err" </dev/null &
	server=$!
	await "$work/servers/$name" '^listening at ' && return
	not_ok "$* listens" "$(cat "$work/servers/$name" "$work/servers/$name.err")"
	tap_end
	exit 1
}

# offer NAME OPTION... PATH: start krdma serve in the background, with output as for serve().
offer()
{
	local name=$1
	shift

	# The loop below must not match the output of an earlier server of this name.
	rm -f "$work/servers/$name"
	krdma serve "$@" >"$work/servers/$name" 2>"$work/servers/$name.err" </dev/null &
	server=$!
	while kill -0 "$server" 2>/dev/null; do
		! grep -qs serving "$work/servers/$name" || return 0
		usleep 50000
	done
	not_ok "krdma serve $* serves" "$(cat "$work/servers/$name" "$work/servers/$name.err")"
	tap_end
	exit 1
}

# begin COMMAND...: start the command in the background.  Its process is in $client; its output is
# where that of try() is.
begin()
{
	# await must not match the output of an earlier command.
	rm -f "$work/out" "$work/err"
	"$@" >"$work/out" 2>"$work/err" </dev/null &
	client=$!
}

# gone PROCESS: wait until it ends by itself; kill it after $patience seconds.  Its exit status is
# in $status.
gone()
{
	local tries=0

	while kill -0 "$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt $((patience * 10)) ] || kill -KILL "$1"
		usleep 100000
	done
	status=0
	wait "$1" 2>/dev/null || status=$?
}

# finish: wait until the command of begin() ends by itself.
finish()
{
	gone "$client"
}

# leave SIGNAL PROCESS: send the signal, and wait until the process ends.  Its exit status is in
# $status.
leave()
{
	kill "-$1" "$2"
	gone "$2"
}

# stop_server NAME: end $server by SIGINT.  Its output is then that of the command tried last, and
# its status 0 if it has ended by that signal.
stop_server()
{
	leave INT "$server"
	[ "$status" = 130 ] && status=0 || status="$status, not 130"
	cp "$work/servers/$1" "$work/out"
	cp "$work/servers/$1.err" "$work/err"
}

# mend INTERFACE: if rxe cannot send a packet, for example because the cable on this side is pulled,
# the QP of the connection manager can go to error.  Then no connection can be made over the device
# any more.  In this case delete the device and add it again.  Fail if the QP is not in error.
mend()
{
	rdma resource show qp 2>/dev/null | grep -q ' type GSI state ERR' || return 1
	echo "# the manager's queue pair of rxe0 is in error: the device is made anew"
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev "$1"
}

# number FILE KEY: print the first whole number of KEY in JSON.
number()
{
	sed -n "s/.*\"$2\": \{0,1\}\([0-9][0-9]*\).*/\1/p" "$1" | head -n 1
}

# objects FILE PATTERN: print the number of lines that match PATTERN.
objects()
{
	grep -cE -- "$2" "$1"
}

# resources: print the number of objects of each RDMA device, to be compared.
resources()
{
	rdma resource show 2>/dev/null | sed 's/^[0-9]*: //'
}

# nothing_is_left BEFORE: within 30 s resources prints BEFORE again, and then no krdma runs.
nothing_is_left()
{
	local tries=0

	until [ "$(resources)" = "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || {
			resources
			rdma resource show qp 2>/dev/null
			rdma resource show cm_id 2>/dev/null
			return 1
		}
		usleep 100000
	done
	! pidof krdma >/dev/null
}
