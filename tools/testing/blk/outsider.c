// SPDX-License-Identifier: GPL-2.0
/*
 * A peer of krdma_blk that is not krdma_blk.  As a client it sends malformed hellos, as a server
 * it sends malformed welcomes.  The formats and the proofs are defined again here, so that a test
 * fails when the protocol changes.
 *
 *	outsider ask HOST EXPORT SECRET
 *
 * Sends each prefix of a valid hello, the whole hello, and the hello with each byte changed in
 * turn.  Then it answers the challenge correctly and incorrectly.  Prints a line for each attempt.
 *
 *	outsider guess HOST EXPORT SECRET COUNT
 *
 * Answers the challenge incorrectly COUNT times, then correctly, and correctly again three
 * seconds later.
 *
 *	outsider command HOST EXPORT
 *
 * Connects to an export without a secret as a writer that knows commands, and sends valid and
 * invalid commands; then one of a wrong length on each of some connections; then a valid one as a
 * reader.  Then, on a connection without commands and on one with them, it writes as many bytes as
 * a command has to the memory, with immediate data, which takes a receive of the server.  Prints a
 * line for each, with the reply.
 *
 *	outsider slot HOST EXPORT
 *
 * Does the same to an export with a store: valid and invalid commands for slots, as a writer and as
 * a reader.  Then it asks without knowing commands, and writes to a slot as a reader.
 *
 *	outsider invalidate HOST EXPORT [OTHER]
 *
 * Connects to an export without a secret as a reader, and sends a message that invalidates the rkey
 * of the first chunk; then, on another connection, one that invalidates that of the table.  With
 * OTHER, the rkeys are those of that export.  Prints a line for each.
 *
 *	outsider crowd HOST EXPORT COUNT [PREFIX]
 *
 * Sends COUNT hellos at the same time, each as another reader.  With PREFIX, the beginning of an
 * IPv6 address, each comes from another address: PREFIX1 to PREFIXn, n in hexadecimal.  Prints a
 * line for each answer, in the order in which they come.
 *
 *	outsider spoil HOST EXPORT
 *
 * Listens, and welcomes each client without a fault.  Connects to the export as a reader, and sends
 * the client a message that invalidates the rkey of the export's first chunk.  Prints a line for
 * each client, until it is killed.
 *
 *	outsider give FAULT...
 *
 * Listens, and welcomes each client with the next FAULT; see faults[].  All further clients get
 * the last one.  Prints a line for each client, until it is killed.
 *
 *	outsider give refusal
 *
 * Listens, and refuses each client at once, as a server does that has no memory.  Prints a line for
 * each, until it is killed.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "krdma.h"
#include "krdma_entry.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define SERVER_PORT	7475
#define PORT		8003
#define PATIENCE_MS	60000
#define BRIEF_MS	200

#define MAGIC		0x62646b72
#define VERSION		2
#define PROOF		16
#define ANSWER		0x01
#define RETURN		0x02
#define READER		0x04
#define COMMANDS	0x08
#define STORED		0x08
#define REASON_VERSION	2
#define REASON_CHALLENGE	4
#define REASON_MEMORY	8
#define ZERO		1
#define DISCARD		2
#define READ		3
#define WRITE		4
#define FLUSH		5
#define STABLE		1
#define SLOTS		64
#define SLOT		0x20000
#define PAGE		4096
#define CHUNKS		4
#define MORE_KEYS	7
/* A nominal export whose table takes more than one rkey of rxe, 2 MiB each. */
#define LARGE_SIZE	(300ull << 30)
#define LARGE_CHUNK	0x100000u
#define LARGE_CHUNKS	(LARGE_SIZE / LARGE_CHUNK)
#define LARGE_KEYS	3

struct hello {
	uint32_t magic;
	uint8_t version;
	uint8_t flags;
	uint16_t ring;
	uint64_t client;
	char name[24];
	uint8_t proof[PROOF];
};

struct welcome {
	uint32_t magic;
	uint8_t version;
	uint8_t flags;
	uint16_t more;
	uint64_t generation;
	uint64_t size;
	uint64_t table_addr;
	uint32_t table_key;
	uint32_t block_size;
	uint32_t chunk_size;
	uint32_t slot_size;
	uint8_t proof[PROOF];
	/* Only if there are more rkeys than one. */
	uint32_t table_part;
	uint32_t more_keys[MORE_KEYS];
};

#define SHORT_WELCOME	offsetof(struct welcome, table_part)

struct entry {
	uint64_t addr;
	uint32_t key;
	uint32_t reserved;
};

struct command {
	uint64_t offset;
	uint32_t length;
	uint16_t tag;
	uint8_t opcode;
	uint8_t flags;
};

struct refusal {
	uint32_t magic;
	uint8_t version;
	uint8_t reason;
	uint16_t reserved;
	uint8_t challenge[PROOF];
};

static void check(const char *what, int err)
{
	if (!err)
		return;
	printf("%s: %s\n", what, strerror(-err));
	exit(1);
}

/*
 * SHA-256 (FIPS 180-4) and HMAC (RFC 2104) for a few hundred bytes
 */

#define BLOCK	64
#define DIGEST	32
#define SAID	256

