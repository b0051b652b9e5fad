/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adapts older kernels to the interface of the newest one.  Included before every file of the
 * module; no other file may depend on the kernel version.
 *
 * This file detects macros by #ifndef.  probe.mk, beside this file, detects what the
 * preprocessor cannot see and defines KC_* macros.
 */
#ifndef _KRDMA_COMPAT_H
#define _KRDMA_COMPAT_H

/*
 * The prefix of messages.  It must be defined before <linux/printk.h>, which the headers below
 * include, so no file can define its own.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/types.h>
#include <linux/version.h>

/*
 * Namespaces are string literals.  EXPORT_SYMBOL_NS() is not changed: the kernel's own
 * EXPORT_SYMBOL_IF_KUNIT() depends on it.
 */
#ifdef KC_BARE_NAMESPACE
#include <linux/export.h>
#include <linux/module.h>

#undef EXPORT_SYMBOL_NS_GPL
#ifdef KC_EXPORT_SUFFIX
#define EXPORT_SYMBOL_NS_GPL(sym, ns)	__EXPORT_SYMBOL(sym, "_gpl", ns)
#else
#define EXPORT_SYMBOL_NS_GPL(sym, ns)	__EXPORT_SYMBOL(sym, "GPL", ns)
#endif

#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns)		MODULE_INFO(import_ns, ns)
#endif

/* Typed allocation; krdma always passes the GFP flags explicitly. */
#include <linux/slab.h>
#ifndef kmalloc_obj
#define kmalloc_obj(type, gfp)		kmalloc(sizeof(type), gfp)
#define kmalloc_objs(type, count, gfp)	kmalloc_array(count, sizeof(type), gfp)
#endif
#ifndef kzalloc_obj
#define kzalloc_obj(type, gfp)		kzalloc(sizeof(type), gfp)
#define kzalloc_objs(type, count, gfp)	kcalloc(count, sizeof(type), gfp)
#endif
#ifndef kvmalloc_objs
#define kvmalloc_objs(type, count, gfp)	kvmalloc_array(count, sizeof(type), gfp)
#endif
#ifndef kvzalloc_obj
#define kvzalloc_obj(type, gfp)		kvzalloc(sizeof(type), gfp)
#define kvzalloc_objs(type, count, gfp)	kvcalloc(count, sizeof(type), gfp)
#endif

/* Older workqueues are bound to CPUs by default and have no flag for it. */
#include <linux/workqueue.h>
#ifdef KC_NO_WQ_PERCPU
#define WQ_PERCPU			0
#endif

/* Without lazy preemption, a task that is to be rescheduled is so at once. */
#include <linux/thread_info.h>
#ifndef TIF_NEED_RESCHED_LAZY
#define TIF_NEED_RESCHED_LAZY		TIF_NEED_RESCHED
#endif

/*
 * GUP flags for a read pin that sees what the process writes later.  Some kernels do not
 * guarantee that.  There, pinning for writing, whatever the process's rights, breaks
 * copy-on-write, so that the pages are the process's own.
 */
#ifdef KC_SHARED_PIN
#define KRDMA_FOLL_READ			(FOLL_WRITE | FOLL_FORCE)
#else
#define KRDMA_FOLL_READ			0
#endif

/* siw pins memory of processes by itself, and not by ib_umem_get(). */
#if KERNEL_VERSION(6, 8, 0) > LINUX_VERSION_CODE
#define KRDMA_SIW_PINS			1
#else
#define KRDMA_SIW_PINS			0
#endif

/* Change the flags of a mapping that is not visible to others yet. */
#ifdef KC_NO_VM_FLAGS_MOD
#include <linux/mm_types.h>

static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* Older kernels have no number for this driver, and a driver from elsewhere none of theirs. */
#ifdef KC_NO_DRIVER_IONIC
#define RDMA_DRIVER_IONIC		U16_MAX
#endif

#ifdef KC_NO_KUNIT_VISIBILITY
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#define VISIBLE_IF_KUNIT		static
#else
#include <kunit/visibility.h>
#endif

#ifdef KC_NO_IB_DEVICE_GET_NETDEV
struct ib_device;
struct net_device;

struct net_device *krdma_compat_ib_device_get_netdev(struct ib_device *ibdev, u32 port);
#define ib_device_get_netdev		krdma_compat_ib_device_get_netdev
#endif

#endif /* _KRDMA_COMPAT_H */
