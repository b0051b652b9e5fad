// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Messages between the two ends.
 *
 * A client makes a connection for one or more requests, one after another. In the private data of
 * the connection both sides identify this protocol, 16 or 48 bytes:
 *
 *	 0  "krdf"
 *	 4  u16  version: 2
 *	 6  u16  flags: 1: this side has a secret, see file_admit.c; 2: another connection of a
 *		 client
 *	 8  u32  0; or the code of the error with which the server rejects the client, as in
 *		 ERROR
 *	12  u32  number of connections that the client asks for, or that the server grants, 0
 *		 for 1; with flag 2 the number of this one, 1 for the second, and 0 in its answer
 *	16  32 bytes: of a server that grants several connections: a random ticket; with flag 2:
 *		 the ticket, or with a secret HMAC("krdma-file-1" "j" ticket number), see
 *		 file_admit.c. Absent otherwise
 *
 * A peer that does not know about several connections sends 0 at offset 12, and ignores what is
 * there.
 *
 * Then they exchange messages, each in one SEND. All numbers are little-endian. A message has
 * 88 bytes, followed by a name if it has one:
 *
 *	 0  u8   type
 *	 1  u8   0
 *	 2  u16  length of the name, without a terminating NUL
 *	 4  u32  code: of GET: 1: a list of the folder, 2: and of those in it; of PUT: 1:
 *		 continue, 2: exactly these permission bits, 4: without waiting for the disk,
 *		 8: make missing folders, 16: keep the modification time, 32: only if length
 *		 or modification time differ, 64: only if there is no such file, 128: only if
 *		 length or content differ; of FOLDER: 2, 4 and 16 of these; of ERROR and
 *		 REFUSE: the reason, see below
 *	 8  u64  offset in the file
 *	16  u64  length
 *	24  s64  modification time, seconds
 *	32  u32  and nanoseconds
 *	36  u32  permission bits; of FOLDER also without 2 in the code: those with which it is
 *		 made, as far as the server's umask allows; 0: 0777
 *	40  u32  CRC-32C
 *	44  u32  slot
 *	48  u32  bytes per slot
 *	52  u32  number of slots
 *	56  32 bytes: a memory descriptor, as in <linux/krdma_mr_desc.h>; of DIGEST: that of
 *	    the content, see below; of CHALLENGE and PROOF: see file_admit.c
 *
 * Fields that a type does not use are 0. The client has a window of slots: buffers that are
 * registered for the server to write or to read. The server gives no access to its buffers.
 *
 *	client                          server
 *
 *	GET name                  ->
 *	                          <-    FILE length time bits; slots at most; name
 *	FETCH offset CRC; slots   ->                          (data from an earlier transfer)
 *	                          <-    BEGIN offset          (that offset, or 0)
 *	                          <-    DATA, HOLE ...        (written into slots)
 *	CREDIT ...                ->                          (a slot is free again)
 *	                          <-    END length CRC
 *	DONE                      ->
 *
 *	GET name                  ->
 *	                          <-    FILE length time bits; slots at most; name
 *	SKIP                      ->                          (the client does not want it)
 *
 *	GET name                  ->
 *	                          <-    FILE length time bits; slots at most; name
 *	COMPARE                   ->                          (the client has a file of this
 *	                          <-    DIGEST                 length)
 *	FETCH or SKIP             ->                          (and so on, as above)
 *
 *	PUT name length time bits ->
 *	                          <-    HAVE offset CRC; slots at most
 *	NEXT                      ->                          (no match: the next HAVE)
 *	OFFER offset; slots       ->
 *	DATA, HOLE ...            ->                          (read from slots)
 *	                          <-    CREDIT ...
 *	END length CRC            ->
 *	                          <-    DONE
 *
 *	PUT name length time bits ->
 *	                          <-    SKIP                  (the server has it)
 *
 *	PUT name length time bits ->
 *	                          <-    COMPARE               (the server has a file of this
 *	DIGEST                    ->                           length)
 *	                          <-    HAVE or SKIP          (and so on, as above)
 *
 *	FOLDER name time bits     ->
 *	                          <-    DONE
 *
 * In place of its first answer, the server may REFUSE a request that it cannot carry out. After
 * that, and after DONE and SKIP, the client may send another request, or disconnect. The data of a
 * list are described in file_list.c.
 *
 * DATA and HOLE are sent in file order, without gaps, and use the slots in turn. A HOLE uses a
 * slot without filling it.
 *
 * If the server grants N connections, the client makes the other N - 1 after it was admitted, in
 * the order of their numbers and before its first request. They serve the data alone: DATA and
 * HOLE for slot S, and the server's access to that slot, use connection S modulo N. So the pieces
 * of a file are dealt out among the connections, and the receiver knows which of them has the
 * next piece. All other messages use the first connection. If one connection ends, all do.
 *
 * A DIGEST is a SHA-256 of the content, for which it does not matter which zeros are holes: of each
 * block of 4096 bytes that is not all zero, and of a last one that is shorter, after the number of
 * zero blocks before it; then of the number of the zero blocks that are left, and of the length.
 * The numbers have 8 bytes.
 *
 * Either side may send ERROR at any time and then disconnects. Either side may send ALIVE, a
 * keepalive; the server does not between requests. If the sender is computing the checksum or the
 * digest of a file, the offset in ALIVE is how far it has come.
 */
