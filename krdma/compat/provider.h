/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adapts older kernels' interface for RDMA providers to the newest one.  For krdma_null and the
 * fake device.
 */
#ifndef _KRDMA_COMPAT_PROVIDER_H
#define _KRDMA_COMPAT_PROVIDER_H

/* The type of the create_cq argument that describes the calling program. */
#ifdef KC_CREATE_CQ_UDATA
#define krdma_compat_cq_call		ib_udata
#else
#define krdma_compat_cq_call		uverbs_attr_bundle
#endif

/* Registering memory of a process has an argument with DMA hints. */
#ifdef KC_NO_DMAH
#define KRDMA_COMPAT_DMAH
#else
#define KRDMA_COMPAT_DMAH		struct ib_dmah *dmah,
#endif

/* Pin memory by its address in the process. */
#ifdef KC_UMEM_GET_VA
#define krdma_compat_umem_get		ib_umem_get_va
#else
#define krdma_compat_umem_get		ib_umem_get
#endif

#endif /* _KRDMA_COMPAT_PROVIDER_H */