static uint32_t rotated(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* The first 32 bits of the fractional part of the square or cube root of a prime. */
static uint32_t root_bits(unsigned int prime, int cube)
{
	unsigned __int128 low = 0, high = (unsigned __int128)1 << 40;

	/* The largest r with r^2 <= prime * 2^64, or r^3 <= prime * 2^96. */
	while (high - low > 1) {
		unsigned __int128 middle = (low + high) / 2;
		unsigned __int128 square = middle * middle;

		if (cube ? square <= ((unsigned __int128)prime << 96) / middle :
			   square <= (unsigned __int128)prime << 64)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static void sha256_block(uint32_t state[8], const uint8_t *data, const uint32_t k[64])
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)data[4 * i] << 24 | (uint32_t)data[4 * i + 1] << 16 |
		       (uint32_t)data[4 * i + 2] << 8 | data[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t one = v[7] + (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)) +
			       ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
		uint32_t two = (rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)) +
			       ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += one;
		v[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

static void sha256(const uint8_t *data, size_t length, uint8_t digest[DIGEST])
{
	uint8_t padded[SAID + 2 * BLOCK] = { 0 };
	size_t blocks = (length + 9 + BLOCK - 1) / BLOCK;
	uint32_t state[8], k[64];
	unsigned int prime = 2;

	for (int i = 0; i < 64; prime++) {
		unsigned int divisor = 2;

		while (prime % divisor)
			divisor++;
		if (divisor < prime)
			continue;
		if (i < 8)
			state[i] = root_bits(prime, 0);
		k[i++] = root_bits(prime, 1);
	}
	memcpy(padded, data, length);
	padded[length] = 0x80;
	for (int i = 0; i < 8; i++)
		padded[blocks * BLOCK - 1 - i] = (uint8_t)((uint64_t)length * 8 >> 8 * i);
	for (size_t i = 0; i < blocks; i++)
		sha256_block(state, padded + i * BLOCK, k);
	for (int i = 0; i < DIGEST; i++)
		digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

/*
 * Compute the proof of a message: the HMAC of the side that proves (1: the client, 2: the server),
 * the challenge, the nonce and the message up to its proof, cut to PROOF bytes.
 */
static void prove(const char *secret, uint8_t who, const uint8_t *challenge,
		  const uint8_t *nonce, const void *said, size_t length, uint8_t proof[PROOF])
{
	uint8_t inner[BLOCK + 1 + 2 * PROOF + SAID] = { 0 }, outer[BLOCK + DIGEST] = { 0 };
	uint8_t digest[DIGEST];

	memcpy(inner, secret, strnlen(secret, BLOCK));
	memcpy(outer, secret, strnlen(secret, BLOCK));
	for (int i = 0; i < BLOCK; i++) {
		inner[i] ^= 0x36;
		outer[i] ^= 0x5c;
	}
	inner[BLOCK] = who;
	memcpy(inner + BLOCK + 1, challenge, PROOF);
	memcpy(inner + BLOCK + 1 + PROOF, nonce, PROOF);
	memcpy(inner + BLOCK + 1 + 2 * PROOF, said, length);
	sha256(inner, BLOCK + 1 + 2 * PROOF + length, outer + BLOCK);
	sha256(outer, sizeof(outer), digest);
	memcpy(proof, digest, PROOF);
}

/*
 * As a client
 */

struct client {
	struct krdma *session;
	struct sockaddr_storage address;
	const char *secret;
	struct hello hello;
	uint8_t challenge[PROOF];
	uint8_t nonce[PROOF];
};

static void print_answer(struct client *client, struct krdma_conn *conn, int err)
{
	union {
		struct refusal refusal;
		struct welcome welcome;
	} said = { .welcome = { 0 } };
	uint8_t proved[sizeof(struct welcome) - PROOF];
	size_t length = sizeof(said);
	uint8_t proof[PROOF];

	krdma_conn_private_data(conn, &said, &length);
	if (!err) {
		memcpy(proved, &said.welcome, offsetof(struct welcome, proof));
		memcpy(proved + offsetof(struct welcome, proof), &said.welcome.table_part,
		       sizeof(struct welcome) - SHORT_WELCOME);
		prove(client->secret, 2, client->challenge, client->nonce, proved,
		      said.welcome.more ? sizeof(proved) : offsetof(struct welcome, proof), proof);
		puts(memcmp(proof, said.welcome.proof, PROOF) ? "welcome" : "welcome, proved");
	} else if (err != -ECONNREFUSED) {
		puts(strerror(-err));
	} else if (said.refusal.magic != htole32(MAGIC)) {
		puts("refused by somebody else");
	} else if (said.refusal.reason == REASON_CHALLENGE) {
		memcpy(client->challenge, said.refusal.challenge, PROOF);
		puts("challenged");
	} else {
		printf("refused, reason %u\n", said.refusal.reason);
	}
	fflush(stdout);
}

static void ask(struct client *client, size_t length)
{
	struct krdma_conn_create_qp_args depths = { .size = sizeof(depths) };
	struct krdma_ring *ring;
	struct krdma_conn *conn;
	int err;

	check("queue", krdma_ring_create(client->session, NULL, &ring));
	check("connection", krdma_conn_create(client->session, &conn));
	check("resolve", krdma_conn_resolve(conn, (struct sockaddr *)&client->address, NULL));
	check("resolve", krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL));
	check("create QP", krdma_conn_create_qp(conn, ring, NULL, NULL, &depths));
	check("connect", krdma_conn_connect(conn, NULL, &client->hello, length));
	err = krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL);
	print_answer(client, conn, err);
	krdma_conn_close(conn);
	krdma_ring_close(ring);
}

/* Get a challenge, and turn the hello into the correct answer to it. */
static void get_ready(struct client *client)
{
	client->hello.flags &= ~ANSWER;
	memcpy(client->hello.proof, client->nonce, PROOF);
	printf("first: ");
	ask(client, sizeof(client->hello));
	client->hello.flags |= ANSWER;
	prove(client->secret, 1, client->challenge, client->nonce, &client->hello,
	      offsetof(struct hello, proof), client->hello.proof);
}

/* @address: the C library's struct sockaddr_storage, or the kernel's. */
static void set_address(void *address, const char *text, uint16_t port)
{
	struct sockaddr_in6 *in6 = address;
	struct sockaddr_in *in = address;

	memset(address, 0, sizeof(struct sockaddr_storage));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
	} else {
		check("address", inet_pton(AF_INET6, text, &in6->sin6_addr) == 1 ? 0 : -EINVAL);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
	}
}

