// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * An incomplete file.
 *
 * The received data are stored in a part file, in the folder of the final file NAME:
 *
 *	.krdma-NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN-RRRRRRRRRRRRRRRR.part
 *
 * N is a prefix of the SHA-256 of NAME, so that the part file can be found again and no name is
 * too long. R is random for each part file. The part file is created with O_EXCL, so that no
 * other user can have created it in advance. A server neither sends nor accepts files with such
 * names.
 *
 * From the start a part file has the length of the complete file, followed by two places for
 * a note. A note identifies the file, and contains the number of bytes present and their
 * checksum. The places are used in turn, so that a killed process leaves an intact note. A note
 * is written after the data that it describes. After a crash of the machine the content may be
 * anything: the checksum is computed again before a transfer continues from a part file.
 *
 *	 0  "krdmapar"
 *	 8  u64  length of the file
 *	16  s64  modification time of the source, seconds
 *	24  u32  and nanoseconds
 *	28  u32  CRC-32C of the data present
 *	32  u64  number of bytes present
 *	40  16 bytes: prefix of the SHA-256 of NAME
 *	56  u32  version: 1
 *	60  u32  CRC-32C of the note up to here
 *
 * All numbers are little-endian.
 *
 * A transfer continues from an earlier part file if it has a note; is a regular file of this
 * user with one link, which no other user may write; and is not locked by another process. An
 * earlier part file is deleted when NAME is complete and the source had the length and time that
 * are in its note, or when its data do not match the checksum there. In all other cases it keeps
 * the data that it had when it was found: a part file of another version may be that of a file of
 * this name at another server. If a transfer fails, the part file that it created is deleted,
 * unless it contains data from which a later transfer can continue.
 *
 * The notes go just before the part file gets the name NAME. If the process is killed in between,
 * a file of that length remains that nothing recognizes, because without a note it could be
 * any user's.
 *
 * When the disk fails, the kernel reports that once, and the pages that it could not write count
 * as written from then on. So nothing is kept of what was written before a failed fsync(), and a
 * transfer that continues computes the checksum of what is on the disk, not in memory.
 */
#include "file_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOTE_SIZE	64
#define NOTE_PLACES	2
#define NOTE_MAGIC	"krdmapar"
#define NOTE_VERSION	1

/*
 * Where the file system does not support holes: bytes that are written at a time, and those after
 * which there is a note.
 */
#define ZEROES		65536
#define ZEROED		(16 * ZEROES)

/* Attempts to create a file if the random name already exists. */
#define TRIES		16

/*
 * What costs too much for small files: a complete file replaces its earlier part files, and
 * searching for them reads the whole folder; and a file is flushed while it has its notes.
 */
#define LONG_LENGTH	(8u << 20)

/* RENAME_NOREPLACE of <linux/fs.h>, which the C library may not define. */
#define NO_REPLACE	1u

#define PREFIX		".krdma-"
#define SUFFIX		".part"
#define PREFIX_LENGTH	(sizeof(PREFIX) - 1)
#define ID_DIGITS	(2 * FILE_PART_ID)
#define RANDOM_SIZE	8

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

static char *put_hex(char *to, const unsigned char *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to += sprintf(to, "%02x", from[i]);
	return to;
}

static bool is_hex(const char *text, size_t digits)
{
	return strspn(text, "0123456789abcdef") >= digits;
}

