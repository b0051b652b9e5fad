#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Copies files between two folders of one machine, whose clock counts instructions.  Prints a line
# for each way: its name, and thousand instructions for each MiB.
#
#	guest.sh MIB STREAMS
#
# Each way copies a short file and one that is MIB longer, several times; the least difference
# counts.  So what it costs to begin is not in it, nor what the machine does besides.

set -eu

readonly short=4 rounds=3
mib=$1 streams=$2
address=10.77.0.1
work=/tmp/files
there=$work/there here=$work/here

fail()
{
	echo "files: $*" >&2
	exit 1
}

# The time in which the processor was not idle, in ns.
busy()
{
	awk '/^now at/ { now = $3 }
		/\.idle_sleeptime/ { idle += $3 }
		END { printf "%.0f", now - idle }' /proc/timer_list
}

# count COMMAND...: sets $spent to its instructions, and those of the servers.
count()
{
	local before
	before=$(busy)
	"$@" >"$work/log" 2>&1 || fail "'$*' fails: $(cat "$work/log")"
	spent=$(($(busy) - before))
}

# way NAME FUNCTION: FUNCTION FILE copies FILE, from $there to $here or back.
way()
{
	local least=0 round=0 first

	while [ $round -lt $rounds ]; do
		rm -f "$here"/* "$there"/put.*
		count "$2" short
		first=$spent
		count "$2" long
		[ $least -ne 0 ] && [ $((spent - first)) -ge $least ] || least=$((spent - first))
		round=$((round + 1))
	done
	if [ -e "$here/long" ]; then
		cmp "$there/long" "$here/long" || fail "$1 has copied something else"
	else
		cmp "$there/long" "$there/put.long" || fail "$1 has copied something else"
	fi
	echo "$1 $((least / mib / 1000))"
}

get_one() { krdma get -q "$address:$1" "$here/$1"; }
get_several() { krdma get -q --streams "$streams" "$address:$1" "$here/$1"; }
put_one() { krdma put -q "$there/$1" "$address:put.$1"; }
put_several() { krdma put -q --streams "$streams" "$there/$1" "$address:put.$1"; }
by_rcopy() { rcopy "$there/$1" "$address:$there/put.$1"; }
get_rsync() { rsync -W "rsync://$address/there/$1" "$here/$1"; }
put_rsync() { rsync -W "$there/$1" "rsync://$address/there/put.$1"; }

mkdir -p "$there" "$here"
head -c $((short << 20)) /dev/urandom >"$there/short"
head -c $(((short + mib) << 20)) /dev/urandom >"$there/long"

krdma serve --write "$there" >"$work/serve" 2>&1 &
sleep 2
way get get_one
way "get.$streams" get_several
way put put_one
way "put.$streams" put_several
kill $!
if command -v rcopy >/dev/null; then
	rcopy >"$work/rcopy" 2>&1 &
	sleep 2
	way rcopy by_rcopy
	kill $!
fi
if command -v rsync >/dev/null; then
	printf 'use chroot = no\nuid = 0\ngid = 0\n[there]\npath = %s\nread only = no\n' "$there" \
		>"$work/rsyncd.conf"
	rsync --daemon --no-detach --address="$address" --config="$work/rsyncd.conf" \
		>"$work/rsyncd" 2>&1 &
	sleep 2
	way rsync-get get_rsync
	way rsync-put put_rsync
	kill $!
fi
wait
