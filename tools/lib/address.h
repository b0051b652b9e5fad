/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libkrdma: names and addresses, for the layers that take names. */
#ifndef KRDMA_ADDRESS_H
#define KRDMA_ADDRESS_H

#include "internal.h"

/* Maximum number of addresses of a name that are tried. */
#define ADDRESSES_MAX	8

/*
 * Resolves a host name or address; -ENXIO if it is neither. passive: a local address for a
 * server, @host may be NULL.
 */
int address_resolve(const char *host, uint16_t port, bool passive,
		    struct sockaddr_storage *addresses, unsigned int *count);

/*
 * Listens at a local address or host name, at the first address of an RDMA device, or, if @where
 * is NULL, at all addresses. Port 0: any free port.
 */
int address_listen(struct krdma *session, const char *where, uint16_t port,
		   struct krdma_listener **listener);

#endif /* KRDMA_ADDRESS_H */
