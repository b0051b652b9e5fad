// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Whether the file at the destination has the content of the source, so that it need not be
 * transferred. Both ends compute a digest at the same time, and only if the lengths are equal.
 */
#include "file_internal.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(((struct file_message *)0)->descriptor) == SHA256_SIZE,
	      "a SHA-256 is sent in the place of a descriptor");

bool file_compare_open(struct file_source *source, int folder, const char *last, uint64_t length)
{
	int fd = file_open_regular(folder, last, false);

	if (fd < 0 || file_source_open(source, fd))
		return false;
	if (source->length == length)
		return true;
	file_source_close(source);
	return false;
}

int file_compare_receive(struct file_source *source, struct file_link *link)
{
	unsigned char own[SHA256_SIZE];
	struct file_message message;
	int failed = file_source_digest(source, link, own), err;

	file_source_close(source);
	err = file_link_receive(link, FILE_MESSAGE_DIGEST, &message);
	if (err)
		return err;
	/* A file that cannot be read, or that becomes shorter meanwhile, is not the same. */
	return !failed && !memcmp(own, message.descriptor, sizeof(own));
}

int file_compare_send(struct file_source *source, struct file_link *link)
{
	struct file_message message = { .type = FILE_MESSAGE_DIGEST };
	int err;

	err = file_source_digest(source, link, message.descriptor);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_HERE);
	return file_link_send(link, &message, NULL);
}
