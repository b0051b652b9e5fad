// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel resources of programs: the RDMA subsystem's count of each device's objects, and the
 * memory management's count of pinned pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>

#include "netlink.h"
#include "resources.h"
#include "session.h"

/* clang-format off */
static const char *const names[RESOURCE_KINDS] = {
	[RESOURCE_PD] = "pd",
	[RESOURCE_CQ] = "cq",
	[RESOURCE_QP] = "qp",
	[RESOURCE_CM_ID] = "cm_id",
	[RESOURCE_MR] = "mr",
	[RESOURCE_SRQ] = "srq",
	[RESOURCE_PINS] = "pinned pages",
};

/* clang-format on */

const char *resource_name(enum resource_kind kind)
{
	return names[kind];
}

/* The next attribute of a message or a nest, NULL behind the last. */
static const struct nlattr *next_attribute(const void *body, size_t length, size_t *at)
{
	const struct nlattr *attribute = (const void *)((const char *)body + *at);

	if (*at + NLA_HDRLEN > length || attribute->nla_len < NLA_HDRLEN)
		return NULL;
	*at += NLA_ALIGN(attribute->nla_len);
	return attribute;
}

static const void *attribute_data(const struct nlattr *attribute)
{
	return (const char *)attribute + NLA_HDRLEN;
}

static void add_entry(struct resources *resources, const void *nest, size_t length)
{
	const struct nlattr *attribute;
	const char *name = "";
	uint64_t count = 0;
	size_t at = 0;

	while ((attribute = next_attribute(nest, length, &at))) {
		switch (attribute->nla_type & NLA_TYPE_MASK) {
		case RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME:
			name = attribute_data(attribute);
			break;
		case RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR:
			memcpy(&count, attribute_data(attribute), sizeof(count));
			break;
		}
	}
	for (int kind = 0; kind < RESOURCE_PINS; kind++)
		if (!strcmp(name, names[kind]))
			resources->count[kind] += count;
}

/* One message for each device, with a nest of an entry for each kind. */
static void add_device(void *context, const void *body, size_t length)
{
	const struct nlattr *attribute, *entry;
	size_t at = 0;

	while ((attribute = next_attribute(body, length, &at))) {
		size_t inner = 0;

		if ((attribute->nla_type & NLA_TYPE_MASK) != RDMA_NLDEV_ATTR_RES_SUMMARY)
			continue;
		while ((entry = next_attribute(attribute_data(attribute),
					       attribute->nla_len - NLA_HDRLEN, &inner)))
			add_entry(context, attribute_data(entry), entry->nla_len - NLA_HDRLEN);
	}
}

/* Each CPU keeps a part of the statistics until they are folded. */
static void fold_statistics(void)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1", 1) < 0)
		fprintf(stderr, "# stat_refresh: %s\n", strerror(errno));
	close(fd);
}

static int read_pins(int64_t *pins)
{
	unsigned long long count;
	char name[64];
	FILE *file;

	fold_statistics();
	file = fopen("/proc/vmstat", "re");
	if (!file)
		return -errno;
	*pins = 0;
	while (fscanf(file, "%63s %llu", name, &count) == 2) {
		if (!strcmp(name, "nr_foll_pin_acquired"))
			*pins += count;
		if (!strcmp(name, "nr_foll_pin_released"))
			*pins -= count;
	}
	fclose(file);
	return 0;
}

int resources_read(struct resources *resources)
{
	struct netlink_request request;
	int ret;

	memset(resources, 0, sizeof(*resources));
	netlink_begin(&request, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET),
		      NLM_F_DUMP, NULL, 0);
	ret = netlink_exchange(NETLINK_RDMA, &request, add_device, resources);
	return ret ? ret : read_pins(&resources->count[RESOURCE_PINS]);
}

static int compare(const struct resources *before, const struct resources *after)
{
	int more = 0;

	for (int kind = 0; kind < RESOURCE_KINDS; kind++)
		more += after->count[kind] > before->count[kind];
	return more;
}

int resources_await(const struct resources *before, unsigned int ms)
{
	uint64_t deadline = now_ms() + ms;
	struct resources after;
	int ret;

	for (;;) {
		ret = resources_read(&after);
		if (ret) {
			printf("# resources cannot be counted: %s\n", strerror(-ret));
			return 1;
		}
		ret = compare(before, &after);
		if (!ret || now_ms() > deadline)
			break;
		sleep_ms(20);
	}
	for (int kind = 0; ret && kind < RESOURCE_KINDS; kind++)
		if (after.count[kind] > before->count[kind])
			printf("# %s: %lld before, %lld after %u ms\n", names[kind],
			       (long long)before->count[kind], (long long)after.count[kind], ms);
	return ret;
}
