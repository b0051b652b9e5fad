#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The storms of tools/testing/storm over disks of krdma_blk: fio writes, reads back and compares, on
# a disk, on ext4 and on XFS, while disturb.sh injects one fault after the other.  After each storm
# fio must have seen no error, the file systems must be sound, and nothing may be left behind.  Runs
# inside a VM with krdma.ko, the tool, fio, mkfs.ext4, e2fsck, and for XFS its modules, mkfs.xfs and
# xfs_repair; of two machines the second one serves, and its cable is pulled.  Prints TAP:
#
#	storm.sh STORM...
#
# KRDMA_SECONDS=N	each storm lasts N seconds (60)
# KRDMA_SEED=N		the seed of all random choices (1)
# KRDMA_PAUSE=MS	how long fio pauses after 16 requests (1000): then the clock can jump
#
# For a disk there are stop (of its users), unplug, provider, link, address, mtu, hotplug, clock,
# memory, between two machines cut and lossy, and in a kernel with fault injection failing.  The
# others are no storms for it:
#
# - kill and death kill processes that serve or are clients.  Here both ends are the kernel.  A
#   machine that has died has lost the memory that it served, and the disks are dead: see own.sh.
# - descriptors and memlock are about limits of processes that have connections.  Here none has.

# shellcheck source=tools/testing/blk/blk.sh
. "$(dirname "$0")/blk.sh"
# shellcheck source=tools/testing/storm/disturb.sh
. "$here/disturb.sh"

# No program listens for pings, so the manager refuses one, if it hears it.
reaches_itself()
{
	krdma ping -c 1 -W 3 "10.77.0.${NODE:-1}" 2>&1 | grep -q "connection refused"
}

# As there, but other disks are connected, so the packets of a ping cannot be told from theirs: two
# pings get no answer, one after the other.  A fault of krdma would look the same, so see
# mend_device().
manager_is_dumb()
{
	! reaches_itself && ! reaches_itself
}

# If it was the device's manager, connections are possible when the device is new.
mend_device()
{
	mend_dumb || return
	reaches_itself || reaches_itself ||
		problem "the manager of a new device does not answer either"
}

seconds=${KRDMA_SECONDS:-60}
seed=${KRDMA_SEED:-1}
pause=${KRDMA_PAUSE:-1000}
problems=$work/problems
interface=dummy0 there=10.77.0.1
if [ "${NODES:-1}" != 1 ]; then
	interface=eth0 there=10.77.0.2
fi
# shellcheck disable=SC2034 # for disturb.sh
there6=fd77::1
kinds="raw ext4"
[ ! -e "$here/modules/xfs.ko" ] || kinds="$kinds xfs"

#
# What disturb.sh takes from its own run.sh, and what is the same here
#

problem()
{
	echo "$*" >>"$problems"
}

roll()
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	rolled=$((seed / 65536 % $1))
}

doze()
{
	roll $(($2 - $1 + 1))
	usleep $((($1 + rolled) * 1000))
}

# now: seconds of uptime, because one of the storms sets the clock.
now()
{
	local time

	read -r time _ </proc/uptime
	echo "${time%.*}"
}

storming()
{
	[ "$(now)" -lt "$until" ] && [ ! -s "$problems" ]
}

pid_of()
{
	cat "$work/$1.pid"
}

someone()
{
	# shellcheck disable=SC2086 # words
	set -- $actors
	roll $#
	shift "$rolled"
	chosen=$1
}

resources()
{
	rdma resource show 2>/dev/null | sed 's/^[0-9]*: //' | sort
}

# same_again NAME WAS COMMAND...: wait up to a minute until COMMAND prints WAS.
same_again()
{
	local name=$1 was=$2 tries=0
	shift 2

	until [ "$("$@")" = "$was" ]; do
		tries=$((tries + 1))
		if [ $tries -gt 300 ]; then
			problem "$name: $was before, $("$@") after"
			return 1
		fi
		usleep 200000
	done
}

#
# What is disturbed
#

