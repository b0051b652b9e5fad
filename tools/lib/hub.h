/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma, hubs: declarations shared by their source files.
 *
 * Flow control
 *
 * Both sides use the smaller of their depths, D. For each endpoint a side has posted receives
 * for all that the peer may send before anything is taken:
 *
 *	D	messages, calls and requests for memory that were not taken
 *	D	answers, for at most D calls are outstanding
 *	2	HUB_ROOM, as in simple.h
 *	4	HUB_DONE, for at most HUB_TICKETS long messages are outstanding
 *	3	one each of HUB_REVOKE, HUB_REVOKED and HUB_BYE
 *
 * So every frame of an honest peer finds a receive. A frame for which there is no reservation
 * ends the endpoint (hub_frame.c). Receives are shared by all endpoints of a device: until such
 * an endpoint has ended, its frames may use up receives of others, whose senders then retry. A
 * receive is posted again as soon as its frame is parsed, except for data that are lent.
 *
 * An answer therefore needs no permission. If all send slots are in use, answers and the hub's
 * own frames wait in a list of the endpoint; there are as many as the reservations above. A peer
 * that causes more of them has asked for more than it takes, and is disconnected.
 *
 * Ends
 *
 * An endpoint ends in steps, because work requests use its memory until the connection is closed:
 *
 *	UP -> LEAVING	krdma_ep_close(), which waits for what was lent: what was sent is waited
 *			for, then HUB_BYE is sent
 *	   -> ENDING	the connection is disconnected
 *	   -> OVER	the kernel has reported KRDMA_EVENT_CLOSED, and all work requests have
 *			completed: the record LEFT is the last one
 *
 * Beginnings
 *
 *	RESOLVING	a route is looked for
 *	CONNECTING	the connection is requested, or accepted
 *	PROVING		with a secret: each side waits for the proof of the other (hub_secret.c).
 *			Only the frames of that are sent and taken. The peer can have two of them in
 *			flight, for which it has the receives above
 *	UP		the record JOINED is the first one
 *
 * The structure is freed when it is OVER, the program has closed it, and no data are lent.
 */
#ifndef KRDMA_HUB_INTERNAL_H
#define KRDMA_HUB_INTERNAL_H

#include "address.h"
#include "hub_wire.h"
#include "internal.h"
#include "krdma_entry.h"
#include "nets.h"
#include "secret.h"

/* Frames of the hub itself that a peer may send: see above. */
#define HUB_CONTROL	(2 + HUB_TICKETS + 3)
/* RDMA reads in flight for one long message, and bytes of each. */
#define HUB_PIECES	4u
#define HUB_PIECE	(1024u * 1024)
/*
 * RDMA reads in flight for all long messages of a peer, an honest one has HUB_TICKETS of these, and
 * accesses to its memory. A send queue has places for them beside those for frames.
 */
#define HUB_READS	(HUB_TICKETS * HUB_PIECES)
#define HUB_ACCESSES	HUB_PIECES
/* How long an endpoint that leaves waits for the peer, in ms. */
#define HUB_GRACE_MS	3000
/* Bytes of a nonce by which a hub knows its own ones; the others are new in each. */
#define HUB_MARK	16
/* What a peer learns when the program's @admit has refused it. */
#define HUB_NOT_ADMITTED	"the program does not admit this peer"
/* When to listen again after a request could not be taken, in ms. */
#define HUB_RETRY_MS	1000
/* Completions that are handled before other descriptors are looked at. */
#define HUB_BATCH	64
#define HUB_BUCKETS	256
/* A host name and its terminating NUL. */
#define HUB_HOST_MAX	256

/* Hides the word from checkpatch, which expects the kernel's macros. */
#define HUB_ATTRIBUTE(what) __attribute__((what))
#define HUB_FORMAT(format_at, first) HUB_ATTRIBUTE(format(printf, format_at, first))

/* A list in order of arrival. */
struct hub_link {
	struct hub_link *next;
};

struct hub_list {
	struct hub_link *first;
	/* Where the last one points to the next.  Means nothing while the list is empty. */
	struct hub_link **end;
};

void hub_list_add(struct hub_list *list, struct hub_link *link);
/* Returns NULL if the list is empty. */
struct hub_link *hub_list_take(struct hub_list *list);
void hub_list_remove(struct hub_list *list, struct hub_link *link);

