# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# The faults of the storms; run.sh has the functions that they use.
# shellcheck disable=SC2034,SC2154 # they are those of run.sh

# Processes

storm_kill()
{
	begin_storm kill
	clients 3
	while storming; do
		doze 50 600
		someone
		kill -KILL "$(pid_of "$chosen")"
		again "$chosen"
	done
	# Proves: A18, F4
	holds "processes are killed" calm
}

# While a process is stopped, its events and completions wait, and its peers wait for it.
storm_stop()
{
	begin_storm stop
	clients 2
	while storming; do
		doze 50 300
		someone
		kill -STOP "$(pid_of "$chosen")"
		doze 100 1200
		kill -CONT "$(pid_of "$chosen")"
	done
	# Proves: F4
	holds "processes are stopped and go on" calm
}

# Devices

unplug()
{
	rdma link delete rxe0 || problem "rxe0 cannot be deleted"
	doze 0 300
	plug
}

plug()
{
	rdma link add rxe0 type rxe netdev "$interface" || problem "rxe0 cannot be added"
}

storm_unplug()
{
	begin_storm unplug
	clients 2
	while storming; do
		doze 100 1200
		unplug
	done
	# Proves: F5
	holds "the device comes and goes" calm
}

# Delete the device first: on 7.2 the module is in use as long as its device exists.
unload_provider()
{
	local tries=0

	rdma link delete rxe0 || problem "rxe0 cannot be deleted"
	until rmmod rdma_rxe 2>/dev/null; do
		tries=$((tries + 1))
		if [ $tries -gt 100 ]; then
			problem "the provider does not unload: $(cat /sys/module/rdma_rxe/refcnt)"
			return
		fi
		usleep 100000
	done
}

storm_provider()
{
	begin_storm provider
	clients 2
	while storming; do
		doze 100 1200
		unload_provider
		doze 0 300
		modprobe rdma_rxe || problem "the provider does not load"
		plug
	done
	# Proves: F5
	holds "the provider's module comes and goes" calm
}

# The network.  If rxe cannot send a message of the connection manager, the manager's QP (the GSI
# QP) fails.  From then on no connection over the device is possible, with krdma or without, until
# the device is deleted and added again.

manager_is_dead()
{
	rdma resource show qp 2>/dev/null | grep -q ' type GSI state ERR'
}

# mend: delete and add the device, as an administrator would in that state.  Fails if the GSI QP
# is not in error: then connecting fails for another reason.
mend()
{
	manager_is_dead || return 1
	echo "# the manager's queue pair of rxe0 is in error: the device is made anew"
	unplug
}

# On 6.1 the state of the GSI QP does not show it: the QP works again in one direction only.  Then
# a ping to this machine's own address does not leave, or does not arrive, by rxe's packet
# counters.  The check is valid only without other traffic, that is after the storm.
manager_is_dumb()
{
	local counters=/sys/class/infiniband/rxe0/ports/1/hw_counters sent received

	sent=$(cat $counters/sent_pkts) received=$(cat $counters/rcvd_pkts)
	krdma ping -c 1 -W 3 "10.77.0.${NODE:-1}" >/dev/null 2>&1
	[ "$(cat $counters/sent_pkts)" = "$sent" ] || [ "$(cat $counters/rcvd_pkts)" = "$received" ]
}

mend_dumb()
{
	manager_is_dumb || return 1
	echo "# rxe0 does not hear what the manager says to itself: the device is made anew"
	unplug
}

storm_link()
{
	begin_storm link
	clients 2
	while storming; do
		doze 100 800
		ip link set "$interface" down
		doze 0 800
		# The interface loses its IPv6 addresses when it goes down.
		ip link set "$interface" up
		ip -6 addr add "fd77::${NODE:-1}/64" dev "$interface" 2>/dev/null
		roll 3
		if [ "$rolled" = 0 ]; then
			unplug
		else
			mend
		fi
	done
	# Proves: F5
	holds "the interface goes down and up" calm
}

storm_address()
{
	begin_storm address
	clients 2
	while storming; do
		doze 100 600
		ip addr del "10.77.0.${NODE:-1}/24" dev "$interface"
		doze 0 500
		ip addr add "10.77.0.${NODE:-1}/24" dev "$interface"
		doze 0 300
		ip -6 addr del "fd77::${NODE:-1}/64" dev "$interface"
		doze 0 500
		ip -6 addr add "fd77::${NODE:-1}/64" dev "$interface"
		roll 3
		if [ "$rolled" = 0 ]; then
			unplug
		else
			mend
		fi
	done
	# Proves: F5
	holds "addresses are removed and come back" calm
}

storm_mtu()
{
	local mtu

	begin_storm mtu
	mtu=$(cat "/sys/class/net/$interface/mtu")
	clients 2
	while storming; do
		doze 20 500
		roll 5
		case $rolled in
		0) ip link set "$interface" mtu 1280 ;;
		1) ip link set "$interface" mtu 1500 ;;
		2) ip link set "$interface" mtu 2200 ;;
		3) ip link set "$interface" mtu 4200 ;;
		4) ip link set "$interface" mtu 9000 ;;
		esac
	done
	ip link set "$interface" mtu "$mtu"
	# Proves: F5
	holds "the MTU changes" calm
}

# The machine

