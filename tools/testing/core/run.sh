#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Runs the tests of the core, inside a VM with krdma.ko loaded, and prints one
# TAP stream.
#
#	run.sh [CASE...]
#
# The modules, and user_memory, are beside it.  Every case runs over every RDMA
# device of this machine; those about addresses once more over IPv6.  CASE may
# also be "user_memory" or "samples".  KRDMA_STORM is how many seconds the storm
# lasts on each device (10; with 0 there is none); with KRDMA_TIMES=1 each case says how long it took.
# With KRDMA_QUICK=1 most cases of lanes run over rxe alone.

here=$(dirname "$0")
files=/sys/kernel/debug/krdma_core_test
objects=/sys/kernel/debug/krdma/objects

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
results=0
failures=0

result()
{
	results=$((results + 1))
	[ "$1" = ok ] || failures=$((failures + 1))
	echo "$1 $results - $2"
}

# While a storm blows, the device comes and goes.
unplug()
{
	local device=$1 provider=${1%[0-9]*} netdev=$2

	while [ -e "$work/storm" ]; do
		usleep 400000
		rdma link delete "$device"
		usleep 50000
		rdma link add "$device" type "${KRDMA_LINK:-$provider}" netdev "$netdev"
		usleep 800000
	done
}

# The kinds of krdma's objects of which there are more than there were.  Devices come and go
# here by themselves.
objects_more()
{
	awk 'NR == FNR { before[$1] = $2; next }
		$1 !~ /device$/ && $2 > before[$1] + 0 { printf " %s %d", $1, $2 - before[$1] }' "$work/objects" "$objects" 2>&1
}

# What ends by itself is waited for.  What is still there then is said, and not said again.
objects_left()
{
	local tries=0 left

	while left=$(objects_more) && [ -n "$left" ] && [ "$tries" -lt 40 ]; do
		usleep 250000
		tries=$((tries + 1))
	done
	cat "$objects" >"$work/objects"
	echo "$left"
}

check_objects()
{
	local left

	left=$(objects_left)
	[ -z "$left" ] || echo "# objects are left:$left"
	if [ -z "$left" ]; then
		result ok "$1 leaves no object of krdma's"
	else
		result "not ok" "$1 leaves no object of krdma's"
	fi
}

# run_case CASE ADDRESS LABEL
run_case()
{
	local line verdict='' said began left

	read -r began _ </proc/uptime
	if ! said=$( (echo "$1 $2" >"$files/run") 2>&1); then
		result "not ok" "$3: $1 (it does not run: $said)"
		return
	fi
	left=$(objects_left)
	[ -z "$left" ] || echo "# objects are left:$left"
	while IFS= read -r line; do
		case $line in
		"ok $1"*) verdict=${left:+not }ok ;;
		"not ok $1"*) verdict="not ok" ;;
		*) echo "$line"; continue ;;
		esac
		result "$verdict" "$3: ${line#*ok }"
	done <"$files/results"
	[ -n "$verdict" ] || result "not ok" "$3: $1 has ended"
	[ -z "${KRDMA_TIMES:-}" ] || echo "# $1: from $began to $(cut -d ' ' -f 1 /proc/uptime) s"
}

# run_device LABEL IPV4 IPV6 CASE...
run_device()
{
	local label=$1 ipv4=$2 ipv6=$3 name also
	shift 3

	while read -r name also; do
		case " $* " in
		"  " | *" $name "* | *" ${name%.*} "*) ;;
		*) continue ;;
		esac
		# Where krdma calls back is its own doing: rxe shows each place.
		case $label$*:$name in
		siw:*.softirq | siw:*.poll) continue ;;
		# What differs over iWARP.  What a peer of a trunk may say is the same.
		siw:lane_connects | siw:lane_messages.* | siw:lane_falls_back*) ;;
		siw:lane_listen_everywhere | siw:lane_idle_trunk) ;;
		siw:lane_*)
			[ -z "${KRDMA_QUICK:-}" ] || continue
			;;
		esac
		[ "$name" = storm ] || run_case "$name" "$ipv4" "$label"
		[ "$also" != addresses ] || run_case "$name" "$ipv6" "$label ipv6"
	done <<-END
	$(cat "$files/cases")
	END
}

