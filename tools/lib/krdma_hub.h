/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: hubs, for programs with many peers.
 *
 * A hub has one descriptor, listens if it has an address, and connects to other hubs. An
 * endpoint is one connected peer. Endpoints exchange messages with a tag, of any length up to
 * the receiver's maximum: short ones are sent as a whole into receives that all peers share,
 * long ones are announced, and the receiver reads them by RDMA. A call is a message with an
 * answer and a deadline. Named memory can be read and written without the peer's program.
 *
 *	server					client
 *	krdma_hub_open(":7474", ...)		krdma_hub_open(NULL, ...)
 *	krdma_hub_next() -> JOINED		krdma_ep_connect("host:7474", ...)
 *	krdma_hub_next() -> MESSAGE		krdma_ep_call()
 *	krdma_ep_answer(), krdma_ep_done()	krdma_ep_done()
 *	krdma_hub_next() -> LEFT		krdma_ep_close(), krdma_hub_close()
 *	krdma_ep_close()
 *
 * Threads: one thread at a time is in a function with a hub or one of its endpoints, records
 * or memory; the program provides the lock if several threads take turns. Different hubs are
 * independent. Everything happens in these functions: a hub has no thread of its own, so a
 * program calls krdma_hub_next() whenever the descriptor of the hub is readable. Every function
 * that waits also serves all other endpoints, and keeps what arrives for krdma_hub_next().
 *
 * fork(): a hub stays the parent's, with all that belongs to it. In a child, krdma_ep_done(),
 * krdma_ep_close() and krdma_hub_close() release the child's copies; krdma_ep_close() leaves some
 * of that to krdma_hub_close(). A child must not call any other function.
 *
 * Lent data: the data of a record belong to the library. They stay valid and unchanged until
 * krdma_ep_done(), also after the peer has left. Until then they count against what the peer
 * may send, so that a peer can use up its own share only.
 *
 * What one peer can take: a peer has receives for @depth messages, and for the answers to @depth
 * calls. One that sends more is disconnected. Long messages are read when the hub has memory
 * for them: @longest bytes for each peer, @budget bytes for all. Those of other peers wait;
 * short messages do not. krdma_hub_next() takes one record of each endpoint in turn, so at most
 * one record of each other endpoint comes before the next record of a given one.
 *
 * Order: the records of an endpoint come in the order in which the peer sent the messages. Only
 * SENT, errors of calls, and answers whose deadline has passed overtake messages that wait for
 * memory.
 *
 * Functions return 0 or a negative errno. Errors common to many functions: EINVAL; ENOTCONN (the
 * endpoint has not joined, or krdma_ep_close() was called); the error of the LEFT record after
 * the peer has left: ECONNRESET (its program ended, or the connection failed), EPIPE (it closed
 * its endpoint), ETIMEDOUT (it does not respond, or takes nothing), EPROTO (it does not follow
 * the protocol), ENODEV (the device is gone), or the error with which it left (ECONNRESET if that
 * is EAGAIN or EINTR); EAGAIN (@deadline is 0); ETIMEDOUT (the deadline has passed); EINTR (a
 * signal arrived); ENOMEM. Neither EAGAIN nor EINTR nor the end of a deadline ends an endpoint.
 * Deadlines are as in <krdma.h>. krdma_ep_why() has the reason in words, and krdma_hub_why() where
 * there is no endpoint.
 */
#ifndef KRDMA_HUB_H
#define KRDMA_HUB_H

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of endpoints with one descriptor. */
struct krdma_hub;
/* One peer. */
struct krdma_ep;
/* Named memory of a peer. */
struct krdma_ep_memory;

/* Maximum length of the bytes for the peer in krdma_ep_connect(). */
#define KRDMA_HELLO_MAX		24
/* Maximum length of the words with which a side leaves. */
#define KRDMA_WHY_MAX		120
/* Minimum and maximum length of a secret in bytes. */
#define KRDMA_HUB_SECRET_MIN	16
#define KRDMA_HUB_SECRET_MAX	1024
/* Maximum length of the name of memory: printable ASCII characters without blanks. */
#define KRDMA_SHARE_NAME_MAX	64

