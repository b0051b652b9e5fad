// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of folders as no server of libkrdma makes them, and some that one might make.
 *
 * Each has a few entries that a folder may have, and at some place what is odd.  file_list.c
 * describes the format.
 */
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <file_internal.h>

#include "lib_bad_list.h"

#define ENTRY	28
/* Levels of a folder that has itself, and entries of one that has many. */
#define DEPTH	24
#define MANY	300

enum {
	FILE_TYPE = KRDMA_FILE_TYPE_FILE,
	FOLDER_TYPE = KRDMA_FILE_TYPE_FOLDER,
	LINK_TYPE = KRDMA_FILE_TYPE_LINK,
	OTHER_TYPE = KRDMA_FILE_TYPE_OTHER,
	UNREADABLE_TYPE = KRDMA_FILE_TYPE_UNREADABLE,
};

/* What a client has to do with the list. */
enum verdict {
	TAKE,
	REFUSE,
	/* Take it only if it has asked for the folders in the folder. */
	TAKE_RECURSIVE,
};

/* One entry that is odd; a name without a length ends with its NUL. */
struct odd {
	const char *what;
	const char *name;
	size_t name_length;
	enum verdict verdict;
	uint8_t type;
	uint8_t zero;
	uint32_t mode;
	uint64_t length;
	int64_t mtime_s;
	uint32_t mtime_ns;
};