static void init(struct client *client, const char *host, const char *name)
{
	set_address(&client->address, host, SERVER_PORT);
	client->hello = (struct hello) {
		.magic = htole32(MAGIC), .version = VERSION, .client = htole64(7),
	};
	memcpy(client->hello.name, name, strnlen(name, sizeof(client->hello.name)));
	memset(client->nonce, 0x5a, PROOF);
	memcpy(client->hello.proof, client->nonce, PROOF);
}

static void ask_all(struct client *client)
{
	struct hello *hello = &client->hello;

	for (size_t length = 0; length <= sizeof(*hello); length++) {
		printf("length %zu: ", length);
		ask(client, length);
	}
	for (size_t at = 0; at < sizeof(*hello); at++) {
		printf("byte %zu: ", at);
		((unsigned char *)hello)[at] ^= 0xff;
		ask(client, sizeof(*hello));
		((unsigned char *)hello)[at] ^= 0xff;
	}

	get_ready(client);
	printf("answer: ");
	ask(client, sizeof(*hello));
	printf("replayed: ");
	ask(client, sizeof(*hello));
	for (size_t at = 0; at < PROOF; at++) {
		get_ready(client);
		hello->proof[at] ^= 0xff;
		printf("proof %zu: ", at);
		ask(client, sizeof(*hello));
	}
	get_ready(client);
	hello->name[0] ^= 1;
	printf("other: ");
	ask(client, sizeof(*hello));
	hello->name[0] ^= 1;

	hello->client = htole64(8);
	hello->flags |= RETURN;
	get_ready(client);
	printf("return: ");
	ask(client, sizeof(*hello));
}

static void guess(struct client *client, unsigned int count)
{
	for (unsigned int i = 0; i <= count; i++) {
		get_ready(client);
		if (i < count)
			client->hello.proof[0] ^= 1;
		printf("%s: ", i < count ? "wrong" : "right");
		ask(client, sizeof(client->hello));
	}
	sleep(3);
	get_ready(client);
	printf("later: ");
	ask(client, sizeof(client->hello));
}

/*
 * Commands, for an export of 8 MiB in blocks of 4096 bytes
 */

#define SIZE		0x800000ull

static const struct {
	const char *name;
	struct command command;
} commands[] = {
	{ "zero", { .offset = 0x100000, .length = 0x10000, .opcode = ZERO } },
	{ "discard", { .offset = 0x200000, .length = 0x1000, .opcode = DISCARD } },
	{ "last", { .offset = SIZE - 0x1000, .length = 0x1000, .opcode = ZERO } },
	{ "longest", { .offset = 0x3ff000, .length = 0x200000, .opcode = ZERO } },
	{ "opcode-0", { .length = 0x1000, .opcode = 0 } },
	{ "opcode-3", { .length = 0x1000, .opcode = 3 } },
	{ "reserved", { .length = 0x1000, .opcode = ZERO, .flags = 1 } },
	{ "empty", { .opcode = ZERO } },
	{ "odd-length", { .length = 0x200, .opcode = ZERO } },
	{ "odd-offset", { .offset = 0x200, .length = 0x1000, .opcode = ZERO } },
	{ "long", { .length = 0x201000, .opcode = ZERO } },
	{ "behind", { .offset = SIZE, .length = 0x1000, .opcode = ZERO } },
	{ "across", { .offset = SIZE - 0x1000, .length = 0x2000, .opcode = ZERO } },
	{ "huge-offset", { .offset = 0 - 0x1000ull, .length = 0x1000, .opcode = ZERO } },
	{ "wraps", { .offset = 0 - 0x1000ull, .length = 0x2000, .opcode = ZERO } },
};

struct visit {
	struct krdma_ring *ring;
	struct krdma_conn *conn;
	struct welcome welcome;
};

static struct visit begin_visit(struct client *client, uint8_t flags)
{
	struct krdma_conn_create_qp_args depths = { .size = sizeof(depths), .max_inline = 64 };
	struct visit visit = { 0 };
	size_t length = sizeof(visit.welcome);

	client->hello.flags = flags;
	check("queue", krdma_ring_create(client->session, NULL, &visit.ring));
	check("connection", krdma_conn_create(client->session, &visit.conn));
	check("resolve", krdma_conn_resolve(visit.conn, (struct sockaddr *)&client->address, NULL));
	check("resolve", krdma_conn_wait(visit.conn, krdma_deadline(PATIENCE_MS), NULL));
	check("prepare", krdma_conn_create_qp(visit.conn, visit.ring, NULL, NULL, &depths));
	check("connect", krdma_conn_connect(visit.conn, NULL, &client->hello,
					    sizeof(client->hello)));
	check("connect", krdma_conn_wait(visit.conn, krdma_deadline(PATIENCE_MS), NULL));
	krdma_conn_private_data(visit.conn, &visit.welcome, &length);
	printf("flags %u: welcome, flags %u\n", flags, visit.welcome.flags);
	return visit;
}

static void leave(struct visit *visit)
{
	krdma_conn_close(visit->conn);
	krdma_ring_close(visit->ring);
}

/* Post a receive, with wr_id 1, and another entry, and wait for the end of the receive. */
static int await_receive(struct visit *visit, const struct krdma_sqe entries[2],
			 struct krdma_cqe *cqe)
{
	size_t taken;
	int err;

	err = krdma_ring_post(visit->ring, entries, 2, NULL);
	do {
		if (!err)
			err = krdma_ring_wait(visit->ring, cqe, 1, 1, krdma_deadline(PATIENCE_MS),
					      &taken);
	} while (!err && cqe->wr_id != 1);
	return err;
}

