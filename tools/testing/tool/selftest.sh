#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma selftest on one machine.  Runs inside a VM; see peer.sh.  At its end it removes the
# RDMA device and adds it again.  Prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

before=$(resources)
# A complete selftest takes longer than other commands.
patience=400

try krdma selftest --report /out/selftest.json --cycles 20 -t 600 rxe0
# Proves: F9
ended "all of it passes over rxe" 0 '^testing rxe0 with itself$' '^PASS +connect ' \
	'^PASS +send +[0-9]+ sizes from 0 to 1048576 bytes$' '^PASS +send-immediate ' \
	'^PASS +inline ' '^PASS +read ' '^PASS +compare-swap ' '^PASS +shared-receive-queue ' \
	'^PASS +no-right-to-write +remote access error, ' '^PASS +peer-killed ' \
	'^NOT ASKED +unplug ' ' passed, 0 failed, 0 not offered, 0 not run$' \
	'^The report is in /out/selftest\.json: ' '!FAIL' '!NOT RUN'
krdma selftest --list >"$work/names"
holds "there is a line for each check" \
	[ "$(grep -c '^[PFN][A-Z ]*  ' "$work/out")" = "$(wc -l <"$work/names")" ]
cp /out/selftest.json "$work/out"
# Proves: F9
ended "the report has what one wants to know" 0 '"kernel": *"6\.1' '"driver": *"rdma_rxe"' \
	'"max_send_wr": *[0-9]' '"state": *"active"' '"result": *"passed"' '"complete": *true' \
	'"path_mtu": *1024' '!10\.77' '!fd77' '!dummy0' "!$(hostname)" '!guid"'
try krdma selftest -j --addresses --only connect rxe0
ended "addresses are in it when asked for" 0 '^\{"about":"krdma selftest; with names' \
	'"address":"10\.77\.0\.1"' '"netdev_name":"dummy0"' '"node_guid":"'
cp "$work/out" /out/selftest-addresses.json
try krdma selftest -q --only send rxe0
ended "quietly" 0 '^[0-9]+ passed, 0 failed' '!PASS'
try krdma selftest -6 --only fetch rxe0
ended "over IPv6" 0 '^PASS +fetch-add ' '^1 passed'
try krdma selftest --memory 2M --only register rxe0
ended "with little memory" 0 '^PASS +register +4KiB to 2MiB,'

# The other end is a separate process, as on another machine

krdma selftest --listen >"$work/served" 2>&1 &
server=$!
await "$work/served" '^listening at '
try krdma selftest --peer $host --only send rxe0
ended "with a peer" 0 "^testing rxe0 with 10\.77\.0\.1$" '^PASS +send ' ' 0 failed'
try krdma selftest --peer $host6 --only peer-killed rxe0
ended "whose process is killed" 0 '^PASS +peer-killed '
(echo "nonsense"; cat /bin/busybox) | timeout 5 nc 127.0.0.1 7179 >/dev/null 2>&1
try krdma selftest --peer $host --only connect rxe0
ended "a stranger did not disturb it" 0 '^PASS +connect '
begin krdma selftest --peer $host rxe0
await "$work/out" '^PASS +send '
leave KILL "$server"
finish
ended "a far end that dies is a failure" 1 '^FAIL .*the far end has died' 'not complete|failed'
try krdma selftest --peer $host rxe0
ended "that nobody serves is said, and what to do" 1 \
	'cannot connect to 10\.77\.0\.1, TCP port 7179: ' 'krdma selftest --listen$'

# A far end that answers the first request of a test, with a version that is no text.
{
	printf '\0\0\0\0\0\0\0\0krdmaST1\1\0\0\0\0\0\0\0\033[31m\377'
	dd if=/dev/zero bs=34 count=1 2>/dev/null
	usleep 500000
} | timeout 60 nc -l -p 7180 >/dev/null 2>&1 &
far=$!
# Until it listens at the port, which is 0x1c0c.
until grep -q ':1C0C .* 0A ' /proc/net/tcp /proc/net/tcp6; do
	usleep 100000
done
try krdma selftest -j --peer $host -P 7180 -W 1 --only connect rxe0
ended "a far end's version is text" 1 '"peer_version":"\?\[31m\?"'
cp "$work/out" /out/selftest-far-text.json
wait "$far" || :

# Interruption, and missing permissions

