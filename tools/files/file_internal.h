/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libkrdma-files: declarations shared by its source files. */
#ifndef KRDMA_FILE_INTERNAL_H
#define KRDMA_FILE_INTERNAL_H

/* Must be included first, so that a 32-bit program can handle files of 2 GiB and more. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "internal.h"
#include "krdma_file.h"
#include "secret.h"

/* Like the minimum sizes in internal.h. */
#define FILE_RESULT_MIN_SIZE	320

/* Bounds of the negotiated values. */
#define FILE_SLOTS_MAX		16
#define FILE_SLOTS_DEFAULT	8
#define FILE_SLOT_MIN		4096u
#define FILE_SLOT_MAX		4194304u
#define FILE_SLOT_DEFAULT	1048576u
#define FILE_PATIENCE_MS	30000

/* The longest file: a part file has a note after the last data byte. */
#define FILE_LENGTH_MAX		(INT64_MAX - 4095)

/* Interval for calling the progress callback and sending keepalives while idle, in ms. */
#define FILE_TICK_MS		200

/*
 * file_crc.c: CRC-32C (Castagnoli). Start with 0; to continue, pass the result for the bytes so
 * far.
 */
uint32_t file_crc(uint32_t crc, const void *data, size_t length);
/* Adds @length zero bytes, in a time that hardly depends on @length. */
uint32_t file_crc_zeroes(uint32_t crc, uint64_t length);
/*
 * For tests: the implementation that file_crc() uses, "table" or an instruction; and the table
 * implementation, regardless of the CPU.
 */
const char *file_crc_by(void);
uint32_t file_crc_by_table(uint32_t crc, const void *data, size_t length);

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
	FILE_MESSAGE_REFUSE = 18,
	FILE_MESSAGE_SKIP = 19,
	FILE_MESSAGE_FOLDER = 20,
	FILE_MESSAGE_COMPARE = 21,
	FILE_MESSAGE_DIGEST = 22,
	FILE_MESSAGE_TYPES,
};

/* Without the name, but with its length. Fields that a type does not use are 0. */
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

/* Bits of the code in FILE_MESSAGE_PUT, and some of them in FILE_MESSAGE_FOLDER. */
#define FILE_PUT_CONTINUE	1u
#define FILE_PUT_EXACT_MODE	2u
#define FILE_PUT_NO_SYNC	4u
#define FILE_PUT_PARENTS	8u
#define FILE_PUT_TIMES		16u
#define FILE_PUT_UPDATE		32u
#define FILE_PUT_NEW		64u
#define FILE_PUT_COMPARE	128u
#define FILE_PUT_CODES		255u
#define FILE_FOLDER_CODES	(FILE_PUT_EXACT_MODE | FILE_PUT_NO_SYNC | FILE_PUT_TIMES)

/* Bits of the code in FILE_MESSAGE_GET. */
#define FILE_GET_LIST		1u
#define FILE_GET_RECURSIVE	2u
#define FILE_GET_CODES		3u

#define FILE_MESSAGE_FIXED	88
#define FILE_MESSAGE_MAX	(FILE_MESSAGE_FIXED + KRDMA_FILE_NAME_MAX)

/* Writes the wire format, at most FILE_MESSAGE_MAX bytes, and returns its length. */
size_t file_message_encode(const struct file_message *message, const char *name, void *to);
/*
 * @name: KRDMA_FILE_NAME_MAX + 1 bytes, written if the message has a name. -EPROTO: not a valid
 *	message.
 */
int file_message_decode(const void *from, size_t length, struct file_message *message,
			char *name);

/*
 * Map an errno to a code that is the same on all architectures, and back. Unknown values become
 * EIO.
 */
uint32_t file_code_of(int err);
int file_code_error(uint32_t code);

/* The private data of both sides: with a token, and without one. */
#define FILE_TOKEN		32
#define FILE_HELLO_SHORT	16
#define FILE_HELLO_SIZE		(FILE_HELLO_SHORT + FILE_TOKEN)
#define FILE_HELLO_SECRET	1u
#define FILE_HELLO_JOIN		2u
#define FILE_HELLO_FLAGS	3u