# attached NAME EXPORT: attach the device; of two machines the other one may not be ready.
attached()
{
	local tries=0

	device_make "$1" $there export="$2" hold_seconds=900 queues=2 || return
	until put "$config/devices/$1/enabled" 1 2>/dev/null; do
		mend
		tries=$((tries + 1))
		[ $tries -lt 120 ] || return
		usleep 500000
	done
}

# exported NAME MIB: the memory of one of the disks.
exported()
{
	[ "${NODES:-1}" != 1 ] || export_new "$1" "$2M"
}

# file_of KIND: set $file to what fio writes to, which is a new file system's, or the disk.
file_of()
{
	file=$(disk "$1")
	[ "$1" != raw ] || return 0
	case $1 in
	ext4) mkfs.ext4 -q "$file" ;;
	# It is smaller than XFS supports.
	xfs) mkfs.xfs -q -f --unsupported "$file" >/dev/null 2>&1 ;;
	esac
	mkdir -p "$work/$1" && mount -t "$1" "$file" "$work/$1" && file=$work/$1/file
}

# begin_storm NAME: export and attach the disks, and make the file systems.
begin_storm()
{
	local kind

	: >"$problems"
	echo "# storm $1, seed $seed, $seconds s, Linux $(uname -r)"
	echo "storm $1" >/dev/kmsg
	before=$(resources)
	actors=''
	for kind in $kinds; do
		if ! { exported "$kind" 64 && attached "$kind" "$kind" && file_of "$kind"; }; then
			problem "$kind: there is no disk"
		fi
	done
	# Attached again and again by one of the storms.
	exported more 1
}

# write_files FOLDER: copy a few files, compare them, and remove them, until the storm is over.
write_files()
{
	local rounds=0

	while [ ! -e $work/over ]; do
		cp -r $work/files "$1/copy" && sync && diff -r $work/files "$1/copy" &&
			rm -r "$1/copy" || return
		rounds=$((rounds + 1))
		sleep 4
	done
	echo "# $1: files were written $rounds times"
}

# clients COUNT: fio on each disk, as long as the storm, and files that come and go.
clients()
{
	local kind

	rm -f $work/over
	until=$(($(now) + seconds))
	for kind in $kinds; do
		file=$work/$kind/file
		[ "$kind" != raw ] || file=$(disk raw)
		# One process, so that it can be stopped.  One of the storms sets the clock.
		verified "$file" --size=32M --time_based --runtime="$seconds" --thread \
			--thinktime=$((pause * 1000)) --thinktime_blocks=16 \
			--clocksource=clock_gettime --fallocate=none >"$work/$kind.out" 2>&1 &
		echo $! >"$work/$kind.pid"
		actors="$actors $kind"
		[ "$kind" != raw ] || continue
		write_files "$work/$kind" >"$work/files-$kind.out" 2>&1 &
		echo $! >"$work/files-$kind.pid"
	done
}

# fail_to_attach: in a subshell, because its allocations fail from then on.
fail_to_attach()
(
	echo 1 >/proc/self/make-it-fail && echo 1 >$config/devices/more/enabled
)

# start NAME ROLE OPTION...: the only such process of the storms that are used here is one whose
# allocations fail.  It attaches a disk, again and again.
start()
{
	local times=0 attached=0

	device_make more $there
	(
		while [ ! -e $work/over ]; do
			times=$((times + 1))
			if fail_to_attach 2>/dev/null; then
				attached=$((attached + 1))
				put $config/devices/more/enabled 0 || exit
			fi
			usleep 100000
		done
		echo "# attached $attached times of $times"
		rmdir $config/devices/more
	) >"$work/$1.out" 2>&1 &
	echo $! >"$work/$1.pid"
}

# lost: what is to be known of disks that do not come back.
lost()
{
	local kind

	for kind in $kinds; do
		echo "# $kind: $(cat $config/devices/"$kind"/state $config/devices/"$kind"/error)"
		sed "s/^/# $kind: /" $config/exports/"$kind"/clients 2>/dev/null
	done
	rdma resource show qp | sed 's/^/# /'
	ip addr show dev "$interface" | sed 's/^/# /'
}

