/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma get and krdma put: declarations that their files share.
 */
#ifndef KRDMA_CLI_COPY_H
#define KRDMA_CLI_COPY_H

#include <stdbool.h>

#include "krdma_file.h"
#include "progress.h"
#include "url.h"

/**
 * struct copy - one file to copy
 * @put: the file is copied to the server, not from it
 * @url: address of the server
 * @name: name of the file on the server
 * @local: name of the file on this machine; "-": standard output
 * @continues: --continue was given
 * @secret: --secret was given
 */
struct copy {
	bool put;
	const struct url *url;
	const char *name;
	const char *local;
	bool continues;
	bool secret;
};

/* copy_explain.c: print what failed, why, and what to do. */
void copy_explain(const struct copy *copy, const struct krdma_file_result *result, int err);

/* secret.c */
struct secret {
	/* One byte more for a line break, and one to detect a secret that is too long. */
	unsigned char bytes[KRDMA_FILE_SECRET_MAX + 2];
	/* 0: no secret. */
	uint32_t length;
};

/* Returns 0, or -EINVAL after an error message. */
int secret_read(const char *path, struct secret *secret);

/* copy_json.c: also used by krdma serve. */
struct copy_figures {
	int error;
	uint32_t crc32c;
	uint64_t length;
	uint64_t transferred;
	uint64_t resumed_from;
	uint64_t nanoseconds;
};

struct json_object;

void copy_json(struct json_object *object, const struct copy_figures *figures);

#endif /* KRDMA_CLI_COPY_H */