#include "file_internal.h"

#include <errno.h>
#include <string.h>

#define HELLO_MAGIC	"krdf"
#define HELLO_VERSION	2

/* The fields that each type of message uses. */
enum {
	HAS_CODE = 1 << 0,
	HAS_OFFSET = 1 << 1,
	HAS_LENGTH = 1 << 2,
	HAS_MTIME = 1 << 3,
	HAS_MODE = 1 << 4,
	HAS_CRC = 1 << 5,
	HAS_SLOT = 1 << 6,
	HAS_SLOTS = 1 << 7,
	HAS_DESCRIPTOR = 1 << 8,
	HAS_NAME = 1 << 9,
};

static const uint16_t fields[FILE_MESSAGE_TYPES] = {
	[FILE_MESSAGE_GET] = HAS_CODE | HAS_NAME,
	[FILE_MESSAGE_FILE] = HAS_LENGTH | HAS_MTIME | HAS_MODE | HAS_SLOTS | HAS_NAME,
	[FILE_MESSAGE_FETCH] = HAS_OFFSET | HAS_CRC | HAS_SLOTS | HAS_DESCRIPTOR,
	[FILE_MESSAGE_BEGIN] = HAS_OFFSET,
	[FILE_MESSAGE_PUT] = HAS_CODE | HAS_LENGTH | HAS_MTIME | HAS_MODE | HAS_NAME,
	[FILE_MESSAGE_HAVE] = HAS_OFFSET | HAS_CRC | HAS_SLOTS,
	[FILE_MESSAGE_OFFER] = HAS_OFFSET | HAS_SLOTS | HAS_DESCRIPTOR,
	[FILE_MESSAGE_DATA] = HAS_OFFSET | HAS_LENGTH | HAS_SLOT,
	[FILE_MESSAGE_HOLE] = HAS_OFFSET | HAS_LENGTH | HAS_SLOT,
	[FILE_MESSAGE_END] = HAS_LENGTH | HAS_CRC,
	[FILE_MESSAGE_CHALLENGE] = HAS_DESCRIPTOR,
	[FILE_MESSAGE_PROOF] = HAS_DESCRIPTOR,
	[FILE_MESSAGE_ERROR] = HAS_CODE,
	[FILE_MESSAGE_ALIVE] = HAS_OFFSET,
	[FILE_MESSAGE_REFUSE] = HAS_CODE,
	[FILE_MESSAGE_FOLDER] = HAS_CODE | HAS_MTIME | HAS_MODE | HAS_NAME,
	[FILE_MESSAGE_DIGEST] = HAS_DESCRIPTOR,
};

