// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Names and addresses.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "address.h"

static int name_error(int error)
{
	switch (error) {
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_SYSTEM:
		return errno ? -errno : -ENXIO;
	default:
		return -ENXIO;
	}
}

int address_resolve(const char *host, uint16_t port, bool passive,
		    struct sockaddr_storage *addresses, unsigned int *count)
{
	/* Any socket type works: without one, the list has each address several times. */
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *each;
	char service[8];
	int err;

	snprintf(service, sizeof(service), "%u", port);
	hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
	err = getaddrinfo(host, service, &hints, &list);
	if (err)
		return name_error(err);
	*count = 0;
	for (each = list; each && *count < ADDRESSES_MAX; each = each->ai_next) {
		if (each->ai_family != AF_INET && each->ai_family != AF_INET6)
			continue;
		memset(&addresses[*count], 0, sizeof(*addresses));
		memcpy(&addresses[*count], each->ai_addr, each->ai_addrlen);
		(*count)++;
	}
	freeaddrinfo(list);
	return *count ? 0 : -ENXIO;
}

/*
 * Whether the address belongs to the device. For a link-local address the interface must match
 * too.
 */
static bool is_of_device(struct krdma *session, const struct sockaddr *address,
			 uint32_t device_id)
{
	uint32_t id;

	if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
		return false;
	return !krdma_device_by_address(session, address, NULL, 0, &id) && id == device_id;
}

static int address_of_device(struct krdma *session, uint32_t device_id, uint16_t port,
			     struct sockaddr_storage *address)
{
	struct ifaddrs *list, *each;
	bool found = false;

	if (getifaddrs(&list))
		return -errno;
	memset(address, 0, sizeof(*address));
	for (each = list; each; each = each->ifa_next) {
		if (!is_of_device(session, each->ifa_addr, device_id))
			continue;
		if (each->ifa_addr->sa_family == AF_INET) {
			memcpy(address, each->ifa_addr, sizeof(struct sockaddr_in));
			((struct sockaddr_in *)address)->sin_port = htons(port);
			found = true;
			break;
		}
		if (!found) {
			memcpy(address, each->ifa_addr, sizeof(struct sockaddr_in6));
			((struct sockaddr_in6 *)address)->sin6_port = htons(port);
			found = true;
		}
	}
	freeifaddrs(list);
	return found ? 0 : -EADDRNOTAVAIL;
}

/*
 * Listens at all addresses. The IPv6 address includes IPv4; if the system has no IPv6, uses that
 * of IPv4.
 */
static int listen_everywhere(struct krdma *session, uint16_t port,
			     struct krdma_listener **listener)
{
	struct sockaddr_in6 any6 = {
		.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT, .sin6_port = htons(port),
	};
	struct sockaddr_in any = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY),
		.sin_port = htons(port),
	};
	int err;

	err = krdma_listen(session, (struct sockaddr *)&any6, 0, 0, listener);
	if (err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL)
		err = krdma_listen(session, (struct sockaddr *)&any, 0, 0, listener);
	return err;
}

int address_listen(struct krdma *session, const char *where, uint16_t port,
		   struct krdma_listener **listener)
{
	struct sockaddr_storage addresses[ADDRESSES_MAX];
	struct krdma_device_query_args device;
	unsigned int count;
	int err;

	if (!where)
		return listen_everywhere(session, port, listener);
	err = krdma_device_find(session, where, &device, sizeof(device));
	if (!err)
		err = address_of_device(session, device.id, port, addresses);
	else
		err = address_resolve(where, port, true, addresses, &count);
	if (err)
		return err;
	return krdma_listen(session, (struct sockaddr *)addresses, 0, 0, listener);
}
