// SPDX-License-Identifier: GPL-2.0
/*
 * Textual addresses: ADDR, ADDR:PORT, [ADDR]:PORT, and NET/BITS, in lists separated by blanks.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "address.h"
#include "wire.h"

/*
 * Copies the next word of a list into @word.  Returns its length, 0 if there is none, or -EINVAL
 * if it is too long.
 */
static int krdma_blk_next_word(const char **at, const char *end, char *word)
{
	size_t length = 0;

	while (*at < end && isspace(**at))
		(*at)++;
	while (*at < end && !isspace(**at)) {
		if (length == KRDMA_BLK_ADDRESS_TEXT - 1)
			return -EINVAL;
		word[length++] = *(*at)++;
	}
	word[length] = '\0';
	return length;
}

static int krdma_blk_parse_address(char *word, struct sockaddr_storage *addr)
{
	char *colon = strrchr(word, ':');
	char port[8];

	snprintf(port, sizeof(port), "%u", KRDMA_BLK_PORT);
	if (*word == '[') {
		char *close = strchr(++word, ']');

		if (!close || (close[1] && close[1] != ':'))
			return -EINVAL;
		if (close[1] && strscpy(port, close + 2, sizeof(port)) <= 0)
			return -EINVAL;
		*close = '\0';
	} else if (colon && strchr(word, ':') == colon) {
		if (strscpy(port, colon + 1, sizeof(port)) <= 0)
			return -EINVAL;
		*colon = '\0';
	}
	return inet_pton_with_scope(&init_net, AF_UNSPEC, word, port, addr);
}

/**
 * krdma_blk_parse_addresses() - Parse a list of addresses
 * @text: the list
 * @length: its length in bytes
 * @addresses: filled in; undefined on failure
 *
 * Context: process context.
 * Return: 0, or -EINVAL: it is invalid, empty, or too long.
 */
int krdma_blk_parse_addresses(const char *text, size_t length,
			      struct krdma_blk_addresses *addresses)
{
	const char *end = text + length;
	char word[KRDMA_BLK_ADDRESS_TEXT];
	int ret;

	addresses->count = 0;
	while ((ret = krdma_blk_next_word(&text, end, word)) > 0) {
		if (addresses->count == KRDMA_BLK_ADDRESSES ||
		    krdma_blk_parse_address(word, &addresses->of[addresses->count++]))
			return -EINVAL;
	}
	return ret || !addresses->count ? -EINVAL : 0;
}

static int krdma_blk_parse_net(char *word, struct krdma_blk_net *net)
{
	char *slash = strchr(word, '/');

	if (slash)
		*slash++ = '\0';
	*net = (struct krdma_blk_net) {};
	if (in4_pton(word, -1, net->bytes, -1, NULL)) {
		net->family = AF_INET;
		net->bits = 32;
	} else if (in6_pton(word, -1, net->bytes, -1, NULL)) {
		net->family = AF_INET6;
		net->bits = 128;
	} else {
		return -EINVAL;
	}
	if (slash) {
		u8 bits;

		if (kstrtou8(slash, 10, &bits) || bits > net->bits)
			return -EINVAL;
		net->bits = bits;
	}
	return 0;
}

/**
 * krdma_blk_parse_nets() - Parse a list of networks
 * @text: the list, or "any" for all networks; an empty list contains none
 * @length: its length in bytes
 * @nets: filled in; undefined on failure
 *
 * Context: process context.
 * Return: 0, or -EINVAL: it is invalid or too long.
 */
int krdma_blk_parse_nets(const char *text, size_t length, struct krdma_blk_nets *nets)
{
	const char *end = text + length;
	char word[KRDMA_BLK_ADDRESS_TEXT];
	int ret;

	*nets = (struct krdma_blk_nets) {};
	while ((ret = krdma_blk_next_word(&text, end, word)) > 0) {
		if (nets->any)
			return -EINVAL;
		if (!nets->count && !strcmp(word, "any"))
			nets->any = true;
		else if (nets->count == KRDMA_BLK_NETS ||
			 krdma_blk_parse_net(word, &nets->of[nets->count++]))
			return -EINVAL;
	}
	return ret;
}

