// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * RDMA devices and their ports.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

static int query(struct krdma *session, uint32_t id, uint32_t flags,
		 struct krdma_device_query_args *device, size_t size)
{
	int err = session ? request_prepare(device, size, KRDMA_DEVICE_QUERY_MIN_SIZE) : -EINVAL;

	if (err)
		return err;
	device->id = id;
	device->flags = flags;
	return request_issue(session->fd, KRDMA_DEVICE_QUERY, device);
}

KRDMA_PUBLIC int krdma_device_query(struct krdma *session, uint32_t id,
				    struct krdma_device_query_args *device, size_t size)
{
	return query(session, id, 0, device, size);
}

KRDMA_PUBLIC int krdma_device_find(struct krdma *session, const char *name,
				   struct krdma_device_query_args *device, size_t size)
{
	char copy[KRDMA_NAME_MAX];
	size_t length;
	int err;

	if (!session || !name || !*name)
		return -EINVAL;
	length = strnlen(name, sizeof(copy));
	if (length == sizeof(copy))
		return -ENAMETOOLONG;
	/* @name may point into @device, which request_prepare() clears. */
	memcpy(copy, name, length);
	err = request_prepare(device, size, KRDMA_DEVICE_QUERY_MIN_SIZE);
	if (err)
		return err;
	device->flags = KRDMA_DEVICE_QUERY_NAME;
	memcpy(device->name, copy, length);
	return request_issue(session->fd, KRDMA_DEVICE_QUERY, device);
}

KRDMA_PUBLIC int krdma_device_next(struct krdma *session, uint32_t after,
				   struct krdma_device_query_args *device, size_t size)
{
	/* Otherwise @after + 1 would wrap to 0 and restart the iteration. */
	if (after == UINT32_MAX)
		return -ENOENT;
	return query(session, after + 1, KRDMA_DEVICE_QUERY_NEXT, device, size);
}

KRDMA_PUBLIC int krdma_port_query(struct krdma *session, uint32_t device_id, uint32_t number,
				  struct krdma_port_query_args *port, size_t size)
{
	int err = session ? request_prepare(port, size, KRDMA_PORT_QUERY_MIN_SIZE) : -EINVAL;

	if (err)
		return err;
	port->device_id = device_id;
	port->port = number;
	return request_issue(session->fd, KRDMA_PORT_QUERY, port);
}

KRDMA_PUBLIC int krdma_device_by_address(struct krdma *session, const struct sockaddr *local,
					 const struct sockaddr *remote, uint64_t deadline,
					 uint32_t *id)
{
	struct krdma_device_find_args find = { .size = sizeof(find), .deadline_ns = deadline };
	int err = 0;

	if (!session || !id)
		return -EINVAL;
	if (local) {
		find.flags |= KRDMA_DEVICE_FIND_LOCAL;
		err = request_address(&find.local, local);
	}
	if (remote && !err) {
		find.flags |= KRDMA_DEVICE_FIND_REMOTE;
		err = request_address(&find.remote, remote);
	}
	if (!err)
		err = request_wait(session->fd, KRDMA_DEVICE_FIND, &find);
	if (!err)
		*id = find.id;
	return err;
}

KRDMA_PUBLIC int krdma_device_notify(struct krdma *session)
{
	struct krdma_device_notify_args watch = { .size = sizeof(watch) };

	return session ? request_issue(session->fd, KRDMA_DEVICE_NOTIFY, &watch) : -EINVAL;
}

KRDMA_PUBLIC int krdma_device_next_event(struct krdma *session, uint64_t deadline,
					 struct krdma_device_record *record, size_t size)
{
	if (!session || !record || size < KRDMA_RECORD_MIN_SIZE)
		return -EINVAL;
	return request_read(session->fd, deadline, record, size);
}
