/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma get and krdma put: what their files share.
 */
#ifndef KRDMA_CLI_COPY_H
#define KRDMA_CLI_COPY_H

#include <stdbool.h>

#include "krdma_file.h"
#include "progress.h"
#include "url.h"

/**
 * struct copy - one file to be copied
 * @put: to the server
 * @url: where the server is
 * @name: of the file there
 * @local: of the file here; "-": standard output
 * @continues: the person has said --continue
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

/* copy_explain.c: what failed, why, what to do. */
void copy_explain(const struct copy *copy, const struct krdma_file_result *result, int err);

/* secret.c */
struct secret {
	/* And a byte of a line break, and one that is too many. */
	unsigned char bytes[KRDMA_FILE_SECRET_MAX + 2];
	/* 0: none. */
	uint32_t length;
};

/* 0, or -EINVAL after a complaint. */
int secret_read(const char *path, struct secret *secret);

/* copy_json.c: of krdma serve too. */
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