bool file_part_is_name(const char *last)
{
	const char *id = last + PREFIX_LENGTH;

	return strlen(last) == FILE_PART_NAME && !strncmp(last, PREFIX, PREFIX_LENGTH) &&
	       is_hex(id, ID_DIGITS) && id[ID_DIGITS] == '-' &&
	       is_hex(id + ID_DIGITS + 1, 2 * RANDOM_SIZE) &&
	       !strcmp(id + ID_DIGITS + 1 + 2 * RANDOM_SIZE, SUFFIX);
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

/*
 * Notes
 */

struct note {
	uint64_t length;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint64_t offset;
	uint32_t crc;
	/* The place where it was found. */
	unsigned int place;
};

static uint64_t note_place(uint64_t length, unsigned int place)
{
	return length + place % NOTE_PLACES * NOTE_SIZE;
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
	memcpy(note + 40, part->id, FILE_PART_ID);
	put(note + 56, NOTE_VERSION, 4);
	put(note + 60, file_crc(0, note, 60), 4);
	return write_all(part->fd, note, sizeof(note),
			 note_place(part->identity.length, part->notes++));
}

/* Reads a note; false unless it is valid and belongs to a file of that name and length. */
static bool read_place(const struct file_part *part, int fd, uint64_t length, unsigned int place,
		       struct note *to)
{
	unsigned char note[NOTE_SIZE];
	ssize_t got;

	do {
		got = pread(fd, note, sizeof(note), (off_t)note_place(length, place));
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(note) || memcmp(note, NOTE_MAGIC, 8) ||
	    get(note + 60, 4) != file_crc(0, note, 60) || get(note + 8, 8) != length ||
	    memcmp(note + 40, part->id, FILE_PART_ID) || get(note + 56, 4) != NOTE_VERSION)
		return false;
	*to = (struct note){
		.length = length,
		.mtime_s = (int64_t)get(note + 16, 8),
		.mtime_ns = (uint32_t)get(note + 24, 4),
		.offset = get(note + 32, 8),
		.crc = (uint32_t)get(note + 28, 4),
		.place = place,
	};
	return to->offset <= length;
}

/* Reads both places, and returns the valid note that covers more data; false if there is none. */
static bool read_note(const struct file_part *part, int fd, struct note *note)
{
	struct stat status;
	struct note other;
	uint64_t length;
	bool has;

	if (fstat(fd, &status) || status.st_size < NOTE_PLACES * NOTE_SIZE)
		return false;
	length = (uint64_t)status.st_size - NOTE_PLACES * NOTE_SIZE;
	has = read_place(part, fd, length, 0, note);
	if (read_place(part, fd, length, 1, &other) && (!has || other.offset > note->offset)) {
		*note = other;
		has = true;
	}
	return has;
}

/* Whether the note belongs to the same version of the source. */
static bool is_same(const struct file_part *part, const struct note *note)
{
	return note->length == part->identity.length &&
	       note->mtime_s == part->identity.mtime_s &&
	       note->mtime_ns == part->identity.mtime_ns;
}

/*
 * Earlier part files
 */

/* Whether the name refers to this file, and the file belongs only to this user. */
static bool is_own(int folder, const char *name, int fd)
{
	struct stat status, named;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
	       status.st_uid == geteuid() && !(status.st_mode & 0022) &&
	       !fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) &&
	       named.st_dev == status.st_dev && named.st_ino == status.st_ino;
}

/*
 * Opens an earlier part file and locks it. Returns its descriptor, -EBUSY if another process
 * has locked it, or -ENOENT. Files that are not part files of that name are not touched.
 */
