#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests which clients may use an export of krdma_blk.  The two addresses of one machine stand for
# two hosts: a device loses the server when its address is removed, and another device attaches by
# the other address.  Runs inside a VM with krdma.ko, the tool and the program outsider.  Prints
# TAP.  Tests that depend on timing are repeated KRDMA_ROUNDS times.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"

first_address=10.77.0.1
other_address=fd77::1
rounds=${KRDMA_ROUNDS:-1}
# Hundredths of a second for an attempt to attach that is refused.  In the debug kernel one takes
# a second; one that waits takes another one.
prompt=60
[ "${KRDMA_SLOW:-0}" = 0 ] || prompt=150
interface=$(ip -o -4 addr show to $first_address | awk '{ print $2 }')
network=$(ip -o -4 addr show to $first_address | awk '{ print $4 }')

# await VALUE FILE: wait up to a minute until FILE contains VALUE.
await()
{
	local tries=300

	while [ "$(cat "$2" 2>/dev/null)" != "$1" ] && [ $tries -gt 0 ]; do
		usleep 200000
		tries=$((tries - 1))
	done
	[ "$(cat "$2" 2>/dev/null)" = "$1" ] || {
		echo "$2 says '$(cat "$2" 2>&1)', not '$1'"
		return 1
	}
}

# replaced EXPORT: the first device is cut off while it writes, and another writer attaches and
# detaches.  When the first device reaches the server again, it must not write the requests that it
# has held.
replaced()
{
	local export=$1 first writer failed=0

	device_new first $first_address export="$export" queues=2 hold_seconds=600 || return
	first=$(disk first)
	address_away
	write_direct $work/old "$first" 64k 2>$work/writer &
	writer=$!
	await holding $config/devices/first/state || failed=1
	await 0 "$config/exports/$export/connections" || failed=1
	device_new other $other_address export="$export" || failed=1
	write_direct $work/new "$(disk other)" 64k 2>/dev/null || failed=1
	device_end other || failed=1
	address_back

	await dead $config/devices/first/state || failed=1
	put $config/devices/first/force 1
	device_end first || failed=1
	if wait $writer; then
		echo "the write that was held has succeeded"
		failed=1
	fi
	device_new other $other_address export="$export" || failed=1
	same $work/new "$(disk other)" || failed=1
	device_end other || failed=1
	return $failed
}

# hundredths: of a second, since the start of the machine.
hundredths()
{
	cut -d ' ' -f 1 /proc/uptime | tr -d .
}

# turns NUMBER: NUMBER writers attach and detach, one after the other.
turns()
{
	local turn=0

	while [ $turn -lt "$1" ]; do
		device_new first $other_address export=own && device_end first || return
		turn=$((turn + 1))
	done
}

# often COMMAND...: COMMAND succeeds in each of $rounds runs.
often()
{
	local round=0 bad=0

	while [ $round -lt "$rounds" ]; do
		"$@" || bad=$((bad + 1))
		round=$((round + 1))
	done
	[ $bad = 0 ] || {
		echo "$bad of $rounds have failed"
		return 1
	}
}

check "the module is loaded" load_module
fill $work/old 1
fill $work/new 1

check "an export" export_new own 1M
# Proves: F3
check "a writer that was replaced does not return" often replaced own
check "and one for a single client" export_new alone 1M exclusive=1
# Proves: F3
check "a single client that was replaced does not return" often replaced alone

# Two clients at the same time.
check "a writer" device_new first $first_address export=own
device_make other $other_address export=own
# A refusal that waited would keep others from being answered.
since=$(hundredths)
refused "a second one is refused" "Connection refused" put $config/devices/other/enabled 1
# Proves: F3
check "at once" [ $(($(hundredths) - since)) -lt $prompt ]
is "and counted" 1 $config/exports/own/refused_busy
is "and told" "another client writes the export, or has it alone" $config/devices/other/error
put $config/devices/other/read_only 1
# Proves: F3
check "a reader is not" put $config/devices/other/enabled 1
refused "it does not write" "Operation not permitted" write_direct $work/old "$(disk other)"
check "what the other one writes" write_direct $work/old "$(disk first)"
check "it reads" same $work/old "$(disk other)"
check "each is listed" [ "$(awk '{ print $2 }' $config/exports/own/clients | sort | xargs)" = \
	"reader writer" ]
