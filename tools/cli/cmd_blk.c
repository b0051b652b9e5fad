// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma blk: block devices in the memory of other hosts.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "blk_config.h"
#include "cli.h"
#include "peer.h"
#include "url.h"
#include "value.h"

/* Default port of krdma_blk. */
#define BLK_PORT	7475

#define BLK_SECRET_MAX	64

static const char usage[] =
	"Usage: krdma blk serve --name NAME --size SIZE|--store PATH [OPTION]...\n"
	"       krdma blk end NAME [-f]\n"
	"       krdma blk clients NAME\n"
	"       krdma blk evict NAME CLIENT\n"
	"       krdma blk grow NAME SIZE\n"
	"       krdma blk attach HOST[:PORT][,HOST[:PORT]]... NAME [OPTION]...\n"
	"       krdma blk detach NAME|DISK [-f]\n"
	"       krdma blk list\n"
	"\n"
	"Exports memory of this host, or a block device or file, as a block device for\n"
	"others, and attaches what others export as /dev/krdmabN.\n"
	"\n"
	"  -k, --secret FILE    a file with a line of up to 64 characters, the same at\n"
	"                       server and client; -: standard input\n"
	"      --read-only      serve: clients can only read; attach: only read\n"
	"serve:\n"
	"  -s, --size SIZE      size of the export: 512M, 8G; default: all of --store\n"
	"  -n, --name NAME      name of the export\n"
	"  -x, --exclusive      one client at a time; by default one writer, and readers\n"
	"  -S, --shared         any number of clients can write, and must coordinate\n"
	"      --allow NETS     clients at these addresses: 10.0.0.0/24,fd00::/8; any:\n"
	"                       all; required without a secret\n"
	"  -K, --keep FILE      save the data to FILE at the end, and load them at the\n"
	"                       start\n"
	"      --store PATH     the data are in this block device or file, not in memory\n"
	"      --block-size N   512 or 4096; default 4096\n"
	"attach:\n"
	"  -n, --name NAME      name of the device, if it differs from the export's\n"
	"      --queues N       queues with a connection each, up to 16 (one a CPU)\n"
	"      --poll-queues N  more queues, for requests that programs poll for (0)\n"
	"      --hold SECONDS   how long requests wait for a lost server; default 60\n"
	"end, detach:\n"
	"  -f, --force          even if it is in use: its users get errors, and without\n"
	"                       --keep or --store its data are lost; or, if it is not\n"
	"                       in use, even if they cannot be saved\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-blk(8)\n";

enum {
	OPTION_READ_ONLY = OWN_OPTION,
	OPTION_ALLOW,
	OPTION_BLOCK_SIZE,
	OPTION_QUEUES,
	OPTION_POLL_QUEUES,
	OPTION_HOLD,
	OPTION_STORE,
};

#define BLK_SETTINGS 12

/* A value to write to an attribute, in the order of the command line. */
struct setting {
	const char *attribute;
	const char *value;
};

struct settings {
	struct setting list[BLK_SETTINGS];
	size_t count;
	const char *name;
	const char *store;
	const char *keep;
	char size[24];
	char secret[BLK_SECRET_MAX + 2];
	char remote[BLK_TEXT_MAX];
	bool force;
};

static const struct own_option own_options[] = {
	{ "secret", 'k', FILE_VALUE },
	{ "size", 's', true },
	{ "name", 'n', true },
	{ "read-only", OPTION_READ_ONLY, false },
	{ "exclusive", 'x', false },
	{ "shared", 'S', false },
	{ "allow", OPTION_ALLOW, true },
	{ "keep", 'K', FILE_VALUE },
	{ "store", OPTION_STORE, FILE_VALUE },
	{ "block-size", OPTION_BLOCK_SIZE, true },
	{ "queues", OPTION_QUEUES, true },
	{ "poll-queues", OPTION_POLL_QUEUES, true },
	{ "hold", OPTION_HOLD, true },
	{ "force", 'f', false },
	{ NULL, 0, false },
};

static int add_setting(struct settings *settings, const char *attribute, const char *value)
{
	if (settings->count == BLK_SETTINGS) {
		complain("there are too many options");
		return -EINVAL;
	}
	settings->list[settings->count++] = (struct setting) { attribute, value };
	return 0;
}