#define HUB_OF(link, type, member)	((type *)((char *)(link) - offsetof(type, member)))

enum hub_wr_kind {
	HUB_WR_RECV = 1,
	HUB_WR_SEND,
	HUB_WR_FETCH,
	HUB_WR_ACCESS,
};

/* A work request in flight; its address is the wr_id. @ep: NULL for receives. */
struct hub_wr {
	enum hub_wr_kind kind;
	struct krdma_ep *ep;
};

/* Memory for one long message, or for an access to memory of a peer. */
struct hub_buffer {
	struct hub_link link;
	struct krdma_mr *mr;
	size_t size;
};

/**
 * struct hub_item - a record that waits for krdma_hub_next()
 * @link: in &struct krdma_ep.items
 * @event: &enum krdma_ep_event
 * @waits: its data are not there yet
 * @is_empty: ANSWER: an error, in a &struct hub_call
 */
struct hub_item {
	struct hub_link link;
	uint32_t event;
	bool waits;
	bool is_empty;
};

/**
 * struct hub_slot - a receive
 * @wr: its work request
 * @item: MESSAGE or ANSWER
 * @link: in the device's list of slots to post, in @early, or in the hub's list @fetches
 * @device, @mr, @offset: where it is
 * @ep: the endpoint whose frame it has, while it is not posted
 * @frame: the frame
 * @call: HUB_ANSWER: the call
 * @length: bytes that arrived, while it is in @early
 * @fetch: the work request of the RDMA reads for a long message
 * @buffer: the memory of a long message; NULL: not begun
 * @asked, @done: bytes that were requested and that arrived
 * @in_flight: RDMA reads in flight
 * @counted: bytes of memory that count against the budget
 * @waits: it is in the hub's list @fetches
 * @dropped: the program does not get it: it is given back when no read is in flight
 * @lent: the program has its data
 */
struct hub_slot {
	struct hub_wr wr;
	struct hub_item item;
	struct hub_link link;
	struct hub_device *device;
	struct krdma_mr *mr;
	size_t offset;
	struct krdma_ep *ep;
	struct hub_frame frame;
	struct hub_call *call;
	uint32_t length;
	struct hub_wr fetch;
	struct hub_buffer *buffer;
	uint64_t asked;
	uint64_t done;
	unsigned int in_flight;
	uint64_t counted;
	bool waits;
	bool dropped;
	bool lent;
};

/* The receives that one endpoint needs. */
struct hub_chunk {
	struct hub_link link;
	struct krdma_mr *mr;
	struct hub_slot slots[];
};

/**
 * struct hub_device - a device and what its endpoints share; if one ring has no place for all of
 *	them, there are several of the same device
 * @next: next device of the hub
 * @hub, @id: the hub and the device's number
 * @source: kind of this descriptor, for epoll
 * @ring, @srq: the ring of all work requests, and the receives
 * @places: number of endpoints for which these are large enough
 * @cq_entries: the most completions that the ring has at a time
 * @chunks: receives, a chunk for each endpoint that there ever was at a time
 * @chunk_count, @ep_count: number of chunks and of endpoints
 * @reposts: slots to post
 * @free: unused memory for long messages
 * @free_bytes: its size
 * @dead: the device is gone
 */
struct hub_device {
	struct hub_device *next;
	struct krdma_hub *hub;
	uint32_t id;
	int source;
	struct krdma_ring *ring;
	struct krdma_srq *srq;
	uint32_t places;
	uint32_t cq_entries;
	struct hub_list chunks;
	unsigned int chunk_count;
	unsigned int ep_count;
	struct hub_list reposts;
	struct hub_list free;
	size_t free_bytes;
	bool dead;
};

/* A place for a frame to send, in the endpoint's memory. */
struct hub_send {
	struct hub_wr wr;
	struct hub_link link;
	size_t offset;
};

/* A frame that waits for such a place, with its bytes. */
struct hub_deferred {
	struct hub_link link;
	size_t length;
	unsigned char wire[];
};

enum hub_call_state {
	HUB_CALL_FREE,
	HUB_CALL_WAITS,
	HUB_CALL_GIVEN_UP,
	HUB_CALL_ANSWERED,
};