/**
 * krdma_blk_print_addresses() - Print a list of addresses
 * @addresses: the list
 * @page: filled in
 *
 * Context: any.
 * Return: number of bytes.
 */
ssize_t krdma_blk_print_addresses(const struct krdma_blk_addresses *addresses, char *page)
{
	ssize_t length = 0;

	for (unsigned int i = 0; i < addresses->count; i++)
		length += sysfs_emit_at(page, length, "%pISpc\n", &addresses->of[i]);
	return length;
}

/**
 * krdma_blk_print_nets() - Print a list of networks
 * @nets: the list
 * @page: filled in
 *
 * Context: any.
 * Return: number of bytes.
 */
ssize_t krdma_blk_print_nets(const struct krdma_blk_nets *nets, char *page)
{
	ssize_t length = 0;

	if (nets->any)
		return sysfs_emit(page, "any\n");
	for (unsigned int i = 0; i < nets->count; i++) {
		const struct krdma_blk_net *net = &nets->of[i];

		if (net->family == AF_INET)
			length += sysfs_emit_at(page, length, "%pI4/%u\n", net->bytes, net->bits);
		else
			length += sysfs_emit_at(page, length, "%pI6c/%u\n", net->bytes, net->bits);
	}
	return length;
}

static bool krdma_blk_bits_equal(const u8 *a, const u8 *b, unsigned int bits)
{
	unsigned int whole = bits / 8;
	u8 mask = ~(0xff >> bits % 8);

	if (memcmp(a, b, whole))
		return false;
	return !(bits % 8) || !((a[whole] ^ b[whole]) & mask);
}

/**
 * krdma_blk_net_of() - Convert an address to a network that contains only the address
 * @addr: the address
 * @net: filled in
 *
 * An IPv4-mapped IPv6 address is converted to an IPv4 address.
 *
 * Context: any.
 */
void krdma_blk_net_of(const struct sockaddr_storage *addr, struct krdma_blk_net *net)
{
	const struct in6_addr *in6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;
	const struct in_addr *in = &((const struct sockaddr_in *)addr)->sin_addr;

	*net = (struct krdma_blk_net) { .family = addr->ss_family };
	if (net->family == AF_INET) {
		net->bits = 32;
		memcpy(net->bytes, in, 4);
	} else if (ipv6_addr_v4mapped(in6)) {
		net->family = AF_INET;
		net->bits = 32;
		memcpy(net->bytes, &in6->s6_addr[12], 4);
	} else {
		net->bits = 128;
		memcpy(net->bytes, in6->s6_addr, 16);
	}
}

/**
 * krdma_blk_same_net() - Check whether two networks are the same
 * @a: a network
 * @b: another network
 *
 * Context: any.
 * Return: true if they are.
 */
bool krdma_blk_same_net(const struct krdma_blk_net *a, const struct krdma_blk_net *b)
{
	return a->family == b->family && a->bits == b->bits &&
	       krdma_blk_bits_equal(a->bytes, b->bytes, a->bits);
}

/**
 * krdma_blk_same_link() - Check whether one host may have two addresses
 * @a: an address
 * @b: another address
 *
 * A host may use any number of addresses of its IPv6 network, whose prefix has 64 bits.  But the
 * network may as well have many hosts.
 *
 * Context: any.
 * Return: true if both are addresses of the same IPv6 network.
 */
bool krdma_blk_same_link(const struct krdma_blk_net *a, const struct krdma_blk_net *b)
{
	return a->family == AF_INET6 && b->family == AF_INET6 &&
	       krdma_blk_bits_equal(a->bytes, b->bytes, 64);
}

/**
 * krdma_blk_nets_have() - Check whether an address is in a list of networks
 * @nets: the networks
 * @addr: the address
 *
 * Context: any.
 * Return: true if it is.
 */
bool krdma_blk_nets_have(const struct krdma_blk_nets *nets, const struct sockaddr_storage *addr)
{
	struct krdma_blk_net net;

	if (nets->any)
		return true;
	krdma_blk_net_of(addr, &net);
	for (unsigned int i = 0; i < nets->count; i++) {
		if (nets->of[i].family == net.family &&
		    krdma_blk_bits_equal(nets->of[i].bytes, net.bytes, nets->of[i].bits))
			return true;
	}
	return false;
}