static int open_earlier(const struct file_part *part, const char *name, struct note *note)
{
	struct stat status;
	int fd, err = -ENOENT;

	/* Open only regular files: opening a device can have effects. */
	if (fstatat(part->folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return -ENOENT;
	fd = openat(part->folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -ENOENT;
	if (is_own(part->folder, name, fd) && read_note(part, fd, note) && is_same(part, note)) {
		if (flock(fd, LOCK_EX | LOCK_NB))
			err = errno == EWOULDBLOCK ? -EBUSY : -ENOENT;
		/* Another process may have completed or continued it before it was locked. */
		else if (is_own(part->folder, name, fd) && read_note(part, fd, note) &&
			 is_same(part, note))
			return fd;
	}
	close(fd);
	return err;
}

/*
 * Calls @each for each earlier part file; a negative errno ends the search. @each owns @fd. A
 * folder that cannot be read counts as empty.
 */
static int search(struct file_part *part,
		  int (*each)(struct file_part *part, const char *name, int fd,
			      const struct note *note, void *context), void *context)
{
	int folder = openat(part->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, err = 0;
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	struct dirent *entry;
	struct note note;
	bool busy = false;

	if (!entries) {
		if (folder >= 0)
			close(folder);
		return 0;
	}
	while (!err && (entry = readdir(entries))) {
		/* Compare only the part of the name before the random characters. */
		if (strncmp(entry->d_name, part->name, PREFIX_LENGTH + ID_DIGITS + 1) ||
		    !file_part_is_name(entry->d_name))
			continue;
		fd = open_earlier(part, entry->d_name, &note);
		if (fd >= 0)
			err = each(part, entry->d_name, fd, &note, context);
		else if (fd == -EBUSY)
			busy = true;
	}
	closedir(entries);
	return !err && busy ? -EBUSY : err;
}

static int check_crc(int fd, const struct note *note, struct file_link *link)
{
	struct file_source source;
	uint32_t crc;
	int err, copy;

	/* What is not on the disk cannot be dropped from memory. */
	err = file_sync(fd, link);
	if (err)
		return err;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	err = file_source_open(&source, copy);
	if (err)
		return err;
	err = file_source_crc(&source, note->offset, link, &crc);
	file_source_close(&source);
	return err ? err : crc == note->crc ? 0 : -EBADMSG;
}

/* The best part file found so far. */
struct found {
	char name[FILE_PART_NAME + 1];
	int fd;
	struct note note;
};

/*
 * Orders part files by length of data, then by name. The order is total, so each one gets its
 * turn.
 */
static int compare(uint64_t offset, const char *name, uint64_t other_offset, const char *other)
{
	if (offset != other_offset)
		return offset < other_offset ? -1 : 1;
	return strcmp(name, other);
}

/* Chooses the part file with the most data among those not yet tried. */
static int choose(struct file_part *part, const char *name, int fd, const struct note *note,
		  void *context)
{
	struct found *found = context;

	if (!note->offset ||
	    (part->tries && compare(note->offset, name, part->tried, part->tried_name) >= 0) ||
	    (found->fd >= 0 && compare(note->offset, name, found->note.offset, found->name) < 0)) {
		close(fd);
		return 0;
	}
	if (found->fd >= 0)
		close(found->fd);
	found->fd = fd;
	found->note = *note;
	snprintf(found->name, sizeof(found->name), "%s", name);
	return 0;
}

static void let_go(struct file_part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
	part->earlier = false;
	part->dirty = false;
	part->offset = 0;
	part->crc = 0;
	part->notes = 0;
}

static void adopt(struct file_part *part, const struct found *found)
{
	part->fd = found->fd;
	snprintf(part->name, sizeof(part->name), "%s", found->name);
	part->offset = found->note.offset;
	part->crc = found->note.crc;
	part->notes = found->note.place + 1;
	part->earlier = true;
	part->earlier_offset = part->offset;
	part->earlier_crc = part->crc;
}

int file_part_continue(struct file_part *part, struct file_link *link)
{
	struct found found;
	int err;

	let_go(part);
	part->searched = true;
	while (part->tries < TRIES) {
		found.fd = -1;
		file_link_leave(link);
		err = search(part, choose, &found);
		file_link_enter(link);
		if (found.fd < 0)
			/*
			 * A part file locked by another process matters only if no other one
			 * was found.
			 */
			return err == -EBUSY && part->tries ? 0 : err;
		part->tries++;
		part->tried = found.note.offset;
		memcpy(part->tried_name, found.name, sizeof(found.name));
		err = check_crc(found.fd, &found.note, link);
		if (!err) {
			adopt(part, &found);
			return 0;
		}
		/* Its data are wrong. */
		if (err == -EBADMSG)
			unlinkat(part->folder, found.name, 0);
		close(found.fd);
		if (err != -EBADMSG && err != -ESTALE)
			return err;
	}
	return 0;
}

static int remove_earlier(struct file_part *part, const char *name, int fd,
			  const struct note *note, void *context)
{
	(void)note;
	(void)context;
	unlinkat(part->folder, name, 0);
	close(fd);
	return 0;
}

/*
 * The part file of this transfer
 */

/* Writes the name up to the random characters. */
static char *begin_name(struct file_part *part)
{
	return put_hex(stpcpy(part->name, PREFIX), part->id, FILE_PART_ID);
}

void file_part_open(struct file_part *part, int folder, const char *last,
		    const struct file_identity *identity)
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 sha;

	memset(part, 0, sizeof(*part));
	part->folder = folder;
	part->fd = -1;
	part->identity = *identity;
	snprintf(part->last, sizeof(part->last), "%s", last);
	sha256_init(&sha);
	sha256_add(&sha, last, strlen(last));
	sha256_end(&sha, digest);
	memcpy(part->id, digest, FILE_PART_ID);
	memcpy(begin_name(part), "-", 2);
}

static int create(struct file_part *part)
{
	unsigned char number[RANDOM_SIZE];
	char *end = begin_name(part);

	*end++ = '-';
	for (int tries = 0; tries < TRIES; tries++) {
		if (getrandom(number, sizeof(number), 0) != sizeof(number))
			continue;
		memcpy(put_hex(end, number, sizeof(number)), SUFFIX, sizeof(SUFFIX));
		part->fd = openat(part->folder, part->name,
				  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (part->fd >= 0) {
			/*
			 * Other processes ignore part files without a note, so this lock needs
			 * no check.
			 */
			flock(part->fd, LOCK_EX | LOCK_NB);
			return 0;
		}
		if (errno != EEXIST && errno != EINTR)
			return -errno;
	}
	return -EEXIST;
}

static int set_length(struct file_part *part)
{
	off_t length = (off_t)part->identity.length + NOTE_PLACES * NOTE_SIZE;

	return ftruncate(part->fd, length) ? -errno : 0;
}

/*
 * Clears the data after the valid part: they may be wrong, and future holes must be zero. The
 * notes stay, because this process may be killed before it writes another one. So if the file
 * system does not support holes, the data stay too, and file_part_skip() clears them.
 */
static void clear_rest(struct file_part *part)
{
	off_t from = (off_t)part->offset, length = (off_t)part->identity.length - from;
	const int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	part->dirty = length && fallocate(part->fd, punch, from, length);
}

static int write_zeroes(int fd, uint64_t length, uint64_t offset)
{
	static const unsigned char zeroes[ZEROES];
	int err = 0;

	while (length && !err) {
		size_t some = length < ZEROES ? (size_t)length : ZEROES;

		err = write_all(fd, zeroes, some, offset);
		offset += some;
		length -= some;
	}
	return err;
}

int file_part_begin(struct file_part *part, uint64_t offset)
{
	int err;

	if (!offset || part->fd < 0) {
		/*
		 * Keep the earlier part file: a source that differs does not prove it wrong.
		 */
		let_go(part);
		err = create(part);
		if (!err)
			err = set_length(part);
	} else {
		clear_rest(part);
		err = 0;
	}
	part->begun = true;
	return err ? err : write_note(part);
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

static int skip(struct file_part *part, uint64_t length)
{
	int err = part->dirty ? write_zeroes(part->fd, length, part->offset) : 0;

	if (err)
		return err;
	part->offset += length;
	part->crc = file_crc_zeroes(part->crc, length);
	return write_note(part);
}

/*
 * A hole can be as long as the file.  If it has to be written, that takes long: the link may end
 * meanwhile, the peer hears that it goes on, and a later transfer continues in the middle of it.
 */
int file_part_skip(struct file_part *part, uint64_t length, struct file_link *link)
{
	const uint64_t most = part->dirty ? ZEROED : length;
	int err = 0;

	while (length && !err) {
		uint64_t some = length < most ? length : most;

		file_link_leave(link);
		err = skip(part, some);
		file_link_enter(link);
		length -= some;
		link->examined += some;
		if (!err && length)
			err = file_link_step(link);
	}
	link->examined = 0;
	return err;
}

/*
 * Completion
 */

/* Renames without replacing a file. If the file system does not support that, uses link(). */
static int rename_to_nothing(const struct file_part *part)
{
	if (!syscall(SYS_renameat2, part->folder, part->name, part->folder, part->last,
		     NO_REPLACE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	if (linkat(part->folder, part->name, part->folder, part->last, 0))
		return -errno;
	unlinkat(part->folder, part->name, 0);
	return 0;
}

static int take_name(struct file_part *part)
{
	struct stat status, named;
	int err;

	/*
	 * In a folder where other users may rename files, check that the name still refers to
	 * the part file.
	 */
	if (fstat(part->fd, &status) ||
	    fstatat(part->folder, part->name, &named, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (named.st_dev != status.st_dev || named.st_ino != status.st_ino)
		return -EIO;
	if (part->no_replace)
		return rename_to_nothing(part);
	/* Check again: the file to replace may no longer be a regular file. */
	err = file_can_replace(part->folder, part->last);
	if (err)
		return err;
	return renameat(part->folder, part->name, part->folder, part->last) ? -errno : 0;
}

static int flush(struct file_part *part, struct file_link *link)
{
	int err = part->sync ? file_sync(part->fd, link) : 0;

	if (!err)
		err = file_late_error(part->fd);
	part->lost = err;
	return err ? err : file_link_step(link);
}

/*
 * Sets the final length and permission bits, and syncs the file. That the data reach the disk can
 * take minutes. If the process is killed meanwhile, the notes are still there, so that a later
 * transfer can continue. The second time there is little to flush.
 */
static int settle(struct file_part *part, struct file_link *link)
{
	mode_t mode = (mode_t)part->identity.mode;
	int err = 0;

	if (part->sync && part->identity.length >= LONG_LENGTH)
		err = flush(part, link);
	if (err)
		return err;
	if (!part->exact_mode)
		mode &= ~file_umask();
	if (ftruncate(part->fd, (off_t)part->identity.length))
		return -errno;
	/* Some file systems have no permission bits. */
	if (fchmod(part->fd, mode) && errno != EPERM && errno != EOPNOTSUPP)
		return -errno;
	if (part->keep_times)
		err = file_set_mtime(part->fd, part->identity.mtime_s, part->identity.mtime_ns);
	return err ? err : flush(part, link);
}

static int finish(struct file_part *part, struct file_link *link)
{
	int err = settle(part, link);

	if (!err)
		err = take_name(part);
	if (err)
		return err;
	part->complete = true;
	/*
	 * From now on the file has its name. An error here means only that the name may not
	 * survive a power failure.
	 */
	if (part->sync)
		err = file_sync_folder(part->folder, part->fd, link);
	if (!err && (part->searched || part->identity.length >= LONG_LENGTH))
		search(part, remove_earlier, NULL);
	return err;
}

int file_part_finish(struct file_part *part, struct file_link *link)
{
	int err;

	file_link_leave(link);
	err = finish(part, link);
	file_link_enter(link);
	return err;
}

/*
 * Prepares an incomplete part file so that a later transfer can continue; false if it holds no
 * data.
 */
static bool keep(struct file_part *part, int err)
{
	/* The data received by this transfer are wrong, useless, or not on the disk. */
	if (err == -EBADMSG || err == -ESTALE || part->lost) {
		part->offset = part->earlier ? part->earlier_offset : 0;
		part->crc = part->earlier_crc;
	}
	/*
	 * The permission bits and length may already be final, and both notes may describe more
	 * data.
	 */
	return part->offset && !fchmod(part->fd, 0600) && !set_length(part) &&
	       !write_note(part) && !write_note(part);
}

void file_part_close(struct file_part *part, int err)
{
	/* An earlier part file that this transfer did not continue is unchanged. */
	if (part->begun && part->fd >= 0 && !part->complete && !keep(part, err) && !part->earlier)
		unlinkat(part->folder, part->name, 0);
	if (part->fd >= 0)
		close(part->fd);
	close(part->folder);
}