device_end other

# When a client detaches, the next one can attach at once.
check "the writer leaves" device_end first
is "and is not listed any more" "" $config/exports/own/clients
check "the next one is let in at once" device_new first $other_address export=own
device_end first
check "time and again" often turns 5
check "several may write where they are to" export_new both 1M shared=1
check "one does" device_new first $first_address export=both
check "and another one" device_new other $other_address export=both
device_end first
device_end other
export_make neither 1M shared=1 exclusive=1
refused "alone and shared is nothing" "Invalid argument" put $config/exports/neither/enabled 1
rmdir $config/exports/neither

# An administrator evicts a client.
device_new first $first_address export=own hold_seconds=600
device_new other $other_address export=own read_only=1
write_direct $work/new "$(disk first)"
writer=$(awk '$2 == "writer" { print $1 }' $config/exports/own/clients)
krdma blk clients own | sed "s/^/# /"
krdma blk clients -j own >/out/blk-clients.json
says "nobody is evicted by half a number" "no such" krdma blk evict own "${writer%?}"
says "nor by none" "not the number" krdma blk evict own first
says "nor by half a word" "not 'evi'" krdma blk evi own "$writer"
# Proves: F3
check "the writer is evicted" krdma blk evict own "$writer"
check "and has no connection when that is done" [ "$(awk '{ n += $3 } END { print n }' \
	$config/exports/own/clients)" = "$(cat $config/exports/own/connections)" ]
check "and is no client" [ "$(wc -l <$config/exports/own/clients)" = 1 ]
becomes "it does not return" dead $config/devices/first/state 60
is "and is told so" "the export is made anew or another client's, or this one was evicted" \
	$config/devices/first/error
refused "its requests fail" "Input/output error" read_one "$(disk first)"
check "the reader has noticed nothing" same $work/new "$(disk other)"
krdma blk detach -f first
check "it may attach the export anew" device_new first $first_address export=own
check "with what was written" same $work/new "$(disk first)"

# One host may have many addresses of its IPv6 network.
check "an export for many" export_new many 1M
number=1
while [ $number -le 40 ]; do
	ip -6 address add "fd77::99:$(printf %x $number)/64" dev "$interface" nodad
	number=$((number + 1))
done
check "clients come from 40 addresses of one network" sh -c \
	"$here/outsider crowd $other_address many 40 fd77::99: >$work/crowd || ! cat $work/crowd"
check "they are admitted" [ "$(grep -c '^welcome' $work/crowd)" -ge 36 ]
# Proves: F3
check "a network has three quarters of them" [ "$(wc -l <$config/exports/many/clients)" = 36 ]
while [ $number -gt 1 ]; do
	number=$((number - 1))
	ip -6 address del "fd77::99:$(printf %x $number)/64" dev "$interface"
done
check "there is space for others" device_new third $first_address export=many read_only=1
check "who leaves" device_end third
check "the export is ended" export_end many

# Data in use is destroyed only by force.
refused "an export with clients is not disabled" "Device or resource busy" \
	put $config/exports/own/enabled 0
refused "nor removed" "Device or resource busy" rmdir $config/exports/own
says "nor ended" "krdma blk clients own" krdma blk end own
says "by half a word neither" "not 'en'" krdma blk en own
refused "a device in use is not removed" "Device or resource busy" rmdir $config/devices/other
says "a device is not detached by half a word" "not 'de'" krdma blk de first
# Proves: F3
check "nothing has happened" same $work/new "$(disk other)"
put $config/devices/other/force 1
device_end other
device_end first
device_make other $other_address export=own read_only=1
put $config/devices/other/force 1
put $config/devices/other/enabled 1
is "force is reset when a device is attached" 0 $config/devices/other/force
device_end other
refused "one without clients is not removed either" "Device or resource busy" rmdir $config/exports/own
check "but ended" krdma blk end own
address_away
address_back
check "an export with a client" device_new first $first_address export=alone
check "is ended by force" krdma blk end -f alone
krdma blk detach -f first
says "an export for nobody" "permits no client" krdma blk serve -n nobody -s 1M
mkdir $config/exports/nobody
put $config/exports/nobody/size 1M
refused "is not enabled" "Destination address required" put $config/exports/nobody/enabled 1
refused "everybody and somebody is nothing" "Invalid argument" \
	put $config/exports/nobody/allow "any 10.0.0.0/8"
