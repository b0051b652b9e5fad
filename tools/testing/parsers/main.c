// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzers for the parsers of bytes that a peer or another user chooses.  Prints TAP.
 *
 * usage: parsers [--inputs N] [--corpus DIR] [--keep DIR] [--saved DIR] [TARGET]...
 *        parsers --replay FILE TARGET
 *
 *   --inputs N      inputs of each target, beside those of the corpus
 *   --corpus DIR    inputs to begin with: DIR/TARGET.samples has one on each line, in hexadecimal;
 *                   without --keep, a target that has no such file fails
 *   --keep DIR      write the inputs that together reach most places, 16 at most of each target
 *   --saved DIR     where the input of a target that failed is saved; by default, here
 *   --replay FILE   parse this input only
 *
 * The inputs depend on KRDMA_SEED only, not on the time.  A target of which no place was reached
 * was not tested, and fails.  Each target runs in a process of its own; the current input is in
 * memory that it shares with this one, which outlives it.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parsers.h"

/* Half a minute for all targets together, in "make check". */
#define INPUTS		190000
#define SIZE_MAX_INPUT	4096
#define POOL_MAX	1024
#define KEEP_MAX	16
/* A target that needs longer for this number of inputs hangs. */
#define HANG_INPUTS	256
#define HANG_SECONDS	60
/* The status of a target whose corpus cannot be read.  That of the sanitizers is 1. */
#define NO_CORPUS	3

/*
 * @most: maximum size of an input; @share: its number of inputs, in percent of the usual one
 */
struct target {
	const char *name;
	parser_target parse;
	size_t most;
	unsigned int share;
};

#define TARGET(name, most, share) { #name, parser_##name, most, share }
static const struct target targets[] = {
	TARGET(remote_mr, 64, 100),
	TARGET(mr_desc, 64, 100),
	TARGET(private_data, 260, 100),
	TARGET(lane_hello, 64, 50),
	TARGET(lane_frame, 1024, 100),
	TARGET(blk_welcome, 128, 100),
	TARGET(blk_refusal, 48, 100),
	TARGET(blk_command, 24, 100),
	TARGET(message, 512, 100),
	TARGET(parts, 1024, 100),
	TARGET(simple_hello, 96, 100),
	TARGET(simple_header, 40, 100),
	TARGET(simple_imm, 8, 50),
	TARGET(simple_arrivals, 512, 100),
	TARGET(hub_greeting, 64, 100),
	TARGET(hub_refusal, 160, 50),
	TARGET(hub_frame, 200, 100),
	TARGET(rpma_memory, 40, 100),
	TARGET(rpma_peer, 8, 50),
	TARGET(rpma_example, 48, 100),
	TARGET(file_message, 400, 100),
	TARGET(file_list, 512, 50),
	TARGET(file_hello, 64, 100),
	TARGET(file_flow, 1024, 50),
	TARGET(file_accept, 64, 100),
	TARGET(file_name, 256, 100),
	TARGET(file_nets, 512, 100),
	TARGET(file_part, 256, 30),
	TARGET(hello, 40, 100),
	TARGET(answer, 80, 100),
	TARGET(rping, 32, 50),
	TARGET(selftest_words, 80, 100),
	TARGET(selftest_far, 1024, 50),
	TARGET(fdinfo, 1024, 50),
	TARGET(blk_config, 1200, 20),
	TARGET(url, 128, 100),
	TARGET(value, 128, 50),
	TARGET(secret, 1100, 20),
	TARGET(names, 256, 100),
	TARGET(json, 256, 30),
	TARGET(completion, 128, 50),
};

#define TARGETS (sizeof(targets) / sizeof(*targets))

struct input {
	size_t size;
	uint8_t *data;
};

/* What the process of a target shares with this one. */
struct shared {
	uint64_t inputs;
	uint64_t places;
	uint64_t seeds;
	size_t size;
	uint8_t data[SIZE_MAX_INPUT];
};

static struct shared *shared;
static struct input pool[POOL_MAX];
static size_t pool_count;
static uint8_t known[COVER_PLACES];
static uint64_t state;

/* Little memory for what was freed: each input is small, and there are many. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=4:allocator_may_return_null=1";
}

static uint64_t random_number(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t below(size_t end)
{
	return end ? (size_t)((random_number() >> 16) % end) : 0;
}

/*
 * Inputs
 */

