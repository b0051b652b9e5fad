/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a hostile peer does, and what must become of it: computed from a seed and the
 * number of the visit, by both sides alike.  So the server knows what should have come, the
 * peer what should have been refused, and the same numbers repeat a run.
 */
#ifndef PEER_PLAN_H
#define PEER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who visits is known by the port that it comes from: the file that both map says which.
 * They are below those that are given to who asks for none.
 */
#define PORT_FIRST	10000
#define PORTS_EACH	2048
#define WORKERS_MAX	8
#define PORTS		(PORTS_EACH * WORKERS_MAX)

/* What the file that both map holds. */
struct visits {
	uint64_t number[PORTS];
};

/* Of visits that do nothing wrong, and must find nothing wrong. */
#define VISIT_HONEST	0x10000000000ULL

enum peer_does {
	/* Connects, and posts what script_next() says. */
	PEER_TALKS,
	/* Asks for a connection, and is gone at once, or is killed. */
	PEER_ASKS_AND_GOES,
	PEER_ASKS_AND_DIES,
	/* Has its answer, and does not confirm it. */
	PEER_LEAVES_ANSWER,
	/* Has no queue pair, or says the number of another one. */
	PEER_HAS_NO_PAIR,
	/* Calls what is not for this state. */
	PEER_IS_CONFUSED,
	/* Asks for many connections at a time. */
	PEER_FLOODS,
};

enum peer_ends {
	PEER_DISCONNECTS,
	PEER_DESTROYS_ID,
	PEER_DESTROYS_PAIR,
	PEER_DIES,
};

enum server_does {
	SERVER_STAYS,
	SERVER_REJECTS,
	SERVER_CLOSES,
	SERVER_DISCONNECTS,
	SERVER_ABORTS,
};

#define REQUEST_AREA	56
#define FLOOD_MAX	96
#define SPAN_MAX	16

struct visit {
	uint64_t seed;
	uint64_t number;
	bool honest;
	enum peer_does peer;
	enum peer_ends end;
	enum server_does server;
	/* One action in so many is wrong; 0: none. */
	unsigned int wrong_every;
	unsigned int actions;
	/* So many of them are under way at a time. */
	unsigned int span;
	/* Receives come from the shared queue. */
	bool shared;
	/* The server answers each message; the peer has room for that. */
	bool answered;
	bool deaf;
	/* Messages that find no receive are given up. */
	bool impatient;
	unsigned int flood;
	/* What is brought, and what of it must be seen. */
	unsigned char data[REQUEST_AREA];
	unsigned int data_length;
	unsigned int seen_length;
};

struct visit visit_of(uint64_t seed, uint64_t number);

/*
 * A server's memory for one visit: ARENA bytes, in which regions are registered that end
 * anywhere, in this order; everything else must remain what it was.
 */
enum region {
	REGION_BOTH,
	REGION_READ,
	REGION_WRITE,
	REGION_ATOMIC,
	/* Was offered, and has been taken back. */
	REGION_OLD,
	REGIONS,
};

struct place {
	uint32_t offset;
	uint32_t length;
};

extern const struct place regions[REGIONS];

#define SLOTS		8
#define SLOT_SIZE	8448
#define SLOTS_OFFSET	49152
#define ARENA		(SLOTS_OFFSET + SLOTS * SLOT_SIZE + 4096)

/* The room of the receive with this number. */
#define ROOM_SHARED	512
uint32_t room_of(const struct visit *visit, unsigned int receive);

struct offer {
	uint64_t addr[REGIONS];
	uint32_t key[REGIONS];
};

enum act {
	ACT_SEND,
	ACT_SEND_IMM,
	ACT_SEND_INVALIDATE,
	ACT_WRITE,
	ACT_WRITE_IMM,
	ACT_READ,
	ACT_ADD,
	ACT_SWAP,
};

enum key {
	KEY_RIGHT,
	KEY_LOW_BIT,
	KEY_NEXT,
	KEY_RANDOM,
	KEY_ZERO,
	/* And address: those of the visit before. */
	KEY_LAST,
};

enum fate {
	/* Must succeed; must not; nobody can say. */
	FATE_DONE,
	FATE_REFUSED,
	FATE_EITHER,
};

struct action {
	enum act act;
	enum region region;
	enum key key;
	enum fate fate;
	/* From the beginning of the region. */
	uint64_t offset;
	uint32_t length;
	uint32_t imm;
	uint32_t noise;
	/* It takes this receive. */
	bool takes;
	unsigned int receive;
};

struct script {
	const struct visit *visit;
	unsigned int next;
	unsigned int receives;
};

/* False: that was the last one. */
bool script_next(struct script *script, struct action *action);

/* Of an action that must be refused: not for want of a right, but because it makes no sense. */
bool refused_as_invalid(const struct action *action);

uint32_t key_of(const struct action *action, const struct offer *offer);

/* A number of those that nobody can guess without the seed. */
uint64_t draw(uint64_t seed, uint64_t number, uint64_t index, uint64_t what);

/* What memory holds; of a message, by its receive. */
void pattern_fill(void *data, size_t length, uint64_t number, uint64_t salt);
/* Where the first wrong byte from @from on is, or @to. */
size_t pattern_wrong(const void *data, size_t from, size_t to, uint64_t number, uint64_t salt);

/* Salts: of an arena, and of a message. */
#define SALT_ARENA		0
#define SALT_MESSAGE(receive)	(1 + (uint64_t)(receive))

#endif
