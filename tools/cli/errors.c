// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Errors as a person wants them: what failed, why, what to do.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

ATTRIBUTE(format(printf, 1, 0))
static void print(const char *format, va_list arguments)
{
	char *text = message_text(format, arguments);

	/* At once: threads have something to say too. */
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

/*
 * The reasons that opening the device fails for, each with its remedy.  With
 * the general text of errno a newcomer would not know where to look.
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
		complain("cannot open %s: the module krdma is not loaded\n"
			 "Load it, as root: modprobe krdma", KRDMA_DEVICE_PATH);
		break;
	case -EACCES:
	case -EPERM:
		complain("cannot open %s: you are not in the group that may, rdma, nor root\n"
			 "Join it, and log in again; as root: usermod -aG rdma USER",
			 KRDMA_DEVICE_PATH);
		break;
	case -ENOTTY:
		complain("%s is not krdma's: another device is there, or a module too old\n"
			 "Load the module that came with this tool, version %s; as root:\n"
			 "modprobe -r krdma && modprobe krdma",
			 KRDMA_DEVICE_PATH, krdma_version());
		break;
	case -EPROTONOSUPPORT:
		complain("the loaded module does not speak version %d of the interface\n"
			 "Install module and tool of one release: the tool is krdma %s, and\n"
			 "the module says with: modinfo krdma",
			 KRDMA_ABI_VERSION, krdma_version());
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
	else
		complain("cannot %s: %s", what, strerror(-err));
}
