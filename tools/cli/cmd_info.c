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

static void print_text(const struct krdma_info *info, const char *version,
		       const struct options *options)
{
	printf("module   %s\n", version);
	printf("abi      %u\n", info->abi_version);
	fputs("features ", stdout);
	print_flags(info->features, krdma_feature_name);
	printf("\ndevices  %u of at most %u\n", info->device_count, info->max_devices);
	printf("tool     %s\n", krdma_version());
	if (!options->details)
		return;
	printf("tool abi %u\n", KRDMA_ABI_VERSION);
	printf("structs  at most %u bytes\n", info->max_struct_size);
}

static void print_json(const struct krdma_info *info, const char *version,
		       const struct options *options)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_text(object, "module_version", version);
	json_put_number(object, "abi_version", info->abi_version);
	json_put_flags(object, "features", info->features, krdma_feature_name);
	json_put_number(object, "device_count", info->device_count);
	json_put_number(object, "max_devices", info->max_devices);
	json_put_number(object, "max_struct_size", info->max_struct_size);
	json_put_text(object, "tool_version", krdma_version());
	json_put_number(object, "tool_abi_version", KRDMA_ABI_VERSION);
	json_print(object, options);
}

int cmd_info(int argc, char **argv, struct options *options)
{
	char version[sizeof(((struct krdma_info *)NULL)->module_version) + 1];
	struct krdma *session;
	struct krdma_info info;
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
	err = krdma_info_get(session, &info, sizeof(info));
	krdma_close(session);
	if (err) {
		complain_request("ask the module for its version and features", err);
		return EXIT_FAILED;
	}
	printable(version, sizeof(version), info.module_version, sizeof(info.module_version));
	if (options->json)
		print_json(&info, version, options);
	else
		print_text(&info, version, options);
	return EXIT_OK;
}