/**
 * struct file_hello - the private data of one side
 * @flags: FILE_HELLO_*
 * @code: of the error with which a server rejects the client; or 0
 * @streams: connections that the client wants or the server grants, 0 as 1; with FILE_HELLO_JOIN
 *	the number of this one
 * @has_token: there is a token
 * @token: of a server that grants several connections, and of each further connection
 */
struct file_hello {
	uint16_t flags;
	uint32_t code;
	uint32_t streams;
	bool has_token;
	unsigned char token[FILE_TOKEN];
};

/* Writes at most FILE_HELLO_SIZE bytes, and returns their number. */
size_t file_hello_encode(void *to, const struct file_hello *hello);
/* -EPROTO: not of this protocol; -EPROTONOSUPPORT: another version. */
int file_hello_decode(const void *from, size_t length, struct file_hello *hello);

/*
 * file_link.c: a connection with its messages and work requests. Only one thread uses it.
 */

/* Messages in flight in each direction: one per buffer of a full window, and a few others. */
#define FILE_MESSAGES		(FILE_SLOTS_MAX + 4)

/* Maximum number of connections for one file. */
#define FILE_STREAMS_MAX	KRDMA_FILE_STREAMS_MAX
/* Messages in flight on each connection but the first: the slots are shared by at least two. */
#define FILE_STREAM_MESSAGES	(FILE_SLOTS_MAX / 2)

/**
 * struct file_stream - one of the connections of a link
 * @conn: the connection
 * @posted: number of reads and writes posted on the peer's memory
 * @completed: number of those that have completed; they complete in order
 * @inbox: received messages that were not taken, a circular buffer
 * @inbox_first: index of the oldest one
 * @inbox_count: number of messages in @inbox
 */
struct file_stream {
	struct krdma_conn *conn;
	uint64_t posted;
	uint64_t completed;
	struct file_message inbox[FILE_MESSAGES];
	unsigned int inbox_first;
	unsigned int inbox_count;
};

/**
 * struct file_keeper - keeps a link alive while its user may wait for a disk, in file_keeper.c
 * @depth: how often the thread that uses the link has left it and not entered it again
 * @turn: which thread may use the link
 * @started: @thread exists, and the fields below are valid
 * @ended: it is to end; protected by @lock
 * @lock: protects @ended, and the end of the other thread's turn
 * @changed: signaled when one of both changes
 * @thread: the other thread
 */
struct file_keeper {
	unsigned int depth;
	atomic_int turn;
	bool started;
	bool ended;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
};

/**
 * struct file_link - a connection, and those that help it with the data
 * @session: the session
 * @keeper: the thread that helps while a disk is slow
 * @on_tick: called several times a second; a value other than 0 is the error that ends the
 *	transfer
 * @tick_context: argument for @on_tick
 * @patience_ms: how long the peer may be silent, in ms
 * @progress_ms: how long the peer may send only keepalives while this side waits, in ms; 0:
 *	without limit
 * @deadline: time by which the awaited message must arrive, in ns; 0: none
 * @quiet: send no keepalives
 * @keeping: the thread of @keeper uses the link
 * @secret: the shared secret; or NULL
 * @streams_wanted: connections at most: at the client those that it asks for
 * @ticket: at the server, set by the caller: proof of the client's further connections
 * @hello: hello of the peer
 * @streams: the connections; the first one has all messages but those of the data
 * @stream_count: number of @streams that the data use
 * @ring: the ring of all their work requests, sends and receives
 * @control: memory region for messages: FILE_MESSAGES received ones of the first connection, as
 *	many sent ones of all, and the received ones of the others
 * @device: device number
 * @error: negative errno after which the link is unusable, or 0
 * @side: enum krdma_file_side of @error
 * @said: time of the last sent message, in ns
 * @heard: time of the last received message, in ns
 * @advanced: time of the last progress of either side, in ns
 * @examined: bytes of a file that this side has examined or cleared, while the peer waits for that
 * @peer_examined: the same of the peer, as far as this side knows
 * @ticked: time of the last call of @on_tick, in ns
 * @free: bitmap of the send buffers that are not in flight
 * @name: name of the last received message that had one, NUL-terminated
 */
