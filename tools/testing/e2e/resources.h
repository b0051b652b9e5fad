/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel resources of programs: a test counts them before and after.
 */
#ifndef KRDMA_E2E_RESOURCES_H
#define KRDMA_E2E_RESOURCES_H

#include <stdint.h>

enum resource_kind {
	RESOURCE_PD,
	RESOURCE_CQ,
	RESOURCE_QP,
	RESOURCE_CM_ID,
	RESOURCE_MR,
	RESOURCE_SRQ,
	/* Pages that drivers have pinned, on the whole machine. */
	RESOURCE_PINS,
	RESOURCE_KINDS,
};

struct resources {
	int64_t count[RESOURCE_KINDS];
};

/* Counts the objects of all RDMA devices together.  Returns 0 or -errno. */
int resources_read(struct resources *resources);

/* Name of @kind, for messages. */
const char *resource_name(enum resource_kind kind);

/*
 * Wait until no kind has more objects than @before.  Returns 0, or after @ms the number of kinds
 * that still have more, after printing their names.
 */
int resources_await(const struct resources *before, unsigned int ms);

#endif
