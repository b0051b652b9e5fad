/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma, whole files: what its files share.
 */
#ifndef KRDMA_FILE_INTERNAL_H
#define KRDMA_FILE_INTERNAL_H

/* Included before everything else: a 32-bit program has files of 2 GiB and more, too. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "internal.h"
#include "krdma_file.h"

/* As the sizes of <internal.h>. */
#define FILE_RESULT_MIN_SIZE	304

/* Bounds of what is agreed on. */
#define FILE_SLOTS_MAX		16
#define FILE_SLOTS_DEFAULT	8
#define FILE_SLOT_MIN		4096u
#define FILE_SLOT_MAX		4194304u
#define FILE_SLOT_DEFAULT	1048576u
#define FILE_PATIENCE_MS	30000

/* The longest file: there is something behind its end while it is on its way. */
#define FILE_LENGTH_MAX		(INT64_MAX - 4095)

/* Asking whether to go on, and telling how far it is, while nothing else happens. */
#define FILE_TICK_MS		200

/*
 * file_crc.c: CRC-32C (Castagnoli).  Begins with 0, and what it gives for the bytes so far
 * is what it goes on from.
 */
uint32_t file_crc(uint32_t crc, const void *data, size_t length);
/* The same for so many zeroes, in a time that hardly depends on how many. */
uint32_t file_crc_zeroes(uint32_t crc, uint64_t length);
/* For tests: what file_crc() uses here, "table" or an instruction; and always the table. */
const char *file_crc_by(void);
uint32_t file_crc_by_table(uint32_t crc, const void *data, size_t length);

/*
 * file_sha256.c
 */
#define FILE_SHA256_SIZE	32

struct file_sha256 {
	uint32_t state[8];
	uint64_t length;
	unsigned char block[64];
};

void file_sha256_init(struct file_sha256 *sha);
void file_sha256_add(struct file_sha256 *sha, const void *data, size_t length);
/* Nothing of it is left in @sha. */
void file_sha256_end(struct file_sha256 *sha, unsigned char digest[FILE_SHA256_SIZE]);
void file_hmac(const void *key, size_t key_length, const void *data, size_t length,
	       unsigned char digest[FILE_SHA256_SIZE]);

/*
 * file_wire.c: messages.
 */
enum file_message_type {
	FILE_MESSAGE_GET = 1,
	FILE_MESSAGE_FILE = 2,
	FILE_MESSAGE_FETCH = 3,
	FILE_MESSAGE_BEGIN = 4,
	FILE_MESSAGE_PUT = 5,
	FILE_MESSAGE_HAVE = 6,
	FILE_MESSAGE_OFFER = 7,
	FILE_MESSAGE_DATA = 8,
	FILE_MESSAGE_HOLE = 9,
	FILE_MESSAGE_CREDIT = 10,
	FILE_MESSAGE_END = 11,
	FILE_MESSAGE_DONE = 12,
	FILE_MESSAGE_ERROR = 13,
	FILE_MESSAGE_ALIVE = 14,
	FILE_MESSAGE_NEXT = 15,
	FILE_MESSAGE_CHALLENGE = 16,
	FILE_MESSAGE_PROOF = 17,
	FILE_MESSAGE_TYPES,
};

/* Without its name, and the name's length besides.  What a type does not use is 0. */
struct file_message {
	uint8_t type;
	uint16_t name_length;
	uint32_t code;
	uint64_t offset;
	uint64_t length;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t mode;
	uint32_t crc;
	uint32_t slot;
	uint32_t slot_size;
	uint32_t slot_count;
	uint8_t descriptor[KRDMA_MR_DESC_SIZE];
};

/* FILE_MESSAGE_PUT's code. */
#define FILE_PUT_CONTINUE	1u
#define FILE_PUT_EXACT_MODE	2u
#define FILE_PUT_NO_SYNC	4u
#define FILE_PUT_CODES		7u

#define FILE_MESSAGE_FIXED	88
#define FILE_MESSAGE_MAX	(FILE_MESSAGE_FIXED + KRDMA_FILE_NAME_MAX)

/* What it is on the wire, FILE_MESSAGE_MAX bytes at most. */
size_t file_message_encode(const struct file_message *message, const char *name, void *to);
/* @name: room for KRDMA_FILE_NAME_MAX + 1, written if there is one.  -EPROTO. */
int file_message_decode(const void *from, size_t length, struct file_message *message,
			char *name);

/* An errno as a code that is the same everywhere, and back; what is not known is EIO. */
uint32_t file_code_of(int err);
int file_code_error(uint32_t code);

