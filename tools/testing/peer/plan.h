/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a hostile peer does, and the outcome that each action must have.  Both sides compute this
 * from a seed and the number of the visit.  So the server knows what should have arrived, the peer
 * knows what should have been refused, and the same numbers repeat a run.
 */
#ifndef PEER_PLAN_H
#define PEER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The source port of a connection identifies the visit: the file that both sides map has the
 * visit's number for each port.  The ports are below the range of ephemeral ports.
 */
#define PORT_FIRST	10000
#define PORTS_EACH	2048
#define WORKERS_MAX	8
#define PORTS		(PORTS_EACH * WORKERS_MAX)

/* Content of the file that both sides map. */
struct visits {
	uint64_t number[PORTS];
};

/* Set in the number of a visit that does nothing wrong, and must find nothing wrong. */
#define VISIT_HONEST	0x10000000000ULL

enum peer_does {
	/* Connects, and posts what script_next() says. */
	PEER_TALKS,
	/* Sends a connection request, and leaves at once or is killed. */
	PEER_ASKS_AND_GOES,
	PEER_ASKS_AND_DIES,
	/* Gets the response, and does not confirm it. */
	PEER_LEAVES_ANSWER,
	/* Has no QP, and sends a random QP number. */
	PEER_HAS_NO_PAIR,
	/* Makes calls that are invalid in this state. */
	PEER_IS_CONFUSED,
	/* Sends many connection requests at a time. */
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
	/* One of so many actions is wrong, on average; 0: none. */
	unsigned int wrong_every;
	unsigned int actions;
	/* Number of actions in flight at a time. */
	unsigned int span;
	/* Receives come from the SRQ. */
	bool shared;
	/* The server answers each message. */
	bool answered;
	/* The peer posts no receives for answers. */
	bool deaf;
	/* The peer gives up messages that find no receive. */
	bool impatient;
	unsigned int flood;
	/* Private data of the peer, and the length that the server must see. */
	unsigned char data[REQUEST_AREA];
	unsigned int data_length;
	unsigned int seen_length;
};

struct visit visit_of(uint64_t seed, uint64_t number);

/*
 * A server's memory for one visit: ARENA bytes, which contain these regions, each an MR, in this
 * order.  The MRs begin and end anywhere in a page.  All other bytes must not change.
 */
enum region {
	REGION_BOTH,
	REGION_READ,
	REGION_WRITE,
	REGION_ATOMIC,
	/* Is offered, but has been deregistered. */
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

/* Length in bytes of the receive with this number. */
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
	/* Rkey and address of the previous visit. */
	KEY_LAST,
};

enum fate {
	/* Must succeed; must fail; may do either. */
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
	/* It consumes this receive. */
	bool takes;
	unsigned int receive;
};

struct script {
	const struct visit *visit;
	unsigned int next;
	unsigned int receives;
};

/* Get the next action.  Returns false after the last one. */
bool script_next(struct script *script, struct action *action);

/* Returns true if an action is refused as an invalid request, and not for want of access rights. */
bool refused_as_invalid(const struct action *action);

uint32_t key_of(const struct action *action, const struct offer *offer);

/* A pseudo-random number, which cannot be guessed without the seed. */
uint64_t draw(uint64_t seed, uint64_t number, uint64_t index, uint64_t what);

/* Fill memory with the pattern of a visit; @salt is one of those below. */
void pattern_fill(void *data, size_t length, uint64_t number, uint64_t salt);
/* Index of the first wrong byte from @from on, or @to if there is none. */
size_t pattern_wrong(const void *data, size_t from, size_t to, uint64_t number, uint64_t salt);

/* Salts: of an arena, and of a message by its receive. */
#define SALT_ARENA		0
#define SALT_MESSAGE(receive)	(1 + (uint64_t)(receive))

#endif
