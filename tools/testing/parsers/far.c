// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the far end of krdma selftest, which anybody on the network may send: all of
 * selftest_far.c's functions that need no device.
 */
#include "selftest_far.c"
#include "internal.h"
#include "parsers.h"
#include "stub.h"

#define LONGEST		(64 * 1024)

/* Those that are not here call the kernel, or kill the process. */
static bool is_here(uint64_t request)
{
	switch (request) {
	case FAR_HELLO:
	case FAR_CLOSE:
	case FAR_REGISTER:
	case FAR_RELEASE:
	case FAR_FILL:
	case FAR_CLEAR:
	case FAR_COMPARE:
	case FAR_CHECK:
	case FAR_CHECK_CLEAR:
	case FAR_PEEK:
	case FAR_POKE:
	case FAR_RECEIVE:
	case FAR_SEND:
		return true;
	default:
		return false;
	}
}

/* Work requests may use the memory that the request names, and nothing else. */
static void set_reach(const struct far *far, const struct wire_words *in)
{
	const struct far_memory *mr = in->word[2] < FAR_MEMORIES ? &far->memories[in->word[2]] :
								    NULL;

	krdma_stub_reach(mr ? mr->data : NULL, mr ? mr->length : 0);
}

static uint64_t registered(const struct far *far)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < FAR_MEMORIES; i++)
		sum += far->memories[i].length;
	return sum;
}

/*
 * Each request is a byte, its number, and then one with a bit for each word that is not 0: of
 * these follows a byte with their number of bytes, and the bytes.
 */
static bool next_request(const uint8_t **data, size_t *size, struct wire_words *in)
{
	uint8_t given;

	memset(in, 0, sizeof(*in));
	if (*size < 2)
		return false;
	in->word[0] = (*data)[0] % ARRAY_SIZE(functions);
	given = (*data)[1];
	*data += 2;
	*size -= 2;
	for (unsigned int i = 1; i < WIRE_WORDS; i++) {
		size_t length;

		if (!(given & 1u << i))
			continue;
		if (!*size)
			return false;
		length = **data & 7;
		(*data)++;
		(*size)--;
		if (length + 1 > *size)
			return false;
		for (size_t at = 0; at <= length; at++)
			in->word[i] |= (uint64_t)(*data)[at] << 8 * at;
		*data += length + 1;
		*size -= length + 1;
	}
	return true;
}

int parser_selftest_far(const uint8_t *data, size_t size)
{
	struct krdma session = { .fd = -1 };
	struct krdma_conn conn = { .fd = -1 };
	struct far *far = calloc(1, sizeof(*far));
	struct wire_words in, out;
	unsigned int requests = 0;
	int result;

	EXPECT(far);
	far->longest = LONGEST;
	far->session = &session;
	far->conns[1].conn = &conn;
	while (requests++ < 12 && next_request(&data, &size, &in)) {
		if (!is_here(in.word[0]))
			continue;
		set_reach(far, &in);
		memset(&out, 0, sizeof(out));
		result = functions[in.word[0]](far, &in, &out);
		EXPECT(result <= 0);
		EXPECT(far->mr == registered(far) && far->mr <= LONGEST);
		EXPECT(far->timeout <= TIMEOUT_MAX);
	}
	for (unsigned int i = 0; i < FAR_MEMORIES; i++)
		memory_end(far, &far->memories[i]);
	EXPECT(!far->mr);
	free(far);
	return 0;
}
