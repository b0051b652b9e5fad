/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: copies of whole files between machines.
 *
 * A server offers a folder, or one file. A client gets a file from it, or puts a file there if
 * the server allows writing. The data are transferred by RDMA between buffers on both sides,
 * with several buffers in flight: the file need not fit in memory, and its length is not
 * limited. Holes stay holes. Permission bits are kept as far as the umask allows; owners and
 * times are not kept.
 *
 * Until the file is complete, the received data are in a part file: a file that only this user
 * can access, in the folder where NAME is to appear. Its name is .krdma-*.part with a random
 * middle, and no client can request it. The part file remains if the transfer fails. With
 * KRDMA_FILE_CONTINUE the next transfer continues from it, if the length and modification time
 * of the source are unchanged and the checksum of the data matches the source. An interruption
 * of that transfer does no harm. After the last data byte a part file has a 128-byte note that
 * describes the source: do not use a part file as data.
 *
 * NAME appears once all data are complete and on disk, and the checksum (CRC-32C of the whole
 * file) matches the source. It then replaces an existing file atomically. If several clients
 * put the same NAME, the last one wins.
 *
 * CRC-32C detects accidental errors. It does not protect against forgery, and nothing is
 * encrypted. Every client that can reach the server can get the files that it offers, unless
 * the server restricts addresses or requires a secret.
 *
 * The rules of <krdma.h> for errors, deadlines, threads and structures apply.
 */
#ifndef KRDMA_FILE_H
#define KRDMA_FILE_H

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The default port of a server. */
#define KRDMA_FILE_PORT		7476

/* Maximum length of the name in a request, and of its last component. */
#define KRDMA_FILE_NAME_MAX	4095
#define KRDMA_FILE_LAST_MAX	255

/* Minimum and maximum length of a secret in bytes. */
#define KRDMA_FILE_SECRET_MIN	16
#define KRDMA_FILE_SECRET_MAX	1024

/**
 * struct krdma_file_progress - progress of a transfer
 * @done: bytes present at the destination
 * @length: length of the whole file in bytes
 * @resumed_from: bytes of @done that were present before this transfer
 */
struct krdma_file_progress {
	uint64_t done;
	uint64_t length;
	uint64_t resumed_from;
};

/**
 * enum krdma_file_flags - bits of &struct krdma_file_options.flags
 * @KRDMA_FILE_CONTINUE: continue from the part file of an earlier transfer
 * @KRDMA_FILE_EXACT_MODE: set exactly the permission bits of the source; otherwise apply the
 *	umask: of this process for a get, of the server for a put
 * @KRDMA_FILE_NO_SYNC: do not wait until the file is on disk. After a power failure the file
 *	may exist without its data
 */
enum krdma_file_flags {
	KRDMA_FILE_CONTINUE = 1 << 0,
	KRDMA_FILE_EXACT_MODE = 1 << 1,
	KRDMA_FILE_NO_SYNC = 1 << 2,
};

/**
 * struct krdma_file_options - options of a transfer
 * @size: sizeof(struct krdma_file_options)
 * @flags: &enum krdma_file_flags
 * @patience_ms: how long the server may be silent, in milliseconds; 0: 30000
 * @buffer_size: bytes per buffer, 4096 to 4 MiB, rounded up to pages; 0: 1 MiB
 * @buffer_count: number of buffers, at most 16; 0: 8. If the process may not lock that much
 *	memory, the library uses fewer and smaller buffers.
 * @reserved: 0
 * @progress: called by the transferring thread after each buffer and also several times a
 *	second. If it returns a value other than 0, the transfer ends with ECANCELED. May be
 *	NULL.
 * @context: argument for @progress
 * @secret: shared secret that the server must prove to know; NULL: none, for servers without a
 *	secret. Use KRDMA_FILE_SECRET_MIN to KRDMA_FILE_SECRET_MAX random bytes: an eavesdropper
 *	can test guesses.
 * @secret_length: length of @secret in bytes
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
 * enum krdma_file_side - location of a failure
 * @KRDMA_FILE_SIDE_NONE: no failure
 * @KRDMA_FILE_SIDE_HERE: the local machine
 * @KRDMA_FILE_SIDE_PEER: the other machine, which reported the error
 * @KRDMA_FILE_SIDE_BETWEEN: the connection could not be established, or broke
 */
enum krdma_file_side {
	KRDMA_FILE_SIDE_NONE = 0,
	KRDMA_FILE_SIDE_HERE = 1,
	KRDMA_FILE_SIDE_PEER = 2,
	KRDMA_FILE_SIDE_BETWEEN = 3,
};