/* Read until end of file or @size bytes.  Returns the length, or a negative errno. */
static ssize_t read_all(int fd, char *to, size_t size)
{
	size_t length = 0;

	while (length < size) {
		ssize_t part = read(fd, to + length, size - length);

		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return -errno;
		if (!part)
			break;
		length += (size_t)part;
	}
	return (ssize_t)length;
}

/* An invalid secret is rejected, never shortened: a part of it would be weaker. */
static int check_secret(const char *file, char *secret, size_t length)
{
	if (length && secret[length - 1] == '\n')
		length--;
	if (!length) {
		complain("there is no secret in '%s'", file);
		return -EINVAL;
	}
	for (size_t i = 0; i < length; i++) {
		if (secret[i] >= ' ' && secret[i] <= '~')
			continue;
		complain("the secret in '%s' is not one line of printable ASCII characters\n"
			 "To make one: (umask 077; head -c 24 /dev/urandom | base64 >FILE)", file);
		return -EINVAL;
	}
	if (length > BLK_SECRET_MAX) {
		complain("the secret in '%s' is longer than %d characters", file, BLK_SECRET_MAX);
		return -EINVAL;
	}
	secret[length] = '\0';
	return 0;
}

/* Secrets come from a file, because all users of the host can see the command line. */
static int read_secret(const char *file, struct settings *settings)
{
	int fd = strcmp(file, "-") ? secret_open(file) : STDIN_FILENO;
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read_all(fd, settings->secret, sizeof(settings->secret));
	if (fd != STDIN_FILENO)
		close(fd);
	if (length < 0) {
		complain("cannot read the secret from '%s': %s", file, strerror((int)-length));
		return -EINVAL;
	}
	if (check_secret(file, settings->secret, (size_t)length))
		return -EINVAL;
	return add_setting(settings, "secret", settings->secret);
}

static int read_size(const char *value, struct settings *settings)
{
	uint64_t bytes;

	if (value_size("--size", value, INT64_MAX, &bytes))
		return -EINVAL;
	snprintf(settings->size, sizeof(settings->size), "%llu", (unsigned long long)bytes);
	return add_setting(settings, "size", settings->size);
}

static int set(int key, const char *value, void *to)
{
	struct settings *settings = to;

	switch (key) {
	case 'k':
		return read_secret(value, settings);
	case 's':
		return read_size(value, settings);
	case 'n':
		settings->name = value;
		return 0;
	case OPTION_READ_ONLY:
		return add_setting(settings, "read_only", "1");
	case 'x':
		return add_setting(settings, "exclusive", "1");
	case 'S':
		return add_setting(settings, "shared", "1");
	case OPTION_ALLOW:
		return add_setting(settings, "allow", value);
	case 'K':
		settings->keep = value;
		return add_setting(settings, "file", value);
	case OPTION_STORE:
		settings->store = value;
		return add_setting(settings, "store", value);
	case OPTION_BLOCK_SIZE:
		return add_setting(settings, "block_size", value);
	case OPTION_QUEUES:
		return add_setting(settings, "queues", value);
	case OPTION_POLL_QUEUES:
		return add_setting(settings, "poll_queues", value);
	case OPTION_HOLD:
		return add_setting(settings, "hold_seconds", value);
	default:
		settings->force = true;
		return 0;
	}
}

/* A list of networks has commas on the command line, and blanks in the attribute. */
static void commas_to_blanks(char *list)
{
	for (char *c = list; *c; c++) {
		if (*c == ',')
			*c = ' ';
	}
}

/* Write one setting.  It is never cut: a list of networks would permit others. */
static int write_setting(const char *kind, const char *name, const struct setting *setting)
{
	char *value = strdup(setting->value);
	int err;

	if (!value)
		return -ENOMEM;
	if (!strcmp(setting->attribute, "allow"))
		commas_to_blanks(value);
	err = blk_config_write(kind, name, setting->attribute, value);
	free(value);
	return err;
}

/*
 * Exporting and attaching
 */