/**
 * struct krdma_hub_options - options of a hub; 0 or NULL: the default
 * @size: sizeof(struct krdma_hub_options)
 * @peers: maximum number of endpoints; 0: 64
 * @per_address: maximum number of them that a host has connected, as far as addresses show; 0:
 *	half of @peers, at least 1
 * @depth: number of messages, and of calls, that a peer may have in flight, at most 256; 0: 8
 * @eager: bytes of the longest message that is sent as a whole, from 64 to 1 MiB; 0: 2048. Both
 *	sides use the smaller value of each, and of @depth.
 * @idle_ms: a peer whose device does not respond, or that has no receive for what was sent, for
 *	this time is disconnected; 0: 30000
 * @longest: bytes of the longest message of a peer, at least @eager; 0: 16 MiB
 * @budget: bytes of memory of the long messages of all peers that were read and not given back, at
 *	least @longest; 0: four times @longest
 * @allow: addresses and networks of admitted peers, as "10.0.0.0/8, fd00::1"; NULL: all
 * @admit: called for each peer that connects, after the checks of the address and the proof of the
 *	secret; a negative errno refuses it, and the peer gets the errno. It must not call functions
 *	with the hub. NULL: admit all
 * @context: argument for @admit
 * @secret: shared secret that peers must prove to know, and this hub to them; NULL: none, for peers
 *	without a secret. Use KRDMA_HUB_SECRET_MIN to KRDMA_HUB_SECRET_MAX random bytes: an
 *	eavesdropper can test guesses. The hub has a copy.
 * @secret_length: length of @secret in bytes
 * @reserved: 0
 *
 * With a secret, the addresses and limits are checked first, then the proof, then @admit is called.
 * Before the proof, the program sees nothing of the peer: no @admit, no record, no message, no
 * request for named memory. Both programs must use their hubs within @idle_ms for the proofs, or
 * the connection ends. A connection is worth one guess. What follows is neither encrypted nor
 * signed. A hub with a secret cannot connect to itself.
 *
 * The hub needs (3 * @depth + 18) * (@eager + 24) bytes of registered memory for each endpoint,
 * which is 87 KB with the defaults, and keeps (2 * @depth + 9) * (@eager + 24) of them for the
 * next one. The memory of a long message is longer than the message: by up to an eighth, or by less
 * than a sixteenth of @longest in whole pages, at most 64 KiB, if that is more. It counts no more
 * than @longest; of each device up to @longest bytes stay registered for the next ones.
 *
 * Endpoints of a device share a ring and an SRQ, which are made for up to @peers of them: 2 *
 * @depth + 9 completions of each for receives, and @depth + 33 of a quarter more of them for the
 * rest. A ring has at most 65536, and at most what the device supports: that is enough for 859
 * endpoints with the default of @depth, and for 74 with the largest. Beyond that there is another
 * ring and SRQ, which take two descriptors.
 */
struct krdma_hub_options {
	uint32_t size;
	uint32_t peers;
	uint32_t per_address;
	uint32_t depth;
	uint32_t eager;
	uint32_t idle_ms;
	uint64_t longest;
	uint64_t budget;
	const char *allow;
	int (*admit)(void *context, const struct sockaddr *peer, const void *hello,
		     size_t length);
	void *context;
	const void *secret;
	uint32_t secret_length;
	uint32_t reserved;
};

/**
 * enum krdma_ep_event - what a record reports
 * @KRDMA_EP_JOINED: the endpoint is connected
 * @KRDMA_EP_MESSAGE: a message, or a call if @call is not 0
 * @KRDMA_EP_ANSWER: the answer to krdma_ep_call_begin(), or its error
 * @KRDMA_EP_SENT: the memory of krdma_ep_send_lent() is the caller's again
 * @KRDMA_EP_LEFT: the last record of the endpoint, which the caller closes. The error is 0 if the
 *	peer has closed its endpoint.
 */
