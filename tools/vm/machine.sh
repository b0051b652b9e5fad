# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Starts machines, and passes their lines to the host.  Sourced by run, whose settings these
# functions read: $work, $logs, $kernel, $qemu, $cmdline and so on.
# shellcheck disable=SC2154 # those

# The networks, one for each provider.  Two nodes are connected directly.  More nodes are connected
# by hubs in a process of their own, so that killing a node disconnects no other.

# wire ID FROM TO: prints a netdev that receives at the socket FROM and sends to the socket TO.
wire()
{
	printf 'dgram,id=%s,local.type=unix,local.path=%s,remote.type=unix,remote.path=%s' \
		"$1" "$work/$2" "$work/$3"
}

start_hub()
{
	local args=(-M none -display none -nodefaults) n net

	for ((net = 0; net < nets; net++)); do
		for ((n = 1; n <= nodes; n++)); do
			args+=(-netdev "$(wire "n$net.$n" "hub$net.$n" "net$net.$n")"
				-netdev "hubport,id=h$net.$n,hubid=$net,netdev=n$net.$n")
		done
	done
	"$qemu" "${args[@]}" </dev/null >"$logs/hub" 2>&1 &
	pids+=($!)
}

# hear NODE [WORD]: turns each line of standard input into an event.
hear()
{
	local line

	while read -r line; do echo "$1 ${2:+$2 }${line%$'\r'}"; done >&"$events"
}

# attend NODE EMULATOR: turns the lines of the node's machine into events, and then the end of the
# machine.  One process does both, because on a busy host the end could overtake the lines.  The
# pipe is held open, so that it opens and ends even if the emulator does not start.
attend()
{
	local n=$1 held said listener

	echo "$2" >"$work/pid$n"
	exec {held}<>"$work/ctl$n.out"
	exec {said}<"$work/ctl$n.out"
	hear "$n" <&"$said" {held}>&- &
	listener=$!
	wait "$2" || true
	exec {held}>&-
	wait "$listener" || true
	echo "$n gone" >&"$events"
}

# start_program: starts user-mode Linux.  Its serial lines to the host are the pipes that an
# emulator's ports would be, and its standard output is its console.
start_program()
{
	local ctl copy err dat=null words

	read -ra words <<<"${cmdline/ttyS0/tty0} $append"
	mkfifo "$work/ctl1".{in,out} "$work/out1.out" "$work/err1.out"
	: >"$logs/node1.console"
	cat "$work/out1.out" & copies+=($!)
	cat "$work/err1.out" >&2 & copies+=($!)
	exec {ctl}<>"$work/ctl1.out" {copy}<>"$work/out1.out" {err}<>"$work/err1.out"
	if [ -n "$out" ]; then
		exec {dat}>"$work/dat1"
	fi
	(
		"$kernel/vmlinuz" "mem=${mem}M" "initrd=$work/initrd" \
			time-travel=inf-cpu seccomp=auto con=null con0=null,fd:1 ssl=null \
			"ssl1=null,fd:$ctl" "ssl2=null,fd:$copy" "ssl3=null,fd:$err" \
			"$([ "$dat" = null ] && echo ssl4=null || echo "ssl4=null,fd:$dat")" \
			"${words[@]}" NODE=1 NODES=1 \
			</dev/null >"$logs/node1.console" 2>"$logs/node1.qemu" &
		# Only the machine may hold the pipes open, so that they end with it.
		exec {ctl}>&- {copy}>&- {err}>&-
		attend 1 "$!"
	) &
	pids+=($!)
	exec {ctl}>&- {copy}>&- {err}>&-
}

start_node()
{
	local n=$1 args net far
	mkfifo "$work/ctl$n".{in,out} "$work/out$n".{in,out} "$work/err$n".{in,out} "$work/mon$n".{in,out}
	# An IOMMU has to come before the devices behind it.
	args=(
		"${accel[@]}" -M "$([ -n "$iommu" ] && echo q35 || echo pc)" ${iommu:+-device intel-iommu}
		${iommu:+-device pci-testdev} -smp "$topology" -m "$mem" -nodefaults -no-user-config
		-display none -no-reboot -kernel "$booted" -initrd "$work/initrd"
		-append "$cmdline NODE=$n NODES=$nodes $append"
		-serial "file:$logs/node$n.console"
		-monitor "pipe:$work/mon$n"
		-device virtio-serial-pci
		-chardev "pipe,id=ctl,path=$work/ctl$n"
		-device "virtserialport,chardev=ctl,name=krdma.ctl"
		-chardev "pipe,id=out,path=$work/out$n"
		-device "virtserialport,chardev=out,name=krdma.out"
		-chardev "pipe,id=err,path=$work/err$n"
		-device "virtserialport,chardev=err,name=krdma.err"
	)
	# What the machine was told is written is in the file: neither the emulator nor a cache that
	# the machine would have to flush keeps it back.
	if [ -n "$disk" ]; then
		args+=(-drive "file=${disk//,/,,},if=none,id=disk,format=raw,cache=writethrough"
			-device "virtio-blk-pci,drive=disk")
	fi
	[ -z "$plugin" ] || args+=(-plugin "$plugin")
	if [ -n "$interactive" ]; then
		args+=(-chardev "stdio,id=tty,signal=off" -device "virtconsole,chardev=tty")
	fi
	if [ -n "$out" ]; then
		args+=(-chardev "file,id=dat,path=$work/dat$n" -device "virtserialport,chardev=dat,name=krdma.dat")
	fi
	if [ "$nodes" -gt 1 ]; then
		mkfifo "$work/ask$n".{in,out}
		args+=(-chardev "pipe,id=ask,path=$work/ask$n" -device "virtserialport,chardev=ask,name=krdma.ask")
		hear "$n" ask <"$work/ask$n.out" &
		pids+=($!)
	fi
	for ((net = 0; nodes > 1 && net < nets; net++)); do
		far=hub$net.$n
		[ "$nodes" != 2 ] || far=net$net.$((3 - n))
		args+=(-netdev "$(wire "net$net" "net$net.$n" "$far")"
			-device "virtio-net-pci,netdev=net$net,mac=52:54:00:$((77 + net)):00:0$n,host_mtu=9000,romfile=")
	done
	# The packets are those of the first network, which is that of rxe0.
	if [ -n "$pcap" ] && [ "$n" = 1 ]; then
		args+=(-object "filter-dump,id=dump,netdev=net0,file=$work/pcap")
	fi
	: >"$logs/node$n.console"

	if [ "$nodes" = 1 ] || [ "$show" = "$n" ]; then
		cat "$work/out$n.out" & copies+=($!)
		cat "$work/err$n.out" >&2 & copies+=($!)
	elif [ -n "$show" ]; then
		cat "$work/out$n.out" >>"$logs/node$n.said" & copies+=($!)
		cat "$work/err$n.out" >>"$logs/node$n.said" & copies+=($!)
	else
		sed -u "s/^/[$n] /" "$work/out$n.out" & copies+=($!)
		sed -u "s/^/[$n] /" "$work/err$n.out" >&2 & copies+=($!)
	fi
	# Always read: a full pipe would stop the monitor.
	hear "$n" monitor <"$work/mon$n.out" &
	pids+=($!)
	if [ -n "$interactive" ]; then
		# In the foreground process group, which owns the terminal.
		(
			"$qemu" "${args[@]}" <&"$terminal" 2>"$logs/node$n.qemu" &
			attend "$n" "$!"
		) &
	else
		(
			"$qemu" "${args[@]}" </dev/null >"$logs/node$n.qemu" 2>&1 &
			attend "$n" "$!"
		) &
	fi
	pids+=($!)
}
