# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# For tests of krdma with programs that do not know krdma ("strangers").  krdma runs on this
# machine.  The strangers run on it too, or with two machines on the other one.  The tests run
# inside a VM, from a folder with far.sh, tap.sh and peer.sh in it.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

# Addresses of both sides, for the parts of run.sh.
# shellcheck disable=SC2034 # for them
krdma_at=10.77.0.1
far_at=10.77.0.$NODES
far_port=9000

# far WORD...: let far.sh execute it; the output is in $work/out, the status in $status.
far()
{
	if [ "$NODES" = 1 ]; then
		echo "$*" | sh "$here/far.sh"
	else
		echo "$*" | nc "$far_at" $far_port
	fi >"$work/answer" 2>"$work/err"
	status=$(sed -n '$s/^status //p' "$work/answer")
	sed '$d' "$work/answer" >"$work/out"
	status=${status:-"unknown: no answer from the other side"}
}

# there COMMAND...: run a stranger until it ends; then ended() checks its output and status.
there()
{
	far run "$@"
}

# begin_there NAME COMMAND...: start a stranger in the background.
begin_there()
{
	far begin "$@"
}

# serve_there NAME PORT COMMAND...: start a stranger, and wait until it listens.
serve_there()
{
	local name=$1 port=$2
	shift 2

	far begin "$name" "$@"
	far listens "$port"
	[ "$status" = 0 ] && return
	far finish "$name"
	not_ok "$* listens" "$(tell)"
}

# finish_there NAME: wait until the stranger has ended by itself; then ended() checks it.
finish_there()
{
	far finish "$1"
}

# served NAME: wait until the listening side has ended by itself; then ended() checks it.
served()
{
	gone "$server"
	cp "$work/servers/$1" "$work/out"
	cp "$work/servers/$1.err" "$work/err"
}
