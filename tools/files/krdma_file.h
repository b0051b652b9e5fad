/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma-files: copies of whole files between machines.
 *
 * A server offers a folder, or one file. A client gets a file from it, or puts a file there if
 * the server allows writing. The data are transferred by RDMA between buffers on both sides,
 * with several buffers in flight: the file need not fit in memory, and its length is not
 * limited. Holes stay holes. Permission bits are kept as far as the umask allows, times if asked;
 * owners are not kept.
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
 *
 * fork(): clients and servers stay the parent's, with their connections and memory. In a child,
 * krdma_file_client_destroy() and krdma_file_server_destroy() release the child's copies, but
 * for connections that a server serves at that moment: these stay in the child until it ends. A
 * child must not call any other function with them.
 *
 * Cancellation: a thread that may be canceled must disable cancellation during a call, as with
 * <krdma.h>. The function @progress of a client and krdma_file_server_stop() end calls instead.
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

/* Maximum number of connections for one file. */
#define KRDMA_FILE_STREAMS_MAX	16

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
 * @KRDMA_FILE_TIMES: give the file the modification time of the source
 * @KRDMA_FILE_UPDATE: transfer nothing if the destination has the length and modification time
 *	of the source; &struct krdma_file_result.skipped is then 1
 * @KRDMA_FILE_NEW: fail with EEXIST rather than replace a file
 * @KRDMA_FILE_PARENTS: make the folders at the server that lead to the name and do not exist
 * @KRDMA_FILE_NO_FOLLOW: a symbolic link is not a file that can be put
 * @KRDMA_FILE_CHECKSUM: transfer nothing if the destination has the length and the content of
 *	the source, whatever their times; if the lengths are equal, both ends read the whole file
 *	and compare a SHA-256.
 *	A file that is not transferred stays as it is, with its time and permission bits. A put
 *	where the client may not read compares nothing
 * @KRDMA_FILE_RECURSIVE: list the folders in a folder too; a folder precedes its entries
 */
enum krdma_file_flags {
	KRDMA_FILE_CONTINUE = 1 << 0,
	KRDMA_FILE_EXACT_MODE = 1 << 1,
	KRDMA_FILE_NO_SYNC = 1 << 2,
	KRDMA_FILE_TIMES = 1 << 3,
	KRDMA_FILE_UPDATE = 1 << 4,
	KRDMA_FILE_NEW = 1 << 5,
	KRDMA_FILE_PARENTS = 1 << 6,
	KRDMA_FILE_NO_FOLLOW = 1 << 7,
	KRDMA_FILE_RECURSIVE = 1 << 8,
	KRDMA_FILE_CHECKSUM = 1 << 9,
};

/**
 * struct krdma_file_options - options of a transfer
 * @size: sizeof(struct krdma_file_options)
 * @flags: &enum krdma_file_flags
 * @patience_ms: how long the server may be silent, in milliseconds; 0: 30000
 *	A server whose disk stalls is not silent: it says so without end, and only @progress can
 *	end the wait.
 * @buffer_size: bytes per buffer, 4096 to 4 MiB, rounded up to pages; 0: 1 MiB
 * @buffer_count: number of buffers, at most 16; 0: 8, or with more than four connections twice
 *	as many as these. If the process may not lock that much
 *	memory, the library uses fewer and smaller buffers.
 * @streams: number of connections that share the data of each file, at most
 *	KRDMA_FILE_STREAMS_MAX; 0: 1. A server may grant fewer, see
 *	&struct krdma_file_result.streams. If one of them ends, the transfer does.
 * @progress: called by the transferring thread after each buffer and also several times a
 *	second, unless that thread waits for a disk. If it returns a value other than 0, the
 *	transfer ends with ECANCELED. May be NULL.
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
	uint32_t streams;
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
 * @crc32c: checksum of the whole file; 0 after an error.  The server of a file that was got can
 *	change the data in memory until they are stored, so this proves nothing against the server.
 * @mode: permission bits of the file
 * @length: length of the whole file in bytes, 0 if unknown
 * @resumed_from: bytes that were present before this transfer
 * @transferred: bytes transferred over the network, without holes
 * @nanoseconds: duration
 * @mtime_s: modification time of the file, or of the folder that was listed, in seconds since 1970
 * @mtime_ns: and nanoseconds
 * @skipped: 1 if the destination was up to date, see KRDMA_FILE_UPDATE and
 *	KRDMA_FILE_CHECKSUM
 * @last: last component of the file's name
 * @streams: number of connections that the data used
 * @reserved: 0
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
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t skipped;
	char last[KRDMA_FILE_LAST_MAX + 1];
	uint32_t streams;
	uint32_t reserved;
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
 *	name must not begin with a dot or a hyphen and must be UTF-8 without control or invisible
 *	characters.
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
 * Errors: as for krdma_file_get(); EINVAL with KRDMA_FILE_CONTINUE; EBADF (@fd is not open for
 * writing); EPIPE.
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
 * Several files over one connection
 */