struct file_link {
	struct krdma *session;
	struct file_keeper keeper;
	int (*on_tick)(void *context);
	void *tick_context;
	uint32_t patience_ms;
	uint32_t progress_ms;
	uint64_t deadline;
	bool quiet;
	bool keeping;
	struct secret *secret;
	uint32_t streams_wanted;
	unsigned char ticket[FILE_TOKEN];
	struct file_hello hello;
	struct file_stream streams[FILE_STREAMS_MAX];
	unsigned int stream_count;
	struct krdma_ring *ring;
	struct krdma_mr *control;
	uint32_t device;
	int error;
	uint32_t side;
	uint64_t said;
	uint64_t heard;
	uint64_t advanced;
	uint64_t examined;
	uint64_t peer_examined;
	uint64_t ticked;
	uint32_t free;
	char name[KRDMA_FILE_NAME_MAX + 1];
};

/*
 * Both functions expect a zeroed structure whose first fields the caller has set. Call
 * file_link_close() in any case, also after an error.
 */
int file_link_connect(struct file_link *link, const struct sockaddr *server);
/* The link owns @conn from now on.  Its further connections follow with file_link_join(). */
int file_link_accept(struct file_link *link, struct krdma_conn *conn);
/* Accepts the connection with this number.  The link owns @conn from now on. */
int file_link_join(struct file_link *link, unsigned int number, struct krdma_conn *conn);
/* The token of a further connection; with a secret, only a side that knows it can compute it. */
void file_link_token(const struct secret *secret, const unsigned char ticket[FILE_TOKEN],
		     uint32_t number, unsigned char token[FILE_TOKEN]);

/*
 * Sends @err to the peer, if the peer does not know it yet and the connection still works, and
 * waits until the messages sent before have arrived.
 */
void file_link_close(struct file_link *link, int err);
/*
 * Closes and frees without a word to the peer. In a child of fork(), these are the child's copies:
 * the connections go on, the ring is not mapped there, and the keeper's thread does not exist.
 */
void file_link_release(struct file_link *link);

/*
 * Sets the error unless one is already set, and returns the error that is set: the first one
 * counts.
 */
int file_link_fail(struct file_link *link, int err, uint32_t side);

/*
 * Processes completions; with @wait, waits for at least one, for at most one tick. This function,
 * file_link_tick() and file_link_step() may also be called between leaving and entering.
 */
int file_link_pump(struct file_link *link, bool wait);

/* For long operations that do not use the link: pumps from time to time. */
int file_link_tick(struct file_link *link);
/* Called after each unit of work: calls @on_tick and processes completions. */
int file_link_step(struct file_link *link);

/* For file_keeper.c: pumps without calling @on_tick, in another thread than usual. */
void file_link_keep(struct file_link *link);

/*
 * file_keeper.c: leave the link before a call that may wait for long, and enter it afterwards, as
 * often. Nothing of the link may be used in between. @link may be NULL.
 */
void file_link_leave(struct file_link *link);
void file_link_enter(struct file_link *link);
/* For file_link.c: enters however often the link was left, and leaves it as often. */
unsigned int file_link_enter_all(struct file_link *link);
void file_link_leave_again(struct file_link *link, unsigned int depth);
/* Ends what leaving has begun, at the end of each request. */
void file_link_rest(struct file_link *link);

int file_link_send(struct file_link *link, const struct file_message *message,
		   const char *name);
/* The same over one of the connections, for a message of the data. */
int file_link_send_on(struct file_link *link, unsigned int stream,
		      const struct file_message *message);

/* Takes a message that has already arrived over that connection; -EAGAIN: none. */
int file_link_take_from(struct file_link *link, unsigned int stream,
			struct file_message *message);
int file_link_take(struct file_link *link, struct file_message *message);
/* Whether a message that was not taken has arrived over any connection. */
bool file_link_has_more(const struct file_link *link);
/* Wait for the next message. The second function requires it to be of @type. */
int file_link_await(struct file_link *link, struct file_message *message);
int file_link_receive(struct file_link *link, uint8_t type, struct file_message *message);

/* Posts KRDMA_OP_READ or KRDMA_OP_WRITE on one of the connections. */
int file_link_operate(struct file_link *link, unsigned int stream, uint8_t opcode,
		      const struct krdma_mr *mr, size_t offset, uint32_t length,
		      const struct krdma_remote_mr *remote, uint64_t remote_offset);

uint64_t file_now(void);

