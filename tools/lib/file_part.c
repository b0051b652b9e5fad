// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * NAME.part: a file that is not there yet.
 *
 * It has the file's length from the beginning.  Behind that is a note, which says of what
 * file it is, and how much of it is there with which checksum.  There are two places for
 * it, used in turn, so that a process that is killed leaves a whole one; and it is
 * written after the data that it tells of.  What a machine that crashes leaves may be
 * anything: the checksum is calculated anew before anybody goes on from it.
 *
 *	 0  "krdmapar"
 *	 8  u64  length of the file
 *	16  s64  modification time of the source, seconds
 *	24  u32  and nanoseconds
 *	28  u32  CRC-32C of what is there
 *	32  u64  how much is there
 *	40  16 bytes: 0
 *	56  u32  0
 *	60  u32  CRC-32C of the note until here
 *
 * All numbers are little-endian.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOTE_SIZE	64
#define NOTE_PLACES	2
#define NOTE_MAGIC	"krdmapar"
#define SUFFIX		".part"

/* Somebody else finishes and begins with the same name. */
#define TRIES		16

struct part_name {
	char text[KRDMA_FILE_LAST_MAX + sizeof(SUFFIX)];
};

static struct part_name part_name(const char *last)
{
	struct part_name name;

	snprintf(name.text, sizeof(name.text), "%s" SUFFIX, last);
	return name;
}

static void put(unsigned char *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

static int write_all(int fd, const void *data, size_t length, uint64_t offset)
{
	const char *from = data;

	while (length) {
		ssize_t written = pwrite(fd, from, length, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? -errno : -EIO;
		from += written;
		offset += (uint64_t)written;
		length -= (size_t)written;
	}
	return 0;
}

static uint64_t note_place(const struct file_part *part, unsigned int place)
{
	return part->identity.length + place % NOTE_PLACES * NOTE_SIZE;
}

static int write_note(struct file_part *part)
{
	unsigned char note[NOTE_SIZE] = { 0 };

	memcpy(note, NOTE_MAGIC, 8);
	put(note + 8, part->identity.length, 8);
	put(note + 16, (uint64_t)part->identity.mtime_s, 8);
	put(note + 24, part->identity.mtime_ns, 4);
	put(note + 28, part->crc, 4);
	put(note + 32, part->offset, 8);
	put(note + 60, file_crc(0, note, 60), 4);
	return write_all(part->fd, note, sizeof(note), note_place(part, part->notes++));
}

/* How much is there, if it is this file's; 0 if not. */
static uint64_t read_note(const struct file_part *part, unsigned int place, uint32_t *crc)
{
	unsigned char note[NOTE_SIZE];
	uint64_t offset;
	ssize_t got;

	do {
		got = pread(part->fd, note, sizeof(note), (off_t)note_place(part, place));
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(note) || memcmp(note, NOTE_MAGIC, 8) ||
	    get(note + 60, 4) != file_crc(0, note, 60) ||
	    get(note + 8, 8) != part->identity.length ||
	    (int64_t)get(note + 16, 8) != part->identity.mtime_s ||
	    get(note + 24, 4) != part->identity.mtime_ns)
		return 0;
	offset = get(note + 32, 8);
	*crc = (uint32_t)get(note + 28, 4);
	return offset <= part->identity.length ? offset : 0;
}

/* The file that is locked has the name, and is nobody else's. */
static int lock(struct file_part *part, const char *name)
{
	struct stat ours, named;

	if (flock(part->fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(part->fd, &ours))
		return -errno;
	if (!S_ISREG(ours.st_mode))
		return -EOPNOTSUPP;
	if (fstatat(part->folder, name, &named, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? -EAGAIN : -errno;
	return named.st_dev == ours.st_dev && named.st_ino == ours.st_ino ? 0 : -EAGAIN;
}

int file_part_open(struct file_part *part, int folder, const char *last,
		   const struct file_identity *identity)
{
	struct part_name name;
	int err = -EBUSY;

	memset(part, 0, sizeof(*part));
	part->folder = folder;
	part->identity = *identity;
	snprintf(part->last, sizeof(part->last), "%s", last);
	name = part_name(last);
	for (int tries = 0; tries < TRIES; tries++) {
		part->fd = openat(folder, name.text, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
				  O_NOCTTY | O_CLOEXEC, 0600);
		if (part->fd < 0 && errno == EINTR)
			continue;
		if (part->fd < 0) {
			err = errno == ELOOP ? -EACCES : -errno;
			break;
		}
		err = lock(part, name.text);
		if (!err)
			return 0;
		close(part->fd);
		if (err != -EAGAIN)
			break;
		err = -EBUSY;
	}
	close(folder);
	return err;
}

int file_part_continue(struct file_part *part, struct file_link *link)
{
	uint32_t crc = 0, other_crc = 0, sum;
	uint64_t offset, other;
	struct file_source source;
	int fd, err;

	offset = read_note(part, 0, &crc);
	other = read_note(part, 1, &other_crc);
	if (other > offset) {
		offset = other;
		crc = other_crc;
	}
	if (!offset)
		return 0;
	fd = fcntl(part->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = file_source_open(&source, fd);
	if (err)
		return err;
	err = file_source_crc(&source, offset, link, &sum);
	file_source_close(&source);
	if (err || sum != crc)
		return err == -ESTALE ? 0 : err;
	part->offset = offset;
	part->crc = crc;
	return 0;
}

int file_part_begin(struct file_part *part, uint64_t offset)
{
	uint64_t length = part->identity.length;

	if (offset != part->offset) {
		part->offset = 0;
		part->crc = 0;
	}
	/* What is behind it is not known to be right, and where there are holes is zero. */
	if (ftruncate(part->fd, (off_t)part->offset) ||
	    ftruncate(part->fd, (off_t)length + NOTE_PLACES * NOTE_SIZE))
		return -errno;
	return write_note(part);
}

int file_part_write(struct file_part *part, const void *data, size_t length, uint32_t crc)
{
	int err = write_all(part->fd, data, length, part->offset);

	if (err)
		return err;
	part->offset += length;
	part->crc = crc;
	return write_note(part);
}

int file_part_skip(struct file_part *part, uint64_t length, uint32_t crc)
{
	part->offset += length;
	part->crc = crc;
	return write_note(part);
}

/* RENAME_NOREPLACE of <linux/fs.h>, which the C library may not have. */
#define NO_REPLACE	1u

/* Without replacing anything.  Where the file system cannot do that at once, by a link. */
static int rename_to_nothing(const struct file_part *part, const char *name)
{
	if (!syscall(SYS_renameat2, part->folder, name, part->folder, part->last, NO_REPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(part->folder, name, part->folder, part->last, 0))
		return -errno;
	unlinkat(part->folder, name, 0);
	return 0;
}

int file_part_finish(struct file_part *part)
{
	struct part_name name = part_name(part->last);

	if (ftruncate(part->fd, (off_t)part->identity.length))
		return -errno;
	/* There are file systems without permission bits. */
	if (fchmod(part->fd, part->identity.mode) && errno != EPERM && errno != EOPNOTSUPP)
		return -errno;
	if (part->no_replace)
		return rename_to_nothing(part, name.text);
	if (renameat(part->folder, name.text, part->folder, part->last))
		return -errno;
	return 0;
}

void file_part_close(struct file_part *part, bool useless)
{
	struct part_name name = part_name(part->last);

	if (useless)
		unlinkat(part->folder, name.text, 0);
	close(part->fd);
	close(part->folder);
}
