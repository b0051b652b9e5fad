#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma serve on one machine, and krdma get and put on another, and pulls the cable between
# them.  For tools/vm/run --nodes 2; see peer.sh.  Machine 1 tests and prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

there=$work/there
mkdir -p "$there" "$work/here"
host=10.77.0.2 host6=fd77::2
mib=1048576

# Machine 2 serves until a client puts the file "goodbye".
if [ "${NODE:-1}" != 1 ]; then
	printf 123456789 >"$there/digits"
	head -c $((100 * mib)) /dev/urandom >"$there/large"
	head -c $((32 * mib)) "$there/large" >"$there/medium"
	sha1sum <"$there/medium" >"$there/medium.sum"
	sha1sum <"$there/large" >"$there/large.sum"
	krdma serve --write "$there" &
	server=$!
	limit=$(($(date +%s) + 600))
	while [ ! -e "$there/goodbye" ]; do
		if mend eth0; then
			leave INT "$server"
			krdma serve --write "$there" &
			server=$!
		fi
		[ "$(date +%s)" -lt $limit ] || {
			echo "# nobody has said goodbye in ten minutes"
			kill -KILL "$server"
			exit 1
		}
		usleep 200000
	done
	leave INT "$server"
	# It has ended by that signal.
	[ "$status" = 130 ]
	exit
fi

# soon COMMAND...: try until the command succeeds, for two minutes; each try may take one minute.
# If soon fails, the caller ends the test: nothing after it could succeed, and each command would
# wait for its timeout.
soon()
{
	local limit=$(($(date +%s) + 120))

	patience=60
	until try "$@"; [ "$status" = 0 ]; do
		mend eth0
		[ "$(date +%s)" -lt $limit ] || return 1
		usleep 500000
	done
	patience=120
}

# unreached: end the test.
unreached()
{
	tap_end
	exit 1
}

cd "$work/here" || exit 1
before=$(resources)

# Machine 2 makes its files before it serves.
soon krdma get -q $host/large.sum || {
	not_ok "the other machine serves" "not in two minutes: $(tell)"
	unreached
}
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
try krdma get -j --streams 8 $host/back eight
ended "they come over eight connections" 0 '"transferred":104857600' '"streams":8'
holds "and are what they were" [ "$(sha1sum <eight)" = "$(cat large.sum)" ]
rm -f large eight

# The data of one file waits behind that of another.
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
begin krdma get --progress --streams 8 $host/back
await "$work/err" ' +[1-9][0-9]*% '
vm-link 2 off
began=$(date +%s)
finish
took=$(($(date +%s) - began))
ended "a cable that is pulled ends it" 1 'does not answer|has ended'
holds "within half a minute ($took s)" [ "$took" -le 60 ]
holds "the part is there" [ -f "$(find . -name '.krdma-*.part')" -a ! -e back ]
try krdma doctor $host
ended "the doctor says so" 1 '^FAIL +(route|connect) '
vm-link 2 on
soon krdma get -q $host/digits || {
	not_ok "with the cable in again, it serves again" "not in two minutes: $(tell)"
	unreached
}
try krdma get -C -j --streams 8 $host/back
ended "then it goes on" 0 '"bytes":104857600' '!"resumed_from":0,' '"streams":8'
cp "$work/out" /out/get-apart-resumed.json
holds "and is what it was" [ "$(sha1sum <back)" = "$(cat large.sum)" ]

begin krdma put --progress --streams 8 back $host/forth
await "$work/err" ' +[1-9][0-9]*% '
vm-link 2 off
finish
ended "also while it puts" 1 'does not answer|has ended'
vm-link 2 on
# Until the server notices that the old client is gone, it reserves the partial file for it.
soon krdma put -q -C --streams 3 back $host/forth || {
	not_ok "with the cable in again, it goes on taking the file" "not in two minutes: $(tell)"
	unreached
}
try krdma get -q $host/forth
holds "then that goes on" [ "$(sha1sum <forth)" = "$(cat large.sum)" ]

: >goodbye
try krdma put goodbye $host/
ended "the other machine is told that this was all" 0 '!.'
holds "nothing is left of all this" nothing_is_left "$before"
tap_end