static void parse(const struct target *target, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);

	if (size) {
		memcpy(copy, data, size);
		memcpy(shared->data, data, size);
	}
	shared->size = size;
	if (shared->inputs++ % HANG_INPUTS == 0)
		alarm(HANG_SECONDS);
	cover_begin();
	target->parse(copy, size);
	cover_end();
	free(copy);
}

/* Returns the number of places that no input before has reached. */
static unsigned int new_places(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < cover_count; i++) {
		count += !known[cover_reached[i]];
		known[cover_reached[i]] = 1;
	}
	shared->places += count;
	return count;
}

static void add_seed(const uint8_t *data, size_t size)
{
	struct input *input = &pool[pool_count];

	if (pool_count == POOL_MAX)
		return;
	input->data = malloc(size + 1);
	if (!input->data)
		return;
	memcpy(input->data, data, size);
	input->size = size;
	pool_count++;
}

/*
 * The corpus
 */

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Returns the number of bytes, or -1 if the line is no input. */
static int read_line(const char *line, uint8_t *data)
{
	int size = 0;

	if (!strcmp(line, "-\n"))
		return 0;
	for (; digit(line[0]) >= 0 && digit(line[1]) >= 0 && size < SIZE_MAX_INPUT; line += 2)
		data[size++] = (uint8_t)(digit(line[0]) << 4 | digit(line[1]));
	return *line == '\n' ? size : -1;
}

/* A target that is new has no corpus until the first one is kept. */
static void read_corpus(const struct target *target, const char *folder, const char *keep)
{
	char path[4096], line[2 * SIZE_MAX_INPUT + 3];
	uint8_t data[SIZE_MAX_INPUT];
	FILE *file;
	int size;

	snprintf(path, sizeof(path), "%s/%s.samples", folder, target->name);
	file = fopen(path, "r");
	if (!file && errno == ENOENT && keep)
		return;
	if (!file) {
		printf("# cannot read %s: %s\n", path, strerror(errno));
		exit(NO_CORPUS);
	}
	while (fgets(line, sizeof(line), file)) {
		size = read_line(line, data);
		if (size < 0) {
			printf("# %s has a line that is not in hexadecimal\n", path);
			exit(NO_CORPUS);
		}
		parse(target, data, (size_t)size);
		new_places();
		add_seed(data, (size_t)size);
	}
	fclose(file);
}

/* The number of places that an input of the pool adds to those of the ones already chosen. */
static unsigned int gain(const struct target *target, const struct input *input)
{
	unsigned int count = 0;

	parse(target, input->data, input->size);
	for (unsigned int i = 0; i < cover_count; i++)
		count += !known[cover_reached[i]];
	return count;
}

/* Returns the input that adds most, the shortest of several; NULL if none adds anything. */
static const struct input *best(const struct target *target)
{
	const struct input *found = NULL;
	unsigned int most = 0;

	for (size_t i = 0; i < pool_count; i++) {
		unsigned int count = gain(target, &pool[i]);

		if (count < most || (count == most && (!found || found->size <= pool[i].size)))
			continue;
		most = count;
		found = &pool[i];
	}
	return most ? found : NULL;
}

static void write_corpus(const struct target *target, const char *folder)
{
	const struct input *input;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.samples", folder, target->name);
	file = fopen(path, "w");
	if (!file) {
		fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
		exit(1);
	}
	memset(known, 0, sizeof(known));
	for (int kept = 0; kept < KEEP_MAX && (input = best(target)); kept++) {
		gain(target, input);
		new_places();
		for (size_t at = 0; at < input->size; at++)
			fprintf(file, "%02x", input->data[at]);
		fputs(input->size ? "\n" : "-\n", file);
	}
	fclose(file);
}

/*
 * Mutation
 */

static const char * const words[] = {
	"KRDb", "KRDh", "KRDp", "KRDs", "KRDt", "KRDa", "krdf", "rkdb", "krdmaST1", "KRDm", "KRDM",
	"krdma:\t", "connection\n", "session\n", "listener\n", "ring\n", "srq\n", "id:\t",
	"state:\t", "local:\t", "remote:\t", "sends_posted:\t", "sends_completed:\t", "error:\t-",
	"[", "]:", "::", ":7476/", "/", "..", ",", ".", "-", "--", "=", "k", "KiB", "MiB", "ms",
	"us", "all", "%", "%n", "%s", "18446744073709551615", "18446744073709551616",
	"4294967296", "9223372036854775808", "10.0.0.1/32", "fd00::/64", "255.255.255.255",
	"\n", "\t", "\x1b[", "\xe2\x80\xae", "\xc2\x9b", "\xf4\x90\x80\x80", "\xed\xa0\x80", "\\u",
	"\"", "\xc3\xa9", "\x7f", "\xff",
};

