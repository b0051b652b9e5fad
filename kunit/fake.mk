# SPDX-License-Identifier: GPL-2.0
#
# The fake device: what krdma_kunit.ko has of it, and krdma_fake.ko, with which it is a
# device of a whole machine.

krdma-fake-y := kunit/fake_device.o
krdma-fake-y += kunit/fake_script.o
krdma-fake-y += kunit/fake_event.o
krdma-fake-y += kunit/fake_lock.o
krdma-fake-y += kunit/fake_qp.o
krdma-fake-y += kunit/fake_faults.o
krdma-fake-y += kunit/fake_verbs.o
krdma-fake-y += kunit/fake_wire.o
krdma-fake-y += kunit/fake_gsi.o
krdma-fake-y += kunit/fake_cq.o
krdma-fake-y += kunit/fake_mr.o
krdma-fake-y += kunit/fake_data.o
krdma-fake-y += kunit/fake_post.o
krdma-fake-y += kunit/fake_cm.o
krdma-fake-y += kunit/personality.o

ifeq ($(KRDMA_TESTS),y)
obj-m += krdma_fake.o
krdma_fake-y := kunit/fake_link.o $(krdma-fake-y)
endif