/* file_admit.c: the secret of both sides. */
/* Computes the proof that a side, 'c' or 's', sends for the nonces of both sides. */
void file_proof(const struct secret *secret, char side, const unsigned char server[SECRET_NONCE],
		const unsigned char client[SECRET_NONCE], unsigned char proof[SECRET_PROOF]);
/* Authentication at the server and at the client. Does nothing if link->secret is NULL. */
int file_admit(struct file_link *link);
int file_be_admitted(struct file_link *link);

/**
 * struct file_window - the buffers for file data, in file_window.c
 * @mr: their memory region; or NULL
 * @access: its access rights
 * @room: its length in bytes
 * @slot_size: bytes of each buffer
 * @slot_count: number of buffers
 */
struct file_window {
	struct krdma_mr *mr;
	uint32_t access;
	uint64_t room;
	uint32_t slot_size;
	uint32_t slot_count;
};

/*
 * Uses fewer buffers if @length is shorter than all of them, and smaller ones if memory is
 * short.  Keeps the memory region of an earlier file if it suffices.
 */
int file_window_create(struct file_window *window, struct krdma *session, uint32_t device,
		       uint32_t access, uint32_t slot_size, uint32_t slot_count,
		       uint64_t length);
void file_window_destroy(struct file_window *window);
/* Number of buffers for that many connections; @wanted: an option, 0 for the default. */
uint32_t file_window_slots(uint32_t wanted, unsigned int streams);
unsigned char *file_window_slot(const struct file_window *window, uint32_t slot);

/* file_root.c: the folder or file that a server offers. */
struct file_rule {
	char *path;
	/* The folder as it was when the server was created. */
	int folder;
	uint32_t access;
};

struct file_root {
	int folder;
	/* The kernel keeps path lookups inside the folder (openat2()). */
	bool beneath;
	/* The one offered file in @folder, or NULL: the whole folder. */
	char *only;
	/* enum krdma_file_access for everything outside the folders that have a rule. */
	uint32_t access;
	struct file_rule *rules;
	unsigned int rule_count;
};

int file_root_open(struct file_root *root, const char *path, uint32_t access);
void file_root_close(struct file_root *root);
int file_root_add_rule(struct file_root *root, const char *path, uint32_t access);
/*
 * Returns 0 for a regular file, no file, or a symbolic link (which would itself be replaced);
 * or a negative errno.
 */
int file_can_replace(int folder, const char *last);
/*
 * Opens a regular file for reading. Other files are only examined, never opened, because
 * opening a device or FIFO can have effects.
 */
int file_open_regular(int folder, const char *name, bool follow);
/* The same for a file opened with O_PATH; -ESRCH: /proc is not mounted. */
int file_reopen(int path);
/* Opens a regular file for reading. */
int file_root_read(const struct file_root *root, const char *name, int *fd);
/*
 * Opens the folder for a file and returns the last component of its name. @last:
 * KRDMA_FILE_LAST_MAX + 1 bytes. @no_replace is set if the client may not read in that folder:
 * then it may not replace files there either.
 */
int file_root_parent(const struct file_root *root, const char *name, int *folder, char *last,
		     bool *no_replace);
/*
 * Makes the folders that lead to a name, or, if it ends with a slash, the folder itself too, with
 * @mode as far as the umask allows. Those that were made are on disk afterwards if @link is not
 * NULL, which is kept alive meanwhile.
 */
int file_root_make_folders(const struct file_root *root, const char *name, mode_t mode,
			   struct file_link *link);
/* Opens anything with O_PATH, and follows symbolic links that do not lead out. */
int file_root_examine(const struct file_root *root, const char *name);
/* Opens the folder of a file that the client may read, for its last component, as above. */
int file_root_find(const struct file_root *root, const char *name, int *folder, char *last);
/* Opens a folder, with @flags, in which the client may do what @access says. */
int file_root_open_folder(const struct file_root *root, const char *name, int flags,
			  uint32_t access);

/* Copies the last component of a path, truncated to KRDMA_FILE_LAST_MAX bytes. */
void file_last_name(const char *path, char *last);
/* Whether @last can name a file in a folder: not empty, not "..", no slash. */
bool file_last_is_plain(const char *last);

/*
 * file_list.c: the entries of a folder.
 */

/* The longest list, in bytes. */
#define FILE_LIST_MAX		(16u << 20)

