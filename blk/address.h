/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Textual addresses.
 */
#ifndef _KRDMA_BLK_ADDRESS_H
#define _KRDMA_BLK_ADDRESS_H

#include <linux/socket.h>
#include <linux/types.h>

/* Maximum number of entries of a list. */
#define KRDMA_BLK_ADDRESSES	8
#define KRDMA_BLK_NETS		32

/* Maximum length of the text of an address, with brackets, scope and port. */
#define KRDMA_BLK_ADDRESS_TEXT	80

/* A list of addresses with their ports. */
struct krdma_blk_addresses {
	unsigned int count;
	struct sockaddr_storage of[KRDMA_BLK_ADDRESSES];
};

/**
 * struct krdma_blk_net - a network: all addresses with a common prefix
 * @family: AF_INET or AF_INET6
 * @bits: length of the prefix in bits
 * @bytes: the address; bits behind the prefix are ignored
 */
struct krdma_blk_net {
	u8 family;
	u8 bits;
	u8 bytes[16];
};

/* A list of networks, or all addresses. */
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
bool krdma_blk_same_link(const struct krdma_blk_net *a, const struct krdma_blk_net *b);
bool krdma_blk_nets_have(const struct krdma_blk_nets *nets, const struct sockaddr_storage *addr);

#endif /* _KRDMA_BLK_ADDRESS_H */