static int complain_setting(const struct setting *setting, int err)
{
	if (err == -ENOENT || err == -EPERM)
		complain("this command has no option for '%s'; see: krdma blk help",
			 setting->attribute);
	else if (err == -EACCES)
		complain("only root may do this");
	else if (!strcmp(setting->attribute, "secret"))
		complain("the module refuses this secret: %s", strerror(-err));
	else
		complain("'%s' is not a valid %s: %s", setting->value, setting->attribute,
			 strerror(-err));
	return EXIT_FAILED;
}

static void explain_enable(const char *kind, const char *name, int err)
{
	char text[BLK_TEXT_MAX];

	if (!strcmp(kind, BLK_DEVICES) && *blk_config_read(text, kind, name, "error"))
		complain("cannot attach '%s': %s", name, text);
	else if (err == -ENOMEM)
		complain("cannot export '%s': there is not enough memory", name);
	else if (err == -EDESTADDRREQ)
		complain("cannot export '%s': it permits no client\n"
			 "Permit addresses: --allow 10.0.0.0/24, or any for all\n"
			 "Or give a secret: -k FILE", name);
	else if (err == -EFBIG)
		complain("cannot export '%s': it is too large\n"
			 "It is larger than --store, or --keep's file has another size\n"
			 "Or no RDMA device can register as much: see the kernel's log", name);
	else if (err == -ENOTBLK)
		complain("cannot export '%s': --store is neither a block device nor a file", name);
	else if (err == -EBUSY)
		complain("cannot export '%s': --store is mounted or in use\n"
			 "Or another export has the file of --store or --keep", name);
	else if (err == -ERANGE)
		complain("cannot export '%s': the blocks of --store are larger than --block-size",
			 name);
	else if (err == -EADDRINUSE)
		complain("cannot export '%s': the port is in use\n"
			 "Set another one in %s/listen", name, BLK_CONFIG);
	else
		complain("cannot %s '%s': %s", strcmp(kind, BLK_DEVICES) ? "export" : "attach",
			 name, strerror(-err));
}

