/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * krdma: what a user may have, and what counts against it.
 */
#ifndef _UAPI_LINUX_KRDMA_LIMIT_H
#define _UAPI_LINUX_KRDMA_LIMIT_H

#include <linux/krdma.h>

/**
 * enum krdma_limit - what EDQUOT can be the answer of
 * @KRDMA_LIMIT_SESSIONS: sessions, of the module's parameter max_sessions.  Only open() of
 *	``/dev/krdma`` meets it.
 * @KRDMA_LIMIT_OBJECTS: listeners, connections, queues and shared receive queues, of
 *	max_objects
 * @KRDMA_LIMIT_MEMORY: bytes of registered memory, with what a registration costs the
 *	kernel, of rings, and of queues with the device's share, of max_memory_mb
 * @KRDMA_LIMIT_PORTS: listeners, connections that the session has resolved, and searches
 *	for a device, each of which holds a port, of max_ports
 * @KRDMA_LIMIT_DEVICE: handles and objects of a device, of the rdma controller of
 *	the caller's control group.  The module does not know its numbers: rdma.max and
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
 * enum krdma_limit_scope - who has reached a limit
 * @KRDMA_LIMIT_SCOPE_NONE: nobody has: no request of the session was refused
 * @KRDMA_LIMIT_SCOPE_USER: the user who has opened the session
 * @KRDMA_LIMIT_SCOPE_OWNER: the owner of a user namespace in which the session was opened,
 *	with all users of the namespace
 * @KRDMA_LIMIT_SCOPE_GROUP: the control group of the process that made the request
 */
enum krdma_limit_scope {
	KRDMA_LIMIT_SCOPE_NONE = 0,
	KRDMA_LIMIT_SCOPE_USER = 1,
	KRDMA_LIMIT_SCOPE_OWNER = 2,
	KRDMA_LIMIT_SCOPE_GROUP = 3,
};

/**
 * enum krdma_limit_query_flags - bits of &struct krdma_limit_query_args.flags
 * @KRDMA_LIMIT_QUERY_REFUSED: the limit that has refused a request of the session last,
 *	instead of the one that @limit names
 */
enum krdma_limit_query_flags {
	KRDMA_LIMIT_QUERY_REFUSED = 1 << 0,
};

/**
 * struct krdma_limit_query_args - ioctl(KRDMA_LIMIT_QUERY): use of a limit
 * @size: sizeof(struct krdma_limit_query_args)
 * @flags: in: &enum krdma_limit_query_flags
 * @limit: in: &enum krdma_limit, 0 with KRDMA_LIMIT_QUERY_REFUSED; out: the limit
 * @scope: out: who had reached the limit when it refused a request of the session last,
 *	&enum krdma_limit_scope
 * @session_used: out: what the session has
 * @user_used: out: what the user who opened the session has, in all sessions
 * @owner_used: out: what the owners of the user namespaces have in which the session was
 *	opened, with all users there: the largest number, 0 if there is no such owner
 * @max: out: what a user may have, and the owner of a namespace with all of its users.
 *	KRDMA_LIMIT_UNKNOWN: the module does not know.
 * @refused: out: how many requests of the session the limit has refused
 *
 * Who has CAP_SYS_RESOURCE in the initial user namespace is not refused, and what that
 * process makes counts: numbers can be above @max.  They are also above a limit that has been
 * lowered.  What is refused when a session is opened is no session's: only
 * KRDMA_LIMIT_SESSIONS refuses that.
 *
 * ENOENT: there is no such limit: limits are numbered from 0 without gaps.  With
 * KRDMA_LIMIT_QUERY_REFUSED: no request of the session was refused.
 * EINVAL: KRDMA_LIMIT_QUERY_REFUSED and a @limit.
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

/* No number: &struct krdma_limit_query_args.max. */
#define KRDMA_LIMIT_UNKNOWN	(~0ULL)

#define KRDMA_LIMIT_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_LIMIT_QUERY)

#endif /* _UAPI_LINUX_KRDMA_LIMIT_H */
