#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests the list of system calls in Documentation/howto/confine.rst: programs use no others.  Runs inside
# a VM with strace; see peer.sh.  Prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

# listed NAME: the system calls of one entry of the list, a line each.
listed()
{
	awk -v name="$1" '
		!/^    / { inside = 0; next }
		/^    [a-z]/ {
			inside = substr($0, 5, length(name) + 2) == (name "  ")
			sub(/^    [a-z]+( [a-z]+)?  +/, "")
		}
		inside { for (i = 1; i <= NF; i++) print $i }' "$here/confine.rst"
}

# made FILE: the system calls that strace has written.
made()
{
	sed -nE 's/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p' "$1" | sort -u
}

# only NAME FILE ENTRY...: the program has made no system call that is not in these entries.
only()
{
	local name=$1 file=$2 entry
	shift 2

	for entry; do
		listed "$entry"
	done >"$work/listed"
	made "$file" | grep -vxFf "$work/listed" >"$work/out"
	: >"$work/err"
	status=0
	holds "$name" [ -s "$work/listed" -a -s "$file" -a ! -s "$work/out" ]
}

# trace NAME COMMAND...
trace()
{
	local name=$1
	shift

	strace -f -o "$work/$name" "$@" >"$work/$name.out" 2>&1 </dev/null
}

cd "$work" || exit
head -c 100000 /dev/urandom >data
mkdir folder
trace server "$here/simple_server" &
# The server's output is in a file, which it writes at its end.
tries=0
until krdma stat listeners | grep -q simple_server || [ $tries = 60 ]; do
	tries=$((tries + 1))
	sleep 1
done
trace client "$here/simple_client" $host 7471 'good morning'
wait $!
holds "the client has its answer" grep -q 'GOOD MORNING' client.out
only "a server uses only the system calls of the list" server libkrdma libc
only "a client uses only the system calls of the list" client libkrdma libc
trace serve krdma serve --write folder &
await serve.out serving
trace put krdma put data $host/
trace get krdma get $host/data copy
killall -INT krdma
wait
holds "the file is copied" cmp data copy
only "krdma serve uses only the system calls of the list" serve libkrdma libc 'krdma serve'
only "krdma put uses only the system calls of the list" put libkrdma libc 'krdma copy'
only "krdma get uses only the system calls of the list" get libkrdma libc 'krdma copy'
(only "a shorter list" get libkrdma libc) >"$work/shorter"
holds "a system call that is not in the list is found" grep -q '^not ok' "$work/shorter"
tap_end