static const uint64_t integers[] = {
	0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 48, 63, 64, 88, 100, 127, 128, 255, 256, 512,
	1023, 4095, 4096, 4097, 32767, 32768, 65535, 65536, 65537, 0xfffffe, 0x1000000,
	0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, UINT64_C(0x100000000),
	UINT64_C(0x7fffffffffffefff), UINT64_C(0x7ffffffffffff000), INT64_MAX,
	UINT64_C(0x8000000000000000), UINT64_MAX - 4095, UINT64_MAX - 1, UINT64_MAX,
};

struct draft {
	size_t size;
	size_t most;
	uint8_t data[SIZE_MAX_INPUT];
};

/* Moves what follows, and writes the bytes there; they are cut if there is no space. */
static void insert(struct draft *draft, size_t at, const void *bytes, size_t size)
{
	size_t space = draft->most - at, rest = draft->size - at;

	if (size > space)
		size = space;
	if (rest > space - size)
		rest = space - size;
	memmove(draft->data + at + size, draft->data + at, rest);
	memcpy(draft->data + at, bytes, size);
	draft->size = at + size + rest;
}

static void overwrite(struct draft *draft, size_t at, const void *bytes, size_t size)
{
	if (size > draft->most - at)
		size = draft->most - at;
	memcpy(draft->data + at, bytes, size);
	if (at + size > draft->size)
		draft->size = at + size;
}

static void put_integer(struct draft *draft)
{
	uint64_t value = integers[below(sizeof(integers) / sizeof(*integers))];
	size_t bytes = (size_t)1 << below(4), at = below(draft->size);
	bool big = below(4) == 0, inserts = below(8) == 0;
	uint8_t to[8];

	if (!below(4))
		value += below(17) - 8;
	for (size_t i = 0; i < bytes; i++)
		to[big ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
	/* Fields are aligned more often than not. */
	if (below(4))
		at -= at % bytes;
	if (inserts)
		insert(draft, at, to, bytes);
	else
		overwrite(draft, at, to, bytes);
}

static void put_word(struct draft *draft)
{
	const char *word = words[below(sizeof(words) / sizeof(*words))];
	size_t at = below(draft->size + 1);

	if (below(2))
		insert(draft, at, word, strlen(word));
	else
		overwrite(draft, below(2) ? at : 0, word, strlen(word));
}

static void remove_block(struct draft *draft)
{
	size_t at = below(draft->size), size = 1 + below(draft->size - at);

	if (!draft->size)
		return;
	if (below(2) && size > 8)
		size = 1 + below(8);
	memmove(draft->data + at, draft->data + at + size, draft->size - at - size);
	draft->size -= size;
}

static void splice(struct draft *draft)
{
	const struct input *other = &pool[below(pool_count)];
	size_t from = below(other->size), at = below(draft->size + 1);

	if (!other->size)
		return;
	if (below(2))
		insert(draft, at, other->data + from, 1 + below(other->size - from));
	else
		overwrite(draft, at, other->data + from, 1 + below(other->size - from));
}

static void extend(struct draft *draft)
{
	size_t size = 1 + below(below(4) ? 16 : draft->most);
	uint8_t fill = below(2) ? 0 : (uint8_t)below(256);

	while (size-- && draft->size < draft->most)
		draft->data[draft->size++] = below(2) ? fill : (uint8_t)below(256);
}

static void mutate_once(struct draft *draft)
{
	switch (below(9)) {
	case 0:
		if (draft->size)
			draft->data[below(draft->size)] ^= (uint8_t)(1u << below(8));
		break;
	case 1:
		if (draft->size)
			draft->data[below(draft->size)] = (uint8_t)below(256);
		break;
	case 2:
		if (draft->size)
			draft->data[below(draft->size)] += (uint8_t)(below(9) - 4);
		break;
	case 3:
		put_integer(draft);
		break;
	case 4:
		put_word(draft);
		break;
	case 5:
		draft->size = below(draft->size + 1);
		break;
	case 6:
		extend(draft);
		break;
	case 7:
		remove_block(draft);
		break;
	case 8:
		splice(draft);
		break;
	}
}

static void mutate(struct draft *draft)
{
	/* The newest seeds have been tried least. */
	size_t from = below(2) ? below(pool_count) : pool_count - 1 - below((pool_count + 3) / 4);

	memcpy(draft->data, pool[from].data, pool[from].size);
	draft->size = pool[from].size < draft->most ? pool[from].size : draft->most;
	for (size_t count = (size_t)1 << below(4); count; count--)
		mutate_once(draft);
}

/*
 * One target
 */

static void fuzz(const struct target *target, uint64_t inputs, const char *corpus,
		 const char *keep)
{
	static struct draft draft;
	const char *seed = getenv("KRDMA_SEED");

	state = seed ? strtoull(seed, NULL, 10) : 1;
	for (const char *c = target->name; *c; c++)
		state = (state + (uint8_t)*c) * UINT64_C(0x100000001b3);
	state += !state;
	parse(target, NULL, 0);
	new_places();
	add_seed((const uint8_t *)"", 0);
	if (corpus)
		read_corpus(target, corpus, keep);
	draft.most = target->most;
	inputs = inputs * target->share / 100;
	while (inputs--) {
		mutate(&draft);
		parse(target, draft.data, draft.size);
		if (new_places())
			add_seed(draft.data, draft.size);
	}
	shared->seeds = pool_count;
	if (keep)
		write_corpus(target, keep);
	for (size_t i = 0; i < pool_count; i++)
		free(pool[i].data);
}

/* The input at which the target ended. */
static void save_input(const struct target *target, const char *folder)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.input", folder, target->name);
	file = fopen(path, "w");
	if (!file || fwrite(shared->data, 1, shared->size, file) != shared->size || fclose(file))
		printf("# cannot save the input in %s: %s\n", path, strerror(errno));
	else
		printf("# input saved: parsers --replay %s %s\n", path, target->name);
}

