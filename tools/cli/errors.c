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

void complain_request(const char *what, int err)
{
	if (err == -ENOTTY)
		complain("cannot %s: the loaded module is older than this tool, version %s\n"
			 "'krdma info' shows the module's version; install the matching one",
			 what, krdma_version());
	else if (err == -EDQUOT)
		complain("cannot %s: " QUOTA_REACHED "\n" QUOTA_SHOWN, what);
	else
		complain("cannot %s: %s", what, strerror(-err));
}

void output_out_of_memory(void)
{
	complain("cannot print the result: out of memory");
	exit(EXIT_FAILED);
}
