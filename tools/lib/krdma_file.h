/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: whole files between machines.
 *
 * A server offers a folder, or one file.  A client gets a file from there, or puts one
 * there if the server lets it.  The data go by RDMA, from and to buffers of both sides,
 * several of which are under way at a time: a file need not fit in memory, and is not
 * limited in length.  Holes stay holes; permission bits are kept as far as the umask lets
 * them; owners and times are not.
 *
 * Until it is complete, what has arrived is in a part: a file of this user's alone, beside where
 * NAME is to be, whose name is .krdma-*.part, is found at random, and cannot be asked for.  It
 * remains there if the copying fails; with KRDMA_FILE_CONTINUE the next try goes on from there,
 * if length and modification time of the source are what they were and the checksum of what is
 * there is the source's.  Interrupting that does not harm it.  Behind the last byte, a part has a
 * note of 128 bytes that says of what it is: it is not a file to be used.
 *
 * NAME appears when all of it is there and on the disk, and its checksum, CRC-32C of the whole,
 * is the source's; what was there before is then replaced at once.  Of several that put the same
 * NAME, the last one has it.
 *
 * CRC-32C finds what went wrong by itself.  It does not keep anybody from forging, and
 * nothing here is encrypted.  Whoever can reach the server can get what it offers, unless it
 * wants an address or a secret.
 *
 * The rules of <krdma.h> hold for errors, deadlines, threads and structures.
 */
#ifndef KRDMA_FILE_H
#define KRDMA_FILE_H

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a server is found if nothing else was agreed. */
#define KRDMA_FILE_PORT		7476

/* The longest name that a client can ask for, and with it a file's last part. */
#define KRDMA_FILE_NAME_MAX	4095
#define KRDMA_FILE_LAST_MAX	255

/* Bytes of a secret. */
#define KRDMA_FILE_SECRET_MIN	16
#define KRDMA_FILE_SECRET_MAX	1024

/**
 * struct krdma_file_progress - how far it has come
 * @done: bytes that are there
 * @length: bytes of the whole file
 * @resumed_from: of @done, those that were there before
 */
struct krdma_file_progress {
	uint64_t done;
	uint64_t length;
	uint64_t resumed_from;
};

/**
 * enum krdma_file_flags - bits of &struct krdma_file_options.flags
 * @KRDMA_FILE_CONTINUE: go on from what an earlier try has left
 * @KRDMA_FILE_EXACT_MODE: the permission bits are exactly the source's; else they are those
 *	that the umask leaves: of this process when getting, of the server when putting
 * @KRDMA_FILE_NO_SYNC: the file is there before it is on the disk; after a power cut it may
 *	then be there without its data
 */
enum krdma_file_flags {
	KRDMA_FILE_CONTINUE = 1 << 0,
	KRDMA_FILE_EXACT_MODE = 1 << 1,
	KRDMA_FILE_NO_SYNC = 1 << 2,
};

/**
 * struct krdma_file_options - how a file is to be copied
 * @size: sizeof(struct krdma_file_options)
 * @flags: &enum krdma_file_flags
 * @patience_ms: for how long the server may be silent; 0: 30000
 * @buffer_size: bytes of a buffer, 4096 to 4 MiB, rounded up to pages; 0: 1 MiB
 * @buffer_count: buffers, to 16; 0: 8.  If the process may not lock so much memory, they
 *	are smaller and fewer.
 * @reserved: 0
 * @progress: called by the thread that copies, after each buffer and several times a
 *	second besides; if it does not answer 0, the copying ends with ECANCELED.  Or NULL.
 * @context: for @progress
 * @secret: what the server has to know too, and prove; or NULL: no such server.  At random, and
 *	KRDMA_FILE_SECRET_MIN to KRDMA_FILE_SECRET_MAX bytes: who listens on the network can try
 *	out any that can be guessed.
 * @secret_length: bytes of @secret
 * @reserved2: 0
 */
struct krdma_file_options {
	uint32_t size;
	uint32_t flags;
	uint32_t patience_ms;
	uint32_t buffer_size;
	uint32_t buffer_count;
	uint32_t reserved;
	int (*progress)(void *context, const struct krdma_file_progress *progress);
	void *context;
	const void *secret;
	uint32_t secret_length;
	uint32_t reserved2;
};

/**
 * enum krdma_file_side - where something failed
 * @KRDMA_FILE_SIDE_NONE: nowhere
 * @KRDMA_FILE_SIDE_HERE: on this machine
 * @KRDMA_FILE_SIDE_PEER: on the other one, which said so
 * @KRDMA_FILE_SIDE_BETWEEN: the connection could not be made, or broke
 */
enum krdma_file_side {
	KRDMA_FILE_SIDE_NONE = 0,
	KRDMA_FILE_SIDE_HERE = 1,
	KRDMA_FILE_SIDE_PEER = 2,
	KRDMA_FILE_SIDE_BETWEEN = 3,
};