rmdir $config/exports/nobody
export_end both

# A list of networks is as long as it may be, or refused; no part of it is used.
network_of()
{
	printf 'fd00:1111:2222:3333:4444:5555:6666:77%02d/128' "$1"
}

nets=$(network_of 0)
number=1
while [ $number -lt 32 ]; do
	nets=$nets,$(network_of $number)
	number=$((number + 1))
done
# Proves: F3
check "an export for 32 networks" krdma blk serve -n nets -s 1M --allow "$nets"
is "has them all" "$(echo "$nets" | tr , '\n')" $config/exports/nets/allow
check "and lists them" sh -c "krdma blk list | grep -qF ' $(echo "$nets" | tr , ' ') '"
check "it is ended" krdma blk end nets
says "33 networks are refused" "not a valid allow" krdma blk serve -n nets -s 1M --allow "$nets,any"
blanks=$(printf %5000s '' | tr ' ' ,)
says "so is more than an attribute takes" "not a valid allow" \
	krdma blk serve -n nets -s 1M --allow "10.0.0.0/8$blanks,10.77.0.1"
check "there is no export" [ ! -e $config/exports/nets ]

# A name that no export can have is not cut to one that another may have.
long=own-and-more-than-an-export
device_make $long $first_address
is "the folder of a device is longer than the name of an export" "" $config/devices/$long/export
refused "so it is not attached without one" "Invalid argument" put $config/devices/$long/enabled 1
is "and says why" "export is not set" $config/devices/$long/error
rmdir $config/devices/$long

# The data of an export is kept in a file.
kept=$work/kept
check "an export that keeps its data" krdma blk serve -n kept -s 1M --allow any --keep $kept
check "is written" device_new first $first_address export=kept
write_direct $work/new "$(disk first)"
device_end first
check "and ended" krdma blk end kept
check "the file has the data" cmp $work/new $kept
check "and is for root alone" [ "$(stat -c %a $kept)" = 600 ]
says "another size is refused" "another size" krdma blk serve -n kept -s 2M --allow any --keep $kept
check "and leaves the file as it is" cmp $work/new $kept
check "an export of the same size" krdma blk serve -n kept -s 1M --allow any --keep $kept
check "empties it" [ ! -s $kept ]
device_new first $first_address export=kept
# Proves: F3
check "and has the data" same $work/new "$(disk first)"
write_direct $work/old "$(disk first)"
says "it is not ended while it has a client" "saved in $kept" krdma blk end kept
check "but by force" krdma blk end -f kept
# Proves: F3
check "and has saved what was written" cmp $work/old $kept
krdma blk detach -f first
krdma blk serve -n kept -s 1M --allow any --keep $kept
device_new first $first_address export=kept
write_direct $work/new "$(disk first)"
device_end first
rm $kept
mkdir $kept
says "data that cannot be kept are not thrown away" "cannot be saved" krdma blk end kept
device_new first $first_address export=kept
check "they are there" same $work/new "$(disk first)"
device_end first
says "until that is forced" "are lost" krdma blk end -f kept
check "then there is no export" [ ! -e $config/exports/kept ]
rmdir $kept

# The file system has not enough space.
mkdir $work/little
check "a file system that is too small" mount -t tmpfs -o size=600k none $work/little
check "an export that is to be kept there" \
	krdma blk serve -n kept -s 1M --allow any --keep $work/little/kept
check "is written" device_new first $first_address export=kept
write_direct $work/new "$(disk first)"
device_end first
says "it is not ended without space" "cannot be saved" krdma blk end kept
check "and there is no half of its data" [ ! -s $work/little/kept ]
device_new first $first_address export=kept
# Proves: F3
check "it has all of them" same $work/new "$(disk first)"
says "nor by force while it has a client, whose data were to be saved" "cannot be saved" \
	krdma blk end -f kept
