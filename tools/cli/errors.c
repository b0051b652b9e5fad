// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Error messages: what failed, why, and what to do.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

ATTRIBUTE(format(printf, 1, 0))
static void print(const char *format, va_list arguments)
{
	char *text = message_text(format, arguments);

	/* One call for the whole message, because other threads print messages too. */
	fprintf(stderr, "krdma: %s\n", text ? text : "out of memory");
	free(text);
}

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
}

int usage_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
	return EXIT_USAGE;
}

static void explain_no_module(void)
{
	complain("cannot open %s: the module krdma is not loaded\n"
		 "Load it, as root: modprobe krdma", KRDMA_DEVICE_PATH);
}

int require_module(void)
{
	if (!access("/sys/module/krdma", F_OK) || errno != ENOENT)
		return 0;
	explain_no_module();
	return -ENOENT;
}

/*
 * Explain why the device cannot be opened, with a remedy for each reason.  The general text of
 * errno would not tell a new user where to look.
 */
int open_session(struct krdma **session)
{
	int err = krdma_open(session);

	switch (err) {
	case 0:
		break;
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		explain_no_module();
		break;
	case -EACCES:
	case -EPERM:
		complain("cannot open %s: only root and the group rdma may\n"
			 "Join the group, and log in again; as root: usermod -aG rdma USER",
			 KRDMA_DEVICE_PATH);
		break;
	case -ENOTTY:
		complain("%s is not a device of krdma, or the module is too old\n"
			 "Load the module that came with this tool, version %s; as root:\n"
			 "modprobe -r krdma && modprobe krdma",
			 KRDMA_DEVICE_PATH, krdma_version());
		break;
	case -EPROTONOSUPPORT:
		complain("the loaded module does not support version %d of the interface\n"
			 "Install module and tool of the same release: the tool is krdma %s;\n"
			 "for the module see: modinfo krdma",
			 KRDMA_ABI_VERSION, krdma_version());
		break;
	case -EDQUOT:
		complain("cannot open %s: this user has reached the limit of sessions\n"
			 "The limits are in /sys/module/krdma/parameters: max_sessions, max_memory_mb",
			 KRDMA_DEVICE_PATH);
		break;
	default:
		complain("cannot open %s: %s", KRDMA_DEVICE_PATH, strerror(-err));
		break;
	}
	return err;
}

/* The owner of the limit that was reached. */
static const char *quota_owner(uint32_t scope)
{
	return scope == KRDMA_LIMIT_SCOPE_OWNER ? "the owner of this user namespace" : "this user";
}

const char *quota_text(char text[QUOTA_TEXT_MAX], struct krdma *session)
{
	static const char *const parameters[] = {
		[KRDMA_LIMIT_SESSIONS] = "max_sessions",
		[KRDMA_LIMIT_OBJECTS] = "max_objects",
		[KRDMA_LIMIT_MEMORY] = "max_memory_mb",
		[KRDMA_LIMIT_PORTS] = "max_ports",
	};
	struct krdma_limit_query_args limit;
	int err = krdma_limit_refused(session, &limit, sizeof(limit));

	if (!err && limit.limit == KRDMA_LIMIT_DEVICE)
		snprintf(text, QUOTA_TEXT_MAX,
			 "the control group has reached its limit for the RDMA device\n"
			 "The limit is in rdma.max of the group; see: cat /proc/self/cgroup");
	else if (!err && limit.limit < ARRAY_SIZE(parameters))
		snprintf(text, QUOTA_TEXT_MAX,
			 "%s has %llu of %llu allowed: %s\n"
			 "The limit is in /sys/module/krdma/parameters/%s",
			 quota_owner(limit.scope),
			 (unsigned long long)(limit.scope == KRDMA_LIMIT_SCOPE_OWNER ?
					      limit.owner_used : limit.user_used),
			 (unsigned long long)limit.max, krdma_limit_name(limit.limit),
			 parameters[limit.limit]);
	else
		snprintf(text, QUOTA_TEXT_MAX,
			 "a limit of krdma's\n"
			 "The limits are in /sys/module/krdma/parameters");
	return text;
}

void complain_request(const char *what, int err)
{
	if (err == -ENOTTY)
		complain("cannot %s: the loaded module is older than this tool, version %s\n"
			 "'krdma info' shows the module's version; install the matching one",
			 what, krdma_version());
	else
		complain("cannot %s: %s", what, strerror(-err));
}

void output_out_of_memory(void)
{
	complain("cannot print the result: out of memory");
	exit(EXIT_FAILED);
}
