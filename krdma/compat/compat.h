/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Older kernels, made to look like the newest one.  Included ahead of every
 * file of the module; no other file may know of versions.
 *
 * Macros are probed here, by #ifndef.  What the preprocessor cannot see is
 * probed by probe.mk, beside this file, and arrives as KC_*.
 */
#ifndef _KRDMA_COMPAT_H
#define _KRDMA_COMPAT_H

/*
 * The prefix of messages.  It must be there before <linux/printk.h>, which comes
 * with the headers below, so no file can set one of its own.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/types.h>

/*
 * Namespaces as string literals.  EXPORT_SYMBOL_NS() stays as it is: the
 * kernel's own EXPORT_SYMBOL_IF_KUNIT() is written for it.
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

/* Typed allocation; krdma always says which GFP flags it means. */
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

/* Workqueues are bound to processors unless they say otherwise. */
#include <linux/workqueue.h>
#ifdef KC_NO_WQ_PERCPU
#define WQ_PERCPU			0
#endif

/* Where preemption is never lazy, whoever is due is due at once. */
#include <linux/thread_info.h>
#ifndef TIF_NEED_RESCHED_LAZY
#define TIF_NEED_RESCHED_LAZY		TIF_NEED_RESCHED
#endif

/*
 * What makes a pin for reading see what the process writes later.  Where it is
 * not for granted, pages that are shared until they are written to are made the
 * process's own by pinning them for writing, whatever its rights.
 */
#ifdef KC_SHARED_PIN
#define KRDMA_FOLL_READ			(FOLL_WRITE | FOLL_FORCE)
#else
#define KRDMA_FOLL_READ			0
#endif

/* The flags of a mapping that nobody else sees yet. */
#ifdef KC_NO_VM_FLAGS_MOD
#include <linux/mm_types.h>

static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
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
