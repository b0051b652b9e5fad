// SPDX-License-Identifier: GPL-2.0
/*
 * What a hostile peer does, and the outcome that each action must have.
 */
#include <string.h>

#include "plan.h"

const struct place regions[REGIONS] = {
	[REGION_BOTH] = { 4096 + 37, 20011 },
	[REGION_READ] = { 25001, 5003 },
	[REGION_WRITE] = { 33333, 5001 },
	[REGION_ATOMIC] = { 40960 + 64, 72 },
	[REGION_OLD] = { 43000, 3000 },
};

/* Purpose of each draw, so that draws for different purposes are independent. */
enum {
	FOR_PEER = 1, FOR_END, FOR_SERVER, FOR_RATE, FOR_COUNT, FOR_SPAN, FOR_FLAGS, FOR_FLOOD,
	FOR_DATA, FOR_DATA_LENGTH, FOR_TRAILER, FOR_ROOM, FOR_ACT, FOR_WRONG, FOR_LENGTH,
	FOR_OFFSET, FOR_REGION, FOR_KEY, FOR_IMM, FOR_NOISE,
};

/* The finalizer of splitmix64, over a mix of all arguments. */
uint64_t draw(uint64_t seed, uint64_t number, uint64_t index, uint64_t what)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15ULL + number * 0xd1342543de82ef95ULL +
		     index * 0xaf251af3b0f025b5ULL + what * 0x2545f4914f6cdd1dULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static unsigned char pattern_byte(size_t index, uint64_t number, uint64_t salt)
{
	return (unsigned char)(index + (index >> 8) * 7 + number * 5 + salt * 13);
}

void pattern_fill(void *data, size_t length, uint64_t number, uint64_t salt)
{
	unsigned char *bytes = data;

	for (size_t i = 0; i < length; i++)
		bytes[i] = pattern_byte(i, number, salt);
}

size_t pattern_wrong(const void *data, size_t from, size_t to, uint64_t number, uint64_t salt)
{
	const unsigned char *bytes = data;

	for (; from < to; from++) {
		if (bytes[from] != pattern_byte(from, number, salt))
			break;
	}
	return from;
}

/* The CRC of krdma's trailer, as Documentation/abi.rst describes it. */
static uint32_t crc32_of(uint32_t crc, const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return crc;
}

#define TRAILER		8
#define TRAILER_ROOM	(REQUEST_AREA - TRAILER)

/*
 * A trailer as krdma writes it, or a damaged one.  With a damaged trailer all bytes count as
 * private data.
 */
static void visit_trailer(struct visit *visit, uint64_t chance)
{
	unsigned char *trailer = visit->data + TRAILER_ROOM;
	unsigned char kind = 0;
	uint32_t crc = ~0U;
	unsigned int length = visit->data_length;
	bool right = true;

	if (length > TRAILER_ROOM)
		length = TRAILER_ROOM;
	memset(visit->data + length, 0, REQUEST_AREA - length);
	memcpy(trailer, (unsigned char []){ 0xb5, 0xd7, 1, (unsigned char)length }, 4);
	crc = crc32_of(crc, &kind, 1);
	crc = crc32_of(crc, trailer, 4);
	crc = ~crc32_of(crc, visit->data, length);
	for (unsigned int i = 0; i < 4; i++)
		trailer[4 + i] = (unsigned char)(crc >> 8 * i);
	if (chance % 2) {
		/* Flip a bit of the length, or a bit anywhere. */
		if (chance & 16)
			trailer[3] ^= 1 << (chance >> 8) % 8;
		else
			visit->data[(chance >> 8) % REQUEST_AREA] ^= 1 << (chance >> 16) % 8;
		right = false;
	}
	visit->data_length = REQUEST_AREA;
	visit->seen_length = right ? length : REQUEST_AREA;
}

static void visit_data(struct visit *visit)
{
	uint64_t chance = draw(visit->seed, visit->number, 0, FOR_TRAILER);

	visit->data_length = draw(visit->seed, visit->number, 0, FOR_DATA_LENGTH) %
			     (REQUEST_AREA + 1);
	for (unsigned int i = 0; i < visit->data_length; i++)
		visit->data[i] = (unsigned char)draw(visit->seed, visit->number, i, FOR_DATA);
	visit->seen_length = REQUEST_AREA;
	if ((chance >> 1) % 4 == 0)
		visit_trailer(visit, chance);
}

static unsigned int one_of(uint64_t chance, const unsigned char *shares, unsigned int count)
{
	unsigned int sum = 0, i;

	for (i = 0; i < count; i++)
		sum += shares[i];
	chance %= sum;
	for (i = 0; chance >= shares[i]; i++)
		chance -= shares[i];
	return i;
}