begin krdma selftest --report "$work/report" rxe0
await "$work/out" '^PASS +send '
leave INT "$client"
ended "Ctrl-C ends it" 130 '; not complete$' '^The report is in '
holds "and the report says so" grep -q '"complete": *false' "$work/report"
holds "and nothing is left" nothing_is_left "$before"
try krdma selftest --report "$work/none/report" --only connect rxe0
ended "a report that cannot be written is a failure" 1 'cannot write the report to '
mknod "$work/null" c 1 3
try krdma selftest --report "$work/null" --only connect rxe0
ended "a report is written to a device" 0 '^The report is in .*/null: '
holds "and does not replace it" [ -c "$work/null" ]
ln -s null "$work/link"
try krdma selftest --report "$work/link" --only connect rxe0
ended "a link to a device is not followed" 1 'cannot write the report to '
holds "nor replaced" [ -L "$work/link" -a -c "$work/null" ]
ln -sf /proc/self/fd/1 "$work/stdout"
try krdma selftest --report "$work/stdout" --only connect rxe0
ended "a report is written to standard output" 0 '^PASS +connect ' '"complete": *true' \
	'^The report is in .*/stdout: '
holds "which stays where it was" [ -L "$work/stdout" ]
try krdma selftest --report "$work" --only connect rxe0
ended "a folder is no place for a report" 1 'cannot write the report to .*: Is a directory$'
chmod 666 /dev/krdma
try su -s /bin/sh nobody -c 'ulimit -l 8192; krdma selftest --only register rxe0'
ended "memory that may not be locked is no failure of the device" 1 \
	'^NOT RUN +register +64MiB cannot be locked here'
try su -s /bin/sh nobody -c 'krdma selftest --unplug rxe0'
ended "unplug is for root" 1 'cannot remove the device: only root may'
chmod 600 /dev/krdma

# Faults, and the check that detects each of them

# notices FAULT CHECK [PATTERN]: with FAULT injected, CHECK fails; its line has PATTERN.
notices()
{
	try env KRDMA_FAULT="$1" "$here/faulty" selftest -W 2 --cycles 2 --only "$2" rxe0
	ended "the fault $1 is noticed by $2" 1 "^FAIL +$2 .*${3-}"
}

try "$here/faulty" selftest --cycles 2 --only s rxe0
# Proves: F9
ended "without a fault nothing fails" 0 ' 0 failed'
notices send-bit send '1 bytes are wrong'
notices send-bit inline 'bytes are wrong'
notices write-bit write '1 bytes are wrong'
notices write-elsewhere write
notices read-elsewhere read 'bytes are wrong'
notices receive-elsewhere send 'outside are wrong|bytes are wrong'
notices immediate send-immediate 'immediate data'
notices immediate write-immediate 'immediate data'
notices swap compare-swap
notices add fetch-add
notices atomic-write atomic-write
notices status no-right-to-write 'success instead of remote access error'
notices status disconnect
notices length send
notices order order 'another operation'
notices lost order
notices no-depth send-queue-full 'succeeds instead of EAGAIN'
notices no-depth receive-queue-full 'succeeds instead of EAGAIN'
notices no-depth shared-receive-queue
notices no-length inline 'succeeds instead of EMSGSIZE'
notices no-length send-sge 'succeeds instead of EMSGSIZE'
notices no-local-rights local-rights 'succeeds instead of EACCES'
notices rights no-right-to-write
notices rights no-right-to-read
notices rights no-right-to-atomics
notices no-release released-memory
notices private-data connect 'private data'
notices no-disconnect disconnect 'does not end'
notices no-death peer-killed 'go on'

# Unplug

try krdma selftest --unplug --only unplug rxe0
# Proves: F9
ended "the device is removed under its work" 0 '^PASS +unplug +removed after ' \
	'rxe0 has been removed; this brings it back' \
	'^rdma link add rxe0 type rxe netdev dummy0$'
try krdma selftest rxe0
ended "a device that is not there" 1 "cannot test 'rxe0': there is no RDMA device of that name"
sh -c "$(grep '^rdma link add' "$work/err" || echo 'rdma link add rxe0 type rxe netdev dummy0')"
try krdma selftest --only connect rxe0
ended "and comes back" 0 '^PASS +connect '

# wrong NAME PATTERN ARGUMENT...: selftest refuses these arguments.
wrong()
{
	local name=$1 pattern=$2
	shift 2

	try krdma selftest "$@"
	ended "$name" 2 "^krdma: $pattern"
}

wrong "no device" 'no device is given'
wrong "two devices" "'krdma selftest' takes one device" rxe0 rxe1
wrong "a device to serve" '--listen takes no device' --listen rxe0
wrong "a report of the serving side" '--report is for the side that tests' --listen --report x
wrong "JSON of the serving side" '--listen prints text only' --listen -j
wrong "JSON of the names" '--list prints text only' --list -j
wrong "a limit of the testing side" '--max-memory is for --listen' --max-memory 1M rxe0
wrong "no time" '-W and -t must be' -t 0 rxe0
wrong "too little memory" '--memory must be at least 2MiB' --memory 4k rxe0
try krdma selftest --only nonsense rxe0
ended "no such check" 1 "cannot run 'nonsense'"
try krdma selftest --help
ended "help is there" 0 '^Usage: krdma selftest ' 'krdma-selftest\(8\)'

holds "nothing is left behind" nothing_is_left "$before"
tap_end
