// SPDX-License-Identifier: GPL-2.0
/*
 * Selects the fuzzer's inputs that are worth storing, and makes them as short as possible.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "session.h"

/* What was reached before an input, and with the shortest form of the input so far. */
static struct fuzz_map before, best;

static void map_copy(struct fuzz_map *to, const struct fuzz_map *from)
{
	memcpy((void *)to, (const void *)from, sizeof(*to));
}

static unsigned int reached(const struct fuzz_map *map)
{
	return map->edge_count + map->sight_count;
}

/* Runs @sequence; returns how many edges and sights are new with it, or -errno. */
static int try(struct fuzz_shared *shared, const struct fuzz_sequence *sequence)
{
	struct fuzz_map *map = &shared->maps[FUZZ_MAP_WHOLE];
	int ret;

	map_copy(map, &before);
	ret = fuzz_sequence_run(shared, sequence);
	return ret ? ret : (int)(reached(map) - reached(&before));
}

static void cut(struct fuzz_sequence *sequence, uint32_t from, uint32_t count)
{
	uint32_t to = from + count < sequence->length ? from + count : sequence->length;

	memmove(sequence->actions + from, sequence->actions + to,
		(sequence->length - to) * sizeof(*sequence->actions));
	sequence->length -= to - from;
}

/* Removes parts of a sequence as long as no less is new with it; small parts are not tried. */
static int shrink(struct fuzz_shared *shared, struct fuzz_sequence *sequence, int worth,
		  uint64_t deadline_ms)
{
	const uint32_t least = (sequence->length + 7) / 8;

	for (uint32_t part = (sequence->length + 1) / 2; part >= least && part; part /= 2) {
		for (uint32_t from = 0; from < sequence->length && now_ms() < deadline_ms;) {
			struct fuzz_sequence shorter = *sequence;
			int got;

			cut(&shorter, from, part);
			got = try(shared, &shorter);
			if (got < 0)
				return got;
			if (got < worth) {
				from += part;
				continue;
			}
			*sequence = shorter;
			map_copy(&best, &shared->maps[FUZZ_MAP_WHOLE]);
		}
	}
	return 0;
}

static int keep(struct fuzz_inputs *kept, const struct fuzz_input *input)
{
	struct fuzz_input *list = realloc(kept->list, (kept->count + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	kept->list = list;
	list[kept->count++] = *input;
	return 0;
}

/*
 * Keeps an input if something is new with it in two runs.  The record has only what both runs
 * reach, because some sights and edges depend on timing.
 */
static int consider(struct fuzz_shared *shared, const struct fuzz_sequence *sequence, bool is_find,
		    uint64_t deadline_ms, struct fuzz_inputs *kept)
{
	struct fuzz_map *map = &shared->maps[FUZZ_MAP_WHOLE];
	struct fuzz_input input = { .sequence = *sequence }, again = { .edges = 0 };
	int worth, ret = 0;

	map_copy(&before, map);
	worth = try(shared, sequence);
	if (worth <= 0)
		return worth;
	map_copy(&best, map);
	if (is_find) {
		input.sequence.length = shared->last_fresh;
		ret = shrink(shared, &input.sequence, worth, deadline_ms);
	}
	if (ret)
		return ret;
	worth = try(shared, &input.sequence);
	if (worth < 0)
		return worth;
	fuzz_input_note(&again, &before, map);
	map_copy(map, &best);
	if (!worth)
		return 0;
	fuzz_input_note(&input, &before, map);
	if (again.edges < input.edges)
		input.edges = again.edges;
	fuzz_input_common(&input, &again);
	return input.edges || input.sight_count ? keep(kept, &input) : 0;
}

int fuzz_distil(struct fuzz_shared *shared, const struct fuzz_inputs *given,
		uint64_t deadline_ms, struct fuzz_inputs *kept)
{
	/* The first input is empty: it records what every episode reaches by its preparation. */
	const struct fuzz_sequence nothing = { .seed = 1 };
	uint32_t finds = shared->find_count < FUZZ_FINDS ? shared->find_count : FUZZ_FINDS;
	int ret;

	*kept = (struct fuzz_inputs) {};
	memset((void *)&shared->maps[FUZZ_MAP_WHOLE], 0, sizeof(shared->maps[0]));
	ret = consider(shared, &nothing, false, deadline_ms, kept);
	for (size_t i = 0; i < given->count && !ret; i++) {
		if (now_ms() < deadline_ms)
			ret = consider(shared, &given->list[i].sequence, false, deadline_ms, kept);
		else
			ret = keep(kept, &given->list[i]);
	}
	for (uint32_t i = 0; i < finds && !ret && now_ms() < deadline_ms; i++)
		ret = consider(shared, &shared->finds[i], true, deadline_ms, kept);
	return ret;
}
