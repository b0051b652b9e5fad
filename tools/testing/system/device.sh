#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Makes the RDMA device rxe0 at 10.77.0.1, after so many seconds.
#
# usage: device.sh SECONDS
set -e
sleep "$1"
# What rxe of 6.1 needs, and does not say.
modprobe -a dummy crc32_generic rdma_rxe
ip link show dummy0 >/dev/null 2>&1 || ip link add dummy0 type dummy
ip addr add 10.77.0.1/24 dev dummy0
ip link set dummy0 up
rdma link add rxe0 type rxe netdev dummy0