#define ODD(text, value, judgment, kind, ...) \
	{ .what = text, .name = value, .verdict = judgment, .type = kind, ##__VA_ARGS__ }

#define PART	".krdma-00000000000000000000000000000000-0000000000000000.part"

static const struct odd odds[] = {
	ODD("nothing", "c", TAKE, FILE_TYPE),
	ODD("a name that leads up", "..", REFUSE, FILE_TYPE),
	ODD("a name that leads out", "../outside/new", REFUSE, FILE_TYPE),
	ODD("a name that leads up and down", "d/../../outside/new", REFUSE, FILE_TYPE),
	ODD("a folder that leads up", "..", REFUSE, FOLDER_TYPE),
	ODD("an absolute name", "/tmp/new", REFUSE, FILE_TYPE),
	ODD("a slash", "/", REFUSE, FILE_TYPE),
	ODD("the folder itself", ".", REFUSE, FOLDER_TYPE),
	ODD("a name with the folder itself", "d/./new", REFUSE, FILE_TYPE),
	ODD("a name with two slashes", "d//new", REFUSE, FILE_TYPE),
	ODD("a name with a slash at its end", "d/", REFUSE, FOLDER_TYPE),
	ODD("no name", "", REFUSE, FILE_TYPE),
	ODD("a name with a zero", "a\0b", REFUSE, FILE_TYPE, .name_length = 3),
	ODD("a name of a folder in the folder", "d/new", TAKE_RECURSIVE, FILE_TYPE),
	ODD("a name in a folder that is not listed", "missing/new", TAKE_RECURSIVE, FILE_TYPE),
	ODD("a name in a file", "a/new", TAKE_RECURSIVE, FILE_TYPE),
	ODD("a name behind a symbolic link", "out/new", TAKE_RECURSIVE, FILE_TYPE),
	ODD("a symbolic link that is a folder here", "out", TAKE, FOLDER_TYPE),
	ODD("a control character", "a\033[2Jb", TAKE, FILE_TYPE),
	ODD("a folder with a line break", "a\nb", TAKE, FOLDER_TYPE),
	ODD("a name that is not UTF-8", "a\377\300b", TAKE, FILE_TYPE),
	ODD("an overlong slash", "a\300\257b", TAKE, FILE_TYPE),
	ODD("a character that is not shown", "a\342\200\256b", TAKE, FILE_TYPE),
	ODD("a hidden name", ".bashrc", TAKE, FILE_TYPE),
	ODD("a hidden folder", ".config", TAKE, FOLDER_TYPE),
	ODD("a name like an option", "-rf", TAKE, FILE_TYPE),
	ODD("a name of a part file", PART, TAKE, FILE_TYPE),
	ODD("a folder with the name of a part file", PART, TAKE, FOLDER_TYPE),
	ODD("the name of a file that is here", "taken", TAKE, FILE_TYPE),
	ODD("no type", "t", REFUSE, 0),
	ODD("a type that is not known", "t", REFUSE, 6),
	ODD("a byte that is 0", "t", REFUSE, FILE_TYPE, .zero = 1),
	ODD("a symbolic link", "t", TAKE, LINK_TYPE),
	ODD("something else", "t", TAKE, OTHER_TYPE),
	ODD("what cannot be read", "d", TAKE, UNREADABLE_TYPE, .length = 3),
	ODD("an error that is not known", "t", TAKE, UNREADABLE_TYPE, .length = 99999),
	ODD("a file with the bit setuid", "t", REFUSE, FILE_TYPE, .mode = 04755),
	ODD("a folder with the bit setgid", "t", REFUSE, FOLDER_TYPE, .mode = 02755),
	ODD("a length that is wrong", "t", TAKE, FILE_TYPE, .length = FILE_LENGTH_MAX),
	ODD("a length that none can have", "t", REFUSE, FILE_TYPE,
	    .length = FILE_LENGTH_MAX + 1ull),
	ODD("the first time", "t", TAKE, FOLDER_TYPE, .mtime_s = INT64_MIN),
	ODD("the last time", "t", TAKE, FOLDER_TYPE, .mtime_s = INT64_MAX,
	    .mtime_ns = 999999999),
	ODD("more nanoseconds than a second has", "t", REFUSE, FILE_TYPE, .mtime_ns = 1000000000),
};

#define ODDS	(sizeof(odds) / sizeof(*odds))

/* What is no single entry. */
enum {
	LONG_COMPONENT = ODDS,
	LONG_NAME,
	SAME_TWICE,
	ITSELF,
	BEHIND_LINK,
	MANY_ENTRIES,
	CUT,
	BEYOND,
	HOLE,
	TOO_LONG,
	KINDS,
};

static_assert(KINDS <= BAD_LIST_KINDS, "there are more kinds");

static const char * const others[] = {
	[LONG_COMPONENT - ODDS] = "a component that is too long",
	[LONG_NAME - ODDS] = "a name that is too long",
	[SAME_TWICE - ODDS] = "a file and a folder of one name, twice",
	[ITSELF - ODDS] = "a folder that has itself",
	[BEHIND_LINK - ODDS] = "files in a folder that is a symbolic link here",
	[MANY_ENTRIES - ODDS] = "many entries",
	[CUT - ODDS] = "an entry that is cut",
	[BEYOND - ODDS] = "a name beyond the end",
	[HOLE - ODDS] = "a hole of the greatest length",
	[TOO_LONG - ODDS] = "a list without end",
};

unsigned int bad_list_kinds(void)
{
	return KINDS;
}

const char *bad_list_kind(unsigned int kind)
{
	return kind < ODDS ? odds[kind].what : others[kind - ODDS];
}

bool bad_list_is_too_long(unsigned int kind)
{
	return kind == TOO_LONG;
}

bool bad_list_is_refused(unsigned int kind, bool recursive)
{
	switch (kind) {
	case LONG_COMPONENT:
	case LONG_NAME:
	case CUT:
	case BEYOND:
	case HOLE:
	case TOO_LONG:
		return true;
	case ITSELF:
	case BEHIND_LINK:
		return !recursive;
	case SAME_TWICE:
	case MANY_ENTRIES:
		return false;
	default:
		return odds[kind].verdict == REFUSE ||
		       (odds[kind].verdict == TAKE_RECURSIVE && !recursive);
	}
}

unsigned int bad_list_rarest(unsigned int counts[][2], bool recursive, struct rng *rng)
{
	unsigned int first = rng_below(rng, KINDS), kind = first, each;

	for (unsigned int i = 1; i < KINDS; i++) {
		each = (first + i) % KINDS;
		if (counts[each][recursive] < counts[kind][recursive])
			kind = each;
	}
	return kind;
}

static void put(unsigned char *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = value >> 8 * i;
}

static void add(struct bad_list *list, const struct odd *odd)
{
	size_t length = odd->name_length ? odd->name_length : strlen(odd->name);
	uint32_t usual = odd->type == FOLDER_TYPE ? 0755 : 0644;
	uint32_t mode = odd->mode ? odd->mode : usual;
	unsigned char *to = list->bytes + list->length;

	if (list->length + ENTRY + length > BAD_LIST_ROOM)
		return;
	put(to, length, 2);
	to[2] = odd->type;
	to[3] = odd->zero;
	put(to + 4, mode, 4);
	put(to + 8, odd->length, 8);
	put(to + 16, odd->mtime_s, 8);
	put(to + 24, odd->mtime_ns, 4);
	memcpy(to + ENTRY, odd->name, length);
	list->length += ENTRY + length;
	list->entries++;
}

static void add_named(struct bad_list *list, const char *name, uint8_t type)
{
	struct odd odd = {
		.name = name, .type = type, .mtime_s = 1,
	};

	add(list, &odd);
}

/* What any folder may have.  In a recursive list the folder has something. */
static void add_usual(struct bad_list *list, struct rng *rng)
{
	static const char * const files[] = { "a", "b", "taken", "z" };

	switch (rng_below(rng, 4)) {
	case 0:
		add_named(list, "d", FOLDER_TYPE);
		if (list->recursive)
			add_named(list, rng_once_in(rng, 2) ? "d/b" : "d/.b", FILE_TYPE);
		break;
	case 1:
		break;
	default:
		add_named(list, RNG_PICK(rng, files), FILE_TYPE);
		break;
	}
}

/* "x", "x/x" and so on: each is in the one before. */
static void add_itself(struct bad_list *list)
{
	char name[2 * DEPTH + 2] = "x";

	for (unsigned int i = 0; i < DEPTH; i++) {
		add_named(list, name, FOLDER_TYPE);
		strcat(name, "/x");
	}
}

static void add_many(struct bad_list *list, struct rng *rng)
{
	/* Symbolic links cost least, because they are not copied. */
	uint8_t type = rng_once_in(rng, 4) ? FOLDER_TYPE : LINK_TYPE;
	unsigned int count = type == FOLDER_TYPE ? MANY / 10 : MANY;
	char name[16];

	for (unsigned int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "many%u", i);
		add_named(list, name, type);
	}
}

