# SPDX-License-Identifier: GPL-2.0
#
# What measures krdma inside the kernel: an RDMA device that does nothing.

obj-m += krdma_null.o

krdma_null-y := tools/bench/null/device.o
krdma_null-y += tools/bench/null/objects.o
krdma_null-y += tools/bench/null/post.o
krdma_null-y += tools/bench/null/cm.o
