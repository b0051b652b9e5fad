# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of the tool's commands for two sides share.  They run inside a VM, from a
# folder with this file and tap.sh in it:
#
#	tools/vm/run --file tools/testing/tool:/tool --file tools/testing/tap.sh:/tool/tap.sh \
#		-- sh /tool/ping.sh
#
# What they leave in /out (tools/vm/run --out DIR) is JSON and pictures, to be looked at
# by those who have the programs for it.

# shellcheck disable=SC2034 # for the tests
host=10.77.0.1 host6=fd77::1

# Nothing takes so long, however busy the machine is.
patience=120

work=$(mktemp -d) || exit 1
mkdir -p "$work/servers" /out
trap 'rm -rf "$work"' EXIT

# try COMMAND...: its output is in $work/out and $work/err, its status in $status.  One
# that hangs ends with 137.
try()
{
	status=0
	timeout -s KILL "$patience" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# What was tried last, for a person.
tell()
{
	echo "status $status"
	sed 's/^/out: /' "$work/out" | tail -n 20
	sed 's/^/err: /' "$work/err" | tail -n 20
}

# printed PATTERN: in what was printed last, by either stream.
printed()
{
	cat "$work/out" "$work/err" | grep -qE -- "$1"
}

# ended NAME STATUS PATTERN...: what was tried last ended so, and printed all of them; a
# pattern after "!" was not printed.
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

# holds NAME COMMAND...: it succeeds.
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

# await FILE PATTERN: until it is there; fails if it never is.
await()
{
	local tries=0

	until grep -qE -- "$2" "$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt $((patience * 10)) ] || return 1
		usleep 100000
	done
}

# serve NAME COMMAND...: a listening side in the background; its process is in $server,
# its output in $work/servers/NAME and NAME.err.
serve()
{
	local name=$1
	shift

	# One of that name may have listened before.
	rm -f "$work/servers/$name"
	"$@" >"$work/servers/$name" 2>"$work/servers/$name.err" </dev/null &
	server=$!
	await "$work/servers/$name" '^listening at ' && return
	not_ok "$* listens" "$(cat "$work/servers/$name" "$work/servers/$name.err")"
	tap_end
	exit 1
}

# begin COMMAND...: in the background, its process in $client; its output is what was
# tried last.
begin()
{
	# What was there before is not for those who await something.
	rm -f "$work/out" "$work/err"
	"$@" >"$work/out" 2>"$work/err" </dev/null &
	client=$!
}

# gone PROCESS: it ends by itself; its status in $status.
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

# finish: what was begun ends by itself.
finish()
{
	gone "$client"
}

# leave SIGNAL PROCESS: it ends after this signal; its status in $status.
leave()
{
	kill "-$1" "$2"
	gone "$2"
}

# stop_server NAME: politely; what it printed is then what was tried last.
stop_server()
{
	leave INT "$server"
	cp "$work/servers/$1" "$work/out"
	cp "$work/servers/$1.err" "$work/err"
}

# mend INTERFACE: what cannot be sent, such as with the cable pulled on this side, can be the
# end of rxe's queue pair for the connection manager, and nobody connects over the device any
# more.  Who sees that makes the device anew; fails if that is not what is wrong.
mend()
{
	rdma resource show qp 2>/dev/null | grep -q ' type GSI state ERR' || return 1
	echo "# the manager's queue pair of rxe0 is in error: the device is made anew"
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev "$1"
}

# number FILE KEY: the first whole number that JSON has there.
number()
{
	sed -n "s/.*\"$2\": \{0,1\}\([0-9][0-9]*\).*/\1/p" "$1" | head -n 1
}

# objects FILE PATTERN: how many lines match.
objects()
{
	grep -cE -- "$2" "$1"
}

# What the device has, for a comparison.
resources()
{
	rdma resource show 2>/dev/null | sed 's/^[0-9]*: //'
}

# nothing_is_left BEFORE: all that was made is gone, a moment later at the latest.
nothing_is_left()
{
	local tries=0

	until [ "$(resources)" = "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || {
			resources
			return 1
		}
		usleep 100000
	done
	! pidof krdma >/dev/null
}