/**
 * struct hub_call - a call to the peer
 * @state: HUB_CALL_ANSWERED until the program has given the answer back
 * @id: number on the wire: the index in the lowest 8 bits, above it a count
 * @item, @is_queued: a record ANSWER without an answer, and whether it waits to be taken
 * @is_ask: a request for memory
 * @sync: the caller waits for @is_there, and there is no record
 * @is_there: the answer with all its data, or the grant
 * @error: of the record, if there is no answer
 * @user_data, @deadline: of krdma_ep_call_begin()
 * @slot: the answer
 * @grant: @is_ask: the memory
 */
struct hub_call {
	enum hub_call_state state;
	uint32_t id;
	struct hub_item item;
	bool is_queued;
	bool is_ask;
	bool sync;
	bool is_there;
	int error;
	uint64_t user_data;
	uint64_t deadline;
	struct hub_slot *slot;
	struct krdma_ep_memory *grant;
};

/**
 * struct hub_sent - a record SENT, in memory of its own: the program may take it late, or never
 * @user_data, @error: of that record
 */
struct hub_sent {
	struct hub_item item;
	int error;
	uint64_t user_data;
};

/**
 * struct hub_ticket - a long message that the peer has not fetched
 * @mr: the data; NULL: fetched, and the ticket is free
 * @sent: the memory is the caller's: the record SENT that follows; otherwise NULL
 */
struct hub_ticket {
	struct krdma_mr *mr;
	struct hub_sent *sent;
};

enum hub_state {
	HUB_RESOLVING,
	HUB_CONNECTING,
	HUB_PROVING,
	HUB_UP,
	HUB_LEAVING,
	HUB_ENDING,
	HUB_OVER,
};

/**
 * struct krdma_ep - one peer
 * @next, @bucket: in the hub's list and in its table
 * @hub, @device, @conn: @device is NULL until the route is resolved
 * @source: kind of this descriptor, for epoll
 * @own: of krdma_ep_set()
 * @state: &enum hub_state
 * @accepted: the peer has connected
 * @is_closed: krdma_ep_close() was called, or the program never saw it
 * @seen_closed: the kernel has reported KRDMA_EVENT_CLOSED
 * @said_bye: HUB_BYE was sent or need not be
 * @waiting: krdma_ep_connect() waits: no record JOINED
 * @was_up: it was connected
 * @is_broken: this side ends it, and ignores its frames
 * @error, @why: the reason of the end; @error is 0 if there is none
 * @addresses, @address_count, @address: where to connect; @address is the next one
 * @refusal: how connecting to the last of them failed to which there is a route
 * @remote: the peer's address; ss_family 0: unknown
 * @hello, @hello_length: for the peer; with @accepted: the peer's, until @admit has it
 * @nonces: with a secret: those of the server and of the client
 * @is_challenged: the peer's nonce has arrived
 * @depth, @eager, @longest: the smaller values of both sides; @longest is the peer's
 * @outstanding: work requests in flight, without receives
 * @reads_out, @accesses_out: those of them that read long messages, and that access memory of the
 *	peer, also if no call waits for them any more
 * @sends, @free_sends, @send_count, @sends_out: places for frames, and how many are in flight
 * @send_mr: their memory
 * @deferred, @deferred_count: frames that wait for a place
 * @progress: when the last work request completed, or the first was posted
 * @early, @early_count: frames that arrived before the endpoint was up
 * @items, @is_ready: records; in the hub's list @ready
 * @joined, @left: items JOINED and LEFT
 * @lent: slots that the program has
 * @sent, @peer_taken: messages sent and taken by the peer, modulo 2^32
 * @received, @taken, @sent_taken: messages received, taken, and the last value of @taken sent
 * @calls, @call_count: calls to the peer; a count for their numbers
 * @opens: numbers of the peer's calls that were not answered, by index; 0: none
 * @tickets: long messages to the peer
 * @held: bytes of memory of long messages that count against the budget
 * @busy_round: the last @fetch_round of the hub in which a message of this endpoint had to wait
 * @granted: the peer has this memory: a bit for each share
 * @revoking: the share for which HUB_REVOKED is awaited, -1: none
 * @memories, @accesses: memory of the peer, and accesses in flight
 * @grace: when to disconnect without waiting any longer; 0: never
 * @flush: what was sent is waited for before the endpoint leaves
 */
