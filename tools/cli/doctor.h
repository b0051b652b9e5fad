/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma doctor: what its files share.
 *
 * Each check says one thing, or several, with doctor_say(); what depends on something
 * that is missing is left out, and what is missing has been said.
 */
#ifndef KRDMA_CLI_DOCTOR_H
#define KRDMA_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"

struct json_object;

enum verdict {
	VERDICT_OK,
	/* It works, and may not everywhere or always. */
	VERDICT_WARN,
	VERDICT_FAIL,
};

/**
 * struct doctor - one examination
 * @options: the common ones
 * @host: who is to be reached, or NULL
 * @port: where, 0: not said
 * @session: the session, or NULL if there can be none
 * @device: a device with a port that is up, or 0
 * @roce: there is a device that speaks RoCE
 * @checks: what has been said, as JSON, or NULL
 * @last: of that, what was said last
 * @warned: how many warnings
 * @failed: how many failures
 */
struct doctor {
	const struct options *options;
	const char *host;
	uint16_t port;
	struct krdma *session;
	uint32_t device;
	bool roce;
	struct json_object *checks;
	struct json_object *last;
	unsigned int warned;
	unsigned int failed;
};

/* doctor_report.c: what has been found. */
ATTRIBUTE(format(printf, 4, 5))
void doctor_say(struct doctor *doctor, const char *check, enum verdict verdict,
		const char *format, ...);
/* The command that mends what was said last, and how it is meant, or NULL. */
ATTRIBUTE(format(printf, 3, 4))
void doctor_mend(struct doctor *doctor, const char *note, const char *format, ...);
/* The end of it: the status. */
int doctor_conclude(struct doctor *doctor);

/* doctor_program.c: what a program prints, or NULL: it is not there, or fails; *@there says. */
char *doctor_output_of(const char *const argv[], bool *there);

/* doctor_manager.c: nobody can connect over this port, though it is active. */
bool doctor_manager_is_dead(const char *device, uint32_t number);

/* In this order. */
void doctor_module(struct doctor *doctor);
void doctor_device(struct doctor *doctor);
void doctor_limits(struct doctor *doctor);
void doctor_firewall(struct doctor *doctor);
void doctor_network(struct doctor *doctor);

#endif /* KRDMA_CLI_DOCTOR_H */
