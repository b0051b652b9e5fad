// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: accessors of a context.
 */
#include <errno.h>

#include "simple.h"

KRDMA_PUBLIC void *krdma_simple_buffer(const struct krdma_simple *simple)
{
	return simple ? simple->options.buffer : NULL;
}

KRDMA_PUBLIC size_t krdma_simple_buffer_size(const struct krdma_simple *simple)
{
	return simple ? simple->options.buffer_size : 0;
}

KRDMA_PUBLIC int krdma_simple_remote_at(struct krdma_simple *simple, uint64_t offset,
					struct krdma_remote_mr *remote)
{
	struct krdma_remote_mr is;
	int err;

	if (!simple || !remote)
		return -EINVAL;
	err = simple_enter(simple);
	if (err)
		return err;
	is = simple->peer.remote;
	if (!is.access) {
		err = -EACCES;
	} else if (offset >= is.length) {
		err = -ERANGE;
	} else {
		is.addr += offset;
		is.length -= offset;
		if (simple->parts)
			is.key = parts_key(simple->parts, offset, &is.length);
		*remote = is;
	}
	simple_leave(simple);
	return err;
}

KRDMA_PUBLIC int krdma_simple_remote(struct krdma_simple *simple, struct krdma_remote_mr *remote)
{
	return krdma_simple_remote_at(simple, 0, remote);
}

KRDMA_PUBLIC size_t krdma_simple_message_max(struct krdma_simple *simple)
{
	size_t max;

	if (!simple || simple_enter(simple))
		return 0;
	max = simple->peer.message_size;
	simple_leave(simple);
	return max;
}

KRDMA_PUBLIC struct krdma *krdma_simple_session(struct krdma_simple *simple)
{
	return simple ? simple->ch.session : NULL;
}

KRDMA_PUBLIC struct krdma_listener *krdma_simple_listener(struct krdma_simple *simple)
{
	return simple ? simple->listener : NULL;
}

KRDMA_PUBLIC struct krdma_conn *krdma_simple_conn(struct krdma_simple *simple)
{
	return simple ? simple->ch.conn : NULL;
}

KRDMA_PUBLIC struct krdma_ring *krdma_simple_ring(struct krdma_simple *simple)
{
	return simple ? simple->ch.ring : NULL;
}

KRDMA_PUBLIC struct krdma_ring *krdma_simple_recv_ring(struct krdma_simple *simple)
{
	return simple ? simple->ch.recv_ring : NULL;
}

KRDMA_PUBLIC struct krdma_mr *krdma_simple_mr(struct krdma_simple *simple)
{
	return simple ? simple->mr : NULL;
}