/* What both sides say in their private data. */
#define FILE_HELLO_SIZE		16
#define FILE_HELLO_SECRET	1u
void file_hello_encode(void *to, uint32_t code, uint16_t flags);
/* -EPROTO: it is not one of ours; -EPROTONOSUPPORT: of another version. */
int file_hello_decode(const void *from, size_t length, uint32_t *code, uint16_t *flags);

/*
 * file_link.c: a connection, its messages and operations.  One thread uses it.
 */

/* In either direction: a window full of data, and what else can be under way. */
#define FILE_MESSAGES		(FILE_SLOTS_MAX + 4)

/**
 * struct file_link - a connection
 * @session: in which
 * @watch: asked several times a second whether to go on: 0, or with which error not
 * @watch_context: for it
 * @patience_ms: for how long the peer may be silent
 * @progress_ms: for how long it may do nothing but live while something is waited for; 0: for ever
 * @deadline: until when it must have done what is waited for, in ns; 0: never
 * @secret: that both know; or NULL
 * @flags: of the peer's hello
 * @conn: the connection
 * @ring: where everything completes
 * @control: registered memory of messages, FILE_MESSAGES in and as many out
 * @device: on which device
 * @error: why nothing works any more, or 0
 * @side: where that was
 * @said: when the last message went, in ns
 * @heard: when the last one came, in ns
 * @advanced: when either side did something last, in ns
 * @watched: when @watch was asked, in ns
 * @alive: one that only says that we live is under way
 * @free: outgoing messages that are not under way, as bits
 * @posted: operations on the peer's memory, counted
 * @completed: of them, those that have ended: in their order
 * @inbox: messages that have come
 * @inbox_first: the oldest
 * @inbox_count: how many
 * @name: of the message that came last with one, terminated
 */
struct file_link {
	struct krdma *session;
	int (*watch)(void *context);
	void *watch_context;
	uint32_t patience_ms;
	uint32_t progress_ms;
	uint64_t deadline;
	struct file_secret *secret;
	uint16_t flags;
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_mr *control;
	uint32_t device;
	int error;
	uint32_t side;
	uint64_t said;
	uint64_t heard;
	uint64_t advanced;
	uint64_t watched;
	bool alive;
	uint32_t free;
	uint64_t posted;
	uint64_t completed;
	struct file_message inbox[FILE_MESSAGES];
	unsigned int inbox_first;
	unsigned int inbox_count;
	char name[KRDMA_FILE_NAME_MAX + 1];
};

/* Both set up what is zeroed but for the first fields; file_link_close() in any case. */
int file_link_connect(struct file_link *link, const struct sockaddr *server);
/* @conn is the link's from then on. */
int file_link_accept(struct file_link *link, struct krdma_conn *conn);

/*
 * Says @err to the peer, if it is one that it does not know and can still be told, and
 * sees that what was said before arrives.
 */
void file_link_close(struct file_link *link, int err);

/* Sets the error if none was set: the first one counts.  Returns that. */
int file_link_fail(struct file_link *link, int err, uint32_t side);

/* What has happened: taken in, or waited for until something has, for one tick at most. */
int file_link_pump(struct file_link *link, bool wait);

/* For what takes long without the link: pumps now and then. */
int file_link_tick(struct file_link *link);
/* After each piece of work: does anybody want to stop, and what has come? */
int file_link_step(struct file_link *link);

int file_link_send(struct file_link *link, const struct file_message *message,
		   const char *name);

/* A message that is there already, or -EAGAIN. */
int file_link_take(struct file_link *link, struct file_message *message);
/* Waits for one; or for one that must be of @type. */
int file_link_await(struct file_link *link, struct file_message *message);
int file_link_receive(struct file_link *link, uint8_t type, struct file_message *message);

/* KRDMA_OP_READ or KRDMA_OP_WRITE; its number is in link->posted before the call. */
int file_link_operate(struct file_link *link, uint8_t opcode, const struct krdma_mr *mr,
		      size_t offset, uint32_t length, const struct krdma_remote_mr *remote,
		      uint64_t remote_offset);

uint64_t file_now(void);

/*
 * file_admit.c: which clients a server takes.
 */
#define FILE_NETS		32
#define FILE_NONCE		32

struct file_net {
	uint8_t family;
	uint8_t bits;
	uint8_t bytes[16];
};

struct file_nets {
	struct file_net of[FILE_NETS];
	unsigned int count;
};

struct file_secret {
	unsigned char bytes[KRDMA_FILE_SECRET_MAX];
	size_t length;
};