/* The bits that the code of a request may have; other codes are reasons. */
static uint32_t codes_of(uint8_t type)
{
	switch (type) {
	case FILE_MESSAGE_GET:
		return FILE_GET_CODES;
	case FILE_MESSAGE_PUT:
		return FILE_PUT_CODES;
	case FILE_MESSAGE_FOLDER:
		return FILE_FOLDER_CODES;
	default:
		return UINT32_MAX;
	}
}

/* Error codes on the wire. A code never changes its meaning. */
static const struct {
	uint32_t code;
	int err;
} codes[] = {
	{ 1, -EIO }, { 2, -ENOENT }, { 3, -EACCES }, { 4, -EROFS }, { 5, -EISDIR },
	{ 6, -ENOTDIR }, { 7, -ENAMETOOLONG }, { 8, -EOPNOTSUPP }, { 9, -ENOSPC },
	{ 10, -EDQUOT }, { 11, -EFBIG }, { 12, -EBUSY }, { 13, -ESTALE }, { 14, -EBADMSG },
	{ 15, -ECANCELED }, { 16, -EPROTO }, { 17, -ENOMEM }, { 18, -EUSERS },
	{ 19, -ESHUTDOWN }, { 20, -ETIMEDOUT }, { 21, -EPROTONOSUPPORT }, { 22, -EPERM },
	{ 23, -EMFILE }, { 24, -ETXTBSY }, { 25, -EINVAL }, { 26, -ELOOP },
	{ 27, -EEXIST }, { 28, -EILSEQ }, { 29, -EKEYREJECTED }, { 30, -ENOKEY },
	{ 31, -ECONNREFUSED }, { 32, -ECONNRESET },
};

uint32_t file_code_of(int err)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (codes[i].err == err)
			return codes[i].code;
	}
	return codes[0].code;
}

int file_code_error(uint32_t code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (codes[i].code == code)
			return codes[i].err;
	}
	return codes[0].err;
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

size_t file_message_encode(const struct file_message *message, const char *name, void *to)
{
	size_t name_length = name ? strlen(name) : 0;
	unsigned char *byte = to;

	put(byte, message->type, 2);
	put(byte + 2, name_length, 2);
	put(byte + 4, message->code, 4);
	put(byte + 8, message->offset, 8);
	put(byte + 16, message->length, 8);
	put(byte + 24, (uint64_t)message->mtime_s, 8);
	put(byte + 32, message->mtime_ns, 4);
	put(byte + 36, message->mode, 4);
	put(byte + 40, message->crc, 4);
	put(byte + 44, message->slot, 4);
	put(byte + 48, message->slot_size, 4);
	put(byte + 52, message->slot_count, 4);
	memcpy(byte + 56, message->descriptor, sizeof(message->descriptor));
	if (name_length)
		memcpy(byte + FILE_MESSAGE_FIXED, name, name_length);
	return FILE_MESSAGE_FIXED + name_length;
}

/* Checks the fields of a message, as far as that does not need the state of the transfer. */
static bool is_right(const struct file_message *message)
{
	static const uint8_t nothing[KRDMA_MR_DESC_SIZE];
	unsigned int has;

	if (message->type >= FILE_MESSAGE_TYPES || !message->type)
		return false;
	has = fields[message->type];
	if ((message->code && !(has & HAS_CODE)) ||
	    (message->offset && !(has & HAS_OFFSET)) ||
	    (message->length && !(has & HAS_LENGTH)) ||
	    ((message->mtime_s || message->mtime_ns) && !(has & HAS_MTIME)) ||
	    (message->mode && !(has & HAS_MODE)) ||
	    (message->crc && !(has & HAS_CRC)) ||
	    (message->slot && !(has & HAS_SLOT)) ||
	    ((message->slot_size || message->slot_count) && !(has & HAS_SLOTS)) ||
	    (message->name_length && !(has & HAS_NAME)))
		return false;
	if (!(has & HAS_DESCRIPTOR) && memcmp(message->descriptor, nothing, sizeof(nothing)))
		return false;
	if (message->offset > FILE_LENGTH_MAX ||
	    message->length > FILE_LENGTH_MAX - message->offset ||
	    message->mtime_ns > 999999999 || message->mode > 0777 ||
	    message->code & ~codes_of(message->type) ||
	    (message->type == FILE_MESSAGE_GET && message->code == FILE_GET_RECURSIVE))
		return false;
	if (!(has & HAS_SLOTS))
		return true;
	return message->slot_size >= FILE_SLOT_MIN && message->slot_size <= FILE_SLOT_MAX &&
	       message->slot_count && message->slot_count <= FILE_SLOTS_MAX;
}

