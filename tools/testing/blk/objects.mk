# SPDX-License-Identifier: GPL-2.0
#
# The module that brings about what the tests of krdma_blk need.

ifeq ($(CONFIG_X86_64)$(CONFIG_KPROBES)$(CONFIG_KALLSYMS)$(CONFIG_UML),yyy)
obj-m += krdma_blk_test.o
endif

krdma_blk_test-y := tools/testing/blk/blk_test.o