/**
 * struct krdma_file_result - result of a transfer
 * @size: sizeof(struct krdma_file_result)
 * @side: &enum krdma_file_side, location of a failure
 * @crc32c: checksum of the whole file; 0 after an error
 * @mode: permission bits of the file
 * @length: length of the whole file in bytes, 0 if unknown
 * @resumed_from: bytes that were present before this transfer
 * @transferred: bytes transferred over the network, without holes
 * @nanoseconds: duration
 * @last: last component of the file's name
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
 * krdma_file_get() - Get a file from a server
 * @session: the session
 * @server: the server's address and port
 * @name: the file, relative to the folder that the server offers; "": the one file that it
 *	offers
 * @path: the destination. For a folder, the file keeps its last component there. For a symbolic
 *	link, the file that it refers to is replaced, not the link. If @name is "" and @path is
 *	a folder, the server chooses the name: then the file never replaces another one, and its
 *	name must not begin with a dot or a hyphen and must be UTF-8 without control characters.
 * @options: options, or NULL
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Errors: those of connecting, in particular ECONNREFUSED (no server there), EHOSTUNREACH,
 * ETIMEDOUT, and:
 * ENOENT, EACCES, EISDIR, ENOTDIR, ENAMETOOLONG, ENOSPC, EDQUOT, EFBIG, EIO and similar errors
 *	of file operations, here or at the server, see &struct krdma_file_result.side. EACCES
 *	from the server also means a name that leads out of the folder it offers;
 * EOPNOTSUPP: neither a file nor a folder; EBUSY: another process is using the part file that
 *	KRDMA_FILE_CONTINUE would continue;
 * EEXIST, EILSEQ: the name chosen by the server exists here, or is not allowed;
 * ESTALE: the source changed during the transfer; EBADMSG: checksum mismatch;
 * EUSERS: the server has its maximum of clients, in total or for this address;
 * ESHUTDOWN: the server is shutting down;
 * ENOKEY: the server requires a secret; EKEYREJECTED: the other side does not know this secret;
 * ECONNRESET: the server is gone, or the connection broke;
 * EPROTO: the server uses another protocol, or violates this one;
 * EPROTONOSUPPORT: the server has another protocol version;
 * ECANCELED: &struct krdma_file_options.progress returned a value other than 0;
 * ENOMEM, EPERM: see krdma_mr_register(); EINVAL: an invalid argument.
 */
int krdma_file_get(struct krdma *session, const struct sockaddr *server, const char *name,
		   const char *path, const struct krdma_file_options *options,
		   struct krdma_file_result *result, size_t size);

/**
 * krdma_file_get_fd() - Get the content of a file from a server
 * @session: the session
 * @server: the server's address and port
 * @name: the file, as for krdma_file_get()
 * @fd: descriptor to write to, from its current position, for example a pipe; holes are written
 *	as zeroes
 * @options: options, or NULL
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Data that were written before an error remain.
 *
 * Errors: as for krdma_file_get(); EINVAL with KRDMA_FILE_CONTINUE; EPIPE.
 */
int krdma_file_get_fd(struct krdma *session, const struct sockaddr *server, const char *name,
		      int fd, const struct krdma_file_options *options,
		      struct krdma_file_result *result, size_t size);

/**
 * krdma_file_put() - Put a file on a server
 * @session: the session
 * @server: the server's address and port
 * @path: the local file
 * @name: its name on the server, relative to the folder that the server offers; "": the one
 *	file that it offers
 * @options: options, or NULL
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Errors: as for krdma_file_get(), and EROFS: the server does not allow writing.
 */
int krdma_file_put(struct krdma *session, const struct sockaddr *server, const char *path,
		   const char *name, const struct krdma_file_options *options,
		   struct krdma_file_result *result, size_t size);

/*
 * Servers
 */

struct krdma_file_server;

/**
 * enum krdma_file_operation - operation that a client requested
 * @KRDMA_FILE_NOTHING: no request, or one that the server did not understand
 * @KRDMA_FILE_GET: get a file
 * @KRDMA_FILE_PUT: put a file
 */
enum krdma_file_operation {
	KRDMA_FILE_NOTHING = 0,
	KRDMA_FILE_GET = 1,
	KRDMA_FILE_PUT = 2,
};

/**
 * struct krdma_file_report - a server's report about one client
 * @operation: &enum krdma_file_operation
 * @error: 0, or a negative errno
 * @side: &enum krdma_file_side, location of a failure; the peer is the client
 * @crc32c: checksum of the whole file; 0 after an error
 * @length: length of the whole file in bytes, 0 if unknown
 * @resumed_from: bytes that were present before this transfer
 * @transferred: bytes transferred over the network
 * @nanoseconds: duration
 * @peer: the client's address
 * @name: the name exactly as the client sent it; it may contain any bytes
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
 * @KRDMA_FILE_SERVER_WRITABLE: clients may put files and replace existing files
 * @KRDMA_FILE_SERVER_NO_SYNC: as KRDMA_FILE_NO_SYNC, for all files that clients put
 */
