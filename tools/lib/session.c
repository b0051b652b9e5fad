// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Sessions: open, close, and queries about the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

KRDMA_PUBLIC int krdma_info_query(struct krdma *session, struct krdma_info_args *info, size_t size)
{
	int err = session ? request_prepare(info, size, KRDMA_INFO_MIN_SIZE) : -EINVAL;

	if (err)
		return err;
	return request_issue(session->fd, KRDMA_INFO, info);
}

static int query_limit(struct krdma *session, uint32_t limit, uint32_t flags,
		       struct krdma_limit_query_args *query, size_t size)
{
	int err = session ? request_prepare(query, size, KRDMA_LIMIT_QUERY_MIN_SIZE) : -EINVAL;

	if (err)
		return err;
	query->limit = limit;
	query->flags = flags;
	return request_issue(session->fd, KRDMA_LIMIT_QUERY, query);
}

KRDMA_PUBLIC int krdma_limit_query(struct krdma *session, uint32_t limit,
				   struct krdma_limit_query_args *query, size_t size)
{
	return query_limit(session, limit, 0, query, size);
}

KRDMA_PUBLIC int krdma_limit_refused(struct krdma *session, struct krdma_limit_query_args *query,
				     size_t size)
{
	return query_limit(session, 0, KRDMA_LIMIT_QUERY_REFUSED, query, size);
}

/*
 * Structures have another meaning in another version of the interface. Fail rather than misread
 * them.
 */
static int check_abi(struct krdma *session)
{
	struct krdma_info_args info;
	int err = krdma_info_query(session, &info, sizeof(info));

	if (err)
		return err;
	return info.abi_version == KRDMA_ABI_VERSION ? 0 : -EPROTONOSUPPORT;
}

KRDMA_PUBLIC int krdma_open_fd(int fd, struct krdma **session)
{
	struct krdma *new;
	int err;

	if (!session)
		return -EINVAL;
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->fd = fd;
	err = check_abi(new);
	if (err) {
		free(new);
		return err;
	}
	*session = new;
	return 0;
}

KRDMA_PUBLIC int krdma_open(struct krdma **session)
{
	int fd, err;

	if (!session)
		return -EINVAL;
	do {
		fd = open(KRDMA_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	err = krdma_open_fd(fd, session);
	if (err)
		close(fd);
	return err;
}

KRDMA_PUBLIC int krdma_close(struct krdma *session)
{
	if (!session)
		return 0;
	return object_close(session, session->fd);
}

KRDMA_PUBLIC int krdma_fd(const struct krdma *session)
{
	return session ? session->fd : -EINVAL;
}

KRDMA_PUBLIC const char *krdma_version(void)
{
	return KRDMA_VERSION;
}
