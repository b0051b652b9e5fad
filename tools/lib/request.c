// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * One request to the module: every structure starts with its size, and what
 * the module does not fill in reads as zero.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "internal.h"

/* Clear the caller's structure and enter its size, its first field. */
int request_prepare(const struct krdma *session, void *argument, size_t size, size_t min_size)
{
	__u32 field;

	if (!session || !argument || size < min_size || size > UINT32_MAX)
		return -EINVAL;
	memset(argument, 0, size);
	field = (__u32)size;
	memcpy(argument, &field, sizeof(field));
	return 0;
}

/*
 * Repeated when a signal came first: discovery waits for nothing that a person
 * would want to interrupt.
 */
int request_issue(const struct krdma *session, unsigned long request, void *argument)
{
	int result;

	do {
		/* int: what musl declares; glibc's unsigned long takes it too. */
		result = ioctl(session->fd, (int)request, argument);
	} while (result < 0 && errno == EINTR);
	return result < 0 ? -errno : 0;
}
