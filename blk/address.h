/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses as people write them.
 */
#ifndef _KRDMA_BLK_ADDRESS_H
#define _KRDMA_BLK_ADDRESS_H

#include <linux/socket.h>
#include <linux/types.h>

/* How many there can be in a list. */
#define KRDMA_BLK_ADDRESSES	8
#define KRDMA_BLK_NETS		32

/* The longest of them, with brackets, a scope and a port. */
#define KRDMA_BLK_ADDRESS_TEXT	80

/* Several addresses with their ports. */
struct krdma_blk_addresses {
	unsigned int count;
	struct sockaddr_storage of[KRDMA_BLK_ADDRESSES];
};

/**
 * struct krdma_blk_net - those addresses that begin with certain bits
 * @family: AF_INET or AF_INET6
 * @bits: how many bits
 * @bytes: the bits, and what follows them
 */
struct krdma_blk_net {
	u8 family;
	u8 bits;
	u8 bytes[16];
};

/* Several of these, or all addresses. */
struct krdma_blk_nets {
	bool any;
	unsigned int count;
	struct krdma_blk_net of[KRDMA_BLK_NETS];
};

int krdma_blk_parse_addresses(const char *text, size_t length,
			      struct krdma_blk_addresses *addresses);
int krdma_blk_parse_nets(const char *text, size_t length, struct krdma_blk_nets *nets);
ssize_t krdma_blk_print_addresses(const struct krdma_blk_addresses *addresses, char *page);
ssize_t krdma_blk_print_nets(const struct krdma_blk_nets *nets, char *page);
void krdma_blk_net_of(const struct sockaddr_storage *addr, struct krdma_blk_net *net);
bool krdma_blk_same_net(const struct krdma_blk_net *a, const struct krdma_blk_net *b);
bool krdma_blk_nets_have(const struct krdma_blk_nets *nets, const struct sockaddr_storage *addr);

#endif /* _KRDMA_BLK_ADDRESS_H */
