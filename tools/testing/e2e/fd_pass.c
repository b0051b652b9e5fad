// SPDX-License-Identifier: GPL-2.0
/*
 * Passing file descriptors between processes (SCM_RIGHTS).
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "fd_pass.h"

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int fd_send(int channel, int fd)
{
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	union control control = { .header = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.bytes),
	};

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(channel, &message, 0) < 0 ? -errno : 0;
}

int fd_receive(int channel)
{
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	union control control;
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header;
	int fd;

	if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -EBADMSG;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}