krdma blk detach -f first
is "it is still there" 1 $config/exports/kept/enabled
is "and the next attempt is without force" 0 $config/exports/kept/force
says "which is not ended either" "It is still there" krdma blk end kept
check "its data are there" device_new first $first_address export=kept
# Proves: F3
check "all of them, still" same $work/new "$(disk first)"
device_end first
check "with space" mount -o remount,size=2M $work/little
check "it is ended" krdma blk end kept
# Proves: F3
check "and the data are kept" cmp $work/new $work/little/kept
check "another one has a client" krdma blk serve -n kept -s 1M --allow any --keep $work/little/kept
check "that writes" device_new first $first_address export=kept
write_direct $work/old "$(disk first)"
mount -o remount,size=600k $work/little
says "force saves what has arrived, or nothing happens" "It is still there" krdma blk end -f kept
krdma blk detach -f first
says "without clients it destroys the data, and says so" "are lost" krdma blk end -f kept
check "and there is no export any more" [ ! -e $config/exports/kept ]
umount $work/little
rmdir $work/little
ln -s $work/new $kept
says "a link is not followed" "Too many" krdma blk serve -n kept -s 1M --allow any --keep $kept
rm $kept
mkdir $config/exports/kept
refused "a path from anywhere" "Invalid argument" put $config/exports/kept/file kept
rmdir $config/exports/kept

# The only address where the server listens has no device any more.
put $config/listen $first_address
check "an export at one address keeps its data" krdma blk serve -n kept -s 1M --allow any --keep $kept
check "is written, too" device_new first $first_address export=kept
write_direct $work/new "$(disk first)"
device_end first
rm $kept
mkdir $kept
rdma link delete rxe0
says "without its device they are not thrown away either" "cannot be saved" krdma blk end kept
rdma link add rxe0 type rxe netdev "$interface"
device_make first $first_address export=kept
tries=0
until put $config/devices/first/enabled 1 2>/dev/null || [ $tries -ge 50 ]; do
	tries=$((tries + 1))
	usleep 200000
done
# Proves: F3
check "they are there when it is back" same $work/new "$(disk first)"
device_end first
rmdir $kept
check "and kept in the end" krdma blk end kept
touch $work/before
sleep 1
rdma link delete rxe0
says "without it nothing is enabled" . krdma blk serve -n kept -s 1M --allow any --keep $kept
rdma link add rxe0 type rxe netdev "$interface"
check "the file has the data" cmp $work/new $kept
check "and had them all the time" [ ! $kept -nt $work/before ]
rm $kept
put $config/listen "[::]:7475"

# refused_secret NAME CONTENTS PATTERN: an export with this secret file is refused.  A secret is
# used exactly as given, or not at all.
refused_secret()
{
	(umask 077; printf '%b' "$2" >$work/odd)
	says "$1" "$3" krdma blk serve -n odd -s 1M -k $work/odd
	check "$1: and there is no export" [ ! -e $config/exports/odd ]
}

refused_secret "a secret with an empty first line" '\nsecret\n' "one line of printable"
refused_secret "a secret of two lines" 'first\nsecond\n' "one line of printable"
refused_secret "a secret with a zero" 'first\000second' "one line of printable"
refused_secret "an empty line" '\n' "there is no secret"
refused_secret "an empty file" '' "there is no secret"
refused_secret "a secret that is too long" "$(printf %065d 1)" "longer than 64"
echo secret >$work/odd
chmod 640 $work/odd
refused_secret "a secret that others may read" 'secret\n' "other users can read it"
mkdir $config/exports/odd
refused "no secret" "Invalid argument" put $config/exports/odd/secret ""
refused "a line end within" "Invalid argument" put $config/exports/odd/secret "a
b"
put $config/exports/odd/file "$(printf '/tmp/a\033b')"
check "a path is listed without control characters" sh -c "krdma blk list | grep -qF '/tmp/a\\x1bb'"
check "also in JSON" sh -c "krdma blk list -j | grep -qF '/tmp/a\\\\x1bb'"
rmdir $config/exports/odd
check "the module is unloaded" rmmod krdma_blk
tap_end
