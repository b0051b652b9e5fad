# SPDX-License-Identifier: GPL-2.0
#
# Detect features of the target kernel that the preprocessor cannot detect.
# Each result becomes a KC_* macro for compat.h, which is included before every
# file of the module.

# $(call kc_has,PATTERN,HEADER): y if HEADER of the target tree contains PATTERN.
kc_has = $(shell grep -qs '$(1)' '$(srctree)/$(2)' && echo y)

# Symbol namespaces are bare words (KRDMA), not string literals ("KRDMA").
kc-bare-namespace := $(call kc_has,EXPORT_SYMBOL_NS_GPL.*__stringify,include/linux/export.h)
# The licence of an export is a suffix of the section name, not a word.
kc-export-suffix := $(call kc_has,EXPORT_SYMBOL_GPL.*"_gpl",include/linux/export.h)
# Modules can get the network interface behind a port.
kc-get-netdev := $(call kc_has,ib_device_get_netdev,include/rdma/ib_verbs.h)
# A read pin leaves pages shared of which the process gets copies when it writes.
kc-shared-pin := $(call kc_has,gup_must_unshare.unsigned,include/linux/mm.h)
# Symbols can be exported only for KUnit.
kc-kunit-visibility := $(call kc_has,EXPORT_SYMBOL_IF_KUNIT,include/kunit/visibility.h)

# Functions change the flags of a mapping.
kc-vm-flags := $(call kc_has,vm_flags_mod,include/linux/mm.h)
# Workqueues have a flag that binds them to CPUs.
kc-wq-percpu := $(call kc_has,WQ_PERCPU,include/linux/workqueue.h)

# The block layer, for krdma_blk: drivers request merging by a flag.
kc-blk-merge := $(call kc_has,BLK_MQ_F_SHOULD_MERGE,include/linux/blk-mq.h)
# blk_rq_map_sg() takes the queue as well as the request.
kc-blk-map-queue := $(call kc_has,int blk_rq_map_sg.struct request_queue,include/linux/blk-mq.h)
# The open callback of a disk gets the block device.
kc-blk-open-bdev := $(call kc_has,open. .struct block_device,include/linux/blkdev.h)
# A disk's limits are set after its allocation.
kc-blk-limits-later := $(call kc_has,define blk_mq_alloc_disk.set. queuedata,include/linux/blk-mq.h)
# The list of requests that are to be issued together is the first of them.
kc-blk-rq-pointer := $(call kc_has,queue_rqs..struct request ,include/linux/blk-mq.h)
# The type of a NUMA node is signed, because NUMA_NO_NODE is negative.
kc-blk-signed-node := $(call kc_has,unsigned int. int..$$,include/linux/blk-mq.h)

# For krdma_null and the fake device: create_cq gets a uverbs_attr_bundle, not only udata.
kc-create-cq-attrs := $(shell grep -s -A 1 'int (.create_cq).' '$(srctree)/include/rdma/ib_verbs.h' | \
			      grep -q uverbs_attr_bundle && echo y)
# Registering memory of a process has an argument with DMA hints.
kc-dmah := $(call kc_has,struct ib_dmah,include/rdma/ib_verbs.h)
# There is a number for the driver ionic.
kc-driver-ionic := $(call kc_has,RDMA_DRIVER_IONIC,include/uapi/rdma/ib_user_ioctl_verbs.h)

# Pinning memory by its address in the process has a function of its own.
kc-umem-get-va := $(call kc_has,ib_umem_get_va,include/rdma/ib_umem.h)

kc-flags-y :=
kc-flags-$(kc-bare-namespace) += -DKC_BARE_NAMESPACE
kc-flags-$(kc-export-suffix) += -DKC_EXPORT_SUFFIX
kc-flags-$(if $(kc-get-netdev),n,y) += -DKC_NO_IB_DEVICE_GET_NETDEV
kc-flags-$(if $(kc-wq-percpu),n,y) += -DKC_NO_WQ_PERCPU
kc-flags-$(if $(kc-vm-flags),n,y) += -DKC_NO_VM_FLAGS_MOD
kc-flags-$(kc-shared-pin) += -DKC_SHARED_PIN
kc-flags-$(if $(kc-create-cq-attrs),n,y) += -DKC_CREATE_CQ_UDATA
kc-flags-$(if $(kc-dmah),n,y) += -DKC_NO_DMAH
kc-flags-$(if $(kc-driver-ionic),n,y) += -DKC_NO_DRIVER_IONIC
kc-flags-$(kc-umem-get-va) += -DKC_UMEM_GET_VA
kc-flags-$(if $(kc-kunit-visibility),n,y) += -DKC_NO_KUNIT_VISIBILITY
kc-flags-$(kc-blk-merge) += -DKC_BLK_SHOULD_MERGE
kc-flags-$(kc-blk-map-queue) += -DKC_BLK_MAP_SG_QUEUE
kc-flags-$(kc-blk-open-bdev) += -DKC_BLK_OPEN_BDEV
kc-flags-$(kc-blk-limits-later) += -DKC_BLK_LIMITS_LATER
kc-flags-$(kc-blk-rq-pointer) += -DKC_BLK_RQ_POINTER
kc-flags-$(if $(kc-blk-signed-node),n,y) += -DKC_BLK_UNSIGNED_NODE

krdma-compat-y :=
krdma-compat-$(if $(kc-get-netdev),n,y) += krdma/compat/netdev.o

ccflags-y += $(kc-flags-y) -include $(src)/krdma/compat/compat.h