load()
{
	local said

	if said=$(insmod "$here/$1.ko" 2>&1); then
		result ok "$1.ko loads"
	else
		result "not ok" "$1.ko loads ($said)"
		return 1
	fi
}

unload()
{
	local said

	if said=$(rmmod "$1" 2>&1); then
		result ok "$1 unloads"
	else
		result "not ok" "$1 unloads ($said)"
	fi
}

run_storm()
{
	: >"$work/storm"
	unplug "$1" "$2" 2>"$work/unplug" &
	run_case storm "$3" "${1%[0-9]*}"
	rm "$work/storm"
	wait
	if [ -s "$work/unplug" ] || [ ! -d "/sys/class/infiniband/$1" ]; then
		result "not ok" "$1 comes and goes ($(tail -n 1 "$work/unplug"))"
	else
		result ok "$1 comes and goes"
	fi
}

# The program of the kernel's harness, for one device: its results, renumbered.
run_user_memory()
{
	local line planned='' seen=0 name status

	"$here/user_memory" -v "$1" -v "${1}_pinned" >"$work/output" 2>&1
	status=$?
	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*)
			seen=$((seen + 1))
			name=${line#*ok }
			result "${line%%ok *}ok" "${name#* }"
			;;
		1..*) planned=${line#1..} ;;
		"TAP version"* | "#  RUN "* | "#            OK "* | "#      SKIP "* | "# PASSED"* | "# Starting"* | \
		"# Totals"*) ;;
		"#"*) echo "$line" ;;
		*) echo "# $line" ;;
		esac
	done <"$work/output"
	[ "$seen" = "$planned" ] || result "not ok" "user_memory ran to its end ($seen of ${planned:-?} tests)"
	[ "$status" -eq 0 ] || [ "$failures" -gt 0 ] || result "not ok" "user_memory exits with 0 (status $status)"
	check_objects user_memory
}

# The two samples: the one answers the other, over each device.
run_samples()
{
	local address said

	load krdma_echo || return
	for address in $addresses; do
		if said=$(insmod "$here/krdma_ping.ko" address="$address" 2>&1); then
			result ok "krdma_ping.ko is answered at $address"
			unload krdma_ping
		else
			result "not ok" "krdma_ping.ko is answered at $address ($said)"
		fi
	done
	unload krdma_echo
	# With nobody there it does not load, and says why.
	for address in $addresses; do
		said=$(insmod "$here/krdma_ping.ko" address="$address" 2>&1)
		case $said in
		*": Connection refused") result ok "krdma_ping.ko does not load with nobody at $address" ;;
		*) result "not ok" "krdma_ping.ko does not load with nobody at $address ($said)" ;;
		esac
		rmmod krdma_ping 2>/dev/null
	done
}

# The example of the tutorial for kernel modules, which is built without krdma's build system.
run_hello()
{
	local address said tries

	load hello_listen || return
	for address in $addresses; do
		if said=$(insmod "$here/hello_send.ko" peer="$address" 2>&1); then
			result ok "hello_send.ko has sent its message to $address"
			unload hello_send
		else
			result "not ok" "hello_send.ko has sent its message to $address ($said)"
		fi
	done
	# The sender does not wait until the receiver has printed its message.
	tries=0
	until [ "$(dmesg | grep -c 'hello_listen: received: hello from hello_send$')" = \
		"$(echo "$addresses" | wc -w)" ] || [ "$tries" -ge 40 ]; do
		usleep 250000
		tries=$((tries + 1))
	done
	if [ "$tries" -lt 40 ]; then
		result ok "hello_listen.ko has printed each message"
	else
		result "not ok" "hello_listen.ko has printed each message ($(dmesg | grep hello_listen))"
	fi
	unload hello_listen
	if said=$(insmod "$here/hello_send.ko" peer=10.77.0.1 2>&1); then
		result "not ok" "hello_send.ko does not load when nothing listens"
		rmmod hello_send
	else
		result ok "hello_send.ko does not load when nothing listens"
	fi
}

# In another network namespace, where the address is on a device of its own as it is
# in the first one: run_netns CASE...
in_netns()
{
	if ! { ip link add netns0 type dummy && ip link set netns0 up && ip link set lo up &&
	       ip addr add 10.79.9.1/24 dev netns0 && rdma link add rxe9 type rxe netdev netns0; }; then
		result "not ok" "netns: the device"
		return
	fi
	for name; do
		run_case "$name" 10.79.9.1 rxe
	done
	# Where it is not seen, it goes with its interface.
	rdma link delete rxe9 2>/dev/null
}

