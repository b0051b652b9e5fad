# SPDX-License-Identifier: GPL-2.0
#
# Modules that measure krdma inside the kernel: an RDMA device that does nothing, and the module
# that counts above it.

obj-m += krdma_null.o

krdma_null-y := tools/bench/null/device.o
krdma_null-y += tools/bench/null/objects.o
krdma_null-y += tools/bench/null/post.o
krdma_null-y += kunit/fake_cm.o

obj-m += krdma_cost.o

krdma_cost-y := tools/bench/cost/main.o
krdma_cost-y += tools/bench/cost/krdma.o
krdma_cost-y += tools/bench/cost/lanes.o
krdma_cost-y += tools/bench/cost/raw.o