# ended NAME: wait for the process, which ends by itself, and must succeed.
ended()
{
	local waited=0

	while kill -0 "$(pid_of "$1")" 2>/dev/null; do
		mend
		# Every twelve seconds, which is longer than a connection takes.
		waited=$((waited + 1))
		[ $((waited % 12)) != 0 ] || mend_device
		# It writes for so long, and then reads what it has not yet read.
		if [ $waited -gt $((seconds + 120)) ]; then
			problem "$1 does not end"
			lost
			kill -KILL "$(pid_of "$1")"
			break
		fi
		sleep 1
	done
	wait "$(pid_of "$1")" ||
		problem "$1 ends with $?: $(grep -v '^3;' "$work/$1.out" | head -n 3)"
	# Fields of fio's line, in KiB.
	awk -F ';' -v name="$1" '/^3;/ { print "# " name ": " $47 " KiB written, " $6 " read" }
		/^#/' "$work/$1.out"
}

# sound KIND: the file system was left, and its checker finds nothing.
sound()
{
	umount "$work/$1" || return
	case $1 in
	ext4) e2fsck -fn "$(disk ext4)" ;;
	xfs) xfs_repair -n "$(disk xfs)" ;;
	esac >"$work/$1.check" 2>&1
}

# tell_of KIND: how often its connections were lost and made again.
tell_of()
{
	local disk

	disk=$(disk "$1")
	echo "# $1: connected again $(cat "/sys/block/${disk#/dev/}/krdma/reconnects") times"
}

# calm: the verdict after the storm.
calm()
{
	local kind

	touch $work/over
	for kind in $actors; do
		ended "$kind"
		[ ! -e "$work/files-$kind.pid" ] || ended "files-$kind"
	done
	rm -f $work/*.pid
	for kind in $kinds; do
		[ "$kind" = raw ] || sound "$kind" ||
			problem "$kind is not sound: $(head -n 5 "$work/$kind.check")"
		tell_of "$kind"
		device_end "$kind" || problem "$kind is not detached"
		[ "${NODES:-1}" != 1 ] || export_end "$kind" || problem "$kind is not ended"
	done
	[ "${NODES:-1}" != 1 ] || export_end more
	same_again "objects of devices" "$before" resources
	[ ! -s "$problems" ]
}

# holds NAME COMMAND...: the test passes if COMMAND succeeds.
holds()
{
	local name=$1
	shift

	if "$@"; then
		ok "disks: $name"
	else
		not_ok "disks: $name" "$(cat "$problems")"
	fi
}

# serve_others: the second machine serves until the first one has attached "goodbye".
serve_others()
{
	for kind in $kinds; do
		export_new "$kind" 64M || exit
	done
	export_new goodbye 64K || exit
	while [ "$(cat $config/exports/goodbye/accepted)" = 0 ] ||
	      [ "$(cat $config/exports/goodbye/connections)" != 0 ]; do
		mend
		usleep 200000
	done
	for kind in $kinds goodbye; do
		export_end "$kind" || exit
	done
	rmmod krdma_blk
	exit
}

for module in libcrc32c xfs; do
	[ ! -e "$here/modules/$module.ko" ] || insmod "$here/modules/$module.ko"
done
load_module || exit 1
[ "${NODE:-1}" = 1 ] || serve_others
mkdir $work/files
cp "$here"/*.sh $work/files/
# What uses a file system waits in the kernel until its disk has had connections for long enough.
echo 900 >/proc/sys/kernel/hung_task_timeout_secs
check "a storm is named" [ $# -gt 0 ]
for storm; do
	began=$(now)
	command -v "storm_$storm" >/dev/null || {
		not_ok "there is no storm $storm"
		continue
	}
	"storm_$storm"
	echo "# storm $storm took $(($(now) - began)) s"
done
if [ "${NODES:-1}" != 1 ]; then
	check "the other machine is told" attached goodbye goodbye
	device_end goodbye
fi
check "the module is unloaded" rmmod krdma_blk
tap_end