/* Send a message, and print the reply. */
static void send_command(struct visit *visit, const char *name, const void *data, uint32_t length)
{
	struct krdma_sqe entries[] = {
		krdma_entry_recv(visit->conn, 1, NULL, 0, 0),
		krdma_entry_send_inline(visit->conn, 2, data, length),
	};
	struct krdma_cqe cqe;
	int err = await_receive(visit, entries, &cqe);

	if (err) {
		printf("%s: %s\n", name, strerror(-err));
		return;
	}
	if (cqe.status)
		printf("%s: the connection has ended\n", name);
	else
		printf("%s: status %u, tag %u\n", name, cqe.imm >> 16, cqe.imm & 0xffff);
	fflush(stdout);
}

/* Allocate memory on the device of a connection. */
static struct krdma_mr *memory(struct krdma *session, struct krdma_conn *conn, size_t length)
{
	struct krdma_mr *mr;
	struct krdma_conn_query_args query;

	check("query", krdma_conn_query(conn, &query, sizeof(query)));
	check("memory", krdma_mr_alloc(session, query.device_id, length,
				       KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
				       KRDMA_ACCESS_REMOTE_WRITE, &mr));
	return mr;
}

/* Read the first bytes of remote memory into @mr. */
static void fetch(struct visit *visit, struct krdma_mr *mr, const struct krdma_remote_mr *from,
		  uint32_t length)
{
	struct krdma_sqe entry = krdma_entry_read(visit->conn, 3, mr, 0, length, from, 0);
	struct krdma_cqe cqe = { 0 };
	size_t taken;

	check("read", krdma_ring_post(visit->ring, &entry, 1, NULL));
	check("read", krdma_ring_wait(visit->ring, &cqe, 1, 1, krdma_deadline(PATIENCE_MS),
				      &taken));
	check("read", cqe.status ? -EIO : 0);
}

/* Post a receive, with wr_id 1, and what takes one of the server's.  Print what arrives. */
static void print_end(struct visit *visit, const char *name, const struct krdma_sqe entries[2])
{
	struct krdma_cqe cqe;
	int err = await_receive(visit, entries, &cqe);

	if (err)
		printf("%s: %s\n", name, strerror(-err));
	else
		printf("%s: %s\n", name, cqe.status ? "the connection has ended" : "a reply");
	fflush(stdout);
}

/*
 * Write the bytes that the first chunk begins with there once more, with immediate data.  Such a
 * write takes a receive of the server, but nothing arrives in the memory of that.
 */
static void write_imm(struct krdma *session, struct visit *visit, const char *name,
		      uint32_t length)
{
	struct krdma_mr *mr = memory(session, visit->conn, PAGE);
	struct krdma_remote_mr remote = {
		.addr = le64toh(visit->welcome.table_addr),
		.length = sizeof(struct entry), .key = le32toh(visit->welcome.table_key),
	};
	struct krdma_sqe entries[2];
	const struct entry *entry;

	fetch(visit, mr, &remote, sizeof(struct entry));
	entry = krdma_mr_data(mr);
	remote.addr = le64toh(entry->addr);
	remote.key = le32toh(entry->key);
	fetch(visit, mr, &remote, sizeof(struct command));

	entries[0] = krdma_entry_recv(visit->conn, 1, NULL, 0, 0);
	entries[1] = krdma_entry_write_imm(visit->conn, 2, mr, 0, length, &remote, 0, 0);
	print_end(visit, name, entries);
}

/* Send an empty message that invalidates an rkey of the server. */
static void invalidate(struct visit *visit, const char *name, uint32_t key)
{
	struct krdma_sqe entries[] = {
		krdma_entry_recv(visit->conn, 1, NULL, 0, 0),
		krdma_entry(KRDMA_OP_SEND_INVALIDATE, krdma_conn_id(visit->conn), 2, NULL, 0, 0),
	};

	entries[1].sge_count = 0;
	entries[1].imm = key;
	print_end(visit, name, entries);
}

/* The rkey of the first chunk, which the welcome leads to. */
static uint32_t chunk_key(struct client *client, struct visit *guest)
{
	struct krdma_mr *mr = memory(client->session, guest->conn, PAGE);
	const struct krdma_remote_mr table = {
		.addr = le64toh(guest->welcome.table_addr),
		.length = sizeof(struct entry), .key = le32toh(guest->welcome.table_key),
	};

	fetch(guest, mr, &table, sizeof(struct entry));
	return le32toh(((const struct entry *)krdma_mr_data(mr))->key);
}

/* @other: the export that has the rkeys; NULL: the same. */
static void invalidate_all(struct client *client, const char *other)
{
	struct client owner = *client;
	struct visit guest, elsewhere;

	if (other) {
		memset(owner.hello.name, 0, sizeof(owner.hello.name));
		memcpy(owner.hello.name, other, strnlen(other, sizeof(owner.hello.name)));
		owner.hello.client = htole64(8);
	}
	for (unsigned int i = 0; i < 2; i++) {
		guest = begin_visit(client, READER);
		if (other)
			elsewhere = begin_visit(&owner, READER);
		else
			elsewhere = guest;
		if (i)
			invalidate(&guest, "table", le32toh(elsewhere.welcome.table_key));
		else
			invalidate(&guest, "chunk", chunk_key(client, &elsewhere));
		leave(&guest);
		if (other)
			leave(&elsewhere);
		client->hello.client = htole64(9);
		owner.hello.client = htole64(10);
	}
}