struct krdma_ep {
	struct krdma_ep *next;
	struct krdma_ep *bucket;
	struct krdma_hub *hub;
	struct hub_device *device;
	struct krdma_conn *conn;
	int source;
	void *own;
	enum hub_state state;
	bool accepted;
	bool is_closed;
	bool seen_closed;
	bool said_bye;
	bool waiting;
	bool was_up;
	bool is_broken;
	int error;
	char why[2 * KRDMA_WHY_MAX];
	struct sockaddr_storage addresses[ADDRESSES_MAX];
	unsigned int address_count;
	unsigned int address;
	int refusal;
	struct sockaddr_storage remote;
	unsigned char hello[KRDMA_HELLO_MAX];
	uint32_t hello_length;
	struct {
		unsigned char server[SECRET_NONCE];
		unsigned char client[SECRET_NONCE];
	} nonces;
	bool is_challenged;

	uint32_t depth;
	uint32_t eager;
	uint64_t longest;
	unsigned int outstanding;
	unsigned int reads_out;
	unsigned int accesses_out;
	struct hub_send *sends;
	struct hub_list free_sends;
	unsigned int send_count;
	unsigned int sends_out;
	struct krdma_mr *send_mr;
	struct hub_list deferred;
	unsigned int deferred_count;
	uint64_t progress;

	struct hub_list early;
	unsigned int early_count;
	struct hub_list items;
	struct hub_link ready;
	bool is_ready;
	struct hub_item joined;
	struct hub_item left;
	unsigned int lent;

	uint32_t sent;
	uint32_t peer_taken;
	uint32_t received;
	uint32_t taken;
	uint32_t sent_taken;
	struct hub_call *calls;
	uint32_t call_count;
	uint32_t *opens;
	struct hub_ticket tickets[HUB_TICKETS];
	uint64_t held;
	uint64_t busy_round;

	uint64_t granted;
	int revoking;
	struct krdma_ep_memory *memories;
	struct hub_list accesses;
	uint64_t grace;
	bool flush;
};

/**
 * struct hub_share - memory that the peers can ask for
 * @name, @data, @length, @access, @allow, @context: as in krdma_hub_share()
 * @mrs: a memory region for each device where a peer has it
 * @revoking: krdma_hub_unshare() was called: no further peer gets it
 */
struct hub_share {
	char name[KRDMA_SHARE_NAME_MAX + 1];
	void *data;
	size_t length;
	uint32_t access;
	int (*allow)(void *context, struct krdma_ep *ep);
	void *context;
	struct share_mr *mrs;
	bool revoking;
};

/**
 * struct krdma_hub - a hub
 * @session, @listener: @listener may be NULL
 * @maker: the process that owns it
 * @options: options with the defaults filled in; @allow and @secret are not used
 * @secret: the secret, or NULL
 * @mark: with @secret: random bytes, with the first HUB_MARK of which each nonce of it begins
 * @nets: admitted addresses
 * @poll_fd, @timer_fd, @wake_fd: the epoll descriptor, and two that are in it
 * @is_awake: @wake_fd is readable
 * @is_deaf: the listener is not in @poll_fd, until the timer expires
 * @tick: when the timer expires, 0: never
 * @devices, @eps, @ep_count, @table: what there is
 * @over_count: number of endpoints that are HUB_OVER
 * @ready: endpoints that have a record
 * @fetches: slots with long messages that wait for memory
 * @fetch_round: calls of hub_fetch_next()
 * @budget_used: bytes of memory of long messages
 * @shares: named memory
 * @steps: calls of hub_step() that handled something
 * @unseen: records that were taken since the descriptors were looked at
 * @why: why the last krdma_ep_connect() has failed
 */
