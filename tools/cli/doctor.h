/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma doctor: declarations that its files share.
 *
 * Each check reports one or more results with doctor_say().  A check that depends on something
 * missing is left out, because an earlier check has reported what is missing.
 */
#ifndef KRDMA_CLI_DOCTOR_H
#define KRDMA_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"

struct json_object;
struct sockaddr_storage;

enum verdict {
	VERDICT_OK,
	/* It works, but perhaps not everywhere or always. */
	VERDICT_WARN,
	VERDICT_FAIL,
};

/**
 * struct doctor - state of one run
 * @options: the common options
 * @host: host to reach, or NULL
 * @port: port to reach on @host; 0: not given
 * @unloaded: the module is not loaded
 * @session: the session, or NULL if it cannot be opened
 * @device: number of a device with an active port, or 0
 * @roce: there is a RoCE device
 * @checks: results for JSON, or NULL for text
 * @last: the last element of @checks
 * @warned: number of warnings
 * @failed: number of failures
 */
struct doctor {
	const struct options *options;
	const char *host;
	uint16_t port;
	bool unloaded;
	struct krdma *session;
	uint32_t device;
	bool roce;
	struct json_object *checks;
	struct json_object *last;
	unsigned int warned;
	unsigned int failed;
};

/* doctor_report.c: report a result. */
ATTRIBUTE(format(printf, 4, 5))
void doctor_say(struct doctor *doctor, const char *check, enum verdict verdict,
		const char *format, ...);
/* Report the command that fixes the last result.  @note explains its use, or is NULL. */
ATTRIBUTE(format(printf, 3, 4))
void doctor_mend(struct doctor *doctor, const char *note, const char *format, ...);
/* The name for a command; @placeholder if characters of it are special to a shell. */
const char *doctor_name(const char *name, const char *placeholder);
/* End the report.  Returns the exit code. */
int doctor_conclude(struct doctor *doctor);

/* doctor_program.c: output of a program; NULL if it fails, or if it is missing (*@there false). */
char *doctor_output_of(const char *const argv[], bool *there);

/**
 * struct installed - where a kernel module is
 * @running: release of the running kernel
 * @known: that kernel's modules are on this machine
 * @loaded: it is loaded, or built in and visible
 * @here: it is installed for the running kernel, or built in
 * @others: number of other kernels for which it is installed
 * @other: one of them
 * @judged: @is_signed is known
 * @is_signed: its file is signed, with whatever key
 */
struct installed {
	char running[65];
	bool known;
	bool loaded;
	bool here;
	unsigned int others;
	char other[256];
	bool judged;
	bool is_signed;
};

/* doctor_installed.c */
void doctor_find_module(const char *module, struct installed *installed);
/* The last reason for not loading krdma in the kernel's log; false: none, or it is not readable. */
bool doctor_kernel_refusal(char *text, size_t size);

/* doctor_driver.c: the kernel's RDMA devices without krdma, or why krdma has none. */
void doctor_driver(struct doctor *doctor);

/* doctor_manager.c: no connection can be made over this port, although it is active. */
bool doctor_manager_is_dead(const char *device, uint32_t number);

/* doctor_lanes.c: whether the program that listens at @place takes lanes. */
void doctor_lane_to(struct doctor *doctor, const struct sockaddr_storage *place,
		    const char *address);

/* The checks, in the order in which they run. */
void doctor_module(struct doctor *doctor);
void doctor_device(struct doctor *doctor);
void doctor_limits(struct doctor *doctor);
void doctor_lanes(struct doctor *doctor);
void doctor_users(struct doctor *doctor);
void doctor_firewall(struct doctor *doctor);
void doctor_network(struct doctor *doctor);

#endif /* KRDMA_CLI_DOCTOR_H */
