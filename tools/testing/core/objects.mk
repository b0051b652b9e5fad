# SPDX-License-Identifier: GPL-2.0
#
# Modules that use krdma as any other module of the kernel would: two samples,
# and the tests of the core over real devices.

obj-m += krdma_echo.o krdma_ping.o krdma_core_test.o

krdma_echo-y := tools/testing/core/echo.o
krdma_ping-y := tools/testing/core/ping.o

krdma_core_test-y := tools/testing/core/core_test.o
krdma_core_test-y += tools/testing/core/fixture.o
krdma_core_test-y += tools/testing/core/conn_cases.o
krdma_core_test-y += tools/testing/core/end_cases.o
krdma_core_test-y += tools/testing/core/transfer.o
krdma_core_test-y += tools/testing/core/transfer_cases.o
krdma_core_test-y += tools/testing/core/right_cases.o
krdma_core_test-y += tools/testing/core/template_cases.o
krdma_core_test-y += tools/testing/core/flow_cases.o
krdma_core_test-y += tools/testing/core/shared_cases.o
krdma_core_test-y += tools/testing/core/lane_cases.o
krdma_core_test-y += tools/testing/core/lane_grant_cases.o
krdma_core_test-y += tools/testing/core/lane_memory_cases.o
krdma_core_test-y += tools/testing/core/lane_share_cases.o
krdma_core_test-y += tools/testing/core/lane_window_cases.o
krdma_core_test-y += tools/testing/core/lane_giver_cases.o
krdma_core_test-y += tools/testing/core/lane_early_cases.o
krdma_core_test-y += tools/testing/core/lane_peer_cases.o
krdma_core_test-y += tools/testing/core/memory_cases.o
krdma_core_test-y += tools/testing/core/netns_cases.o
krdma_core_test-y += tools/testing/core/storm.o
krdma_core_test-y += tools/testing/core/account_cases.o
krdma_core_test-y += tools/testing/core/reclaim_cases.o
krdma_core_test-y += tools/testing/core/starve.o
krdma_core_test-y += tools/testing/core/user_memory_file.o