static void command_all(struct client *client)
{
	static const uint32_t lengths[] = { 1, sizeof(struct command) - 1,
					    sizeof(struct command) + 1, 64 };
	union {
		struct command command;
		uint8_t bytes[64];
	} message = { .command = { .length = htole32(0x1000), .opcode = ZERO } };
	struct visit guest;

	guest = begin_visit(client, COMMANDS);
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		struct command wire = commands[i].command;

		wire.offset = htole64(wire.offset);
		wire.length = htole32(wire.length);
		wire.tag = htole16((uint16_t)(65535 - i));
		send_command(&guest, commands[i].name, &wire, sizeof(wire));
	}
	leave(&guest);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		guest = begin_visit(client, COMMANDS);
		send_command(&guest, "size", message.bytes, lengths[i]);
		leave(&guest);
	}
	guest = begin_visit(client, 0);
	send_command(&guest, "without", message.bytes, sizeof(message.command));
	leave(&guest);
	for (unsigned int i = 0; i < 4; i++) {
		guest = begin_visit(client, i % 2 ? COMMANDS : 0);
		write_imm(client->session, &guest, "written",
			  i < 2 ? sizeof(struct command) : 0);
		leave(&guest);
	}
	client->hello.client = htole64(9);
	guest = begin_visit(client, COMMANDS | READER);
	send_command(&guest, "reader", message.bytes, sizeof(message.command));
	leave(&guest);
}

/*
 * Slots, for an export of 8 MiB with a store
 */

struct slot_command {
	const char *name;
	struct command command;
};

static const struct slot_command slot_commands[] = {
	{ "read", { .length = 0x1000, .opcode = READ } },
	{ "write", { .length = SLOT, .tag = SLOTS - 1, .opcode = WRITE } },
	{ "stable", { .length = 0x1000, .opcode = WRITE, .flags = STABLE } },
	{ "flush", { .tag = 500, .opcode = FLUSH } },
	{ "zero", { .length = 0x1000, .tag = 500, .opcode = ZERO } },
	{ "other-slot", { .length = 0x1000, .tag = SLOTS, .opcode = READ } },
	{ "no-slot", { .length = 0x1000, .tag = 65535, .opcode = WRITE } },
	{ "long", { .length = SLOT + 0x1000, .opcode = READ } },
	{ "empty", { .opcode = READ } },
	{ "odd", { .length = 0x200, .opcode = WRITE } },
	{ "across", { .offset = SIZE - 0x1000, .length = 0x2000, .opcode = READ } },
	{ "flush-of-a-range", { .length = 0x1000, .opcode = FLUSH } },
	{ "flush-from", { .offset = 0x1000, .opcode = FLUSH } },
	{ "stable-read", { .length = 0x1000, .opcode = READ, .flags = STABLE } },
	{ "flags", { .length = 0x1000, .opcode = WRITE, .flags = 2 } },
	{ "opcode-6", { .length = 0x1000, .opcode = 6 } },
	{ "opcode-8", { .length = 0x1000, .opcode = 8 } },
	{ "opcode-255", { .length = 0x1000, .opcode = 255 } },
};

static const struct slot_command slot_reader[] = {
	{ "reader-read", { .length = 0x1000, .opcode = READ } },
	{ "reader-write", { .length = 0x1000, .opcode = WRITE } },
	{ "reader-flush", { .opcode = FLUSH } },
	{ "reader-zero", { .length = 0x1000, .opcode = ZERO } },
};

static void slot_all(struct visit *visit, const struct slot_command *all, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct command wire = all[i].command;

		wire.offset = htole64(wire.offset);
		wire.length = htole32(wire.length);
		wire.tag = htole16(wire.tag);
		send_command(visit, all[i].name, &wire, sizeof(wire));
	}
}

/* Write to the first slot. */
static void slot_write(struct krdma *session, struct visit *visit)
{
	struct krdma_mr *mr = memory(session, visit->conn, PAGE);
	struct krdma_remote_mr remote = {
		.addr = le64toh(visit->welcome.table_addr),
		.length = sizeof(struct entry), .key = le32toh(visit->welcome.table_key),
	};
	const struct entry *entry;
	struct krdma_sqe write;
	struct krdma_cqe cqe;
	size_t taken;

	fetch(visit, mr, &remote, sizeof(struct entry));
	entry = krdma_mr_data(mr);
	remote = (struct krdma_remote_mr) {
		.addr = le64toh(entry->addr), .length = PAGE, .key = le32toh(entry->key),
	};
	fetch(visit, mr, &remote, PAGE);
	write = krdma_entry_write(visit->conn, 2, mr, 0, PAGE, &remote, 0);
	check("write", krdma_ring_post(visit->ring, &write, 1, NULL));
	check("write", krdma_ring_wait(visit->ring, &cqe, 1, 1, krdma_deadline(PATIENCE_MS),
				       &taken));
	printf("a reader's write: %s\n", cqe.status ? "refused" : "done");
	fflush(stdout);
}

static void visit_slots(struct client *client)
{
	struct visit guest = begin_visit(client, COMMANDS);

	printf("slots of %u bytes\n", le32toh(guest.welcome.slot_size));
	slot_all(&guest, slot_commands, ARRAY_SIZE(slot_commands));
	leave(&guest);
	client->hello.client = htole64(9);
	guest = begin_visit(client, COMMANDS | READER);
	slot_all(&guest, slot_reader, ARRAY_SIZE(slot_reader));
	slot_write(client->session, &guest);
	leave(&guest);
	client->hello.client = htole64(10);
	client->hello.flags = READER;
	printf("without commands: ");
	ask(client, sizeof(client->hello));
}

#define CROWD_MAX	64