enum krdma_ep_event {
	KRDMA_EP_JOINED = 1,
	KRDMA_EP_MESSAGE = 2,
	KRDMA_EP_ANSWER = 3,
	KRDMA_EP_SENT = 4,
	KRDMA_EP_LEFT = 5,
};

/**
 * struct krdma_ep_record - an event of an endpoint
 * @size: sizeof(struct krdma_ep_record) of the library
 * @event: &enum krdma_ep_event; ignore an unknown one
 * @ep: the endpoint
 * @error: ANSWER, SENT, LEFT: 0 or a negative errno
 * @reserved: 0
 * @tag: MESSAGE, ANSWER: the sender's number
 * @user_data: ANSWER, SENT: the caller's number
 * @call: MESSAGE: not 0 if the peer waits for krdma_ep_answer()
 * @data: MESSAGE, ANSWER: lent data, aligned to 8 bytes; not NULL
 * @length: bytes of @data
 * @lent: for krdma_ep_done()
 */
struct krdma_ep_record {
	uint32_t size;
	uint32_t event;
	struct krdma_ep *ep;
	int32_t error;
	uint32_t reserved;
	uint64_t tag;
	uint64_t user_data;
	uint64_t call;
	const void *data;
	size_t length;
	void *lent;
};

/**
 * krdma_hub_open() - Create a hub
 * @at: where to listen: "HOST:PORT", "[ADDRESS]:PORT", "DEVICE:PORT" or ":PORT" for all
 *	addresses; port 0: any free port; NULL: do not listen
 * @options: options, or NULL
 * @hub: receives the hub
 *
 * Resolving a host name may wait for a name server.
 *
 * Errors: EINVAL (also a wrong list of addresses, and a secret of a wrong length); E2BIG (options
 * that this version does not know); ENXIO (no such name, address or device); EAGAIN (temporary
 * failure of name resolution); EADDRNOTAVAIL, EADDRINUSE, EACCES as for krdma_listen(); ENOENT,
 * EACCES as for krdma_open(); EMFILE; ENOMEM.
 */
int krdma_hub_open(const char *at, const struct krdma_hub_options *options,
		   struct krdma_hub **hub);

/**
 * krdma_hub_close() - Close a hub, its endpoints and its memory
 * @hub: the hub, or NULL
 *
 * Takes back lent data and ends outstanding calls: records must not be used any more. Peers get
 * what was sent before, if they take it within three seconds. Then memory of krdma_ep_send_lent()
 * is the caller's again.
 *
 * In a child of fork(), releases only the child's copies.
 *
 * Errors: none; the hub is gone whatever the function returns.
 */
int krdma_hub_close(struct krdma_hub *hub);

/**
 * krdma_hub_fd() - Get the descriptor of a hub for poll()
 * @hub: the hub
 *
 * Readable when krdma_hub_next() with deadline 0 has something to do, which is not always a
 * record. The hub owns the descriptor.
 *
 * Return: the descriptor, or -EINVAL.
 */
int krdma_hub_fd(const struct krdma_hub *hub);

/**
 * krdma_hub_address() - Get the address of a hub that listens, with the assigned port
 * @hub: the hub
 * @address: receives the address
 *
 * Errors: EINVAL (the hub does not listen).
 */
int krdma_hub_address(struct krdma_hub *hub, struct sockaddr_storage *address);

/**
 * krdma_hub_next() - Take the next record
 * @hub: the hub
 * @deadline: how long to wait for one
 * @record: receives the record
 * @size: sizeof(*record)
 *
 * Call krdma_ep_done() for each record. If peers send faster than the hub works, there may be more
 * to do when @deadline has passed, and the descriptor is readable then.
 *
 * Errors: EINVAL (@size is smaller than the first version of the structure); EAGAIN; ETIMEDOUT;
 * EINTR.
 */
int krdma_hub_next(struct krdma_hub *hub, uint64_t deadline, struct krdma_ep_record *record,
		   size_t size);

