// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Location of a file on another machine.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "url.h"
#include "value.h"

static int refuse(const char *word)
{
	complain("'%s' is neither HOST:PATH nor HOST[:PORT]/PATH\n"
		 "An IPv6 address with a port is in brackets: [fd00::1]:7476/PATH", word);
	return -EINVAL;
}

/* Parse a port number; all @length characters must be decimal digits. */
static int parse_port(const char *word, const char *from, size_t length, struct url *url)
{
	char text[8];
	uint64_t port;

	if (!length || length >= sizeof(text))
		return refuse(word);
	memcpy(text, from, length);
	text[length] = '\0';
	if (value_number("the port", text, 1, UINT16_MAX, &port))
		return -EINVAL;
	url->port = (uint16_t)port;
	return 0;
}

static int set_host(const char *word, const char *from, size_t length, struct url *url)
{
	if (!length || length >= sizeof(url->host))
		return refuse(word);
	memcpy(url->host, from, length);
	url->host[length] = '\0';
	return 0;
}

/*
 * What follows the colon after the host: a port, or a path as scp(1) has it.  A path of digits
 * alone up to its first slash would be a port.
 */
static int parse_rest(const char *word, const char *rest, struct url *url)
{
	size_t length = strcspn(rest, "/");

	if (strspn(rest, "0123456789") == length && length)
		return parse_port(word, rest, length, url);
	url->slash = true;
	url->path = rest + (*rest == '/');
	return 0;
}

int url_parse(const char *word, uint16_t default_port, struct url *url)
{
	size_t length;
	const char *end, *colon, *close;
	bool scheme = !strncmp(word, URL_SCHEME, strlen(URL_SCHEME));

	if (scheme)
		word += strlen(URL_SCHEME);
	length = strcspn(word, "/");
	end = word + length;
	*url = (struct url){ .port = default_port, .slash = *end, .path = *end ? end + 1 : end };
	if (*word == '[') {
		close = memchr(word, ']', length);
		if (!close || set_host(word, word + 1, (size_t)(close - word - 1), url))
			return close ? -EINVAL : refuse(word);
		if (close + 1 == end)
			return 0;
		if (close[1] != ':')
			return refuse(word);
		if (scheme)
			return parse_port(word, close + 2, (size_t)(end - close - 2), url);
		return parse_rest(word, close + 2, url);
	}
	colon = memchr(word, ':', length);
	/* With a second colon, all of it is an IPv6 address. */
	if (!colon || memchr(colon + 1, ':', (size_t)(end - colon - 1)))
		return set_host(word, word, length, url);
	if (set_host(word, word, (size_t)(colon - word), url))
		return -EINVAL;
	if (scheme)
		return parse_port(word, colon + 1, (size_t)(end - colon - 1), url);
	return parse_rest(word, colon + 1, url);
}

bool url_looks_like(const char *word)
{
	size_t length = strcspn(word, "/");

	return length && *word != '.' && (word[length] || memchr(word, ':', length));
}

size_t url_find(const struct url *url, struct sockaddr_storage addresses[URL_ADDRESSES],
		int *error)
{
	/* A socket type gives each address only once; RDMA does not depend on it. */
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *each;
	size_t count = 0;
	char port[8];

	snprintf(port, sizeof(port), "%u", url->port);
	hints.ai_flags = AI_NUMERICSERV;
	*error = getaddrinfo(url->host, port, &hints, &list);
	if (*error)
		return 0;
	for (each = list; each && count < URL_ADDRESSES; each = each->ai_next) {
		if (each->ai_family != AF_INET && each->ai_family != AF_INET6)
			continue;
		memset(&addresses[count], 0, sizeof(addresses[count]));
		memcpy(&addresses[count++], each->ai_addr, each->ai_addrlen);
	}
	freeaddrinfo(list);
	*error = count ? 0 : EAI_NONAME;
	return count;
}

const char *url_error(int error)
{
	return error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error);
}

size_t url_addresses(const struct url *url, struct sockaddr_storage addresses[URL_ADDRESSES])
{
	int error;
	size_t count = url_find(url, addresses, &error);

	if (!count)
		complain("cannot find the address of '%s': %s\n"
			 "Check the name, or give the address of the host", url->host,
			 url_error(error));
	return count;
}

const char *url_place(const struct url *url, char text[URL_PLACE_TEXT])
{
	snprintf(text, URL_PLACE_TEXT, strchr(url->host, ':') ? "[%s]:%u" : "%s:%u", url->host,
		 url->port);
	return text;
}