static int make_one(const char *kind, const char *name, const struct settings *settings)
{
	int err = blk_config_make(kind, name);

	if (err == -EEXIST) {
		complain("'%s' exists already; 'krdma blk list' shows all", name);
		return EXIT_FAILED;
	}
	if (err) {
		complain("cannot make '%s': %s", name, err == -EACCES ? "only root may do this" :
			 err == -EINVAL ? "this is not a valid name" : strerror(-err));
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < settings->count; i++) {
		err = write_setting(kind, name, &settings->list[i]);
		if (err) {
			complain_setting(&settings->list[i], err);
			blk_config_remove(kind, name);
			return EXIT_FAILED;
		}
	}
	err = blk_config_write(kind, name, "enabled", "1");
	if (err) {
		explain_enable(kind, name, err);
		blk_config_remove(kind, name);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int blk_serve(int argc, char **argv, struct settings *settings, struct options *options)
{
	(void)argv;
	(void)options;
	if (argc || !settings->name || (!*settings->size && !settings->store))
		return usage_error("'krdma blk serve' needs --name, and --size or --store");
	if (settings->store && settings->keep)
		return usage_error("--store keeps the data without --keep");
	return make_one(BLK_EXPORTS, settings->name, settings);
}

/* Append all addresses of a host, each with a blank in front. */
static int add_host(const char *word, struct settings *settings)
{
	struct sockaddr_storage addresses[URL_ADDRESSES];
	char text[PEER_TEXT];
	struct url url;
	size_t count, length = strlen(settings->remote);

	if (url_parse(word, BLK_PORT, &url))
		return -EINVAL;
	if (url.slash) {
		complain("'%s' is not HOST[:PORT]", word);
		return -EINVAL;
	}
	count = url_addresses(&url, addresses);
	for (size_t i = 0; i < count; i++) {
		address_text(&addresses[i], true, text);
		length += (size_t)snprintf(settings->remote + length,
					   sizeof(settings->remote) - length, " %s", text);
		if (length >= sizeof(settings->remote)) {
			complain("there are too many addresses");
			return -EINVAL;
		}
	}
	return count ? 0 : -EINVAL;
}

static int read_hosts(const char *words, struct settings *settings)
{
	char *list = strdup(words), *rest = list, *word;
	int err = 0;

	if (!list) {
		complain("out of memory");
		return -ENOMEM;
	}
	while (!err && (word = strsep(&rest, ",")))
		err = add_host(word, settings);
	free(list);
	return err ? err : add_setting(settings, "remote", settings->remote + 1);
}

static int blk_attach(int argc, char **argv, struct settings *settings, struct options *options)
{
	char text[BLK_TEXT_MAX];
	const char *name;
	int status;

	if (argc != 2)
		return usage_error("'krdma blk attach' needs a host and the name of an export");
	name = settings->name ? settings->name : argv[1];
	if (read_hosts(argv[0], settings) || add_setting(settings, "export", argv[1]))
		return EXIT_FAILED;
	status = make_one(BLK_DEVICES, name, settings);
	if (status)
		return status;
	blk_config_read(text, BLK_DEVICES, name, "disk");
	if (options->json) {
		struct json_object *object = json_checked(json_object_new_object());
		char shown[4 * NAME_MAX + 1];

		name_json(shown, sizeof(shown), name);
		json_put_text(object, "name", shown);
		json_put_text(object, "disk", text);
		json_print(object, options);
	} else {
		printf("/dev/%s\n", text);
	}
	return EXIT_OK;
}

/*
 * Ending and detaching
 */

/* Where the data of an export are to stay.  It has at most one of the two. */
static void read_place(char file[BLK_TEXT_MAX], const char *name)
{
	if (!*blk_config_read(file, BLK_EXPORTS, name, "file"))
		blk_config_read(file, BLK_EXPORTS, name, "store");
}

static bool has_ended(const char *name)
{
	char enabled[BLK_TEXT_MAX];

	return !strcmp(blk_config_read(enabled, BLK_EXPORTS, name, "enabled"), "0");
}

/* The export has been ended by force, although its data could not be saved. */
static void explain_loss(const char *name, int err)
{
	char file[BLK_TEXT_MAX];

	read_place(file, name);
	complain("the export '%s' has ended, and its data are lost: they cannot be saved in %s: %s",
		 name, file, strerror(-err));
}

static void explain_end(const char *name, int err)
{
	char file[BLK_TEXT_MAX];

	read_place(file, name);
	if (err == -EBUSY)
		complain("cannot end the export '%s': it has clients that may hold writes\n"
			 "'krdma blk clients %s' shows them; -f ends it anyway, and %s%s",
			 name, name, *file ? "what has arrived is saved in " :
					     "its data are lost", file);
	else if (*file)
		complain("cannot end the export '%s': its data cannot be saved in %s: %s\n"
			 "It is still there; without clients, -f ends it, and its data are lost",
			 name, file, strerror(-err));
	else
		complain("cannot end the export '%s': %s", name,
			 err == -ENOENT || err == -EINVAL ? "there is no such export" :
			 strerror(-err));
}

static int blk_end(int argc, char **argv, struct settings *settings, struct options *options)
{
	int err = 0;

	(void)options;
	if (argc != 1)
		return usage_error("'krdma blk end' needs the name of an export");
	if (settings->force)
		err = blk_config_write(BLK_EXPORTS, argv[0], "force", "1");
	err = err ? err : blk_config_write(BLK_EXPORTS, argv[0], "enabled", "0");
	if (err && settings->force && has_ended(argv[0])) {
		explain_loss(argv[0], err);
		blk_config_remove(BLK_EXPORTS, argv[0]);
		return EXIT_FAILED;
	}
	err = err ? err : blk_config_remove(BLK_EXPORTS, argv[0]);
	if (err)
		explain_end(argv[0], err);
	return err ? EXIT_FAILED : EXIT_OK;
}

/*
 * Clients of an export
 */

#define CLIENTS_MAX	4096

/* @line comes from the module: number, role, connections, address. */
static void print_client(char *line, struct json_object *array)
{
	static const char *const names[] = { "client", "role", "connections", "address" };
	struct json_object *object = array ? json_checked(json_object_new_object()) : NULL;
	char *word;

	for (size_t i = 0; i < ARRAY_SIZE(names) && (word = strsep(&line, " ")); i++) {
		if (!object)
			printf("%s%s", i ? " " : "", word);
		else if (i == 2)
			json_put_number(object, names[i], strtoull(word, NULL, 10));
		else
			json_put_text(object, names[i], word);
	}
	if (object)
		json_append(array, object);
	else
		putchar('\n');
}

static int blk_clients(int argc, char **argv, struct settings *settings, struct options *options)
{
	struct json_object *array = NULL;
	char text[CLIENTS_MAX + 1], *rest = text, *line;
	int err;

	(void)settings;
	if (argc != 1)
		return usage_error("'krdma blk clients' needs the name of an export");
	err = blk_config_read_all(text, sizeof(text), BLK_EXPORTS, argv[0], "clients");
	if (err) {
		complain("cannot list the clients of '%s': %s", argv[0],
			 err == -ENOENT || err == -EINVAL ? "there is no such export" :
			 strerror(-err));
		return EXIT_FAILED;
	}
	if (options->json)
		array = json_checked(json_object_new_array());
	while ((line = strsep(&rest, "\n"))) {
		if (*line)
			print_client(line, array);
	}
	if (array)
		json_print(array, options);
	return EXIT_OK;
}

static int blk_evict(int argc, char **argv, struct settings *settings, struct options *options)
{
	int err;

	(void)settings;
	(void)options;
	if (argc != 2)
		return usage_error("'krdma blk evict' needs the name of an export, and a client");
	err = blk_config_write(BLK_EXPORTS, argv[0], "evict", argv[1]);
	if (err)
		complain("cannot evict '%s' from '%s': %s\n"
			 "'krdma blk clients %s' lists them", argv[1], argv[0],
			 err == -EINVAL ? "this is not the number of a client" :
			 err == -ENOENT ? "there is no such export or client" : strerror(-err),
			 argv[0]);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int blk_grow(int argc, char **argv, struct settings *settings, struct options *options)
{
	int err;

	(void)settings;
	(void)options;
	if (argc != 2)
		return usage_error("'krdma blk grow' needs the name of an export, and a size");
	err = blk_config_write(BLK_EXPORTS, argv[0], "size", argv[1]);
	if (err)
		complain("cannot grow '%s' to %s: %s", argv[0], argv[1],
			 err == -EINVAL ? "this is not a size, or the export is larger" :
			 err == -ENOMEM ? "there is not enough memory; nothing has changed" :
			 err == -EFBIG ? "the store, or an RDMA device, has not as much" :
			 err == -ENOENT ? "there is no such export" : strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}

struct search {
	const char *disk;
	char name[BLK_TEXT_MAX];
};

static int has_disk(const char *name, void *to)
{
	struct search *search = to;
	char text[BLK_TEXT_MAX];

	if (strcmp(blk_config_read(text, BLK_DEVICES, name, "disk"), search->disk))
		return 0;
	snprintf(search->name, sizeof(search->name), "%s", name);
	return 1;
}

static int blk_detach(int argc, char **argv, struct settings *settings, struct options *options)
{
	struct search search = { 0 };
	const char *name;
	int err = 0;

	(void)options;
	if (argc != 1)
		return usage_error("'krdma blk detach' needs the name of a device, or its disk");
	name = argv[0];
	if (!strncmp(name, "/dev/", 5)) {
		search.disk = name + 5;
		if (blk_config_walk(BLK_DEVICES, has_disk, &search) == 1)
			name = search.name;
	}
	if (settings->force)
		err = blk_config_write(BLK_DEVICES, name, "force", "1");
	err = err ? err : blk_config_write(BLK_DEVICES, name, "enabled", "0");
	err = err ? err : blk_config_remove(BLK_DEVICES, name);
	if (err == -EBUSY)
		complain("'%s' is in use: mounted, or open\n"
			 "-f detaches it anyway, and its users get errors", argv[0]);
	else if (err)
		complain("cannot detach '%s': %s", argv[0],
			 err == -ENOENT || err == -EINVAL ? "there is none" : strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}

/*
 * Listing exports and devices
 */

struct attribute {
	const char *name;
	bool is_number;
};

struct list {
	struct json_object *array;
	const char *kind;
	const struct attribute *attributes;
};

/* A name or path of the module, with what is no printable character escaped. */
#define SHOWN_MAX	(4 * BLK_TEXT_MAX)

static int list_one(const char *name, void *to)
{
	struct list *list = to;
	struct json_object *object = NULL;
	char text[BLK_TEXT_MAX], shown[SHOWN_MAX];

	if (list->array) {
		object = json_checked(json_object_new_object());
		name_json(shown, sizeof(shown), name);
		json_put_text(object, "name", shown);
	} else {
		name_text(shown, sizeof(shown), name);
		printf("%s %s:", list->kind[0] == 'e' ? "export" : "device", shown);
	}
	for (const struct attribute *one = list->attributes; one->name; one++) {
		blk_config_read(text, list->kind, name, one->name);
		if (object && one->is_number) {
			json_put_number(object, one->name, strtoull(text, NULL, 10));
		} else if (object) {
			name_json(shown, sizeof(shown), text);
			json_put_text(object, one->name, shown);
		} else if (*text) {
			name_text(shown, sizeof(shown), text);
			printf(" %s %s", one->name, shown);
		}
	}
	if (object)
		json_append(list->array, object);
	else
		putchar('\n');
	return 0;
}

static int blk_list(int argc, char **argv, struct settings *settings, struct options *options)
{
	static const struct attribute of_export[] = {
		{ "enabled", true }, { "size", true }, { "block_size", true },
		{ "read_only", true }, { "exclusive", true }, { "shared", true },
		{ "allow", false }, { "file", false }, { "store", false },
		{ "connections", true }, { "accepted", true },
		{ "refused_address", true }, { "refused_secret", true }, { "refused_busy", true },
		{ "refused_fenced", true }, { "refused_other", true },
		{ NULL, false },
	};
	static const struct attribute of_device[] = {
		{ "disk", false }, { "state", false }, { "export", false }, { "remote", false },
		{ "read_only", true }, { "queues", true }, { "poll_queues", true },
		{ "hold_seconds", true },
		{ "error", false }, { NULL, false },
	};
	struct list exports = { NULL, BLK_EXPORTS, of_export };
	struct list devices = { NULL, BLK_DEVICES, of_device };
	struct json_object *object;

	(void)argv;
	(void)settings;
	if (argc)
		return usage_error("'krdma blk list' needs nothing else");
	if (options->json) {
		exports.array = json_checked(json_object_new_array());
		devices.array = json_checked(json_object_new_array());
	}
	blk_config_walk(BLK_EXPORTS, list_one, &exports);
	blk_config_walk(BLK_DEVICES, list_one, &devices);
	if (options->json) {
		object = json_checked(json_object_new_object());
		json_put(object, BLK_EXPORTS, exports.array);
		json_put(object, BLK_DEVICES, devices.array);
		json_print(object, options);
	}
	return EXIT_OK;
}

/* @short_too: may be shortened, as "l" for "list".  Verbs that disrupt a user may not. */
static const struct {
	const char *name;
	bool short_too;
	int (*run)(int argc, char **argv, struct settings *settings, struct options *options);
} verbs[] = {
	{ "serve", true, blk_serve },
	{ "end", false, blk_end },
	{ "clients", true, blk_clients },
	{ "evict", false, blk_evict },
	{ "grow", false, blk_grow },
	{ "attach", true, blk_attach },
	{ "detach", false, blk_detach },
	{ "list", true, blk_list },
};

#define VERBS	"serve, end, clients, evict, grow, attach, detach or list"

static bool is_verb(size_t i, const char *word)
{
	if (!verbs[i].short_too)
		return !strcmp(verbs[i].name, word);
	return *word && !strncmp(verbs[i].name, word, strlen(word));
}

int cmd_blk(int argc, char **argv, struct options *options)
{
	struct settings settings = { 0 };
	int first = options_parse_own(argc, argv, options, own_options, set, &settings);

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && is_help(argv[first]))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first == argc)
		return usage_error("'krdma blk' needs " VERBS);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!is_verb(i, argv[first]))
			continue;
		if (!blk_config_there())
			return EXIT_FAILED;
		return verbs[i].run(argc - first - 1, argv + first + 1, &settings, options);
	}
	return usage_error("'krdma blk' needs " VERBS ", not '%s'\n"
			   "end, evict, grow and detach must be written in full", argv[first]);
}