/**
 * struct krdma_file_result - what has become of it
 * @size: sizeof(struct krdma_file_result)
 * @side: &enum krdma_file_side, where it failed
 * @crc32c: of the whole file; 0 after an error
 * @mode: its permission bits
 * @length: of the whole file, 0 if that is not known
 * @resumed_from: bytes that were there before
 * @transferred: bytes that came over the network, which holes do not
 * @nanoseconds: how long it took
 * @last: the last part of its name
 */
struct krdma_file_result {
	uint32_t size;
	uint32_t side;
	uint32_t crc32c;
	uint32_t mode;
	uint64_t length;
	uint64_t resumed_from;
	uint64_t transferred;
	uint64_t nanoseconds;
	char last[KRDMA_FILE_LAST_MAX + 1];
};

/**
 * krdma_file_get() - get a file from a server
 * @session: the session
 * @server: the server's address and port
 * @name: which file, seen from the folder that the server offers; "": the one file that
 *	it offers
 * @path: where to; a folder: in there, under its last name.  What a symbolic link means
 *	is replaced, not the link.  Where both @name is "" and @path a folder, the server
 *	chooses the name: such a file never replaces anything, and its name does not begin
 *	with a dot or a hyphen, and is UTF-8 without control characters.
 * @options: or NULL
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Errors: those of connecting, above all ECONNREFUSED (nobody serves there),
 * EHOSTUNREACH, ETIMEDOUT, and:
 * ENOENT, EACCES, EISDIR, ENOTDIR, ENAMETOOLONG, ENOSPC, EDQUOT, EFBIG, EIO and the like,
 *	which are of files, here or at the server: &struct krdma_file_result.side.  EACCES
 *	of the server's: also a name that leads out of what it offers;
 * EOPNOTSUPP: neither a file nor a folder; EBUSY: another process goes on
 *	with what KRDMA_FILE_CONTINUE would go on with;
 * EEXIST, EILSEQ: the name that the server has chosen is taken here, or is none that a server
 *	may choose;
 * ESTALE: the source was changed meanwhile; EBADMSG: the checksum is wrong;
 * EUSERS: the server has as many clients as it takes, or as many of this address;
 * ESHUTDOWN: it is ending;
 * ENOKEY: the server wants a secret; EKEYREJECTED: the other side does not know this one;
 * ECONNRESET: it is gone, or the connection broke;
 * EPROTO: it speaks something else, or does not keep to what was agreed;
 * EPROTONOSUPPORT: it is of another version;
 * ECANCELED: &struct krdma_file_options.progress said so;
 * ENOMEM, EPERM: see krdma_mr_register(); EINVAL: an argument.
 */
int krdma_file_get(struct krdma *session, const struct sockaddr *server, const char *name,
		   const char *path, const struct krdma_file_options *options,
		   struct krdma_file_result *result, size_t size);

/**
 * krdma_file_get_fd() - get a file's content from a server
 * @session, @server, @name, @options, @result, @size: as of krdma_file_get()
 * @fd: written to from where it stands, such as a pipe; holes become zeroes
 *
 * What was written before an error is there.  Errors: as of krdma_file_get(); EINVAL with
 * KRDMA_FILE_CONTINUE; EPIPE.
 */
int krdma_file_get_fd(struct krdma *session, const struct sockaddr *server, const char *name,
		      int fd, const struct krdma_file_options *options,
		      struct krdma_file_result *result, size_t size);

/**
 * krdma_file_put() - put a file onto a server
 * @session: the session
 * @server: the server's address and port
 * @path: the file
 * @name: what it is to be there, seen from the folder that the server offers; "": the one
 *	file that it offers
 * @options: or NULL
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Errors: as of krdma_file_get(), and EROFS: the server lets nobody write.
 */
int krdma_file_put(struct krdma *session, const struct sockaddr *server, const char *path,
		   const char *name, const struct krdma_file_options *options,
		   struct krdma_file_result *result, size_t size);

/*
 * Servers
 */

struct krdma_file_server;

/**
 * enum krdma_file_operation - what a client wanted
 * @KRDMA_FILE_NOTHING: it did not say, or nothing that was understood
 * @KRDMA_FILE_GET: to get a file
 * @KRDMA_FILE_PUT: to put one
 */
enum krdma_file_operation {
	KRDMA_FILE_NOTHING = 0,
	KRDMA_FILE_GET = 1,
	KRDMA_FILE_PUT = 2,
};

/**
 * struct krdma_file_report - what a server has done for a client
 * @operation: &enum krdma_file_operation
 * @error: 0, or why it failed
 * @side: &enum krdma_file_side, where; the peer is the client
 * @crc32c: of the whole file; 0 after an error
 * @length: of the whole file, 0 if that is not known
 * @resumed_from: bytes that were there before
 * @transferred: bytes that went over the network
 * @nanoseconds: how long it took
 * @peer: the client's address
 * @name: the name as the client has written it: anything may be in there
 */
struct krdma_file_report {
	uint32_t operation;
	int32_t error;
	uint32_t side;
	uint32_t crc32c;
	uint64_t length;
	uint64_t resumed_from;
	uint64_t transferred;
	uint64_t nanoseconds;
	struct sockaddr_storage peer;
	const char *name;
};