static void crowd(struct client *client, unsigned int count, const char *prefix)
{
	struct krdma_conn_create_qp_args depths = { .size = sizeof(depths) };
	struct krdma_conn_resolve_args route = { .size = sizeof(route) };
	struct visit visits[CROWD_MAX];
	unsigned int answered = 0;

	client->hello.flags = READER;
	for (unsigned int i = 0; i < count; i++) {
		char source[INET6_ADDRSTRLEN];
		struct krdma_conn *conn;

		if (prefix) {
			snprintf(source, sizeof(source), "%s%x", prefix, i + 1);
			set_address(&route.local, source, 0);
			route.flags = KRDMA_RESOLVE_LOCAL;
		}
		client->hello.client = htole64(100 + i);
		check("queue", krdma_ring_create(client->session, NULL, &visits[i].ring));
		check("connection", krdma_conn_create(client->session, &conn));
		check("resolve", krdma_conn_resolve(conn, (struct sockaddr *)&client->address,
						    &route));
		check("resolve", krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL));
		check("create QP", krdma_conn_create_qp(conn, visits[i].ring, NULL, NULL, &depths));
		check("connect", krdma_conn_connect(conn, NULL, &client->hello,
						    sizeof(client->hello)));
		visits[i].conn = conn;
	}
	while (answered < count) {
		for (unsigned int i = 0; i < count; i++) {
			int err = -EINPROGRESS;

			if (visits[i].conn)
				err = krdma_conn_wait(visits[i].conn, 0, NULL);
			if (err == -EINPROGRESS)
				continue;
			print_answer(client, visits[i].conn, err);
			leave(&visits[i]);
			visits[i].conn = NULL;
			answered++;
		}
		usleep(10000);
	}
}

/*
 * As a server
 */

struct server {
	struct krdma *session;
	struct krdma_listener *listener;
	struct krdma_mr *chunks;	/* CHUNKS pages */
	struct krdma_mr *table;
	struct krdma_mr *large_chunk;	/* LARGE_CHUNK bytes */
	struct krdma_mr *large_table;	/* LARGE_CHUNKS entries, which all lead to it */
	struct client *spoiler;		/* whose export has the rkeys; or NULL */
};

/*
 * make() changes a valid welcome and its table.  The welcome is sent without its last @missing
 * bytes.  @large: the welcome is one of LARGE_SIZE, with LARGE_KEYS rkeys of the table.
 */
struct fault {
	const char *name;
	void (*make)(struct welcome *welcome, struct entry *table);
	size_t missing;
	bool large;
};

static void no_fault(struct welcome *welcome, struct entry *table)
{
	(void)welcome;
	(void)table;
}

#define FAULT(function, statement)							\
	static void function(struct welcome *welcome, struct entry *table)		\
	{										\
		(void)welcome;								\
		(void)table;								\
		statement;								\
	}

/* A store, whose size no memory limits. */
static void slots(struct welcome *welcome)
{
	welcome->flags |= STORED;
	welcome->slot_size = htole32(PAGE);
}

FAULT(bad_magic, welcome->magic ^= htole32(1))
FAULT(bad_version, welcome->version = VERSION + 1)
FAULT(bad_flags, welcome->flags = 0x80)
FAULT(reader_zeroes, welcome->flags = 0x03)
FAULT(offers, welcome->flags = 0x06)
FAULT(more_keys, welcome->more = htole16(1))
FAULT(bad_slot, welcome->slot_size = htole32(PAGE))
FAULT(no_slot, welcome->flags |= STORED)
FAULT(odd_slot, welcome->flags |= STORED; welcome->slot_size = htole32(3 * PAGE))
FAULT(small_slot, welcome->flags |= STORED; welcome->slot_size = htole32(512))
FAULT(huge_slot, welcome->flags |= STORED; welcome->slot_size = htole32(0x200000))
FAULT(half, welcome->size = htole64(CHUNKS / 2 * PAGE))
FAULT(no_size, welcome->size = 0)
FAULT(odd_size, welcome->size = htole64(PAGE + 1))
FAULT(huge_size, welcome->size = htole64(UINT64_MAX & ~(PAGE - 1ULL)))
FAULT(long_store, slots(welcome); welcome->size = htole64(1ULL << 63))
FAULT(no_block, welcome->block_size = 0)
FAULT(odd_block, welcome->block_size = htole32(1024))
FAULT(no_chunk, welcome->chunk_size = 0)
FAULT(odd_chunk, welcome->chunk_size = htole32(3 * PAGE))
FAULT(small_chunk, welcome->chunk_size = htole32(512))
FAULT(huge_chunk, welcome->chunk_size = htole32(1U << 31))
FAULT(table_wraps, welcome->table_addr = htole64(UINT64_MAX - 8))
FAULT(table_key, welcome->table_key ^= htole32(0xffffff00))
FAULT(table_elsewhere, welcome->table_addr = htole64(le64toh(welcome->table_addr) + (1 << 24)))
FAULT(entry_wraps, table[CHUNKS - 1].addr = htole64(UINT64_MAX - 8))
FAULT(entry_reserved, table[1].reserved = htole32(1))
/* Of a chunk that the kernel does not read when it looks for partitions. */
FAULT(entry_key, table[2].key ^= htole32(0xffffff00))
/* Of a table with several rkeys. */
FAULT(part_none, welcome->table_part = 0)
FAULT(part_odd, welcome->table_part = htole32(le32toh(welcome->table_part) + 8))
FAULT(part_small, welcome->table_part = htole32(le32toh(welcome->table_part) / 2))
FAULT(part_missing, welcome->more = htole16(LARGE_KEYS - 2))
FAULT(part_beyond, welcome->more_keys[LARGE_KEYS - 1] = welcome->table_key)
FAULT(part_many, welcome->more = htole16(MORE_KEYS + 1))
FAULT(part_key, welcome->more_keys[LARGE_KEYS - 2] ^= htole32(0xffffff00))
FAULT(part_wraps, welcome->table_addr = htole64(UINT64_MAX & ~(LARGE_CHUNK - 1ull)))

