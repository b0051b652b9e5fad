#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Counts inside a VM with krdma.ko: first in the kernel, and then of programs.

set -e
here=$(dirname "$0")
files=/sys/kernel/debug/krdma_cost

insmod "$here/krdma_cost.ko"
echo "10.77.0.1 1 lanes" >$files/run
cat $files/results
rmmod krdma_cost
"$here/lanes" 10.77.0.1