int file_message_decode(const void *from, size_t length, struct file_message *message,
			char *name)
{
	const unsigned char *byte = from;

	if (length < FILE_MESSAGE_FIXED)
		return -EPROTO;
	*message = (struct file_message){
		.type = byte[0],
		.name_length = (uint16_t)get(byte + 2, 2),
		.code = (uint32_t)get(byte + 4, 4),
		.offset = get(byte + 8, 8),
		.length = get(byte + 16, 8),
		.mtime_s = (int64_t)get(byte + 24, 8),
		.mtime_ns = (uint32_t)get(byte + 32, 4),
		.mode = (uint32_t)get(byte + 36, 4),
		.crc = (uint32_t)get(byte + 40, 4),
		.slot = (uint32_t)get(byte + 44, 4),
		.slot_size = (uint32_t)get(byte + 48, 4),
		.slot_count = (uint32_t)get(byte + 52, 4),
	};
	memcpy(message->descriptor, byte + 56, sizeof(message->descriptor));
	if (byte[1] || message->name_length > KRDMA_FILE_NAME_MAX ||
	    length != FILE_MESSAGE_FIXED + (size_t)message->name_length || !is_right(message))
		return -EPROTO;
	if (!(fields[message->type] & HAS_NAME))
		return 0;
	if (memchr(byte + FILE_MESSAGE_FIXED, '\0', message->name_length))
		return -EPROTO;
	memcpy(name, byte + FILE_MESSAGE_FIXED, message->name_length);
	name[message->name_length] = '\0';
	return 0;
}

size_t file_hello_encode(void *to, const struct file_hello *hello)
{
	unsigned char *byte = to;

	memset(byte, 0, FILE_HELLO_SIZE);
	memcpy(byte, HELLO_MAGIC, 4);
	put(byte + 4, HELLO_VERSION, 2);
	put(byte + 6, hello->flags, 2);
	put(byte + 8, hello->code, 4);
	put(byte + 12, hello->streams, 4);
	if (!hello->has_token)
		return FILE_HELLO_SHORT;
	memcpy(byte + FILE_HELLO_SHORT, hello->token, FILE_TOKEN);
	return FILE_HELLO_SIZE;
}

/* More bytes are valid: not every transport reports the exact length. */
int file_hello_decode(const void *from, size_t length, struct file_hello *hello)
{
	const unsigned char *byte = from;

	memset(hello, 0, sizeof(*hello));
	if (length < FILE_HELLO_SHORT || memcmp(byte, HELLO_MAGIC, 4))
		return -EPROTO;
	if (get(byte + 4, 2) != HELLO_VERSION)
		return -EPROTONOSUPPORT;
	hello->flags = (uint16_t)get(byte + 6, 2);
	/* A flag changes the protocol, so refuse unknown ones. */
	if (hello->flags & ~FILE_HELLO_FLAGS)
		return -EPROTONOSUPPORT;
	hello->code = (uint32_t)get(byte + 8, 4);
	hello->streams = (uint32_t)get(byte + 12, 4);
	hello->has_token = length >= FILE_HELLO_SIZE;
	if (hello->has_token)
		memcpy(hello->token, byte + FILE_HELLO_SHORT, FILE_TOKEN);
	else if (hello->flags & FILE_HELLO_JOIN)
		return -EPROTO;
	return 0;
}
