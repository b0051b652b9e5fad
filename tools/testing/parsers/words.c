// SPDX-License-Identifier: GPL-2.0
/*
 * Texts that others choose, on the tool's command line and in its output.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "bench.h"
#include "cli.h"
#include "completion.h"
#include "copy.h"
#include "parsers.h"
#include "url.h"
#include "value.h"

int parser_url(const uint8_t *data, size_t size)
{
	char *word, place[URL_PLACE_TEXT];
	struct url url;
	int err;

	if (!size)
		return 0;
	text_locale(data[0] & 1);
	word = text_of(data + 1, size - 1);
	err = url_parse(word, 7476, &url);
	EXPECT(!err || err == -EINVAL);
	url_looks_like(word);
	if (!err) {
		EXPECT(*url.host && strlen(url.host) < sizeof(url.host) && url.port);
		EXPECT(url.path >= word && url.path <= word + strlen(word));
		/* A path follows a slash, or the colon after the host. */
		EXPECT(!url.slash || (url.path > word && strchr("/:", url.path[-1])));
		EXPECT(url.slash || !*url.path);
		EXPECT(strlen(url_place(&url, place)) < sizeof(place));
	}
	free(word);
	return 0;
}

/* The first byte: which kind of value; the second: how many there may be. */
int parser_value(const uint8_t *data, size_t size)
{
	uint64_t value = 0, *values, most = UINT64_C(1) << 40;
	char text[VALUE_TIME_TEXT], *word;
	size_t count = 0, room;
	int err;

	if (size < 2)
		return 0;
	text_locale(data[0] & 8);
	room = 1 + data[1] % 8;
	values = calloc(room, sizeof(*values));
	EXPECT(values);
	word = text_of(data + 2, size - 2);
	switch (data[0] & 7) {
	case 0:
		err = value_number("-n", word, 3, UINT64_MAX, &value);
		EXPECT(err || value >= 3);
		break;
	case 1:
		err = value_size("-s", word, most, &value);
		EXPECT(err || value <= most);
		break;
	case 2:
		err = value_time("-t", word, 86400 * VALUE_SECOND, &value);
		EXPECT(err || value <= 86400 * VALUE_SECOND);
		value_time_text(text, value);
		break;
	case 3:
		err = value_sizes("-s", word, most, 1024, values, room, &count);
		break;
	case 4:
		err = value_numbers("-n", word, 1, most, values, room, &count);
		break;
	case 5:
		/* The largest limit. */
		err = value_size("-s", word, UINT64_MAX, &value);
		break;
	default:
		memcpy(&value, data, size < 8 ? size : 8);
		EXPECT(strlen(value_time_text(text, value)) < sizeof(text));
		err = 0;
	}
	EXPECT((!err || err == -EINVAL) && count <= room);
	for (size_t i = 0; i < count; i++)
		EXPECT(values[i] <= most);
	free(word);
	free(values);
	return 0;
}

int parser_secret(const uint8_t *data, size_t size)
{
	struct secret_file *secret = calloc(1, sizeof(*secret));
	int fd = memory_file(data, size), err;
	char path[32];

	EXPECT(secret && !fchmod(fd, 0600));
	text_locale(false);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = secret_read(path, secret);
	EXPECT(!err || err == -EINVAL);
	if (!err) {
		EXPECT(secret->length >= KRDMA_FILE_SECRET_MIN &&
		       secret->length <= KRDMA_FILE_SECRET_MAX && secret->length <= size);
		EXPECT(!memcmp(secret->bytes, data, secret->length));
	}
	free(secret);
	return 0;
}

/* The first byte: the encoding of the terminal; the second: how much space there is. */
int parser_names(const uint8_t *data, size_t size)
{
	size_t room, used;
	char *to, *text;
	bool utf8;

	if (size < 2)
		return 0;
	utf8 = data[0] & 1;
	text_locale(utf8);
	room = 1 + data[1];
	to = malloc(room);
	EXPECT(to);
	/* A name that fills its field has no zero at its end. */
	used = printable(to, room, (const char *)data + 2, size - 2);
	EXPECT(used < room && strlen(to) == used && used <= size - 2 && text_is_shown(to, utf8));
	text = text_of(data + 2, size - 2);
	used = name_text(to, room, text);
	EXPECT(used < room && strlen(to) == used && text_is_shown(to, utf8));
	used = name_json(to, room, text);
	EXPECT(used < room && strlen(to) == used && text_is_shown(to, true));
	complain("the file '%s' is not there\nAnother line: %s", text, to);
	free(text);
	free(to);
	return 0;
}

/* A name in JSON is the same after it is parsed, and its text is one line of valid UTF-8. */
int parser_json(const uint8_t *data, size_t size)
{
	struct options options = { .json = true };
	char *text = text_of(data, size), *name = malloc(4 * size + 1), *said;
	struct json_object *object = json_object_new_object(), *again, *value = NULL;

	EXPECT(name && object);
	text_locale(true);
	name_json(name, 4 * size + 1, text);
	json_put_text(object, "name", name);
	json_put_number(object, "size", size);
	output_begin();
	json_print(object, &options);
	said = output_end();
	EXPECT(*said && said[strlen(said) - 1] == '\n');
	said[strlen(said) - 1] = '\0';
	EXPECT(text_is_shown(said, true));
	again = json_tokener_parse(said);
	EXPECT(again && json_object_object_get_ex(again, "name", &value));
	EXPECT(!strcmp(json_object_get_string(value), name));
	json_object_put(again);
	free(said);
	free(name);
	free(text);
	return 0;
}

/*
 * Completion, over a table of commands such as the tool has
 */

const char * const bench_operation_names[BENCH_OPERATIONS] = {
	"write", "read", "send", "atomic", "connect",
};

static int set_nothing(int key, const char *value, void *to)
{
	(void)key;
	(void)value;
	(void)to;
	return 0;
}

static int run_command(int argc, char **argv, struct options *options)
{
	static const struct own_option own[] = {
		{ "size", 's', ANY_VALUE }, { "report", OWN_OPTION, FILE_VALUE },
		{ "all", 'a', NO_VALUE }, { NULL, 0, NO_VALUE },
	};

	return options_parse_own(argc, argv, options, own, set_nothing, NULL) < 0;
}

static const struct command commands[] = {
	{ "dev", run_command }, { "bench", run_command }, { "stat", run_command },
	{ "get", run_command }, { "blk", run_command }, { "selftest", run_command },
	{ "help", NULL }, { NULL, NULL },
};

/* Words end with a byte that is zero; what is offered begins with the last one. */
int parser_completion(const uint8_t *data, size_t size)
{
	char name[] = "completion", dashes[] = "--", *argv[20] = { name, dashes }, *text, *said;
	int argc = 2;

	text = text_of(data, size);
	for (char *at = text; argc < 19 && at <= text + size; at += strlen(at) + 1)
		argv[argc++] = at;
	text_locale(true);
	output_begin();
	EXPECT(cmd_completion(argc, argv, commands) == EXIT_OK);
	said = output_end();
	for (char *line = said, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		EXPECT(text_is_shown(line, false));
	}
	free(said);
	free(text);
	return 0;
}
