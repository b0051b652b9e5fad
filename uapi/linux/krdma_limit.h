/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* krdma: limits of a user, and the usage that counts against them. */
#ifndef _UAPI_LINUX_KRDMA_LIMIT_H
#define _UAPI_LINUX_KRDMA_LIMIT_H

#include <linux/krdma.h>

/**
 * enum krdma_limit - limits that can cause EDQUOT
 * @KRDMA_LIMIT_SESSIONS: number of sessions, limited by the module parameter max_sessions.
 *	Only open() of ``/dev/krdma`` meets this limit.
 * @KRDMA_LIMIT_OBJECTS: number of listeners, connections, rings and SRQs, limited by
 *	max_objects
 * @KRDMA_LIMIT_MEMORY: bytes of registered memory including the kernel's overhead of a
 *	registration, of rings, and of queues (QPs, CQs, SRQs) including the device's share,
 *	limited by max_memory_mb
 * @KRDMA_LIMIT_PORTS: number of listeners, connections that the session has resolved, and
 *	searches for a device, each of which holds a port, limited by max_ports
 * @KRDMA_LIMIT_DEVICE: handles and objects of a device, limited by the rdma controller of the
 *	caller's control group.  The module does not know these numbers: rdma.max and
 *	rdma.current of the group show them.
 */
enum krdma_limit {
	KRDMA_LIMIT_SESSIONS = 0,
	KRDMA_LIMIT_OBJECTS = 1,
	KRDMA_LIMIT_MEMORY = 2,
	KRDMA_LIMIT_PORTS = 3,
	KRDMA_LIMIT_DEVICE = 4,
};

/**
 * enum krdma_limit_scope - the account that has reached a limit
 * @KRDMA_LIMIT_SCOPE_NONE: none: no ioctl of the session was refused
 * @KRDMA_LIMIT_SCOPE_USER: the user that opened the session
 * @KRDMA_LIMIT_SCOPE_OWNER: the owner of a user namespace in which the session was opened,
 *	together with all users of the namespace
 * @KRDMA_LIMIT_SCOPE_GROUP: the control group of the calling process
 */
enum krdma_limit_scope {
	KRDMA_LIMIT_SCOPE_NONE = 0,
	KRDMA_LIMIT_SCOPE_USER = 1,
	KRDMA_LIMIT_SCOPE_OWNER = 2,
	KRDMA_LIMIT_SCOPE_GROUP = 3,
};

/**
 * enum krdma_limit_query_flags - bits of &struct krdma_limit_query_args.flags
 * @KRDMA_LIMIT_QUERY_REFUSED: query the limit that last refused an ioctl of the session,
 *	instead of the one in @limit
 */
enum krdma_limit_query_flags {
	KRDMA_LIMIT_QUERY_REFUSED = 1 << 0,
};

/**
 * struct krdma_limit_query_args - ioctl(KRDMA_LIMIT_QUERY): query usage and maximum of a limit
 * @size: sizeof(struct krdma_limit_query_args)
 * @flags: in: &enum krdma_limit_query_flags
 * @limit: in: &enum krdma_limit, 0 with KRDMA_LIMIT_QUERY_REFUSED; out: the limit
 * @scope: out: the account that had reached the limit when it last refused an ioctl of the
 *	session, &enum krdma_limit_scope
 * @session_used: out: usage of the session
 * @user_used: out: usage of the user that opened the session, in all sessions
 * @owner_used: out: usage of an owner of the user namespaces in which the session was opened,
 *	together with all users there: the largest of these numbers, 0 if there is no such owner
 * @max: out: the maximum for a user, and for the owner of a namespace together with all its
 *	users.  KRDMA_LIMIT_UNKNOWN: the module does not know it.
 * @refused: out: number of ioctls of the session that the limit has refused
 *
 * A process with CAP_SYS_RESOURCE in the initial user namespace is not refused, but its usage
 * counts, so the numbers can be above @max.  They are also above a maximum that was lowered.  A
 * refused open() belongs to no session; only KRDMA_LIMIT_SESSIONS and KRDMA_LIMIT_MEMORY refuse
 * one.
 *
 * ENOENT: there is no such limit: limits are numbered from 0 without gaps.  With
 * KRDMA_LIMIT_QUERY_REFUSED: no ioctl of the session was refused.
 * EINVAL: both KRDMA_LIMIT_QUERY_REFUSED and a @limit.
 */
struct krdma_limit_query_args {
	__u32 size;
	__u32 flags;
	__u32 limit;
	__u32 scope;
	__aligned_u64 session_used;
	__aligned_u64 user_used;
	__aligned_u64 owner_used;
	__aligned_u64 max;
	__aligned_u64 refused;
};

/* Unlimited or unknown: &struct krdma_limit_query_args.max. */
#define KRDMA_LIMIT_UNKNOWN	(~0ULL)

#define KRDMA_LIMIT_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_LIMIT_QUERY)

#endif /* _UAPI_LINUX_KRDMA_LIMIT_H */