static void add_odd(struct bad_list *list, struct rng *rng)
{
	static char name[KRDMA_FILE_NAME_MAX + 2];
	size_t before = list->length;
	struct odd cut;

	memset(name, 'x', sizeof(name) - 1);
	switch (list->kind) {
	case LONG_COMPONENT:
		name[KRDMA_FILE_LAST_MAX + 1] = '\0';
		add_named(list, name, FILE_TYPE);
		break;
	case LONG_NAME:
		for (size_t i = 2; i < sizeof(name) - 1; i += 3)
			name[i] = '/';
		add_named(list, name, FILE_TYPE);
		break;
	case SAME_TWICE:
		for (unsigned int i = 0; i < 4; i++)
			add_named(list, "same", i % 2 ? FOLDER_TYPE : FILE_TYPE);
		break;
	case ITSELF:
		add_itself(list);
		break;
	case BEHIND_LINK:
		add_named(list, "out", FOLDER_TYPE);
		add_named(list, "out/new", FILE_TYPE);
		add_named(list, "out/made", FOLDER_TYPE);
		add_named(list, "out/made/new", FILE_TYPE);
		break;
	case MANY_ENTRIES:
		add_many(list, rng);
		break;
	case BEYOND:
		add_named(list, "beyond", FILE_TYPE);
		put(list->bytes + before, 7 + rng_below(rng, rng_once_in(rng, 4) ? 65529 : 300), 2);
		break;
	case CUT:
		cut = (struct odd){ .name = "cut", .type = FILE_TYPE };
		add(list, &cut);
		list->length -= 1 + rng_below(rng, ENTRY + 2);
		break;
	case HOLE:
		list->said = FILE_LIST_MAX;
		break;
	case TOO_LONG:
		list->said = rng_once_in(rng, 2) ? FILE_LIST_MAX + 1 : FILE_LENGTH_MAX;
		break;
	default:
		add(list, &odds[list->kind]);
		break;
	}
}

void bad_list_make(struct bad_list *list, struct rng *rng)
{
	/* What is cut or ends beyond the end is the last one. */
	const bool last = list->kind == CUT || list->kind == BEYOND;
	unsigned int count = rng_below(rng, 3);

	list->length = 0;
	list->entries = 0;
	list->said = 0;
	while (count--)
		add_usual(list, rng);
	add_odd(list, rng);
	for (count = last ? 0 : rng_below(rng, 3); count; count--)
		add_usual(list, rng);
	if (list->said < list->length)
		list->said = list->length;
}
