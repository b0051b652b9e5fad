#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# krdma serve on one machine, krdma get and put on another, and a cable that is pulled: for
# tools/vm/run --nodes 2; see peer.sh.  The first one tests and prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

there=$work/there
mkdir -p "$there" "$work/here"
host=10.77.0.2 host6=fd77::2
mib=1048576

# The second one serves until it is given a file of this name.
if [ "${NODE:-1}" != 1 ]; then
	printf 123456789 >"$there/digits"
	head -c $((100 * mib)) /dev/urandom >"$there/large"
	head -c $((32 * mib)) "$there/large" >"$there/medium"
	sha1sum <"$there/medium" >"$there/medium.sum"
	sha1sum <"$there/large" >"$there/large.sum"
	krdma serve -w "$there" &
	server=$!
	while [ ! -e "$there/goodbye" ]; do
		usleep 200000
	done
	leave INT "$server"
	exit "$status"
fi

cd "$work/here" || exit 1
before=$(resources)

# As it makes its files, and serves when it has them.
tries=0
until krdma get -q $host/large.sum 2>/dev/null || [ $tries -ge 300 ]; do
	tries=$((tries + 1))
	usleep 500000
done
try krdma doctor $host 7476
ended "the other machine is reached" 0 '^OK +route +10\.77\.0\.2 is reached from rxe0$' \
	'^OK +connect +a program answers at 10\.77\.0\.2, port 7476$'
try krdma get $host/digits
holds "a file comes from another machine" [ "$(cat digits)" = 123456789 ]
try krdma get "[$host6]/digits" six
holds "over IPv6" [ "$(cat six)" = 123456789 ]
try krdma get node2/digits named
holds "from its name" [ "$(cat named)" = 123456789 ]
try krdma get --progress -j $host/large
ended "100 MiB come" 0 '"bytes":104857600,"transferred":104857600' '^large 100%'
cp "$work/out" /out/get-apart.json
holds "they are what they were" [ "$(sha1sum <large)" = "$(cat large.sum)" ]
try krdma put large $host/back
ended "100 MiB go" 0 '!.'
rm -f large

# Data of one file wait behind those of another.
try krdma get -q $host/medium.sum
for one in 1 2 3; do
	krdma get -q $host/medium several$one 2>"$work/several$one" &
	eval "several$one=\$!"
done
for one in 1 2 3; do
	eval "gone \$several$one"
	cp "$work/several$one" "$work/err"
	ended "three at a time: number $one" 0 '!.'
	holds "is what it was" [ "$(sha1sum <several$one)" = "$(cat medium.sum)" ]
done
rm -f several*

# The cable is pulled, and plugged in again.
begin krdma get --progress $host/back
await "$work/err" ' +[1-9][0-9]*% '
vm-link 2 off
began=$(date +%s)
finish
took=$(($(date +%s) - began))
ended "a cable that is pulled ends it" 1 'does not answer|has ended'
holds "within half a minute ($took s)" [ "$took" -le 60 ]
holds "the part is there" [ -e back.part -a ! -e back ]
try krdma doctor $host
ended "the doctor says so" 1 '^FAIL +(route|connect) '
vm-link 2 on
tries=0
until krdma get -q $host/digits 2>/dev/null || [ $tries -ge 100 ]; do
	tries=$((tries + 1))
	usleep 500000
done
try krdma get -c -j $host/back
ended "then it goes on" 0 '"bytes":104857600' '!"resumed_from":0,'
cp "$work/out" /out/get-apart-resumed.json
holds "and is what it was" [ "$(sha1sum <back)" = "$(cat large.sum)" ]

begin krdma put --progress back $host/forth
await "$work/err" ' +[1-9][0-9]*% '
vm-link 2 off
finish
ended "also while it puts" 1 'does not answer|has ended'
vm-link 2 on
tries=0
# Until the server has noticed too, it keeps its part for the client that was.
until krdma put -q -c back $host/forth 2>/dev/null || [ $tries -ge 100 ]; do
	tries=$((tries + 1))
	usleep 500000
done
try krdma get -q $host/forth
holds "then that goes on" [ "$(sha1sum <forth)" = "$(cat large.sum)" ]

: >goodbye
try krdma put goodbye $host/
ended "the other machine is told that this was all" 0 '!.'
holds "nothing is left of all this" nothing_is_left "$before"
tap_end
