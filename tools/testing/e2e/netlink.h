/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink requests to rtnetlink and to the RDMA subsystem.
 */
#ifndef KRDMA_E2E_NETLINK_H
#define KRDMA_E2E_NETLINK_H

#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>

struct netlink_request {
	struct nlmsghdr header;
	unsigned char body[1024];
};

/* Called for each message of the answer.  @body is the payload, without the header. */
typedef void netlink_answer(void *context, const void *body, size_t length);

void netlink_begin(struct netlink_request *request, uint16_t type, uint16_t flags,
		   const void *head, size_t head_size);
void netlink_put(struct netlink_request *request, uint16_t type, const void *data, size_t size);
void netlink_put_string(struct netlink_request *request, uint16_t type, const char *string);
struct nlattr *netlink_nest(struct netlink_request *request, uint16_t type);
void netlink_nest_end(struct netlink_request *request, struct nlattr *nest);

/* Send @request, and read until the last message of the answer.  Returns 0 or -errno. */
int netlink_exchange(int protocol, struct netlink_request *request, netlink_answer *answer,
		     void *context);

#endif