/*
 * Writes the list of a folder, and with @recursive of those in it, to a new file in memory. May
 * take long, so it serves @link meanwhile.  @status: of the folder, or of the file that is listed.
 */
int file_list_create(const struct file_root *root, const char *name, bool recursive,
		     struct file_link *link, struct stat *status, int *fd);
/* -EPROTO: not a valid list. */
int file_list_decode(const void *from, size_t length, bool recursive,
		     struct krdma_file_entry **entries, size_t *count);

/*
 * file_name.c: names that a peer chooses.
 */

/*
 * Whether a name that the peer chose is safe to create: a single component, not hidden, not
 * like a command option, valid UTF-8 without control characters.
 */
bool file_name_is_harmless(const char *last);

/*
 * file_destination.c: where a file is to appear on this machine.
 */

/* An open folder, and the name of a file in it, which may exist. */
struct file_destination {
	int folder;
	char last[KRDMA_FILE_LAST_MAX + 1];
	bool no_replace;
};

/*
 * Opens the folder and judges the name. @folder, @path: as for krdma_file_client_get(). @last: the
 * name of the file in a folder @path; if @chosen, the server chose it.
 */
int file_destination_open(struct file_destination *to, int folder, const char *path,
			  const char *last, bool chosen, bool no_replace);
/*
 * Returns 0 if the file is wanted there, 1 if @update and the existing file has this length and
 * time, or a negative errno.
 */
int file_destination_judge(const struct file_destination *to, bool update, uint64_t length,
			   int64_t mtime_s, uint32_t mtime_ns);

/* file_source.c: a file that is read. */
struct file_source {
	int fd;
	uint64_t length;
	struct timespec mtime;
	uint32_t mode;
	/* The data extent found by the last lookup. */
	uint64_t data_begin;
	uint64_t data_end;
};

/* The source owns @fd from now on, also after an error. */
int file_source_open(struct file_source *source, int fd);
void file_source_close(struct file_source *source);
/* At @offset there is data or a hole of *@length bytes; data are limited to @most bytes. */
int file_source_extent(struct file_source *source, uint64_t offset, uint64_t most,
		       uint64_t *length, bool *hole);
/* -ESTALE: the file has become shorter. */
int file_source_read(struct file_source *source, uint64_t offset, void *data, size_t length);
/* -ESTALE: the file has changed since it was opened. */
int file_source_unchanged(const struct file_source *source);
/*
 * Computes the checksum of the first @length bytes. This can take long, so the function serves
 * @link meanwhile, unless it is NULL.
 */
int file_source_crc(struct file_source *source, uint64_t length, struct file_link *link,
		    uint32_t *crc);

/*
 * Computes the digest of the whole file, as described in file_wire.c. The time that it takes
 * does not depend on the size of holes.
 */
#define FILE_DIGEST_BLOCK	4096u
int file_source_digest(struct file_source *source, struct file_link *link,
		       unsigned char bytes[SHA256_SIZE]);

/*
 * file_compare.c: whether both ends have the same content.
 */

/* Opens the regular file @last, and returns whether that worked and it has @length bytes. */
bool file_compare_open(struct file_source *source, int folder, const char *last, uint64_t length);
/*
 * At the destination, after it has asked for it: computes the digest of its own file, closes that,
 * and receives the one of the source. Returns 1 if they are equal, 0 if not, or a negative errno.
 */
int file_compare_receive(struct file_source *source, struct file_link *link);
/* At the source: computes and sends the digest. */
int file_compare_send(struct file_source *source, struct file_link *link);

/*
 * file_sync.c: fsync, the usual permission bits, and times.
 */

/*
 * Calls fsync() and keeps @link alive meanwhile, unless it is NULL. Returns errors of the disk
 * only: one of the link is returned by the next function that uses it.
 */
int file_sync(int fd, struct file_link *link);
/* Syncs the names in a folder. @file is a file in the same file system. */
int file_sync_folder(int folder, int file, struct file_link *link);
/* Returns the error that close() would return for @fd, which stays open. */
int file_late_error(int fd);
mode_t file_umask(void);
int file_set_mtime(int fd, int64_t seconds, uint32_t nanoseconds);
bool file_has_mtime(const struct stat *status, int64_t seconds, uint32_t nanoseconds);

/*
 * file_part.c: an incomplete file.
 */

