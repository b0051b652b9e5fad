#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Operations over krdma_null between the marks of the plugin, inside a VM: of a kernel module, by
# verbs, by krdma and by a template, and of a program that writes its ring by hand; and lanes of a
# kernel module that are opened and closed over rxe.  Prints a line for each count: the number of
# operations, and its name.
#
# usage: operations.sh

set -eu

here=$(dirname "$0")
files=/sys/kernel/debug/krdma_cost
address=10.80.0.1
# What krdma_cost.ko and ring do for a line.
of_module=4096
of_ring=8192
of_lanes=960

echo 0 >/proc/sys/kernel/kptr_restrict
ip link add null0 type dummy
ip link set null0 up
ip addr add $address/24 dev null0
insmod "$here/krdma_null.ko"
insmod "$here/krdma_cost.ko"
# The addresses of the modules' functions, while they are loaded.
cat /proc/kallsyms >/out/symbols

for work in write fetch-add; do
	for batch in 1 64; do
		for way in verbs krdma krdma-template; do
			code-begin
			echo "$address 1 instant only $way $work $batch" >$files/run
			code-end
			echo "$of_module $way: $work, batch of $batch"
		done
	done
done
for batch in 1 64; do
	code-begin
	"$here/ring" $address 1 $batch >/dev/null
	code-end
	echo "$of_ring ring by hand: write, batch of $batch"
done
for batch in 1 60; do
	code-begin
	echo "10.77.0.1 1 lanes $batch" >$files/run
	code-end
	echo "$of_lanes lanes: open and close, batch of $batch"
done
rmmod krdma_cost
rmmod krdma_null
