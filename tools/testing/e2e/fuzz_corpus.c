// SPDX-License-Identifier: GPL-2.0
/*
 * Inputs of the fuzzer that are stored between runs, one per line:
 *
 *	SEED ACTION... : edges=COUNT WHAT:VALUE...
 *
 * Behind the colon is a record of what was new with this line after all lines before it; later
 * runs are compared to it.  The grammar defines the meaning of the actions: with another grammar
 * these are other inputs, which reach something else.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "fuzz.h"

#define LINE_ROOM	16384
#define SPACE		"\n\t "

void fuzz_sight_name(unsigned int sight, char *name, size_t room)
{
	unsigned int what = sight / FUZZ_VALUES, value = sight % FUZZ_VALUES;
	const char *error = NULL;

	/* States and statuses are numbers of krdma, not errnos. */
	if (what != FUZZ_STATE && what != FUZZ_STATUS && value)
		error = strerrorname_np(value);
	if (error)
		snprintf(name, room, "%s:%s", fuzz_call_name(what), error);
	else
		snprintf(name, room, "%s:%u", fuzz_call_name(what), value);
}

static int sight_named(const char *name)
{
	static char names[FUZZ_SIGHTS * FUZZ_VALUES][40];

	if (!names[0][0])
		for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
			fuzz_sight_name(i, names[i], sizeof(names[i]));
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static void add_sight(struct fuzz_input *input, unsigned int sight)
{
	if (input->sight_count < ARRAY_SIZE(input->sights))
		input->sights[input->sight_count++] = sight;
}

/* Reads one word of a record; false if it is unknown. */
static bool read_record(struct fuzz_input *input, const char *word)
{
	int sight;

	if (sscanf(word, "edges=%u", &input->edges) == 1)
		return true;
	sight = sight_named(word);
	if (sight >= 0)
		add_sight(input, sight);
	return sight >= 0;
}

static bool read_number(const char *word, uint64_t *number)
{
	char *end;

	*number = strtoull(word, &end, 16);
	return end != word && !*end;
}

static bool read_input(struct fuzz_input *input, char *line)
{
	struct fuzz_sequence *sequence = &input->sequence;
	char *rest = NULL, *word = strtok_r(line, SPACE, &rest);

	memset(input, 0, sizeof(*input));
	if (!word || !read_number(word, &sequence->seed))
		return false;
	while ((word = strtok_r(NULL, SPACE, &rest)) && strcmp(word, ":")) {
		if (sequence->length == FUZZ_SEQUENCE ||
		    !read_number(word, &sequence->actions[sequence->length++]))
			return false;
	}
	while (word && (word = strtok_r(NULL, SPACE, &rest)))
		if (!read_record(input, word))
			return false;
	return true;
}

int fuzz_corpus_read(const char *path, struct fuzz_inputs *inputs, unsigned int *line)
{
	static char text[LINE_ROOM];
	FILE *file = fopen(path, "re");
	struct fuzz_input *list;
	int ret = 0;

	*inputs = (struct fuzz_inputs) {};
	*line = 0;
	if (!file)
		return -errno;
	while (!ret && fgets(text, sizeof(text), file)) {
		++*line;
		if (text[0] == '#' || text[0] == '\n')
			continue;
		list = realloc(inputs->list, (inputs->count + 1) * sizeof(*list));
		if (!list) {
			ret = -ENOMEM;
			break;
		}
		inputs->list = list;
		if (!read_input(&list[inputs->count++], text))
			ret = -EBADMSG;
	}
	fclose(file);
	return ret;
}

static void write_input(FILE *file, const struct fuzz_input *input)
{
	char name[40];

	fprintf(file, "%llx", (unsigned long long)input->sequence.seed);
	for (uint32_t i = 0; i < input->sequence.length; i++)
		fprintf(file, " %llx", (unsigned long long)input->sequence.actions[i]);
	fprintf(file, " : edges=%u", input->edges);
	for (uint32_t i = 0; i < input->sight_count; i++) {
		fuzz_sight_name(input->sights[i], name, sizeof(name));
		fprintf(file, " %s", name);
	}
	fputc('\n', file);
}

int fuzz_corpus_write(const char *path, const struct fuzz_inputs *inputs)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -errno;
	/* In two parts, so that tools do not take it for the licence of this source file. */
	fprintf(file, "# SPDX%s: GPL-2.0\n", "-License-Identifier");
	fputs("# Inputs of the fuzzer, one a line, as fuzz_corpus.c says.\n", file);
	for (size_t i = 0; i < inputs->count; i++)
		write_input(file, &inputs->list[i]);
	return fclose(file) ? -errno : 0;
}

void fuzz_input_note(struct fuzz_input *input, const struct fuzz_map *before,
		     const struct fuzz_map *after)
{
	input->edges = after->edge_count - before->edge_count;
	input->sight_count = 0;
	for (unsigned int what = 0; what < FUZZ_SIGHTS; what++)
		for (unsigned int value = 0; value < FUZZ_VALUES; value++)
			if (after->sights[what][value] && !before->sights[what][value])
				add_sight(input, what * FUZZ_VALUES + value);
}

void fuzz_input_common(struct fuzz_input *input, const struct fuzz_input *other)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < input->sight_count; i++)
		for (uint32_t j = 0; j < other->sight_count; j++)
			if (input->sights[i] == other->sights[j])
				input->sights[count++] = input->sights[i];
	input->sight_count = count;
}