static const struct fault faults[] = {
	{ "none", no_fault, 0, false },
	{ "half", half, 0, false },
	{ "short", no_fault, 1, false },
	{ "empty", no_fault, SHORT_WELCOME, false },
	{ "magic", bad_magic, 0, false },
	{ "version", bad_version, 0, false },
	{ "flags", bad_flags, 0, false },
	{ "more-keys", more_keys, 0, false },
	{ "slot", bad_slot, 0, false },
	{ "no-slot", no_slot, 0, false },
	{ "odd-slot", odd_slot, 0, false },
	{ "small-slot", small_slot, 0, false },
	{ "huge-slot", huge_slot, 0, false },
	{ "no-size", no_size, 0, false },
	{ "odd-size", odd_size, 0, false },
	{ "huge-size", huge_size, 0, false },
	{ "long-store", long_store, 0, false },
	{ "no-block", no_block, 0, false },
	{ "odd-block", odd_block, 0, false },
	{ "no-chunk", no_chunk, 0, false },
	{ "odd-chunk", odd_chunk, 0, false },
	{ "small-chunk", small_chunk, 0, false },
	{ "huge-chunk", huge_chunk, 0, false },
	{ "table-wraps", table_wraps, 0, false },
	{ "table-key", table_key, 0, false },
	{ "table-elsewhere", table_elsewhere, 0, false },
	{ "entry-wraps", entry_wraps, 0, false },
	{ "entry-reserved", entry_reserved, 0, false },
	{ "entry-key", entry_key, 0, false },
	{ "reader-zeroes", reader_zeroes, 0, false },
	/* For a client that has asked only to read. */
	{ "writable", no_fault, 0, false },
	/* Ends the connection soon. */
	{ "brief", no_fault, 0, false },
	/* These do not reply to commands; "deaf" does not receive them either. */
	{ "silent", offers, 0, false },
	{ "deaf", offers, 0, false },
	/* These begin with a refusal; see refuse_commands(). */
	{ "old", no_fault, 0, false },
	{ "old-offers", offers, 0, false },
	{ "parts", no_fault, 0, true },
	{ "parts-short", no_fault, 1, true },
	{ "part-none", part_none, 0, true },
	{ "part-odd", part_odd, 0, true },
	{ "part-small", part_small, 0, true },
	{ "part-missing", part_missing, 0, true },
	{ "part-beyond", part_beyond, 0, true },
	{ "part-many", part_many, 0, true },
	{ "part-key", part_key, 0, true },
	{ "part-wraps", part_wraps, 0, true },
	{ NULL, NULL, 0, false },
};

static const struct fault *find_fault(const char *name)
{
	const struct fault *fault;

	for (fault = faults; fault->name; fault++) {
		if (!strcmp(fault->name, name))
			return fault;
	}
	printf("there is no fault '%s'\n", name);
	exit(2);
}

/* Address by which a peer accesses the MR. */
static uint64_t remote_addr(struct krdma_mr *mr)
{
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	struct krdma_remote_mr remote;

	check("describe", krdma_mr_describe(mr, 0, 0, descriptor));
	check("descriptor", krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &remote));
	return remote.addr;
}

/* Receive commands, one after the other into the same memory. */
static void post_recv(struct server *server, struct krdma_ring *ring, struct krdma_conn *conn)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct krdma_sqe recv = krdma_entry_recv(conn, i, server->chunks, 0,
							 sizeof(struct command));

		check("receive", krdma_ring_post(ring, &recv, 1, NULL));
	}
}

/* Send a client a message that invalidates an rkey of an export. */
static void spoil(struct server *server, struct krdma_ring *ring, struct krdma_conn *conn)
{
	struct visit guest = begin_visit(server->spoiler, READER);
	struct krdma_sqe entry = krdma_entry(KRDMA_OP_SEND_INVALIDATE, krdma_conn_id(conn), 2,
					     NULL, 0, 0);

	entry.sge_count = 0;
	entry.imm = chunk_key(server->spoiler, &guest);
	leave(&guest);
	check("established", krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL));
	check("spoil", krdma_ring_post(ring, &entry, 1, NULL));
}

/* The rkey of the part of an MR from @offset on; and how far it reaches, or NULL. */
static uint32_t key_at(struct krdma_mr *mr, size_t offset, size_t *reach)
{
	size_t ignored;
	uint32_t key;

	check("rkey", krdma_mr_rkey_at(mr, offset, &key, reach ? reach : &ignored));
	return key;
}

/* krdma registers it by itself, so that it has several rkeys. */
static void make_large(struct server *server, struct krdma_conn *conn)
{
	static const char last[] = "the last block";
	struct krdma_conn_query_args query;
	struct entry *table;
	size_t part;

	server->large_chunk = memory(server->session, conn, LARGE_CHUNK);
	memcpy((char *)krdma_mr_data(server->large_chunk) + LARGE_CHUNK - PAGE, last, sizeof(last));
	check("query", krdma_conn_query(conn, &query, sizeof(query)));
	check("table", krdma_mr_alloc_for_lanes(server->session, query.device_id,
						LARGE_CHUNKS * sizeof(struct entry),
						KRDMA_ACCESS_REMOTE_READ, 0, &server->large_table));
	key_at(server->large_table, 0, &part);
	check("parts", (LARGE_CHUNKS * sizeof(struct entry) - 1) / part == LARGE_KEYS - 1 ?
	      0 : -ENOSPC);
	table = krdma_mr_data(server->large_table);
	for (unsigned int i = 0; i < LARGE_CHUNKS; i++) {
		table[i] = (struct entry) {
			.addr = htole64(remote_addr(server->large_chunk)),
			.key = htole32(krdma_mr_rkey(server->large_chunk)),
		};
	}
}

