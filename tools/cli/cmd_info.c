// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma info: the module, its version, features and limits.
 */
#include <json-c/json.h>

#include "cli.h"

static const char usage[] =
	"Usage: krdma info\n"
	"\n"
	"Shows the loaded module: its version, features and limits.\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-info(8)\n";

/* Limits that this tool has space for.  A newer module may have more. */
struct limits {
	unsigned int count;
	struct krdma_limit_query_args limit[16];
};

/* A module that does not know the request has no limits to show. */
static void limits_read(struct krdma *session, struct limits *limits)
{
	for (limits->count = 0; limits->count < ARRAY_SIZE(limits->limit); limits->count++) {
		struct krdma_limit_query_args *limit = &limits->limit[limits->count];

		if (krdma_limit_query(session, limits->count, limit, sizeof(*limit)))
			break;
	}
}

/*
 * The larger of both decides: the use of the user, or of the owner of the user namespace.
 */
static uint64_t limit_used(const struct krdma_limit_query_args *limit)
{
	return limit->owner_used > limit->user_used ? limit->owner_used : limit->user_used;
}

static void print_limit(const struct krdma_limit_query_args *limit)
{
	char used[SIZE_TEXT_MAX], max[SIZE_TEXT_MAX];

	if (limit->max == KRDMA_LIMIT_UNKNOWN)
		return;
	printf("%-8s ", krdma_limit_name(limit->limit));
	if (limit->limit == KRDMA_LIMIT_MEMORY)
		printf("%s of at most %s\n", size_text(used, limit_used(limit)),
		       size_text(max, limit->max));
	else
		printf("%llu of at most %llu\n", (unsigned long long)limit_used(limit),
		       (unsigned long long)limit->max);
}

static void print_text(const struct krdma_info_args *info, const char *version,
		       const struct limits *limits, const struct options *options)
{
	printf("module   %s\n", version);
	printf("abi      %u\n", info->abi_version);
	fputs("features ", stdout);
	print_flags(info->features, krdma_feature_name);
	printf("\ndevices  %u of at most %u\n", info->device_count, info->max_devices);
	for (unsigned int i = 0; i < limits->count; i++)
		print_limit(&limits->limit[i]);
	printf("tool     %s\n", krdma_version());
	if (!options->details)
		return;
	printf("tool abi %u\n", KRDMA_ABI_VERSION);
	printf("structs  at most %u bytes\n", info->max_struct_size);
}

static struct json_object *json_limit(const struct krdma_limit_query_args *limit)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_text(object, "name", krdma_limit_name(limit->limit));
	if (limit->max != KRDMA_LIMIT_UNKNOWN) {
		json_put_number(object, "session_used", limit->session_used);
		json_put_number(object, "user_used", limit->user_used);
		json_put_number(object, "owner_used", limit->owner_used);
		json_put_number(object, "max", limit->max);
	}
	return object;
}

static void print_json(const struct krdma_info_args *info, const char *version,
		       const struct limits *limits, const struct options *options)
{
	struct json_object *array = json_checked(json_object_new_array());
	struct json_object *object = json_checked(json_object_new_object());

	json_put_text(object, "module_version", version);
	json_put_number(object, "abi_version", info->abi_version);
	json_put_flags(object, "features", info->features, krdma_feature_name);
	json_put_number(object, "device_count", info->device_count);
	json_put_number(object, "max_devices", info->max_devices);
	json_put_number(object, "max_struct_size", info->max_struct_size);
	json_put_text(object, "tool_version", krdma_version());
	json_put_number(object, "tool_abi_version", KRDMA_ABI_VERSION);
	for (unsigned int i = 0; i < limits->count; i++)
		json_object_array_add(array, json_limit(&limits->limit[i]));
	json_object_object_add(object, "limits", array);
	json_print(object, options);
}

int cmd_info(int argc, char **argv, struct options *options)
{
	char version[sizeof(((struct krdma_info_args *)NULL)->module_version) + 1];
	struct krdma *session;
	struct krdma_info_args info;
	struct limits limits;
	int first, err;

	first = options_parse(argc, argv, options, WITH_ARGUMENTS);
	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && is_help(argv[first]))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first < argc)
		return usage_error("'krdma info' takes no argument '%s'; see 'krdma info help'",
				   argv[first]);
	if (open_session(&session))
		return EXIT_FAILED;
	err = krdma_info_query(session, &info, sizeof(info));
	if (!err)
		limits_read(session, &limits);
	krdma_close(session);
	if (err) {
		complain_request("ask the module for its version and features", err);
		return EXIT_FAILED;
	}
	printable(version, sizeof(version), info.module_version, sizeof(info.module_version));
	if (options->json)
		print_json(&info, version, &limits, options);
	else
		print_text(&info, version, &limits, options);
	return EXIT_OK;
}