/* Length of the SHA-256 prefix in the name of a part file, and length of that name. */
#define FILE_PART_ID	16
#define FILE_PART_NAME	61

/* The attributes that a source must have for a part file to be continued. */
struct file_identity {
	uint64_t length;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t mode;
};

/**
 * struct file_part - an incomplete file
 * @folder: descriptor of its folder
 * @fd: descriptor of the part file, or -1
 * @last: final name of the file
 * @id: first bytes of the SHA-256 of @last
 * @name: name of the part file; without @fd only the prefix before the random characters
 * @identity: attributes of the source
 * @no_replace: fail with -EEXIST if a file with the name @last exists
 * @exact_mode: use the source's permission bits without the umask of the process
 * @keep_times: set the modification time of the source
 * @sync: sync the file to disk before reporting it complete
 * @searched: earlier part files have been searched for
 * @earlier: @fd existed before this transfer
 * @begun: data have been written
 * @complete: the file has the name @last
 * @dirty: what follows after @offset may not be zero
 * @lost: the disk has reported an error, so that what was written may not be on it
 * @offset: number of bytes present
 * @crc: checksum of those bytes
 * @earlier_offset: @offset when the part file was found
 * @earlier_crc: @crc when the part file was found
 * @notes: number of notes written or read
 * @tries: number of earlier part files tried
 * @tried: number of bytes in the last one tried
 * @tried_name: name of the last one tried
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
	bool keep_times;
	bool sync;
	bool searched;
	bool earlier;
	bool begun;
	bool complete;
	bool dirty;
	bool lost;
	uint64_t offset;
	uint32_t crc;
	uint64_t earlier_offset;
	uint32_t earlier_crc;
	unsigned int notes;
	unsigned int tries;
	uint64_t tried;
	char tried_name[FILE_PART_NAME + 1];
};

/*
 * Whether @last has the form of a part file's name. Clients can neither get nor put such files.
 */
bool file_part_is_name(const char *last);
/* The part owns @folder from now on. The function creates no file. */
void file_part_open(struct file_part *part, int folder, const char *last,
		    const struct file_identity *identity);
/*
 * Opens an earlier part file, or the next one in further calls, and sets part->offset and
 * part->crc. -EBUSY: another process is writing to it.
 */
int file_part_continue(struct file_part *part, struct file_link *link);
/*
 * Starts writing at @offset, which is 0 or part->offset; everything from there on must follow.
 */
int file_part_begin(struct file_part *part, uint64_t offset);
int file_part_write(struct file_part *part, const void *data, size_t length, uint32_t crc);
/* Adds a hole. Where it has to be written, that can take long, and @link is served meanwhile. */
int file_part_skip(struct file_part *part, uint64_t length, struct file_link *link);
/* Gives the complete file its final name; with @sync this survives a power failure. */
int file_part_finish(struct file_part *part, struct file_link *link);
/* @err: 0, or the error that ended the transfer. A part file that can be continued is kept. */
void file_part_close(struct file_part *part, int err);

/*
 * file_flow.c: the data of one file on a link. One end sends and the other receives. The server
 * reads or writes the client's memory, in both directions.
 */

/* Destination of the data: a part file, or a descriptor (part == NULL). */
struct file_sink {
	struct file_part *part;
	int fd;
};

/**
 * struct file_flow - a transfer in progress
 * @link: the link
 * @window: local buffers
 * @remote: the client's buffers, at the server
 * @server: this is the server's end
 * @length: length of the file in bytes
 * @offset: start of the transfer, later its current position
 * @crc: checksum of the bytes before @offset
 * @resumed_from: start of the transfer
 * @transferred: bytes transferred, without holes
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

/* Sends until the receiver reports that it is done. */
int file_flow_send(struct file_flow *flow, struct file_source *source);
/*
 * Receives until all data are complete and the checksum matches, without reporting this to the
 * sender.
 */
int file_flow_receive(struct file_flow *flow, const struct file_sink *sink);
int file_flow_done(struct file_flow *flow);

/* Creates the local window and writes its description into a message. */
int file_flow_offer(struct file_flow *flow, struct file_message *message);
/* Takes the client's window from its message. */
int file_flow_accept(struct file_flow *flow, const struct file_message *message);

#endif /* KRDMA_FILE_INTERNAL_H */
