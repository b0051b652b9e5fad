# SPDX-License-Identifier: GPL-2.0
#
# What krdma_kunit.ko is made of: the fake device, and a file of suites for each
# part of the core.

krdma_kunit-y := kunit/module.o
krdma_kunit-y += kunit/pure_test.o
krdma_kunit-y += kunit/device_test.o
krdma_kunit-y += kunit/device_race_test.o
krdma_kunit-y += kunit/address_test.o
krdma_kunit-y += kunit/port_test.o
krdma_kunit-y += kunit/notifier_test.o
krdma_kunit-y += kunit/conn_test.o
krdma_kunit-y += kunit/conn_end_test.o
krdma_kunit-y += kunit/resolve_test.o
krdma_kunit-y += kunit/listen_test.o
krdma_kunit-y += kunit/lane_test.o
krdma_kunit-y += kunit/lane_queue_test.o
krdma_kunit-y += kunit/mr_test.o
krdma_kunit-y += kunit/mr_keys_test.o
krdma_kunit-y += kunit/mr_turn_test.o
krdma_kunit-y += kunit/frwr_test.o
krdma_kunit-y += kunit/mr_pin_test.o
krdma_kunit-y += kunit/mr_stuck_test.o
krdma_kunit-y += kunit/confine_test.o
krdma_kunit-y += kunit/stage.o
krdma_kunit-y += kunit/lane_stage.o
krdma_kunit-y += kunit/data_test.o
krdma_kunit-y += kunit/post_error_test.o
krdma_kunit-y += kunit/inline_test.o
krdma_kunit-y += kunit/template_test.o
krdma_kunit-y += kunit/iwarp_test.o
krdma_kunit-y += kunit/cq_test.o
krdma_kunit-y += kunit/cq_ready_test.o
krdma_kunit-y += kunit/srq_test.o
krdma_kunit-y += kunit/srq_share_test.o
krdma_kunit-y += kunit/srq_end_test.o
krdma_kunit-y += kunit/qp_end_test.o
krdma_kunit-y += kunit/fault_test.o
krdma_kunit-y += kunit/no_memory_test.o
krdma_kunit-y += kunit/driver_test.o
krdma_kunit-y += kunit/conn_fixture.o
krdma_kunit-y += kunit/device_fixture.o
krdma_kunit-y += kunit/objects.o
krdma_kunit-y += kunit/fake_test.o
krdma_kunit-y += kunit/fake_fault_test.o
krdma_kunit-y += kunit/fake_cm_test.o
krdma_kunit-y += kunit/personality_test.o
krdma_kunit-y += kunit/fake_pair.o
krdma_kunit-y += kunit/fake_address.o
krdma_kunit-y += kunit/fake_cm_script.o
krdma_kunit-y += kunit/fake_control.o
krdma_kunit-y += $(krdma-fake-y)

# Tests look into the core's private headers, which the module itself finds
# beside its files.
$(foreach object,$(krdma_kunit-y),$(eval CFLAGS_$(object) := -I$(src)/krdma))