struct krdma_hub {
	struct krdma *session;
	struct krdma_listener *listener;
	int listener_source;
	int timer_source;
	int wake_source;
	pid_t maker;
	struct krdma_hub_options options;
	struct secret *secret;
	unsigned char mark[SECRET_NONCE];
	struct nets nets;
	int poll_fd;
	int timer_fd;
	int wake_fd;
	bool is_awake;
	bool is_deaf;
	uint64_t tick;
	struct hub_device *devices;
	struct krdma_ep *eps;
	unsigned int ep_count;
	unsigned int over_count;
	struct krdma_ep *table[HUB_BUCKETS];
	struct hub_list ready;
	struct hub_list fetches;
	uint64_t fetch_round;
	uint64_t budget_used;
	unsigned int steps;
	unsigned int unseen;
	char why[2 * KRDMA_WHY_MAX];
	struct hub_share *shares[HUB_SHARES];
};

/* What a descriptor is, for epoll. */
enum hub_source {
	HUB_SOURCE_LISTENER = 1,
	HUB_SOURCE_TIMER,
	HUB_SOURCE_WAKE,
	HUB_SOURCE_DEVICE,
	HUB_SOURCE_EP,
};

/*
 * hub.c: waiting, records
 */
int hub_watch(struct krdma_hub *hub, int fd, int *source);
/*
 * Handles what has happened; if nothing has, waits for it. -EAGAIN, -ETIMEDOUT, -EINTR: stop
 * waiting, but look once more at what is waited for: something may have been handled before.
 */
int hub_step(struct krdma_hub *hub, uint64_t deadline);
/*
 * Handles all work requests that have completed by now, of which hub_step() handles some at a time.
 * Call it before acting on what came after them.
 */
void hub_drain(struct hub_device *device);
/* Makes sure that hub_tick() runs by then. */
void hub_wake_at(struct krdma_hub *hub, uint64_t deadline);
int hub_address_split(const char *text, char host[HUB_HOST_MAX], uint16_t *port);
/* Called before a public function returns: the descriptor is readable if there is a record. */
void hub_settle(struct krdma_hub *hub);
void hub_item_add(struct krdma_ep *ep, struct hub_item *item, uint32_t event);
/* Returns NULL without memory.  free() releases it. */
struct hub_sent *hub_sent_create(uint64_t user_data);
/* Moves a record whose data are there before those that wait, if it comes after one of them. */
void hub_item_hurry(struct krdma_ep *ep, struct hub_item *item);
/* Puts the endpoint into the hub's list if its next record is there. */
void hub_ep_check_ready(struct krdma_ep *ep);
/* Fills in a record that has an answer. */
void hub_record_slot(struct krdma_ep_record *record, struct hub_slot *slot);

/*
 * hub_device.c: what the endpoints of a device share
 */
/* Finds or makes one with a place, and the receives of one more endpoint. */
int hub_device_get(struct krdma_hub *hub, uint32_t id, struct hub_device **device);
void hub_device_put(struct hub_device *device);
/* Frees what is left of devices that are gone. Not during a loop over the devices. */
void hub_devices_reap(struct krdma_hub *hub);
void hub_device_destroy(struct hub_device *device);
/* The slot is posted with the next ones. */
void hub_slot_release(struct hub_slot *slot);
void hub_device_post(struct hub_device *device);
/* Number of frames that an endpoint can send before anything is taken. */
uint32_t hub_receives(const struct krdma_hub *hub);
uint32_t hub_send_depth(const struct krdma_hub *hub);
/* Memory for data that this side reads or writes; peers have no access. */
int hub_buffer_get(struct hub_device *device, size_t length, struct hub_buffer **buffer);
/* Bytes of the memory that it gets. */
size_t hub_buffer_size(const struct krdma_hub *hub, size_t length);
void hub_buffer_put(struct hub_device *device, struct hub_buffer *buffer);

/*
 * hub_link.c: connections
 */
void hub_accept(struct krdma_hub *hub);
/* Handles the events of the connection. */
void hub_ep_events(struct krdma_ep *ep);
/* The endpoint ends because of this side or the peer: @error is negative. */
void hub_ep_fail(struct krdma_ep *ep, int error, const char *format, ...)
	HUB_FORMAT(3, 4);
