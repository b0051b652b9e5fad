// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Why a host cannot be reached, in the same words for every command.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cause.h"

/* An address with its interface, "fe80::1%eth0", is none for inet_pton(). */
static bool lacks_interface(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET6, host, &address) == 1 && IN6_IS_ADDR_LINKLOCAL(&address);
}

void cause_of(struct cause *cause, const char *host, int err)
{
	*cause->mend = '\0';
	switch (err) {
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ENODEV:
		snprintf(cause->why, sizeof(cause->why),
			 "no RDMA device here has a route to %s", host);
		snprintf(cause->mend, sizeof(cause->mend),
			 "To see what is missing: krdma doctor %s", host);
		break;
	case -ETIMEDOUT:
		snprintf(cause->why, sizeof(cause->why), "%s does not answer", host);
		snprintf(cause->mend, sizeof(cause->mend),
			 "Look from here with: krdma doctor %s; there with: krdma doctor", host);
		break;
	case -ECONNREFUSED:
		snprintf(cause->why, sizeof(cause->why),
			 "connection refused (no listener, or one for another service)");
		break;
	default:
		if (err != -EINVAL || !lacks_interface(host)) {
			snprintf(cause->why, sizeof(cause->why), "%s", strerror(-err));
			break;
		}
		snprintf(cause->why, sizeof(cause->why),
			 "%s is a link-local address without its interface", host);
		snprintf(cause->mend, sizeof(cause->mend),
			 "Give its interface, too, such as %s%%eth0; see: ip -6 address", host);
		break;
	}
}

void complain_cause(const struct cause *cause, const char *format, ...)
{
	va_list arguments;
	char *what;

	va_start(arguments, format);
	what = message_text(format, arguments);
	va_end(arguments);
	if (*cause->mend)
		complain("%s: %s\n%s", what ? what : "out of memory", cause->why, cause->mend);
	else
		complain("%s: %s", what ? what : "out of memory", cause->why);
	free(what);
}