/* Addresses and networks, with commas or blanks between them.  -EINVAL. */
int file_nets_parse(const char *text, struct file_nets *nets);
/* None: all of them. */
bool file_nets_have(const struct file_nets *nets, const struct sockaddr_storage *address);
/* As far as addresses tell, both are of one. */
bool file_same_peer(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/* What a side, 'c' or 's', has to say to the numbers of both. */
void file_proof(const struct file_secret *secret, char side,
		const unsigned char server[FILE_NONCE], const unsigned char client[FILE_NONCE],
		unsigned char proof[FILE_SHA256_SIZE]);
/* The server's end, and the client's: nothing, if link->secret is NULL. */
int file_admit(struct file_link *link);
int file_be_admitted(struct file_link *link);
/* @bytes: NULL: none. */
int file_secret_set(struct file_secret **secret, const void *bytes, size_t length);
void file_secret_free(struct file_secret *secret);

/*
 * file_window.c: the buffers that data go through.
 */
struct file_window {
	struct krdma_mr *mr;
	uint32_t slot_size;
	uint32_t slot_count;
};

/* Of @length, if that is less than they hold, and smaller if memory is short. */
int file_window_create(struct file_window *window, struct krdma *session, uint32_t device,
		       uint32_t access, uint32_t slot_size, uint32_t slot_count,
		       uint64_t length);
void file_window_destroy(struct file_window *window);
unsigned char *file_window_slot(const struct file_window *window, uint32_t slot);

/*
 * file_root.c: what a server offers.
 */
struct file_rule {
	char *path;
	/* What was there when serving began. */
	int folder;
	uint32_t access;
};

struct file_root {
	int folder;
	/* The kernel keeps paths beneath it. */
	bool beneath;
	/* The one file in @folder that is offered, or NULL: all of it. */
	char *only;
	/* enum krdma_file_access: what is not beneath a folder that has a rule. */
	uint32_t access;
	struct file_rule *rules;
	unsigned int rule_count;
};

int file_root_open(struct file_root *root, const char *path, uint32_t access);
void file_root_close(struct file_root *root);
int file_root_add_rule(struct file_root *root, const char *path, uint32_t access);
/* A regular file, or nothing, or a symbolic link, which would be replaced; or -errno. */
int file_can_replace(int folder, const char *last);
/* A regular file, to be read: what is none is looked at, and not opened. */
int file_open_regular(int folder, const char *name, bool follow);
/* The same for what was opened with O_PATH; -ESRCH: without /proc. */
int file_reopen(int path);
/* A regular file, to be read. */
int file_root_read(const struct file_root *root, const char *name, int *fd);
/*
 * The folder where a file is to be, and its last name; @last: KRDMA_FILE_LAST_MAX + 1.
 * @no_replace: who may not read there may not replace either.
 */
int file_root_parent(const struct file_root *root, const char *name, int *folder, char *last,
		     bool *no_replace);

/* The last part of a path, up to KRDMA_FILE_LAST_MAX of it. */
void file_last_name(const char *path, char *last);
/* One that can be a file's in a folder: not empty, not "..", without a slash. */
bool file_last_is_plain(const char *last);

/*
 * file_name.c: names that a peer chooses.
 */

/*
 * One that may become a file's although nobody here has asked for it: plain, not hidden, not
 * like an option, valid UTF-8 without control characters.
 */
bool file_name_is_harmless(const char *last);

/*
 * file_source.c: a file that is read.
 */
struct file_source {
	int fd;
	uint64_t length;
	struct timespec mtime;
	uint32_t mode;
	/* Where the data end that begin before the place last asked for. */
	uint64_t data_begin;
	uint64_t data_end;
};

/* @fd is the source's from then on, also after an error. */
int file_source_open(struct file_source *source, int fd);
void file_source_close(struct file_source *source);
/* At @offset there is data, or a hole, of *@length bytes, at most @most of data. */
int file_source_extent(struct file_source *source, uint64_t offset, uint64_t most,
		       uint64_t *length, bool *hole);
/* -ESTALE: it has shrunk. */
int file_source_read(struct file_source *source, uint64_t offset, void *data, size_t length);
/* -ESTALE: it is not what it was when it was opened. */
int file_source_unchanged(const struct file_source *source);
/* Of the bytes before @length; @link, which may take long enough to be asked, or NULL. */
int file_source_crc(struct file_source *source, uint64_t length, struct file_link *link,
		    uint32_t *crc);

/*
 * file_sync.c: on the disk, with the usual permission bits.
 */

/* fsync(), while @link, if it is not NULL, says that we live. */
int file_sync(int fd, struct file_link *link);
/* The names in a folder, of which @file is in the same file system. */
int file_sync_folder(int folder, int file, struct file_link *link);
/* What close() would say of @fd, which stays open. */
int file_late_error(int fd);
mode_t file_umask(void);

/*
 * file_part.c: a file that is not there yet.
 */

/* Bytes of a name's SHA-256 in that of its part, and the length of that. */
#define FILE_PART_ID	16
#define FILE_PART_NAME	61

/* What a file must be for its part to be continued. */
struct file_identity {
	uint64_t length;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t mode;
};

/**
 * struct file_part - a file that is not there yet
 * @folder: where it is
 * @fd: the part, or -1
 * @last: the name that it is to have
 * @id: the beginning of @last's SHA-256
 * @name: the part's name; without @fd up to what is random
 * @identity: what the file is to be
 * @no_replace: whatever has the name @last already stays: -EEXIST
 * @exact_mode: its permission bits are the source's, without the process's umask
 * @sync: it is on the disk before it is said to be there
 * @any_version: when it is complete, parts of what the source was before go too
 * @searched: earlier parts were looked for
 * @earlier: @fd was there before
 * @begun: it is written to
 * @complete: it has the name @last
 * @offset: how much of it is there
 * @crc: of that
 * @earlier_offset: what @offset was when it was found
 * @earlier_crc: what @crc was then
 * @notes: notes written, or read, so far
 * @tries: earlier parts that were tried
 * @tried: how much there is of the last of them
 * @tried_name: the name of that
 */
struct file_part {
	int folder;
	int fd;
	char last[KRDMA_FILE_LAST_MAX + 1];
	unsigned char id[FILE_PART_ID];
	char name[FILE_PART_NAME + 1];
	struct file_identity identity;
	bool no_replace;
	bool exact_mode;
	bool sync;
	bool any_version;
	bool searched;
	bool earlier;
	bool begun;
	bool complete;
	uint64_t offset;
	uint32_t crc;
	uint64_t earlier_offset;
	uint32_t earlier_crc;
	unsigned int notes;
	unsigned int tries;
	uint64_t tried;
	char tried_name[FILE_PART_NAME + 1];
};

/* Whether a part may have that name: no file that is given or taken has it. */
bool file_part_is_name(const char *last);
/* @folder is the part's from then on.  Nothing is made yet. */
void file_part_open(struct file_part *part, int folder, const char *last,
		    const struct file_identity *identity);
/*
 * An earlier part, if there is one, or the next one after that: part->offset and part->crc.
 * -EBUSY: another process writes to it.
 */
int file_part_continue(struct file_part *part, struct file_link *link);
/* Everything from @offset on is to be written, @offset being 0 or part->offset. */
int file_part_begin(struct file_part *part, uint64_t offset);
int file_part_write(struct file_part *part, const void *data, size_t length, uint32_t crc);
int file_part_skip(struct file_part *part, uint64_t length, uint32_t crc);
/* It is complete: NAME is there, if nothing is wrong also after a power cut. */
int file_part_finish(struct file_part *part, struct file_link *link);
/* @err: 0, or why it has ended.  What can be gone on from stays. */
void file_part_close(struct file_part *part, int err);

/*
 * file_flow.c: the data of one file through a link, of which one end sends and one
 * receives, and one end, the server, reads or writes the other's memory.
 */

/* Where data go to: a part, or a descriptor (part == NULL). */
struct file_sink {
	struct file_part *part;
	int fd;
};

/**
 * struct file_flow - a file on its way
 * @link: through what
 * @window: one's own buffers
 * @remote: the client's buffers, at the server
 * @server: this is the server's end
 * @length: of the file
 * @offset: where it begins, then how far it is
 * @crc: of what is before @offset
 * @resumed_from: where it began
 * @transferred: bytes, without holes
 */
struct file_flow {
	struct file_link *link;
	struct file_window window;
	struct krdma_remote_mr remote;
	bool server;
	uint64_t length;
	uint64_t offset;
	uint32_t crc;
	uint64_t resumed_from;
	uint64_t transferred;
};

/* Until the receiver has said that it is done. */
int file_flow_send(struct file_flow *flow, struct file_source *source);
/* Until all of it is there and right, but nobody has been told of that. */
int file_flow_receive(struct file_flow *flow, const struct file_sink *sink);
int file_flow_done(struct file_flow *flow);

/* A window of one's own, and its part of a message. */
int file_flow_offer(struct file_flow *flow, struct file_message *message);
/* A client's window, as its message says. */
int file_flow_accept(struct file_flow *flow, const struct file_message *message);

#endif /* KRDMA_FILE_INTERNAL_H */