/* The peer has left, with an error or 0. */
void hub_ep_bye(struct krdma_ep *ep, int error, const char *words);
/* This side does not take a peer that has connected, and says so. */
void hub_ep_refuse(struct krdma_ep *ep, int error, const char *words);
/* 0, or the error of the program's @admit. */
int hub_ep_admit(struct krdma_ep *ep);
/* The endpoint is connected, and its peer is admitted. */
void hub_ep_set_up(struct krdma_ep *ep);
/* The program no longer uses the endpoint. */
void hub_ep_close(struct krdma_ep *ep, const char *why);
/* Disconnects without waiting for the peer. */
void hub_ep_abort(struct krdma_ep *ep);
/* Frees all of it, in any state. */
void hub_ep_destroy(struct krdma_ep *ep);
/* Goes on with leaving and ending, if that is possible. */
void hub_ep_advance(struct krdma_ep *ep);
struct krdma_ep *hub_ep_find(struct krdma_hub *hub, uint32_t id);
/* Frees endpoints that are over, and devices that are gone. */
void hub_reap(struct krdma_hub *hub);
/* 0 if messages can be sent, or the error. */
int hub_ep_usable(const struct krdma_ep *ep);

/*
 * hub_frame.c: arrivals, and what has to wait until it can be sent
 */
void hub_frame_arrived(struct krdma_ep *ep, struct hub_slot *slot, uint32_t length);
void hub_ep_take_early(struct krdma_ep *ep);
void hub_frame_defer(struct krdma_ep *ep, struct hub_frame *frame, const void *data,
		     size_t length);

/*
 * hub_secret.c: the secret of both sides
 */
int hub_secret_open(struct krdma_hub *hub);
/* The connection is established: the proofs begin. */
void hub_secret_begin(struct krdma_ep *ep);
/* Return -EPROTO if the frame is not due. */
int hub_secret_challenge(struct krdma_ep *ep, const struct hub_frame *frame);
int hub_secret_proof(struct krdma_ep *ep, const struct hub_frame *frame);

/*
 * hub_send.c: sending
 */
int hub_sends_create(struct krdma_ep *ep);
void hub_sends_destroy(struct krdma_ep *ep);
/* Sends a frame of the hub itself, or an answer: always possible, see above. */
void hub_send_control(struct krdma_ep *ep, struct hub_frame *frame, const void *data,
		      size_t length);
void hub_send_done(struct krdma_ep *ep, struct hub_send *send);
/* Tells the peer that messages were taken, if that is due. */
void hub_send_room(struct krdma_ep *ep);
/* Posts a work request. */
int hub_post(struct krdma_ep *ep, struct hub_wr *wr, struct krdma_sqe *entry);
struct hub_call *hub_call_get(struct krdma_ep *ep);
/* Only the program can make room for a call: it has not taken the records of any, or given back. */
bool hub_calls_are_untaken(const struct krdma_ep *ep);
void hub_call_over(struct krdma_ep *ep, struct hub_call *call, int error);
/* A call of krdma_ep_call_begin() whose record was not taken; its deadline has passed. */
bool hub_call_is_awaited(const struct hub_call *call);
void hub_call_due(struct krdma_ep *ep, struct hub_call *call);
/* The peer no longer needs the data of a long message. */
void hub_ticket_done(struct krdma_ep *ep, struct hub_ticket *ticket, int error);

/*
 * hub_long.c: long messages that arrive
 */
void hub_fetch_add(struct hub_slot *slot);
void hub_fetch_next(struct krdma_hub *hub);
void hub_fetch_done(struct hub_slot *slot, const struct krdma_cqe *cqe);
/* Gives the slot back with all that belongs to it, and room to the peer. */
void hub_slot_done(struct hub_slot *slot);

/*
 * hub_memory.c: named memory
 */
int hub_memory_ask(struct krdma_ep *ep, const struct hub_frame *frame);
int hub_memory_grant(struct krdma_ep *ep, struct hub_call *call, const struct hub_frame *frame);
int hub_memory_revoke(struct krdma_ep *ep, uint64_t tag);
int hub_memory_revoked(struct krdma_ep *ep, uint64_t tag);
void hub_memory_accessed(struct krdma_ep *ep, struct hub_wr *wr, const struct krdma_cqe *cqe);
void hub_memories_destroy(struct krdma_ep *ep);
/* The device is gone. */
void hub_shares_forget(struct krdma_hub *hub, uint32_t device_id);
void hub_shares_destroy(struct krdma_hub *hub);

#endif /* KRDMA_HUB_INTERNAL_H */