static void set_large(struct server *server, struct welcome *welcome)
{
	size_t part;

	welcome->size = htole64(LARGE_SIZE);
	welcome->chunk_size = htole32(LARGE_CHUNK);
	welcome->table_addr = htole64(remote_addr(server->large_table));
	welcome->table_key = htole32(key_at(server->large_table, 0, &part));
	welcome->table_part = htole32((uint32_t)part);
	welcome->more = htole16(LARGE_KEYS - 1);
	for (unsigned int i = 1; i < LARGE_KEYS; i++)
		welcome->more_keys[i - 1] = htole32(key_at(server->large_table, i * part, NULL));
}

static void accept_client(struct server *server, struct krdma_conn *conn, const struct fault *fault)
{
	struct krdma_conn_create_qp_args depths = { .size = sizeof(depths) };
	size_t length = fault->large ? sizeof(struct welcome) : SHORT_WELCOME;
	struct krdma_ring *ring;
	struct welcome welcome;
	struct entry *table;
	int err;

	if (!server->chunks) {
		server->chunks = memory(server->session, conn, CHUNKS * PAGE);
		server->table = memory(server->session, conn, PAGE);
	}
	if (!server->large_table && fault->large)
		make_large(server, conn);
	table = krdma_mr_data(server->table);
	for (unsigned int i = 0; i < CHUNKS; i++) {
		table[i] = (struct entry) {
			.addr = htole64(remote_addr(server->chunks) + i * PAGE),
			.key = htole32(krdma_mr_rkey(server->chunks)),
		};
	}
	welcome = (struct welcome) {
		.magic = htole32(MAGIC), .version = VERSION, .generation = htole64(1),
		.size = htole64(CHUNKS * PAGE), .table_addr = htole64(remote_addr(server->table)),
		.table_key = htole32(krdma_mr_rkey(server->table)),
		.block_size = htole32(PAGE), .chunk_size = htole32(PAGE),
	};
	if (fault->large)
		set_large(server, &welcome);
	fault->make(&welcome, table);

	check("queue", krdma_ring_create(server->session, NULL, &ring));
	check("create QP", krdma_conn_create_qp(conn, ring, NULL, NULL, &depths));
	if (!strcmp(fault->name, "silent"))
		post_recv(server, ring, conn);
	err = krdma_conn_accept(conn, NULL, &welcome, length - fault->missing);
	if (!err && server->spoiler)
		spoil(server, ring, conn);
	if (!err)
		err = krdma_conn_await_closed(conn, krdma_deadline(strcmp(fault->name, "brief") ?
								   PATIENCE_MS : BRIEF_MS));
	printf("%s: %s\n", fault->name, err ? strerror(-err) : "the client has left");
	fflush(stdout);
	krdma_conn_close(conn);
	krdma_ring_close(ring);
}

static void refuse(struct krdma_conn *conn, uint8_t reason)
{
	struct refusal refusal = {
		.magic = htole32(MAGIC), .version = VERSION, .reason = reason,
	};

	check("reject", krdma_conn_reject(conn, &refusal, sizeof(refusal)));
	krdma_conn_close(conn);
	printf("refused for reason %u\n", reason);
	fflush(stdout);
}

/* Return true if the client knows commands, and was refused. */
static bool refuse_commands(struct krdma_conn *conn)
{
	struct hello hello = { 0 };
	size_t length = sizeof(hello);

	krdma_conn_private_data(conn, &hello, &length);
	if (!(hello.flags & COMMANDS))
		return false;
	refuse(conn, REASON_VERSION);
	return true;
}

/* @spoiler: see struct server. */
static void give(struct krdma *session, char **names, struct client *spoiler)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = INADDR_ANY,
	};
	struct server server = { .session = session, .spoiler = spoiler };
	struct krdma_conn *conn;

	check("listen", krdma_listen(session, (struct sockaddr *)&address, 0, 0,
				     &server.listener));
	puts("listening");
	fflush(stdout);
	for (;;) {
		check("client", krdma_listener_next(server.listener, KRDMA_FOREVER, &conn));
		if (!strcmp(*names, "refusal")) {
			refuse(conn, REASON_MEMORY);
			continue;
		}
		if (!strncmp(*names, "old", 3) && refuse_commands(conn))
			continue;
		accept_client(&server, conn, find_fault(*names));
		if (names[1])
			names++;
	}
}

int main(int argc, char **argv)
{
	struct client client = { 0 };
	struct krdma *session;

	check("/dev/krdma", krdma_open(&session));
	client.session = session;
	if (argc >= 4 && strcmp(argv[1], "give")) {
		client.secret = argc > 4 && strcmp(argv[1], "invalidate") ? argv[4] : "";
		init(&client, argv[2], argv[3]);
	}
	if (argc == 5 && !strcmp(argv[1], "ask"))
		ask_all(&client);
	else if (argc == 6 && !strcmp(argv[1], "guess"))
		guess(&client, (unsigned int)strtoul(argv[5], NULL, 10));
	else if (argc == 4 && !strcmp(argv[1], "command"))
		command_all(&client);
	else if ((argc == 4 || argc == 5) && !strcmp(argv[1], "invalidate"))
		invalidate_all(&client, argv[4]);
	else if (argc == 4 && !strcmp(argv[1], "slot"))
		visit_slots(&client);
	else if ((argc == 5 || argc == 6) && !strcmp(argv[1], "crowd") &&
		 strtoul(argv[4], NULL, 10) <= CROWD_MAX)
		crowd(&client, (unsigned int)strtoul(argv[4], NULL, 10), argv[5]);
	else if (argc > 2 && !strcmp(argv[1], "give"))
		give(session, argv + 2, NULL);
	else if (argc == 4 && !strcmp(argv[1], "spoil"))
		give(session, (char *[]){ "none", NULL }, &client);
	else
		return 2;
	return krdma_close(session);
}