/**
 * krdma_ep_done() - Give back the data of a record
 * @record: the record; without lent data, or the second time, nothing happens
 */
void krdma_ep_done(struct krdma_ep_record *record);

/**
 * krdma_ep_connect() - Connect to a hub
 * @hub: the hub
 * @to: "HOST:PORT" or "[ADDRESS]:PORT". If the name has several addresses, they are tried in
 *	turn, until a hub takes this one or refuses it
 * @hello: bytes for the peer's @admit
 * @length: length of @hello, at most KRDMA_HELLO_MAX
 * @deadline: how long to wait; 0: do not wait: the record JOINED or LEFT follows
 * @ep: receives the endpoint, which the caller closes
 *
 * If the function waits and succeeds, the endpoint is ready, and there is no record JOINED. If it
 * fails, there is no endpoint, and krdma_hub_why() has the reason in words. Resolving a host name
 * may wait for a name server, whatever @deadline is.
 *
 * Errors: ENXIO (no such name); EAGAIN (temporary failure of name resolution); EHOSTUNREACH (no
 * route through an RDMA device); ECONNREFUSED (nothing listens there, or what listens is no hub);
 * EPROTO (the listener has accepted, and is no hub); EPROTONOSUPPORT (it is a hub with another
 * version of the protocol; the words name both); EACCES, EUSERS, or what the peer's @admit
 * returned (the peer refuses this one; ECONNREFUSED for EAGAIN, and EIO for an errno that the
 * protocol does not have); ENOKEY (the peer requires a secret); EKEYREJECTED (the peer has another
 * secret, or none, or is this hub itself); EUSERS also if this hub has no place; EOPNOTSUPP (the
 * device has no SRQs); those of krdma_ring_create(), krdma_mr_alloc() and krdma_conn_create_qp().
 */
int krdma_ep_connect(struct krdma_hub *hub, const char *to, const void *hello, size_t length,
		     uint64_t deadline, struct krdma_ep **ep);

/**
 * krdma_hub_why() - Get the reason why the last krdma_ep_connect() has failed, in words
 * @hub: the hub
 *
 * With deadline 0 an endpoint can fail later: krdma_ep_why() has its reason.
 *
 * Return: text that is valid until the next krdma_ep_connect() or the end of the hub; "" if the
 * last one has succeeded, or if there are no words besides its error. Words of the peer are in
 * quotation marks, and contain printable ASCII characters only.
 */
const char *krdma_hub_why(const struct krdma_hub *hub);

/**
 * krdma_ep_close() - Disconnect and free an endpoint
 * @ep: the endpoint, or NULL
 * @why: words for the peer's krdma_ep_why(), or NULL
 *
 * The peer gets what was sent before, if it takes it within three seconds while the hub is used.
 * Outstanding calls and records that were not taken are dropped, without further records. Records
 * that were taken stay valid until krdma_ep_done(), but calls cannot be answered any more.
 *
 * Memory of krdma_ep_send_lent() is the caller's again when the function returns. So the function
 * waits until the peer has read it, at most three seconds: a peer that has not is disconnected
 * then, and may not get what was sent before. Where no record SENT is outstanding, the function
 * does not wait. Signals do not end the wait.
 */
void krdma_ep_close(struct krdma_ep *ep, const char *why);

/* A pointer of the program's own. */
void krdma_ep_set(struct krdma_ep *ep, void *own);
void *krdma_ep_get(const struct krdma_ep *ep);

/**
 * krdma_ep_why() - Get the reason why a peer left, or why a connection failed, in words
 * @ep: the endpoint
 *
 * Return: text that is valid until the endpoint is closed; "" if it has not ended. Words of the
 * peer are in quotation marks, and contain printable ASCII characters only.
 */
const char *krdma_ep_why(const struct krdma_ep *ep);

/**
 * krdma_ep_address() - Get the peer's address
 * @ep: the endpoint
 * @address: receives the address
 *
 * Errors: ENOTCONN (not known yet).
 */
