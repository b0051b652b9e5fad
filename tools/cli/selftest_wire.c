// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: protocol between the near end and the far end.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "peer_stop.h"
#include "selftest_wire.h"

#define SLICE_MS 200

/* Wait until the socket is ready; check in each slice whether a stop is requested. */
static int await(int fd, short events, uint64_t deadline)
{
	struct pollfd wait = { .fd = fd, .events = events };
	int ready;

	for (;;) {
		if (stop_wanted())
			return -EINTR;
		ready = poll(&wait, 1, SLICE_MS);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (clock_ns() >= deadline)
			return -ETIMEDOUT;
	}
}

/* Send or receive as many bytes as possible without waiting; 0 if none. */
static ssize_t transfer(int fd, void *data, size_t length, short events)
{
	ssize_t moved = events == POLLIN ? recv(fd, data, length, MSG_DONTWAIT) :
					   send(fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (moved > 0)
		return moved;
	if (moved < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return -ECONNRESET;
}

static int transfer_all(int fd, void *data, size_t length, short events, uint64_t deadline)
{
	uint8_t *bytes = data;
	ssize_t moved;
	int err;

	while (length) {
		err = await(fd, events, deadline);
		if (err)
			return err;
		moved = transfer(fd, bytes, length, events);
		if (moved < 0)
			return (int)moved;
		bytes += moved;
		length -= (size_t)moved;
	}
	return 0;
}

int wire_send(int fd, const struct wire_words *words, uint64_t deadline)
{
	struct wire_words wire;
	int i;

	for (i = 0; i < WIRE_WORDS; i++)
		wire.word[i] = htole64(words->word[i]);
	return transfer_all(fd, &wire, sizeof(wire), POLLOUT, deadline);
}

int wire_receive(int fd, struct wire_words *words, uint64_t deadline)
{
	int i, err = transfer_all(fd, words, sizeof(*words), POLLIN, deadline);

	for (i = 0; !err && i < WIRE_WORDS; i++)
		words->word[i] = le64toh(words->word[i]);
	return err;
}

void wire_put_bytes(uint64_t *words, const void *bytes, size_t length)
{
	const uint8_t *from = bytes;
	size_t i;

	for (i = 0; i < length; i++) {
		if (i % 8 == 0)
			words[i / 8] = 0;
		words[i / 8] |= (uint64_t)from[i] << i % 8 * 8;
	}
}

void wire_get_bytes(const uint64_t *words, void *bytes, size_t length)
{
	uint8_t *to = bytes;
	size_t i;

	for (i = 0; i < length; i++)
		to[i] = (uint8_t)(words[i / 8] >> i % 8 * 8);
}

void wire_private(uint8_t data[WIRE_PRIVATE], uint64_t nonce, int accepting)
{
	uint64_t words[2] = { htole64(WIRE_MAGIC), htole64(accepting ? ~nonce : nonce) };

	memcpy(data, words, WIRE_PRIVATE);
}
