/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Why a host cannot be reached, or a limit is, in the same words for every command.
 */
#ifndef KRDMA_CLI_CAUSE_H
#define KRDMA_CLI_CAUSE_H

#include <netdb.h>

#include "cli.h"

#define CAUSE_TEXT (NI_MAXHOST + 256)

/**
 * struct cause - why a request has failed
 * @why: the cause, without a period
 * @mend: what to do next; empty if the command knows that better
 */
struct cause {
	char why[CAUSE_TEXT];
	char mend[CAUSE_TEXT];
};

/* @host: a name or an address; @err: a negative errno. */
void cause_of(struct cause *cause, const char *host, int err);

/* After -EDQUOT: the limit of which a request of the session was refused, and where it is set. */
void cause_of_quota(struct cause *cause, struct krdma *session);

/* Print what failed, the cause, and in a second line what to do. */
ATTRIBUTE(format(printf, 2, 3)) void complain_cause(const struct cause *cause,
						    const char *format, ...);

#endif /* KRDMA_CLI_CAUSE_H */
