// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink requests to rtnetlink and to the RDMA subsystem.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "netlink.h"

/* Longer than any operation of a test.  A kernel that does not answer has a bug. */
#define ANSWER_TIMEOUT_S	60

void netlink_begin(struct netlink_request *request, uint16_t type, uint16_t flags,
		   const void *head, size_t head_size)
{
	memset(request, 0, sizeof(*request));
	request->header.nlmsg_len = NLMSG_LENGTH(head_size);
	request->header.nlmsg_type = type;
	request->header.nlmsg_flags = NLM_F_REQUEST | flags;
	if (head_size)
		memcpy(request->body, head, head_size);
}

void netlink_put(struct netlink_request *request, uint16_t type, const void *data, size_t size)
{
	size_t start = NLMSG_ALIGN(request->header.nlmsg_len);
	struct nlattr *attribute = (void *)((char *)request + start);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + size;
	if (size)
		memcpy((char *)attribute + NLA_HDRLEN, data, size);
	request->header.nlmsg_len = start + NLA_ALIGN(attribute->nla_len);
}

void netlink_put_string(struct netlink_request *request, uint16_t type, const char *string)
{
	netlink_put(request, type, string, strlen(string) + 1);
}

struct nlattr *netlink_nest(struct netlink_request *request, uint16_t type)
{
	size_t start = NLMSG_ALIGN(request->header.nlmsg_len);

	netlink_put(request, type, NULL, 0);
	return (void *)((char *)request + start);
}

void netlink_nest_end(struct netlink_request *request, struct nlattr *nest)
{
	nest->nla_len = (char *)request + request->header.nlmsg_len - (char *)nest;
}

/* Returns true for the last message of an answer.  *ret is then the result of the request. */
static bool take_message(const struct nlmsghdr *message, netlink_answer *answer, void *context,
			 int *ret)
{
	if (message->nlmsg_type == NLMSG_ERROR) {
		*ret = ((const struct nlmsgerr *)NLMSG_DATA(message))->error;
		return true;
	}
	if (message->nlmsg_type == NLMSG_DONE)
		return true;
	if (answer)
		answer(context, NLMSG_DATA(message), message->nlmsg_len - NLMSG_HDRLEN);
	return false;
}

static int read_answer(int fd, netlink_answer *answer, void *context)
{
	static __thread union {
		struct nlmsghdr header;
		char bytes[32768];
	} buffer;
	int ret = 0;

	for (;;) {
		ssize_t got = recv(fd, &buffer, sizeof(buffer), 0);
		struct nlmsghdr *message = &buffer.header;

		if (got < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		for (; NLMSG_OK(message, (size_t)got); message = NLMSG_NEXT(message, got))
			if (take_message(message, answer, context, &ret))
				return ret;
	}
}

int netlink_exchange(int protocol, struct netlink_request *request, netlink_answer *answer,
		     void *context)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const struct timeval patience = { .tv_sec = ANSWER_TIMEOUT_S };
	int fd, ret;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (sendto(fd, request, request->header.nlmsg_len, 0, (const struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		ret = -errno;
	else
		ret = read_answer(fd, answer, context);
	close(fd);
	return ret;
}