int krdma_ep_address(const struct krdma_ep *ep, struct sockaddr_storage *address);

/**
 * krdma_ep_send() - Send a message
 * @ep: the endpoint
 * @tag: a number for the peer
 * @data: the message, which is copied
 * @length: length in bytes, may be 0
 * @deadline: how long to wait until the peer has a free receive
 *
 * 0 means that the message is on its way; whether it arrived, only a call shows.
 *
 * Errors: EMSGSIZE (longer than the peer takes; or a long one that needs several rkeys, see
 * krdma_mr_rkey_at()); EAGAIN, ETIMEDOUT, EINTR (not sent, and the endpoint is usable); those of
 * krdma_mr_alloc() for a long message.
 */
int krdma_ep_send(struct krdma_ep *ep, uint64_t tag, const void *data, size_t length,
		  uint64_t deadline);

/**
 * krdma_ep_send_lent() - Send a message without copying it
 * @ep: the endpoint
 * @tag: a number for the peer
 * @data: the message, which must not change or be unmapped until the record SENT
 * @length: length in bytes
 * @user_data: a number for the record SENT
 * @deadline: how long to wait until the peer has a free receive
 *
 * The error of SENT is 0 if the peer has the message. A short message is copied, and SENT follows
 * at once. Records SENT that were not taken keep no message waiting; each takes a little memory.
 *
 * Errors: as for krdma_ep_send(), and those of krdma_mr_register().
 */
int krdma_ep_send_lent(struct krdma_ep *ep, uint64_t tag, const void *data, size_t length,
		       uint64_t user_data, uint64_t deadline);

/**
 * krdma_ep_call() - Send a message and wait for the answer
 * @ep: the endpoint
 * @tag: a number for the peer
 * @data: the message, which is copied
 * @length: length in bytes, may be 0
 * @deadline: how long to wait for the answer
 * @answer: receives a record ANSWER; give its data back with krdma_ep_done()
 * @size: sizeof(*answer)
 *
 * After a deadline or a signal the answer is dropped when it comes, and the endpoint is usable.
 * Until it comes, the call counts as one of those that may be in flight. So does a call of
 * krdma_ep_call_begin() until its record was taken and given back.
 *
 * Errors: as for krdma_ep_send(); ETIMEDOUT, EINTR (the peer may have the message); EDEADLK (all
 * calls that may be in flight are over, and the caller has not taken or given back their records,
 * for which this function would wait); EINVAL also if @deadline is 0.
 */
int krdma_ep_call(struct krdma_ep *ep, uint64_t tag, const void *data, size_t length,
		  uint64_t deadline, struct krdma_ep_record *answer, size_t size);

/**
 * krdma_ep_call_begin() - Send a message that the peer answers
 * @ep: the endpoint
 * @tag: a number for the peer
 * @data: the message, which is copied
 * @length: length in bytes, may be 0
 * @deadline: the record ANSWER comes by then, with the error ETIMEDOUT if the peer has not
 *	answered, or if a long answer was not read by then
 * @user_data: a number for the record ANSWER
 *
 * Does not wait.
 *
 * Errors: as for krdma_ep_send(); EAGAIN (too many calls are in flight, or the peer has no free
 * receive); EINVAL also if @deadline is 0.
 */
int krdma_ep_call_begin(struct krdma_ep *ep, uint64_t tag, const void *data, size_t length,
			uint64_t deadline, uint64_t user_data);

/**
 * krdma_ep_answer() - Answer a call
 * @call: the record of the call, before krdma_ep_done() or after
 * @tag: a number for the caller
 * @data: the answer, which is copied
 * @length: length in bytes, may be 0
 *
 * Never waits: a caller has a receive for each answer. Each call is answered once. An answer to
 * a caller that has given up is dropped there.
 *
 * Errors: ENOENT (not a call, or answered already); EMSGSIZE as for krdma_ep_send(); EAGAIN (a
 * long answer, and the peer has not fetched the last four).
 */
int krdma_ep_answer(const struct krdma_ep_record *call, uint64_t tag, const void *data,
		    size_t length);