struct visit visit_of(uint64_t seed, uint64_t number)
{
	static const unsigned char peers[] = { 30, 2, 1, 2, 2, 2, 1 };
	static const unsigned char ends[] = { 10, 4, 3, 1 };
	static const unsigned char servers[] = { 30, 2, 1, 2, 1 };
	static const unsigned char rates[] = { 0, 4, 16, 64, 64 };
	static const unsigned char spans[] = { 1, 4, SPAN_MAX };
	struct visit visit = {
		.seed = seed, .number = number, .honest = number & VISIT_HONEST,
	};
	uint64_t flags = draw(seed, number, 0, FOR_FLAGS);

	visit_data(&visit);
	visit.span = spans[draw(seed, number, 0, FOR_SPAN) % sizeof(spans)];
	visit.actions = 1 + draw(seed, number, 0, FOR_COUNT) % 96;
	visit.shared = flags & 1;
	visit.answered = flags & 2;
	if (visit.honest)
		return visit;
	visit.peer = one_of(draw(seed, number, 0, FOR_PEER), peers, sizeof(peers));
	visit.end = one_of(draw(seed, number, 0, FOR_END), ends, sizeof(ends));
	visit.server = one_of(draw(seed, number, 0, FOR_SERVER), servers, sizeof(servers));
	visit.wrong_every = rates[draw(seed, number, 0, FOR_RATE) % sizeof(rates)];
	visit.deaf = (flags >> 2) % 8 == 0;
	visit.impatient = (flags >> 5) % 8 == 0;
	visit.flood = 2 + draw(seed, number, 0, FOR_FLOOD) % (FLOOD_MAX - 1);
	return visit;
}

uint32_t room_of(const struct visit *visit, unsigned int receive)
{
	static const uint32_t rooms[] = { 0, 1, 64, 511, 512, 4096, 4097, 8192 };

	if (visit->shared)
		return ROOM_SHARED;
	return rooms[draw(visit->seed, visit->number, receive, FOR_ROOM) % 8];
}

/* A length up to and including @most, preferably one near a boundary. */
static uint32_t length_of(uint64_t chance, uint32_t most)
{
	static const uint32_t lengths[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025,
		2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192,
	};
	uint32_t length;

	switch (chance % 4) {
	case 0:
		return most;
	case 1:
		return (chance >> 8) % (most + 1ULL);
	default:
		length = lengths[(chance >> 8) % (sizeof(lengths) / sizeof(*lengths))];
		return length < most ? length : most;
	}
}

/* Offset of a range that fits into @size: at either end or anywhere. */
static uint64_t inside(uint64_t chance, uint32_t length, uint32_t size)
{
	switch (chance % 4) {
	case 0:
		return 0;
	case 1:
		return size - length;
	default:
		return (chance >> 8) % (size - length + 1ULL);
	}
}

/* Offset of a range that does not fit, however short it is; most often right at the border. */
static uint64_t outside(uint64_t chance, uint32_t length, uint32_t size)
{
	switch (chance % 16) {
	case 0 ... 3:
		return UINT64_MAX;		/* one byte before */
	case 4 ... 8:
		return size - length + 1ULL;	/* one byte beyond */
	case 9:
		return size;
	case 10:
		return -(uint64_t)length;
	case 11:
		return 1ULL << 63;
	case 12:
		return (chance >> 4) | 1ULL << 40;
	case 13:
		return 4096 * (8 + (chance >> 8) % 16);
	default:
		return 1ULL << 32;
	}
}

static bool may(enum act act, enum region region)
{
	switch (act) {
	case ACT_WRITE:
	case ACT_WRITE_IMM:
		return region == REGION_BOTH || region == REGION_WRITE;
	case ACT_READ:
		return region == REGION_BOTH || region == REGION_READ;
	case ACT_ADD:
	case ACT_SWAP:
		return region == REGION_ATOMIC;
	default:
		return true;
	}
}

static bool is_message(enum act act)
{
	return act == ACT_SEND || act == ACT_SEND_IMM || act == ACT_SEND_INVALIDATE;
}

static bool is_atomic(enum act act)
{
	return act == ACT_ADD || act == ACT_SWAP;
}

/* Random numbers for one action. */
struct chances {
	uint64_t offset, region, key, length;
};

static void act_right(struct action *action, const struct chances *chances)
{
	static const enum region readable[] = { REGION_BOTH, REGION_READ };
	static const enum region writable[] = { REGION_BOTH, REGION_WRITE };
	uint32_t size;

	action->fate = FATE_DONE;
	if (is_atomic(action->act)) {
		action->region = REGION_ATOMIC;
		action->length = 8;
		action->offset = chances->offset % (regions[REGION_ATOMIC].length / 8) * 8;
		return;
	}
	action->region = action->act == ACT_READ ? readable[chances->region % 2] :
						   writable[chances->region % 2];
	size = regions[action->region].length;
	action->length = length_of(chances->length, size);
	action->offset = inside(chances->offset, action->length, size);
}

