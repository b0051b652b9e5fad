# SPDX-License-Identifier: GPL-2.0
#
# The module that brings about what the tests of krdma_blk need, where there are probes.

ifeq ($(CONFIG_X86_64)-$(CONFIG_KPROBES)-$(CONFIG_KALLSYMS)-$(CONFIG_UML),y-y-y-)
obj-m += krdma_blk_test.o

krdma_blk_test-y := tools/testing/blk/blk_test.o
endif