struct krdma_file_client;
struct stat;

/**
 * krdma_file_client_create() - Create a client of a server, for several requests
 * @session: the session, which must stay open
 * @server: the server's address and port
 * @options: options for all requests, or NULL
 * @client: receives the client
 *
 * The first request makes the connection, and later ones use it. If it has ended meanwhile, the
 * next request makes a new one: a server ends a connection that has had no request for some time,
 * see &struct krdma_file_server_options.request_ms. Only one thread at a time may use a client.
 *
 * Errors: EINVAL, EAFNOSUPPORT (neither IPv4 nor IPv6), ENOMEM, EOPNOTSUPP (an unknown flag).
 */
int krdma_file_client_create(struct krdma *session, const struct sockaddr *server,
			     const struct krdma_file_options *options,
			     struct krdma_file_client **client);

/**
 * krdma_file_client_destroy() - Disconnect and destroy a client
 * @client: the client; or NULL
 */
void krdma_file_client_destroy(struct krdma_file_client *client);

/**
 * krdma_file_client_get() - Get a file
 * @client: the client
 * @name: the file, as for krdma_file_get()
 * @folder: descriptor of the destination folder, or AT_FDCWD
 * @path: the destination, as for krdma_file_get(); if @folder is a descriptor, a single component,
 *	which is created or replaced in that folder
 * @flags: &enum krdma_file_flags, in addition to those of the client
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Errors: as for krdma_file_get().
 */
int krdma_file_client_get(struct krdma_file_client *client, const char *name, int folder,
			  const char *path, uint32_t flags, struct krdma_file_result *result,
			  size_t size);

/**
 * krdma_file_client_get_fd() - Get the content of a file
 * @client: the client
 * @name: the file, as for krdma_file_get()
 * @fd: descriptor to write to, as for krdma_file_get_fd()
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Errors: as for krdma_file_get_fd().
 */
int krdma_file_client_get_fd(struct krdma_file_client *client, const char *name, int fd,
			     struct krdma_file_result *result, size_t size);

/**
 * krdma_file_client_put() - Put a file
 * @client: the client
 * @folder: descriptor of the folder of the local file, or AT_FDCWD
 * @path: the local file, relative to @folder
 * @name: its name on the server, as for krdma_file_put()
 * @flags: &enum krdma_file_flags, in addition to those of the client
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Errors: as for krdma_file_put().
 */
int krdma_file_client_put(struct krdma_file_client *client, int folder, const char *path,
			  const char *name, uint32_t flags, struct krdma_file_result *result,
			  size_t size);

/**
 * krdma_file_client_make_folder() - Make a folder on the server
 * @client: the client
 * @name: its name, relative to the folder that the server offers
 * @status: permission bits and modification time of the local folder, as from stat(2), which the
 *	new one gets with KRDMA_FILE_EXACT_MODE and KRDMA_FILE_TIMES, also if it exists already;
 *	with KRDMA_FILE_NEW only if it does not, and of them the permission bits, as far as the
 *	umask of the server allows, and all of its owner's: for one that is to be filled; or NULL
 * @flags: &enum krdma_file_flags, in addition to those of the client
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * The folder may exist already.
 *
 * Errors: as for krdma_file_put(); ENOTDIR: there is a file with this name.
 */
int krdma_file_client_make_folder(struct krdma_file_client *client, const char *name,
				  const struct stat *status, uint32_t flags,
				  struct krdma_file_result *result, size_t size);

/**
 * enum krdma_file_type - type of an entry in a folder
 * @KRDMA_FILE_TYPE_FILE: a regular file, or a symbolic link to one that the server would follow
 * @KRDMA_FILE_TYPE_FOLDER: a folder
 * @KRDMA_FILE_TYPE_LINK: a symbolic link to a folder. A recursive list does not follow it
 * @KRDMA_FILE_TYPE_OTHER: something that cannot be transferred
 * @KRDMA_FILE_TYPE_UNREADABLE: the server could not examine what has this name, or not read all of
 *	a folder that has another entry: the list is not complete
 */
enum krdma_file_type {
	KRDMA_FILE_TYPE_FILE = 1,
	KRDMA_FILE_TYPE_FOLDER = 2,
	KRDMA_FILE_TYPE_LINK = 3,
	KRDMA_FILE_TYPE_OTHER = 4,
	KRDMA_FILE_TYPE_UNREADABLE = 5,
};

/**
 * struct krdma_file_entry - an entry of a folder at the server
 * @name: its name, relative to the folder that was listed. The library has checked that it does not
 *	lead out of that folder, and has a slash only in a recursive list. It may have any other
 *	bytes, see krdma_file_name_check()
 * @type: &enum krdma_file_type
 * @mode: permission bits
 * @length: length of the file in bytes
 * @mtime_s: modification time in seconds since 1970
 * @mtime_ns: and nanoseconds
 * @error: why, a negative errno, if it is KRDMA_FILE_TYPE_UNREADABLE; else 0
 */