/* One thing is wrong with the action: the region, the place in it, or the rkey. */
static void act_wrong(struct action *action, const struct chances *chances, uint64_t chance)
{
	uint32_t size;

	act_right(action, chances);
	action->fate = FATE_REFUSED;
	if (!action->length && action->act != ACT_SEND)
		action->length = 1;
	size = regions[action->region].length;
	switch (chance % 4) {
	case 0:
		action->region = chances->key % REGIONS;
		while (may(action->act, action->region))
			action->region = (action->region + 1) % REGIONS;
		size = regions[action->region].length;
		if (action->length > size)
			action->length = size;
		action->offset = inside(chances->offset, action->length, size);
		if (is_atomic(action->act))
			action->offset &= ~7ULL;
		break;
	case 1:
		action->offset = outside(chances->offset, action->length, size);
		break;
	case 2:
		action->key = KEY_LOW_BIT + chances->key % (KEY_LAST - KEY_LOW_BIT + 1);
		if (action->key == KEY_LAST)
			action->fate = FATE_EITHER;
		break;
	default:
		if (is_atomic(action->act)) {
			action->offset += 1 + chances->offset % 7;
		} else if (chances->length % 2) {
			/* The whole region and one byte more. */
			action->offset = 0;
			action->length = size + 1;
		} else {
			action->length = size + 1 + (chances->length >> 1) % 8192;
		}
	}
}

static void act_message(struct action *action, const struct visit *visit,
			const struct chances *chances, bool wrong)
{
	uint32_t room = room_of(visit, action->receive);

	action->fate = FATE_DONE;
	action->length = length_of(chances->length, room);
	if (wrong) {
		action->length = room + 1 + chances->length % 16384;
		action->fate = FATE_REFUSED;
	}
	if (action->act != ACT_SEND_INVALIDATE)
		return;
	/* It depends on the device whether a peer may invalidate an MR of this kind. */
	action->region = chances->region % REGIONS;
	action->key = chances->key % KEY_LAST;
	if (!wrong)
		action->fate = FATE_EITHER;
}

bool refused_as_invalid(const struct action *action)
{
	uint32_t length = regions[action->region].length;

	if (is_message(action->act))
		return true;
	/* The device checks access rights before the alignment to eight bytes. */
	return is_atomic(action->act) && action->key == KEY_RIGHT && action->offset % 8 &&
	       action->offset < length && action->offset + 8 <= length;
}

bool script_next(struct script *script, struct action *action)
{
	/* ACT_SEND_INVALIDATE ends most visits, so only visits that do wrong use it. */
	static const unsigned char acts[] = { 6, 3, 1, 8, 3, 7, 2, 2 };
	const struct visit *visit = script->visit;
	uint64_t seed = visit->seed, number = visit->number, index = script->next;
	struct chances chances = {
		.offset = draw(seed, number, index, FOR_OFFSET),
		.region = draw(seed, number, index, FOR_REGION),
		.key = draw(seed, number, index, FOR_KEY),
		.length = draw(seed, number, index, FOR_LENGTH),
	};
	uint64_t chance = draw(seed, number, index, FOR_WRONG);
	bool wrong = visit->wrong_every && chance % visit->wrong_every == 0;

	if (index >= visit->actions)
		return false;
	script->next++;
	*action = (struct action){
		.act = one_of(draw(seed, number, index, FOR_ACT), acts, sizeof(acts)),
		.imm = (uint32_t)draw(seed, number, index, FOR_IMM),
		.noise = (uint32_t)draw(seed, number, index, FOR_NOISE),
		.receive = script->receives,
	};
	if (action->act == ACT_SEND_INVALIDATE && !wrong)
		action->act = ACT_SEND;
	action->takes = is_message(action->act) || action->act == ACT_WRITE_IMM;
	if (is_message(action->act))
		act_message(action, visit, &chances, wrong && action->act != ACT_SEND_INVALIDATE);
	else if (wrong)
		act_wrong(action, &chances, chance >> 32);
	else
		act_right(action, &chances);
	if (action->takes)
		script->receives++;
	/*
	 * An impatient peer may find no receive.  A deaf one takes no answers, and some servers
	 * end the connection: then any action may fail.
	 */
	if ((visit->impatient && action->takes) || visit->deaf || visit->server != SERVER_STAYS)
		if (action->fate == FATE_DONE)
			action->fate = FATE_EITHER;
	return true;
}

uint32_t key_of(const struct action *action, const struct offer *offer)
{
	uint32_t key = offer->key[action->region];

	switch (action->key) {
	case KEY_LOW_BIT:
		return key ^ 1;
	case KEY_NEXT:
		return key + 0x100;
	case KEY_RANDOM:
		return action->noise == key ? ~key : action->noise;
	case KEY_ZERO:
		return 0;
	default:
		return key;
	}
}