enum krdma_file_server_flags {
	KRDMA_FILE_SERVER_WRITABLE = 1 << 0,
	KRDMA_FILE_SERVER_NO_SYNC = 1 << 1,
};

/**
 * enum krdma_file_access - bits of &struct krdma_file_rule.access
 * @KRDMA_FILE_READ: clients may get files
 * @KRDMA_FILE_WRITE: clients may put files; without KRDMA_FILE_READ they may not replace
 *	existing files
 */
enum krdma_file_access {
	KRDMA_FILE_READ = 1 << 0,
	KRDMA_FILE_WRITE = 1 << 1,
};

/**
 * struct krdma_file_rule - access rule for a folder and its subfolders
 * @path: the folder, relative to the offered one; it must exist
 * @access: &enum krdma_file_access
 * @reserved: 0
 *
 * If several rules apply, the innermost one counts, whatever path leads to the folder. If there
 * is any rule, a symbolic link as the last component of a name is not followed.
 */
struct krdma_file_rule {
	const char *path;
	uint32_t access;
	uint32_t reserved;
};

/**
 * struct krdma_file_server_options - options of a server
 * @size: sizeof(struct krdma_file_server_options)
 * @flags: &enum krdma_file_server_flags
 * @max_clients: maximum number of clients at a time, at most 1024; each has a thread and
 *	buffers; 0: 16. Further clients get EUSERS.
 * @patience_ms: how long a client may be silent, in milliseconds; 0: 30000
 * @buffer_size: as in &struct krdma_file_options
 * @buffer_count: as in &struct krdma_file_options
 * @report: called in a client's thread when the client is finished; or NULL
 * @context: argument for @report
 * @request_ms: how long a client may take to send its request, in milliseconds, then ETIMEDOUT;
 *	0: 10000
 * @progress_ms: how long a client may then send only keepalives without progress, in
 *	milliseconds; 0: 120000
 * @max_per_peer: maximum number of clients of one address at a time, for IPv6 of one 64-bit
 *	prefix; 0: half of @max_clients. Further clients get EUSERS.
 * @secret_length: length of @secret in bytes
 * @secret: shared secret that clients must know, as in &struct krdma_file_options; or NULL
 * @allow: addresses and networks from which clients are allowed, separated by commas or blanks:
 *	10.0.0.0/24,fd00::/8; NULL: all. Other clients get ECONNREFUSED.
 * @rules: access rules for folders; or NULL
 * @rule_count: number of @rules
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
 * krdma_file_server_create() - Create a server that offers a folder or one file
 * @session: the session, which must stay open
 * @address: the address to listen at, as for krdma_listen()
 * @path: the folder or the file. Clients cannot reach anything outside it, whatever names they
 *	request: symbolic links that lead out of it are not followed; on kernels before 5.6 no
 *	symbolic links are followed
 * @options: options, or NULL
 * @server: receives the server
 *
 * Clients wait until krdma_file_server_run() is called.
 *
 * Errors: those of open() for @path and for folders with rules, and of krdma_listen();
 * EOPNOTSUPP (neither a file nor a folder, an unknown flag); EINVAL (among others, an address
 * that cannot be parsed, a secret that is too short, a rule although one file is offered);
 * EMFILE; ENOMEM.
 */
int krdma_file_server_create(struct krdma *session, const struct sockaddr *address,
			     const char *path, const struct krdma_file_server_options *options,
			     struct krdma_file_server **server);

/**
 * krdma_file_server_address() - Get the address of a server, with the assigned port
 * @server: the server
 * @address: receives the address
 *
 * Errors: those of krdma_listener_address().
 */
int krdma_file_server_address(struct krdma_file_server *server,
			      struct sockaddr_storage *address);

/**
 * krdma_file_server_run() - Serve clients until krdma_file_server_stop()
 * @server: the server; only one thread at a time may run it
 *
 * When the function returns, no client is connected.
 *
 * Errors: ENODEV (the device of its listener is gone).
 */
int krdma_file_server_run(struct krdma_file_server *server);

/**
 * krdma_file_server_stop() - Stop krdma_file_server_run(), now or once it is called
 * @server: the server
 *
 * Connected clients get ESHUTDOWN. May be called from a signal handler, and from &struct
 * krdma_file_server_options.report.
 *
 * Errors: EINVAL (@server is NULL).
 */
int krdma_file_server_stop(struct krdma_file_server *server);

/**
 * krdma_file_server_destroy() - Destroy a server
 * @server: the server, not being run by any thread; or NULL
 */
void krdma_file_server_destroy(struct krdma_file_server *server);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_FILE_H */
