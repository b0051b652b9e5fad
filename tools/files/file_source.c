// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A file that is read, and its holes.
 */
#include "file_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PIECE	(256u << 10)
#define BLOCK	FILE_DIGEST_BLOCK

/* Maximum number of bytes that are read from a file that does not report its length. */
#define SNAPSHOT_MAX	(16u << 20)

/*
 * File systems that generate the content of a file when it is read, so that its reported length
 * is wrong. <linux/magic.h> of some systems lacks some of these numbers.
 */
static const uint32_t made_up[] = {
	0x9fa0,		/* proc */
	0x62656572,	/* sysfs */
	0x64626720,	/* debugfs */
	0x74726163,	/* tracefs */
	0x73636673,	/* securityfs */
	0x62656570,	/* configfs */
	0x0027e0eb,	/* cgroup */
	0x63677270,	/* cgroup2 */
	0xde5e81e4,	/* efivarfs */
};

/* Whether the file system generates all content. */
static bool is_of_made_up(int fd)
{
	struct statfs filesystem;

	if (!fstatfs(fd, &filesystem)) {
		for (size_t i = 0; i < sizeof(made_up) / sizeof(*made_up); i++) {
			if ((uint32_t)filesystem.f_type == made_up[i])
				return true;
		}
	}
	return false;
}

/* Whether the content is generated when the file is read. */
static bool is_made_up(int fd, const struct stat *status)
{
	char byte;

	return is_of_made_up(fd) || (!status->st_size && pread(fd, &byte, 1, 0) > 0);
}

/* Copies the whole current content of @fd into memory, as a substitute for the file. */
static int take_snapshot(int fd, int *snapshot)
{
	unsigned char *piece = malloc(PIECE);
	uint64_t length = 0;
	int err = piece ? 0 : -ENOMEM;
	ssize_t got = 1, put;

	*snapshot = memfd_create("krdma-file", MFD_CLOEXEC);
	if (*snapshot < 0 && !err)
		err = -errno;
	while (!err && got) {
		got = read(fd, piece, PIECE);
		if (got < 0 && errno == EINTR)
			continue;
		/* EAGAIN: the file has no end, for example a log that readers follow. */
		if (got < 0) {
			err = errno == EAGAIN ? -EOPNOTSUPP : -errno;
			break;
		}
		if (length + (uint64_t)got > SNAPSHOT_MAX) {
			err = -EFBIG;
			break;
		}
		put = pwrite(*snapshot, piece, (size_t)got, (off_t)length);
		if (put != got)
			err = put < 0 ? -errno : -EIO;
		length += (uint64_t)got;
	}
	free(piece);
	if (err && *snapshot >= 0)
		close(*snapshot);
	return err;
}

/* Whether it is an ordinary file that was empty, and another program has begun to write it. */
static bool was_begun(int fd)
{
	struct stat status;

	return !is_of_made_up(fd) && (fstat(fd, &status) || status.st_size);
}

/* Replaces the file by the snapshot, with the time and permission bits of the file. */
static int replace_made_up(struct file_source *source, struct stat *status)
{
	int snapshot, err = take_snapshot(source->fd, &snapshot);
	struct stat own;

	if (err)
		return err;
	if (was_begun(source->fd)) {
		close(snapshot);
		return -ESTALE;
	}
	close(source->fd);
	source->fd = snapshot;
	if (fstat(snapshot, &own))
		return -errno;
	status->st_size = own.st_size;
	status->st_mtim = own.st_mtim;
	return 0;
}

int file_source_open(struct file_source *source, int fd)
{
	struct stat status;
	int err = 0;

	memset(source, 0, sizeof(*source));
	source->fd = fd;
	if (fstat(fd, &status))
		err = -errno;
	else if (S_ISDIR(status.st_mode))
		err = -EISDIR;
	else if (!S_ISREG(status.st_mode))
		err = -EOPNOTSUPP;
	if (!err && is_made_up(fd, &status))
		err = replace_made_up(source, &status);
	if (!err && status.st_size > FILE_LENGTH_MAX)
		err = -EFBIG;
	if (err) {
		close(source->fd);
		return err;
	}
	source->length = (uint64_t)status.st_size;
	source->mtime = status.st_mtim;
	source->mode = status.st_mode & 0777;
	return 0;
}

void file_source_close(struct file_source *source)
{
	close(source->fd);
}

/*
 * Finds the next data extent. A file system without holes reports the whole file as data. If the
 * file system does not support SEEK_DATA, treats the rest of the file as data.
 */
static int find_data(struct file_source *source, uint64_t offset)
{
	off_t begin, end;

	begin = lseek(source->fd, (off_t)offset, SEEK_DATA);
	if (begin < 0 && errno == ENXIO) {
		/* There are no more data after @offset. */
		source->data_begin = source->length;
		source->data_end = source->length;
		return 0;
	}
	if (begin < 0 && errno != EINVAL && errno != EOPNOTSUPP)
		return -errno;
	end = begin < 0 ? -1 : lseek(source->fd, begin, SEEK_HOLE);
	source->data_begin = begin < 0 ? offset : (uint64_t)begin;
	source->data_end = end < 0 ? source->length : (uint64_t)end;
	/* The file has grown: data after the announced length do not belong to it. */
	if (source->data_begin > source->length)
		source->data_begin = source->length;
	if (source->data_end > source->length)
		source->data_end = source->length;
	return 0;
}

