// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * RDMA devices and their ports.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

static int query(struct krdma *session, uint32_t id, uint32_t flags,
		 struct krdma_device_query *device, size_t size)
{
	int err = request_prepare(session, device, size, KRDMA_DEVICE_QUERY_MIN_SIZE);

	if (err)
		return err;
	device->id = id;
	device->flags = flags;
	return request_issue(session, KRDMA_DEVICE_QUERY, device);
}

KRDMA_PUBLIC int krdma_device_get(struct krdma *session, uint32_t id,
				  struct krdma_device_query *device, size_t size)
{
	return query(session, id, 0, device, size);
}

KRDMA_PUBLIC int krdma_device_find(struct krdma *session, const char *name,
				   struct krdma_device_query *device, size_t size)
{
	char copy[KRDMA_NAME_MAX];
	size_t length;
	int err;

	if (!name || !*name)
		return -EINVAL;
	length = strnlen(name, sizeof(copy));
	if (length == sizeof(copy))
		return -ENAMETOOLONG;
	/* The name may lie in the structure, which is cleared next. */
	memcpy(copy, name, length);
	err = request_prepare(session, device, size, KRDMA_DEVICE_QUERY_MIN_SIZE);
	if (err)
		return err;
	device->flags = KRDMA_DEVICE_QUERY_NAME;
	memcpy(device->name, copy, length);
	return request_issue(session, KRDMA_DEVICE_QUERY, device);
}

KRDMA_PUBLIC int krdma_device_next(struct krdma *session, uint32_t after,
				   struct krdma_device_query *device, size_t size)
{
	/* One more would be 0, and the walk would begin again. */
	if (after == UINT32_MAX)
		return -ENOENT;
	return query(session, after + 1, KRDMA_DEVICE_QUERY_NEXT, device, size);
}

KRDMA_PUBLIC int krdma_port_get(struct krdma *session, uint32_t device_id, uint32_t number,
				struct krdma_port_query *port, size_t size)
{
	int err = request_prepare(session, port, size, KRDMA_PORT_QUERY_MIN_SIZE);

	if (err)
		return err;
	port->device_id = device_id;
	port->port = number;
	return request_issue(session, KRDMA_PORT_QUERY, port);
}