# The mode can change only while there is no other namespace, and the last one takes
# its time to go.
netns_mode()
{
	local tries=0

	while ! rdma system set netns "$1" 2>/dev/null; do
		tries=$((tries + 1))
		if [ "$tries" -gt 80 ]; then
			result "not ok" "netns: mode $1"
			return 1
		fi
		usleep 250000
	done
}

run_netns()
{
	ip addr add 10.79.9.1/24 dev dummy0
	enter_netns netns_connect
	enter_netns netns_apart
	enter_netns netns_lanes
	netns_mode exclusive && enter_netns netns_stranger
	netns_mode shared
	ip addr del 10.79.9.1/24 dev dummy0
}

# A process of its own, whose results count here.
enter_netns()
{
	unshare -n sh "$0" --netns "$results" "$failures" "$1" >"$work/netns"
	grep -v '^tally ' "$work/netns"
	read -r _ results failures <<-END
	$(grep '^tally ' "$work/netns")
	END
}

# What the devices count of their objects, without the devices' numbers, which change,
# as their order does.
resources()
{
	rdma resource show | sed 's/^[0-9]*: //' | sort
}

# Nothing of all this is left: what the connection manager keeps for a while goes.
check_resources()
{
	local tries=0

	while [ "$tries" -lt 40 ]; do
		[ "$(resources)" != "$before" ] || break
		usleep 250000
		tries=$((tries + 1))
	done
	if [ "$(resources)" = "$before" ]; then
		result ok "no object of a device is left"
	else
		echo "# before: $before"
		echo "# now:    $(resources)"
		result "not ok" "no object of a device is left"
	fi
}

cat "$objects" >"$work/objects" || result "not ok" "krdma's objects can be counted"
if [ "${1:-}" = --netns ]; then
	results=$2
	failures=$3
	# shellcheck disable=SC2086 # a list of words
	in_netns $4
	echo "tally $results $failures"
	exit
fi
echo "TAP version 13"
addresses=''
[ ! -d /sys/class/infiniband/rxe0 ] || addresses="10.77.0.1"
[ ! -d /sys/class/infiniband/siw0 ] || addresses="$addresses 10.78.0.1"
before=$(resources)
if load krdma_core_test; then
	echo "${KRDMA_STORM:-10}" >/sys/module/krdma_core_test/parameters/storm_seconds
	# Not where rxe works in threads: one that is held up at the wrong place uses a queue pair
	# that has been freed, see known-warnings.
	case $(uname -r) in
	6.1.*)
		echo Y >/sys/module/krdma_core_test/parameters/storm_stalls ||
			result "not ok" "processors can stand still"
		;;
	esac
	for address in $addresses; do
		case $address in
		10.77.*) run_device rxe 10.77.0.1 fd77::1 "$@" ;;
		10.78.*) run_device siw 10.78.0.1 fd78::1 "$@" ;;
		esac
	done
	if [ $# -eq 0 ] || [ "$*" = user_memory ]; then
		for address in $addresses; do
			case $address in
			10.77.*) run_user_memory rxe ;;
			10.78.*) run_user_memory siw ;;
			esac
		done
	fi
	if { [ $# -eq 0 ] && [ "${KRDMA_STORM:-10}" != 0 ]; } || [ "$*" = storm ]; then
		for address in $addresses; do
			case $address in
			10.77.*) run_storm rxe0 dummy0 10.77.0.1 ;;
			# Not siw: it reads its socket without the lock when a peer's data come
			# early, and the kernel says so.
			esac
		done
	fi
	if [ -d /sys/class/infiniband/rxe0 ] && { [ $# -eq 0 ] || [ "$*" = netns ]; }; then
		run_netns
	fi
	unload krdma_core_test
fi
if [ $# -eq 0 ] || [ "$*" = samples ]; then
	run_samples
	run_hello
fi
check_resources
check_objects "all of this"
echo "1..$results"
echo "# $results results, $failures failures"
[ "$results" -gt 3 ] && [ "$failures" -eq 0 ]