int file_source_extent(struct file_source *source, uint64_t offset, uint64_t most,
		       uint64_t *length, bool *hole)
{
	int err;

	if (offset >= source->data_end || offset < source->data_begin) {
		err = find_data(source, offset);
		if (err)
			return err;
	}
	*hole = offset < source->data_begin;
	if (*hole)
		*length = source->data_begin - offset;
	else
		*length = source->data_end - offset;
	if (!*hole && *length > most)
		*length = most;
	/* If there is neither data nor a hole at @offset, the file has become shorter. */
	return *length ? 0 : -ESTALE;
}

int file_source_read(struct file_source *source, uint64_t offset, void *data, size_t length)
{
	char *to = data;

	while (length) {
		ssize_t got = pread(source->fd, to, length, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -ESTALE;
		to += got;
		offset += (uint64_t)got;
		length -= (size_t)got;
	}
	return 0;
}

int file_source_unchanged(const struct file_source *source)
{
	struct stat status;

	if (fstat(source->fd, &status))
		return -errno;
	if ((uint64_t)status.st_size != source->length ||
	    status.st_mtim.tv_sec != source->mtime.tv_sec ||
	    status.st_mtim.tv_nsec != source->mtime.tv_nsec)
		return -ESTALE;
	return 0;
}

/* Says how far this side has come, if that takes long. */
static int examined(struct file_link *link, uint64_t offset)
{
	if (!link)
		return 0;
	link->examined = offset;
	return file_link_step(link);
}

int file_source_crc(struct file_source *source, uint64_t length, struct file_link *link,
		    uint32_t *crc)
{
	unsigned char *piece = malloc(PIECE);
	uint64_t offset = 0, extent;
	uint32_t sum = 0;
	bool hole;
	int err = piece ? 0 : -ENOMEM;

	while (offset < length && !err) {
		file_link_leave(link);
		err = file_source_extent(source, offset, PIECE, &extent, &hole);
		if (!err && extent > length - offset)
			extent = length - offset;
		if (!err && !hole)
			err = file_source_read(source, offset, piece, (size_t)extent);
		file_link_enter(link);
		if (err)
			break;
		if (hole)
			sum = file_crc_zeroes(sum, extent);
		else
			sum = file_crc(sum, piece, (size_t)extent);
		offset += extent;
		if (!err)
			err = examined(link, offset);
	}
	if (link)
		link->examined = 0;
	free(piece);
	*crc = sum;
	return err;
}

/* A SHA-256 of blocks, and the number of zero blocks before the next one. */
struct digest {
	struct sha256 sha;
	uint64_t zeros;
};

static void add_number(struct digest *digest, uint64_t number)
{
	unsigned char bytes[8];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(number >> 8 * i);
	sha256_add(&digest->sha, bytes, sizeof(bytes));
}

static void add_blocks(struct digest *digest, const unsigned char *data, size_t length)
{
	static const unsigned char zeros[BLOCK];

	for (size_t block; length; data += block, length -= block) {
		block = length < BLOCK ? length : BLOCK;
		if (block == BLOCK && !memcmp(data, zeros, BLOCK)) {
			digest->zeros++;
			continue;
		}
		add_number(digest, digest->zeros);
		digest->zeros = 0;
		sha256_add(&digest->sha, data, block);
	}
}

int file_source_digest(struct file_source *source, struct file_link *link,
		       unsigned char bytes[SHA256_SIZE])
{
	unsigned char *piece = malloc(PIECE);
	struct digest digest = { .zeros = 0 };
	uint64_t offset = 0, extent = 0;
	bool hole;
	int err = piece ? 0 : -ENOMEM;

	sha256_init(&digest.sha);
	while (offset < source->length && !err) {
		file_link_leave(link);
		err = file_source_extent(source, offset, PIECE, &extent, &hole);
		if (!err && hole && extent >= BLOCK) {
			digest.zeros += extent / BLOCK;
			extent -= extent % BLOCK;
		} else if (!err) {
			/* Whole blocks, with the holes in them. */
			extent = source->length - offset;
			extent = extent < PIECE ? extent : PIECE;
			err = file_source_read(source, offset, piece, (size_t)extent);
			if (!err)
				add_blocks(&digest, piece, (size_t)extent);
		}
		file_link_enter(link);
		offset += extent;
		if (!err)
			err = examined(link, offset);
	}
	if (link)
		link->examined = 0;
	add_number(&digest, digest.zeros);
	add_number(&digest, source->length);
	sha256_end(&digest.sha, bytes);
	free(piece);
	return err;
}
