// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Structures of the caller: results to fill in, options, addresses, names. The libraries beside
 * this one use them, too.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "internal.h"

/* No options structure is nearly this large: a larger size was never initialized. */
#define OPTIONS_MAX	512

int request_prepare(void *argument, size_t size, size_t min_size)
{
	__u32 field;

	if (!argument || size < min_size || size > UINT32_MAX)
		return -EINVAL;
	memset(argument, 0, size);
	field = (__u32)size;
	memcpy(argument, &field, sizeof(field));
	return 0;
}

int request_options(void *options, size_t size, const void *from)
{
	__u32 theirs = 0, ours = (__u32)size;
	const unsigned char *byte = from;

	memset(options, 0, size);
	if (from) {
		memcpy(&theirs, from, sizeof(theirs));
		if (theirs < sizeof(theirs))
			return -EINVAL;
		/* Check this before the loop reads the bytes after the known ones. */
		if (theirs > OPTIONS_MAX)
			return -E2BIG;
		for (size_t i = size; i < theirs; i++) {
			if (byte[i])
				return -E2BIG;
		}
		memcpy(options, from, theirs < size ? theirs : size);
	}
	memcpy(options, &ours, sizeof(ours));
	return 0;
}

int request_address(struct __kernel_sockaddr_storage *to, const struct sockaddr *from)
{
	size_t length;

	if (!from)
		return -EINVAL;
	switch (from->sa_family) {
	case AF_INET:
		length = sizeof(struct sockaddr_in);
		break;
	case AF_INET6:
		length = sizeof(struct sockaddr_in6);
		break;
	default:
		return -EAFNOSUPPORT;
	}
	memset(to, 0, sizeof(*to));
	memcpy(to, from, length);
	return 0;
}

int request_name(char to[KRDMA_NAME_MAX], const char *from)
{
	size_t length = strnlen(from, KRDMA_NAME_MAX);

	if (length == KRDMA_NAME_MAX)
		return -EINVAL;
	memset(to, 0, KRDMA_NAME_MAX);
	memcpy(to, from, length);
	return 0;
}