/**
 * enum krdma_file_server_flags - bits of &struct krdma_file_server_options.flags
 * @KRDMA_FILE_SERVER_WRITABLE: clients may put files, and replace those that are there
 * @KRDMA_FILE_SERVER_NO_SYNC: as KRDMA_FILE_NO_SYNC, of all that is put
 */
enum krdma_file_server_flags {
	KRDMA_FILE_SERVER_WRITABLE = 1 << 0,
	KRDMA_FILE_SERVER_NO_SYNC = 1 << 1,
};

/**
 * enum krdma_file_access - bits of &struct krdma_file_rule.access
 * @KRDMA_FILE_READ: files are given
 * @KRDMA_FILE_WRITE: files are taken; without KRDMA_FILE_READ only if they replace nothing
 */
enum krdma_file_access {
	KRDMA_FILE_READ = 1 << 0,
	KRDMA_FILE_WRITE = 1 << 1,
};

/**
 * struct krdma_file_rule - what clients may do in a folder, and in the folders in there
 * @path: the folder, seen from the one that is offered; it must be there
 * @access: &enum krdma_file_access
 * @reserved: 0
 *
 * Of several, the innermost counts, whatever way leads there.  With any rule, a symbolic link is
 * not followed in the last part of a name.
 */
struct krdma_file_rule {
	const char *path;
	uint32_t access;
	uint32_t reserved;
};

/**
 * struct krdma_file_server_options - what a server is to be
 * @size: sizeof(struct krdma_file_server_options)
 * @flags: &enum krdma_file_server_flags
 * @max_clients: clients at a time, to 1024, each with a thread and buffers; 0: 16.
 *	Further ones are sent away (EUSERS).
 * @patience_ms: for how long a client may be silent; 0: 30000
 * @buffer_size: as of &struct krdma_file_options
 * @buffer_count: likewise
 * @report: called in a client's thread when it is done with; or NULL
 * @context: for @report
 * @request_ms: for how long a client may take to say what it wants, ETIMEDOUT; 0: 10000
 * @progress_ms: for how long it may then do nothing but say that it lives; 0: 120000
 * @max_per_peer: clients of one address at a time, or of 64 bits of it if it is one of IPv6;
 *	0: half of @max_clients.  Further ones are sent away (EUSERS).
 * @secret_length: bytes of @secret
 * @secret: as of &struct krdma_file_options: what clients must know; or NULL
 * @allow: addresses and networks where clients may be, with commas or blanks between them:
 *	10.0.0.0/24,fd00::/8; or NULL: all.  Others are sent away (ECONNREFUSED).
 * @rules: folders with rules of their own; or NULL
 * @rule_count: how many
 * @reserved: 0
 */
struct krdma_file_server_options {
	uint32_t size;
	uint32_t flags;
	uint32_t max_clients;
	uint32_t patience_ms;
	uint32_t buffer_size;
	uint32_t buffer_count;
	void (*report)(void *context, const struct krdma_file_report *report);
	void *context;
	uint32_t request_ms;
	uint32_t progress_ms;
	uint32_t max_per_peer;
	uint32_t secret_length;
	const void *secret;
	const char *allow;
	const struct krdma_file_rule *rules;
	uint32_t rule_count;
	uint32_t reserved;
};

/**
 * krdma_file_server_create() - offer a folder, or one file
 * @session: the session, which must stay open
 * @address: where to listen, as of krdma_listen()
 * @path: the folder, or the file.  Nothing outside of it is reached, whatever names are
 *	asked for: symbolic links that lead out of it are not followed, and where the
 *	kernel is older than 5.6, none
 * @options: or NULL
 * @server: where to put it
 *
 * Clients wait until krdma_file_server_run().
 *
 * Errors: those of open() for @path and for folders with rules, and of krdma_listen();
 * EOPNOTSUPP (neither a file nor a folder, an unknown flag); EINVAL (among others, an address
 * that cannot be read, a secret that is too short, a rule where one file is offered); EMFILE;
 * ENOMEM.
 */
int krdma_file_server_create(struct krdma *session, const struct sockaddr *address,
			     const char *path, const struct krdma_file_server_options *options,
			     struct krdma_file_server **server);

/**
 * krdma_file_server_address() - where it listens, with the port that it got
 * @server: the server
 * @address: the address
 */
int krdma_file_server_address(struct krdma_file_server *server,
			      struct sockaddr_storage *address);

/**
 * krdma_file_server_run() - serve, until krdma_file_server_stop()
 * @server: the server; one thread at a time runs it
 *
 * When it returns, no client is left.
 *
 * Errors: ENODEV (the device it listens at is gone).
 */
int krdma_file_server_run(struct krdma_file_server *server);

/**
 * krdma_file_server_stop() - end krdma_file_server_run(), now or when it is called
 * @server: the server
 *
 * Clients are told (ESHUTDOWN).  May be called in a signal handler, and by
 * &struct krdma_file_server_options.report.
 */
int krdma_file_server_stop(struct krdma_file_server *server);

/**
 * krdma_file_server_destroy() - end of a server
 * @server: the server, which nobody runs; or NULL
 */
void krdma_file_server_destroy(struct krdma_file_server *server);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_FILE_H */