static bool run(const struct target *target, uint64_t inputs, const char *corpus,
		const char *keep, const char *saved)
{
	int status;
	pid_t child;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	child = fork();
	if (!child) {
		fuzz(target, inputs, corpus, keep);
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child) {
		printf("# %s: %s\n", target->name, strerror(errno));
		return false;
	}
	if (!status && !shared->places)
		printf("# %s: no place was reached, or none was recorded\n", target->name);
	if (!status)
		return shared->places > 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_CORPUS)
		return false;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf("# %s hangs\n", target->name);
	save_input(target, saved);
	return false;
}

static int replay(const struct target *target, const char *path)
{
	uint8_t data[SIZE_MAX_INPUT];
	FILE *file = fopen(path, "r");
	size_t size;

	if (!file) {
		fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
		return 1;
	}
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	parse(target, data, size);
	return 0;
}

static const struct target *find(const char *name)
{
	for (size_t i = 0; i < TARGETS; i++) {
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	}
	fprintf(stderr, "there is no target '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	const char *corpus = NULL, *keep = NULL, *saved = ".", *input = NULL;
	unsigned int number = 0, failures = 0;
	uint64_t inputs = INPUTS;
	int at;

	for (at = 1; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
		if (!strcmp(argv[at], "--inputs"))
			inputs = strtoull(argv[at + 1], NULL, 10);
		else if (!strcmp(argv[at], "--corpus"))
			corpus = argv[at + 1];
		else if (!strcmp(argv[at], "--keep"))
			keep = argv[at + 1];
		else if (!strcmp(argv[at], "--saved"))
			saved = argv[at + 1];
		else if (!strcmp(argv[at], "--replay"))
			input = argv[at + 1];
		else
			break;
	}
	for (int i = at; i < argc; i++)
		find(argv[i]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	if (input)
		return at < argc ? replay(find(argv[at]), input) : 2;
	printf("TAP version 13\n");
	for (size_t i = 0; i < TARGETS; i++) {
		bool wanted = at == argc, good;

		for (int word = at; word < argc; word++)
			wanted = wanted || find(argv[word]) == &targets[i];
		if (!wanted)
			continue;
		good = run(&targets[i], inputs, corpus, keep, saved);
		failures += !good;
		printf("# %s: %llu inputs, %llu places, %llu seeds\n", targets[i].name,
		       (unsigned long long)shared->inputs, (unsigned long long)shared->places,
		       (unsigned long long)shared->seeds);
		printf("%sok %u parser %s\n", good ? "" : "not ", ++number, targets[i].name);
	}
	printf("1..%u\n", number);
	return failures || !number;
}