/**
 * krdma_hub_share() - Offer memory to the peers by a name
 * @hub: the hub
 * @name: a name that is not in use
 * @data: the memory, which must stay mapped until krdma_hub_unshare()
 * @length: length in bytes
 * @access: KRDMA_ACCESS_REMOTE_READ, KRDMA_ACCESS_REMOTE_WRITE
 * @allow: called when a peer asks for it, with @context; anything but 0 refuses it. It must not
 *	call functions with the hub. NULL: all peers
 * @context: argument for @allow
 *
 * The memory is registered when the first peer gets it. A peer that has it may access it at any
 * time. An rkey is a number of 32 bits: a peer that was refused could guess it, as always with
 * RDMA.
 *
 * Errors: EINVAL (a wrong name); EEXIST; ENOSPC (64 names are in use).
 */
int krdma_hub_share(struct krdma_hub *hub, const char *name, void *data, size_t length,
		    uint32_t access, int (*allow)(void *context, struct krdma_ep *ep),
		    void *context);

/**
 * krdma_hub_unshare() - Withdraw memory from the peers
 * @hub: the hub
 * @name: its name
 * @deadline: how long the peers have to end their accesses
 *
 * When the function returns 0, no peer can access the memory. Peers that have not given it back
 * by the deadline are disconnected.
 *
 * Errors: ENOENT (no such name); EINTR (still shared, and no peer gets it any more; repeat the
 * call).
 */
int krdma_hub_unshare(struct krdma_hub *hub, const char *name, uint64_t deadline);

/**
 * krdma_ep_memory_open() - Get access to named memory of a peer
 * @ep: the endpoint
 * @name: its name
 * @access: the rights that are needed: KRDMA_ACCESS_REMOTE_READ, KRDMA_ACCESS_REMOTE_WRITE
 * @deadline: how long to wait
 * @memory: receives the memory. It ends with the endpoint or with krdma_ep_memory_close()
 *
 * Errors: ENOENT (no such memory); EACCES (not for this peer, or not these rights); EMSGSIZE (the
 * memory has several rkeys); EBUSY (the peer's kernel cannot pin it now); ETIMEDOUT; EINTR; EDEADLK
 * as for krdma_ep_call(); EINVAL also if @deadline is 0.
 */
int krdma_ep_memory_open(struct krdma_ep *ep, const char *name, uint32_t access,
			 uint64_t deadline, struct krdma_ep_memory **memory);

/* Gives the access back; NULL does nothing. */
void krdma_ep_memory_close(struct krdma_ep_memory *memory);

/* Length in bytes; 0 if @memory is NULL. */
uint64_t krdma_ep_memory_length(const struct krdma_ep_memory *memory);

/**
 * krdma_ep_memory_read() - Read memory of a peer
 * @memory: the memory
 * @offset: where to read, in bytes from its start
 * @data: receives the bytes
 * @length: number of bytes
 * @deadline: how long to wait
 *
 * The peer's program is not involved.
 *
 * Errors: ERANGE (outside of the memory); EACCES (the peer offers it without this right); ESTALE
 * (the peer has withdrawn the memory); ETIMEDOUT, EINTR (the contents of @data are undefined);
 * EINVAL also if @deadline is 0.
 */
int krdma_ep_memory_read(struct krdma_ep_memory *memory, uint64_t offset, void *data,
			 size_t length, uint64_t deadline);

/**
 * krdma_ep_memory_write() - Write memory of a peer
 * @memory: the memory
 * @offset: where to write, in bytes from its start
 * @data: the bytes, which are copied
 * @length: number of bytes
 * @deadline: how long to wait
 *
 * When the function returns 0, the bytes are in the peer's memory.
 *
 * Errors: as for krdma_ep_memory_read(); ETIMEDOUT, EINTR (the bytes may still be written).
 */
int krdma_ep_memory_write(struct krdma_ep_memory *memory, uint64_t offset, const void *data,
			  size_t length, uint64_t deadline);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_HUB_H */