storm_hotplug()
{
	local online=/sys/devices/system/cpu/cpu1/online

	begin_storm hotplug
	clients 2
	while storming; do
		doze 50 500
		echo 0 >$online || problem "a processor does not leave"
		doze 50 500
		echo 1 >$online || problem "a processor does not come back"
	done
	# Proves: F5
	holds "a processor leaves and comes back" calm
}

storm_clock()
{
	local monotonic real

	begin_storm clock
	monotonic=$(now)
	real=$(date +%s)
	clients 2
	while storming; do
		doze 20 300
		roll 200000
		date -s "@$((1700000000 + rolled * 1000))" >/dev/null ||
			problem "the clock cannot be set"
	done
	date -s "@$((real + $(now) - monotonic))" >/dev/null
	# Proves: F5
	holds "the clock jumps" calm
}

# Resources that run out

storm_descriptors()
{
	begin_storm descriptors
	clients 2
	# The limit of file descriptors allows some of its connections, but not all of them.
	start client3 ask -a "$there" -n 12 -f 24 -s "$seed"
	actors="$actors client3"
	while storming; do
		usleep 200000
	done
	# Proves: F5
	holds "descriptors run out" calm
}

storm_memlock()
{
	begin_storm memlock
	clients 2
	# The limit allows one of six connections; it applies because the user is not root.
	start client3 ask -a "$there" -n 6 -l 204800 -u 65534 -s "$seed"
	actors="$actors client3"
	while storming; do
		usleep 200000
	done
	# Proves: F5
	holds "memory that may be locked runs out" calm
}

# fill NAME LEAVE: fill the memory, up to LEAVE MiB that stay available.
fill()
{
	local available

	available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	[ "$available" -le "$2" ] ||
		dd if=/dev/zero of="$work/fill/$1" bs=1M count=$((available - $2)) 2>/dev/null
}

# Memory becomes so short that the kernel must reclaim pages, but not so short that it must kill
# a process.
storm_memory()
{
	begin_storm memory
	mkdir "$work/fill"
	mount -t tmpfs -o size=100% tmpfs "$work/fill"
	fill most 150
	clients 2
	while storming; do
		fill rest 50
		echo 3 >/proc/sys/vm/drop_caches
		doze 0 500
		rm -f "$work/fill/rest"
		echo 1 >/proc/sys/vm/compact_memory
		doze 0 300
	done
	umount "$work/fill"
	holds "memory is short" calm
}

# fail_allocations PERCENT: make allocations of threads fail that have set make-it-fail.
fail_allocations()
{
	local attr

	for attr in failslab fail_page_alloc; do
		attr=/sys/kernel/debug/$attr
		echo 0 >$attr/verbose
		echo 1 >$attr/task-filter
		echo N >$attr/ignore-gfp-wait
		echo -1 >$attr/times
		echo "$1" >$attr/probability
	done
	[ ! -e /sys/kernel/debug/fail_page_alloc/min-order ] ||
		echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}

storm_failing()
{
	begin_storm failing
	clients 1
	start client2 ask -a "$there6" -n 4 -F -s "$seed"
	actors="$actors client2"
	fail_allocations 2 || problem "allocations cannot be made to fail"
	while storming; do
		doze 200 600
		roll 8
		fail_allocations $((rolled + 1))
	done
	fail_allocations 0
	# Proves: A18 (storm-debug)
	holds "allocations fail" calm
}

# Several machines: see tools/testing/soak

storm_cut()
{
	begin_storm cut
	clients 2
	while storming; do
		doze 500 3000
		vm-link 2 off
		# From an outage that is not noticed to one that loses connections.
		doze 0 12000
		vm-link 2 on
		mend
	done
	holds "the cable is pulled" calm
}

# The second machine's part in this storm: it acts like a machine that dies without notice and
# comes back without any state.
die()
{
	vm-link "$NODE" off
	kill -KILL "$(pid_of server)"
	rdma link delete rxe0 || problem "rxe0 cannot be deleted"
	until rmmod krdma 2>/dev/null; do
		usleep 100000
	done
	doze 0 12000
	insmod /vm/krdma.ko
	plug
	again server
	vm-link "$NODE" on
}

others_death()
{
	until=$(($(now) + seconds))
	while storming; do
		doze 1000 5000
		die
	done
}

storm_death()
{
	begin_storm death
	clients 2
	while storming; do
		usleep 200000
	done
	holds "a machine dies and comes back" calm
}

# netem WHAT...: apply it to the packets that leave this machine.
netem()
{
	tc qdisc replace dev "$interface" root netem "$@" || problem "netem $*"
}

storm_lossy()
{
	begin_storm lossy
	modprobe sch_netem
	clients 2
	while storming; do
		roll 7
		case $rolled in
		0) netem loss 1% ;;
		1) netem loss 10% ;;
		2) netem delay 2ms reorder 75% 50% ;;
		3) netem delay 10ms 8ms ;;
		4) netem duplicate 5% ;;
		5) netem corrupt 1% ;;
		# While the queueing discipline is replaced, packets are dropped.
		6) tc qdisc del dev "$interface" root 2>/dev/null ;;
		esac
		doze 500 4000
		mend
	done
	tc qdisc del dev "$interface" root 2>/dev/null
	holds "packets are lost, late, twice, and in another order" calm
}
