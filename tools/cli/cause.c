// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Why a host cannot be reached, or a limit is, in the same words for every command.
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
	case -EDQUOT:
		snprintf(cause->why, sizeof(cause->why), QUOTA_REACHED);
		snprintf(cause->mend, sizeof(cause->mend), QUOTA_SHOWN);
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

/* The owner of the limit that was reached. */
static const char *quota_owner(uint32_t scope)
{
	return scope == KRDMA_LIMIT_SCOPE_OWNER ? "the owner of this user namespace" : "this user";
}

void cause_of_quota(struct cause *cause, struct krdma *session)
{
	static const char *const parameters[] = {
		[KRDMA_LIMIT_SESSIONS] = "max_sessions",
		[KRDMA_LIMIT_OBJECTS] = "max_objects",
		[KRDMA_LIMIT_MEMORY] = "max_memory_mb",
		[KRDMA_LIMIT_PORTS] = "max_ports",
	};
	struct krdma_limit_query_args limit;
	int err = krdma_limit_refused(session, &limit, sizeof(limit));

	if (!err && limit.limit == KRDMA_LIMIT_DEVICE) {
		snprintf(cause->why, sizeof(cause->why),
			 "the control group has reached its limit for the RDMA device");
		snprintf(cause->mend, sizeof(cause->mend),
			 "The limit is in rdma.max of the group; see: cat /proc/self/cgroup");
	} else if (!err && limit.limit < ARRAY_SIZE(parameters)) {
		snprintf(cause->why, sizeof(cause->why), "%s has %llu of %llu allowed: %s",
			 quota_owner(limit.scope),
			 (unsigned long long)(limit.scope == KRDMA_LIMIT_SCOPE_OWNER ?
					      limit.owner_used : limit.user_used),
			 (unsigned long long)limit.max, krdma_limit_name(limit.limit));
		snprintf(cause->mend, sizeof(cause->mend),
			 "The limit is in /sys/module/krdma/parameters/%s; all of them: krdma info",
			 parameters[limit.limit]);
	} else {
		snprintf(cause->why, sizeof(cause->why), QUOTA_REACHED);
		snprintf(cause->mend, sizeof(cause->mend), QUOTA_SHOWN);
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
