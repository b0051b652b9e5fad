#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# One machine of tools/testing/power/run: says what is on the disk, and then transfers files there
# until the emulator is killed.
#
#	guest.sh check			only says what is on the disk
#	guest.sh BOOT WORKERS [OPTION]	OPTION is given to krdma serve, put and get
#
# /power/again has a line "FOLDER NAME VERSION" for each transfer that the last power cut
# interrupted.  It is repeated, with -C, before the worker goes on to others.

here=/power
host=10.77.0.1
source=/tmp/source

if ! mount -t ext4 /dev/vda /mnt 2>/dev/null; then
	mkdir -p /mnt
	mount -t ext4 /dev/vda /mnt || exit 1
fi
mkdir -p /mnt/there /mnt/here "$source"
for folder in there here; do
	"$here/content" check "/mnt/$folder" >/tmp/found || exit 1
	sed "s/^/found $folder /" /tmp/found
done
echo "checked"
if [ "$1" = check ]; then
	umount /mnt
	exit
fi

boot=$1 workers=$2 option=${3:-}

# serve NAME OPTION... FOLDER: starts a server, and waits until it serves.
serve()
{
	local name=$1
	shift

	# shellcheck disable=SC2086 # an option or none
	krdma serve $option --clients 128 --clients-per-address 128 "$@" >"/tmp/$name" 2>&1 &
	until grep -q serving "/tmp/$name"; do
		kill -0 $! || exit 1
		usleep 50000
	done
}

# transfer FOLDER NAME VERSION [-C]: puts a file into the folder that is served, or gets one into
# the other one.
transfer()
{
	local folder=$1 name=$2 version=$3 again=${4:-} said

	"$here/content" make "$source/$name" "$name" "$version" || exit 1
	echo "begin $folder $name $version"
	# shellcheck disable=SC2086 # options or none
	if [ "$folder" = there ]; then
		said=$(krdma put -q $option $streams $again "$source/$name" "$host/$name" 2>&1)
	else
		said=$(krdma get -q $option $streams $again "$host:7477/$name" "/mnt/here/$name" 2>&1)
	fi && echo "done $folder $name $version" || echo "failed $folder $name $version: $said"
}

# worker NUMBER: transfers versions of three files in turn, so that some files are new and some
# replace an older version; every third worker with three connections for each.
worker()
{
	local number=$1 folder=there round=0 again_folder name version

	[ $((number % 2)) = 0 ] || folder=here
	streams=''
	[ $((number % 3)) != 0 ] || streams='--streams 3'
	grep " w$number\\." "$here/again" | while read -r again_folder name version; do
		transfer "$again_folder" "$name" "$version" -C
	done
	while :; do
		round=$((round + 1))
		transfer $folder "w$number.$((round % 3))" $((boot * 100000 + round))
	done
}

serve puts --write /mnt/there
serve gets -P 7477 "$source"
while [ "$workers" -gt 0 ]; do
	worker "$workers" &
	workers=$((workers - 1))
done
wait
