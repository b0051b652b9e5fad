// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices as `rdma link` and `rdma dev` manage them.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_netlink.h>

#include "netlink.h"
#include "rdma_link.h"

static void begin(struct netlink_request *request, unsigned int command, uint16_t flags)
{
	netlink_begin(request, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags, NULL, 0);
}

struct index_search {
	const char *name;
	uint32_t index;
	bool found;
};

static void match_device(void *context, const void *body, size_t length)
{
	struct index_search *search = context;
	const char *name = NULL;
	uint32_t index = 0;
	size_t at = 0;

	while (at + NLA_HDRLEN <= length) {
		const struct nlattr *attribute = (const void *)((const char *)body + at);
		const void *data = (const char *)attribute + NLA_HDRLEN;

		if (attribute->nla_len < NLA_HDRLEN)
			return;
		if ((attribute->nla_type & NLA_TYPE_MASK) == RDMA_NLDEV_ATTR_DEV_INDEX)
			memcpy(&index, data, sizeof(index));
		if ((attribute->nla_type & NLA_TYPE_MASK) == RDMA_NLDEV_ATTR_DEV_NAME)
			name = data;
		at += NLA_ALIGN(attribute->nla_len);
	}
	if (name && !strcmp(name, search->name)) {
		search->index = index;
		search->found = true;
	}
}

static int find_index(const char *name, uint32_t *index)
{
	struct index_search search = { .name = name };
	struct netlink_request request;
	int ret;

	begin(&request, RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	ret = netlink_exchange(NETLINK_RDMA, &request, match_device, &search);
	if (ret)
		return ret;
	*index = search.index;
	return search.found ? 0 : -ENODEV;
}

int rdma_link_add(const char *name, const char *netdev)
{
	struct netlink_request request;

	begin(&request, RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	netlink_put_string(&request, RDMA_NLDEV_ATTR_DEV_NAME, name);
	netlink_put_string(&request, RDMA_NLDEV_ATTR_LINK_TYPE, getenv("KRDMA_LINK") ?: "rxe");
	netlink_put_string(&request, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	return netlink_exchange(NETLINK_RDMA, &request, NULL, NULL);
}

/* Send @command for the device @name, with one more attribute if @size is not 0. */
static int change_device(const char *name, unsigned int command, uint16_t type, const void *data,
			 size_t size)
{
	struct netlink_request request;
	uint32_t index;
	int ret;

	ret = find_index(name, &index);
	if (ret)
		return ret;
	begin(&request, command, NLM_F_ACK);
	netlink_put(&request, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	if (size)
		netlink_put(&request, type, data, size);
	return netlink_exchange(NETLINK_RDMA, &request, NULL, NULL);
}

int rdma_link_remove(const char *name)
{
	return change_device(name, RDMA_NLDEV_CMD_DELLINK, 0, NULL, 0);
}

int rdma_link_rename(const char *name, const char *new_name)
{
	return change_device(name, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_ATTR_DEV_NAME, new_name,
			     strlen(new_name) + 1);
}

int rdma_netns_mode_set(enum rdma_netns_mode mode)
{
	struct netlink_request request;
	uint8_t value = mode;

	begin(&request, RDMA_NLDEV_CMD_SYS_SET, NLM_F_ACK);
	netlink_put(&request, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &value, sizeof(value));
	return netlink_exchange(NETLINK_RDMA, &request, NULL, NULL);
}