struct krdma_file_entry {
	const char *name;
	uint32_t type;
	uint32_t mode;
	uint64_t length;
	int64_t mtime_s;
	uint32_t mtime_ns;
	int32_t error;
};

/**
 * krdma_file_client_list() - List a folder at the server
 * @client: the client
 * @name: the folder, relative to the one that the server offers, which is ""
 * @flags: &enum krdma_file_flags, in addition to those of the client
 * @entries: receives the entries, in no particular order, for krdma_file_list_free()
 * @count: receives their number
 * @result: filled in, also after an error; or NULL
 * @size: sizeof(*result)
 *
 * Folders that clients may not read are not listed, nor are part files. For a file, the list has
 * one entry, the file. A list says nothing of what changes while it is made.
 *
 * Errors: as for krdma_file_get(); EFBIG: the list is longer than 16 MiB.
 */
int krdma_file_client_list(struct krdma_file_client *client, const char *name, uint32_t flags,
			   struct krdma_file_entry **entries, size_t *count,
			   struct krdma_file_result *result, size_t size);

/**
 * krdma_file_list_free() - Free the entries of krdma_file_client_list()
 * @entries: the entries; or NULL
 */
void krdma_file_list_free(struct krdma_file_entry *entries);

/**
 * enum krdma_file_name_flags - flags of krdma_file_name_check()
 * @KRDMA_FILE_NAME_HIDDEN: the name may begin with a dot or a hyphen
 */
enum krdma_file_name_flags {
	KRDMA_FILE_NAME_HIDDEN = 1 << 0,
};

/**
 * krdma_file_name_check() - Can a name that a server chose be created without asking?
 * @name: a single component
 * @flags: &enum krdma_file_name_flags
 *
 * A name is harmless if it is UTF-8 without control or invisible characters, and neither hidden
 * nor like an option of a command: else a server could plant a shell's start-up file.
 *
 * Errors: EPERM: it begins with a dot or a hyphen; EILSEQ: it has other characters, or is not a
 * single component; EINVAL: an unknown flag.
 */
int krdma_file_name_check(const char *name, uint32_t flags);

/*
 * Servers
 */

struct krdma_file_server;

/**
 * enum krdma_file_operation - operation that a client requested
 * @KRDMA_FILE_NOTHING: no request, or one that the server did not understand
 * @KRDMA_FILE_GET: get a file
 * @KRDMA_FILE_PUT: put a file
 * @KRDMA_FILE_LIST: list a folder
 * @KRDMA_FILE_MAKE_FOLDER: make a folder
 */
enum krdma_file_operation {
	KRDMA_FILE_NOTHING = 0,
	KRDMA_FILE_GET = 1,
	KRDMA_FILE_PUT = 2,
	KRDMA_FILE_LIST = 3,
	KRDMA_FILE_MAKE_FOLDER = 4,
};

/**
 * struct krdma_file_report - a server's report about one request of a client
 * @operation: &enum krdma_file_operation
 * @error: 0, or a negative errno
 * @side: &enum krdma_file_side, location of a failure; the peer is the client
 * @crc32c: checksum of the whole file; 0 after an error
 * @length: length of the whole file in bytes, 0 if unknown
 * @resumed_from: bytes that were present before this transfer
 * @transferred: bytes transferred over the network
 * @nanoseconds: duration
 * @skipped: 1 if nothing was transferred, because the destination was up to date or the client did
 *	not want it
 * @streams: number of connections that the data used
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
	uint32_t skipped;
	uint32_t streams;
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
 * @report: called in a client's thread after each of its requests, and for a client that is
 *	refused without one; or NULL
 * @context: argument for @report
 * @request_ms: how long a client may take to send its first request, in milliseconds, then
 *	ETIMEDOUT; and how long it may be connected without another request after one, then the
 *	server disconnects. 0: 10000
 * @progress_ms: how long a client may then send only keepalives without progress, in
 *	milliseconds; 0: 120000. So long its disk, or the reader of what it gets, may stall.
 * @max_per_peer: maximum number of clients of one address at a time, for IPv6 of one 64-bit
 *	prefix; 0: half of @max_clients. Further clients get EUSERS.
 * @secret_length: length of @secret in bytes
 * @secret: shared secret that clients must know, as in &struct krdma_file_options; or NULL
 * @allow: addresses and networks from which clients are allowed, separated by commas or blanks:
 *	10.0.0.0/24,fd00::/8; NULL: all. Other clients get ECONNREFUSED.
 * @rules: access rules for folders; or NULL
 * @rule_count: number of @rules
 * @max_conns: maximum number of connections of all clients at a time, from @max_clients to 16384;
 *	0: 256, or @max_clients if that is more. Each client has one. One that asks for several
 *	gets as many as there are; to the clients of one address the server grants the share that
 *	@max_per_peer is of @max_clients.
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
	uint32_t max_conns;
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
 * krdma_file_server_options.report. Of a file that is being put, the part file remains, and a
 * later put with KRDMA_FILE_CONTINUE goes on from there. The server removes no part files.
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
