/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the fuzzer share.
 *
 * An episode is a process that begins with nothing, acts for a while with one or
 * several threads, and ends in one of several ways.  Every action is drawn from one
 * number, so that a sequence of actions is a sequence of numbers, and can be kept,
 * repeated and changed.  The process that starts the episodes watches them.
 */
#ifndef KRDMA_E2E_FUZZ_H
#define KRDMA_E2E_FUZZ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>

/*
 * Chance (fuzz_value.c)
 */

struct fuzz_random {
	uint64_t state;
};

uint64_t fuzz_mix(uint64_t one, uint64_t other);
uint64_t fuzz_next(struct fuzz_random *random);
/* From 0 to @count - 1. */
uint32_t fuzz_below(struct fuzz_random *random, uint32_t count);
bool fuzz_one_in(struct fuzz_random *random, uint32_t count);

/*
 * What can be asked (fuzz_table.c)
 */

/* What a descriptor is; a stranger is none of krdma's. */
enum fuzz_kind {
	FUZZ_SESSION,
	FUZZ_LISTENER,
	FUZZ_CONN,
	FUZZ_QUEUE,
	FUZZ_SRQ,
	FUZZ_STRANGER,
	FUZZ_KINDS,
};

/* What the values of a field are drawn from when they are to be right. */
enum fuzz_class {
	FUZZ_RESERVED,
	FUZZ_FLAGS,
	FUZZ_COUNT,
	FUZZ_DEVICE,
	FUZZ_NAME,
	FUZZ_DEADLINE,
	FUZZ_ADDRESS_LISTEN,
	FUZZ_ADDRESS_LOCAL,
	FUZZ_ADDRESS_REMOTE,
	FUZZ_FD_QUEUE,
	FUZZ_FD_SRQ,
	FUZZ_ARENA,
	FUZZ_MEMORY,
	FUZZ_ENTRIES,
	FUZZ_ROOM,
};

/**
 * struct fuzz_field - a field of a request that the program sets
 * @offset: where
 * @width: bytes
 * @class: &enum fuzz_class
 * @limit: FUZZ_FLAGS: the bits that there are; FUZZ_COUNT: the most that is sensible
 */
struct fuzz_field {
	uint16_t offset;
	uint16_t width;
	enum fuzz_class class;
	uint32_t limit;
};

/**
 * struct fuzz_request - a request
 * @name: for messages
 * @cmd: its number
 * @kind: of what
 * @size: of its structure
 * @waits: has a deadline
 * @fields: ends with a width of 0
 * @errors: besides those that any request can meet; ends with 0
 */
struct fuzz_request {
	const char *name;
	unsigned int cmd;
	enum fuzz_kind kind;
	uint16_t size;
	bool waits;
	const struct fuzz_field *fields;
	const int *errors;
};

/* Places in the table. */
enum fuzz_request_index {
	FUZZ_INFO,
	FUZZ_DEVICE_QUERY,
	FUZZ_PORT_QUERY,
	FUZZ_DEVICE_FIND,
	FUZZ_DEVICE_NOTIFY,
	FUZZ_LISTEN,
	FUZZ_CONN_CREATE,
	FUZZ_RING_CREATE,
	FUZZ_SRQ_CREATE,
	FUZZ_MR_REGISTER,
	FUZZ_MR_DEREGISTER,
	FUZZ_MR_QUERY,
	FUZZ_MR_ADVISE,
	FUZZ_LIMIT_QUERY,
	FUZZ_LISTENER_QUERY,
	FUZZ_LISTENER_NEXT,
	FUZZ_CONN_RESOLVE,
	FUZZ_CONN_CREATE_QP,
	FUZZ_CONN_CONNECT,
	FUZZ_CONN_ACCEPT,
	FUZZ_CONN_REJECT,
	FUZZ_CONN_DISCONNECT,
	FUZZ_CONN_WAIT,
	FUZZ_CONN_QUERY,
	FUZZ_RING_ENTER,
	FUZZ_RING_POST,
	FUZZ_RING_REAP,
	FUZZ_RING_QUERY,
	FUZZ_RING_CONFINE,
	FUZZ_SRQ_QUERY,
	FUZZ_SRQ_POST,
	FUZZ_REQUESTS,
	/* Calls that are no requests. */
	FUZZ_OPEN = FUZZ_REQUESTS,
	FUZZ_CLOSE,
	FUZZ_READ,
	FUZZ_POLL,
	FUZZ_MMAP,
	FUZZ_UNKNOWN,
	FUZZ_CALLS,
	/* And what else is seen: errors of entries, states, completions' statuses. */
	FUZZ_ENTRY = FUZZ_CALLS,
	FUZZ_STATE,
	FUZZ_STATUS,
	FUZZ_SIGHTS,
};

extern const struct fuzz_request fuzz_requests[FUZZ_REQUESTS];

/* The errors that every request can meet, and those of entries; end with 0. */
extern const int fuzz_common_errors[];
extern const int fuzz_entry_errors[];

const char *fuzz_call_name(unsigned int index);
/* Is @error, positive, in that list? */
bool fuzz_listed(const int *errors, int error);

/*
 * What there is (fuzz_pool.c)
 */

#define FUZZ_SLOTS	48
#define FUZZ_MEMORIES	16
#define FUZZ_PORTS	8
#define FUZZ_THREADS	4

/* Room for the rings of a queue, in a slot of its own, so that it is always there. */
#define FUZZ_WINDOW	(256u << 10)

/* Where entries, pieces and data are: always mapped, and written by everybody. */
#define FUZZ_ARENA_SIZE	(256u << 10)

/**
 * struct fuzz_slot - a descriptor
 * @fd: -1: none
 * @kind: of what
 * @id: a connection's or shared receive queue's number
 * @session: of which session, a number of the pool's own
 * @ring: of a connection: the slot of its queue
 * @header: bytes of a queue's mapping, 0: none
 *
 * Threads change all of it at any time: what one reads may be of two objects.
 */
struct fuzz_slot {
	atomic_int fd;
	atomic_uint kind;
	atomic_uint id;
	atomic_uint session;
	atomic_int ring;
	atomic_uint header;
};

struct fuzz_memory {
	atomic_uint id;
	atomic_uint session;
	atomic_uint key;
	atomic_uint offset;
	atomic_uint length;
};

/**
 * struct fuzz_pool - what the threads of an episode share
 * @slots: descriptors
 * @memories: registered memory
 * @ports: of listeners
 * @devices: numbers of devices
 * @sessions: how many sessions were made
 * @arena: see FUZZ_ARENA_SIZE
 * @windows: FUZZ_WINDOW for each slot
 * @forbidden: a page that can only be read, and behind it one that cannot at all
 * @mail: a pair of sockets, to send descriptors
 * @stranger: of a file that is not krdma's
 */
struct fuzz_pool {
	struct fuzz_slot slots[FUZZ_SLOTS];
	struct fuzz_memory memories[FUZZ_MEMORIES];
	atomic_uint ports[FUZZ_PORTS];
	atomic_uint devices[2];
	atomic_uint sessions;
	unsigned char *arena;
	unsigned char *windows;
	unsigned char *forbidden;
	int mail[2];
	int stranger;
};

/* Areas of memory that the fuzzer hands out; each thread has one, from the last on. */
enum fuzz_area {
	FUZZ_AREA_ARENA,
	FUZZ_AREA_WINDOWS,
	FUZZ_AREA_FORBIDDEN,
	FUZZ_AREA_THREAD,
};

/* NULL: there is no such room. */
void *fuzz_pages(unsigned int area, size_t size, int protection);
int fuzz_pool_begin(struct fuzz_pool *pool);
/* A slot with something of that kind, or -1; @session 0: of any. */
int fuzz_pool_find(struct fuzz_pool *pool, struct fuzz_random *random, enum fuzz_kind kind,
		   unsigned int session);
struct krdma_ring_header *fuzz_pool_ring(struct fuzz_pool *pool, int slot);

/*
 * Calls (fuzz_call.c)
 */

/* Actions that a sequence which is kept can have. */
#define FUZZ_SEQUENCE	40
#define FUZZ_CORPUS	1024
#define FUZZ_FINDS	1024
#define FUZZ_EDGE_BITS	18
#define FUZZ_STRANGE	32

/**
 * struct fuzz_sequence - an input: what one thread does from the beginning on
 * @seed: of what is prepared before
 * @length: actions
 * @actions: what they are drawn from
 */
struct fuzz_sequence {
	uint64_t seed;
	uint32_t length;
	uint64_t actions[FUZZ_SEQUENCE];
};

/* Errors, states and statuses that are told apart; 0 is success. */
#define FUZZ_VALUES	160

/**
 * struct fuzz_map - what some episodes have reached
 * @edges: a bit for each way from one place in the module to another
 * @sights: which values of what were seen
 * @edge_count: how many edges
 * @sight_count: and sights
 */
struct fuzz_map {
	atomic_uchar edges[1 << (FUZZ_EDGE_BITS - 3)];
	atomic_uchar sights[FUZZ_SIGHTS][FUZZ_VALUES];
	atomic_uint edge_count;
	atomic_uint sight_count;
};

/*
 * Episodes that are whole inputs can be repeated, and have a map of their own: what they
 * reach is worth keeping, also if another episode, of a thousand actions by four threads,
 * has been there.
 */
enum fuzz_map_index {
	FUZZ_MAP_LONG,
	FUZZ_MAP_WHOLE,
	FUZZ_MAPS,
};

/* What a thread does now, for the watcher. */
struct fuzz_busy {
	atomic_ulong since_ms;
	atomic_uint call;
	atomic_int thread;
};

/**
 * struct fuzz_shared - what an episode tells the process that watches it
 * @calls: how many of each were made
 * @successes: and of them, how many succeeded
 * @slowest_ms: the longest that each has taken
 * @has_coverage: the kernel tells them
 * @failed: something was wrong, and nothing goes on: see @failure
 * @failure: what
 * @strange: answers that are not documented: each once
 * @strange_count: how many
 * @busy: of each thread, the last for children of fork()
 * @seen: a bit for each pair of calls with its answer, and whatever else was new once
 * @maps: what was reached
 * @corpus: sequences to begin with, and those that saw something new
 * @corpus_count: how many, from the beginning on
 * @finds: inputs that reached something new, for the corpus that is kept
 * @find_count: how many there were, more than there is room for
 * @last_fresh: of an input, the last action that reached something new, counted from 1
 */
struct fuzz_shared {
	atomic_ulong calls[FUZZ_CALLS];
	atomic_ulong successes[FUZZ_CALLS];
	atomic_uint slowest_ms[FUZZ_CALLS];
	atomic_bool has_coverage;
	atomic_bool failed;
	char failure[1024];
	char strange[FUZZ_STRANGE][640];
	atomic_uint strange_count;
	struct fuzz_busy busy[FUZZ_THREADS + 1];
	atomic_uchar seen[1 << (FUZZ_EDGE_BITS - 3)];
	struct fuzz_map maps[FUZZ_MAPS];
	struct fuzz_sequence corpus[FUZZ_CORPUS];
	atomic_uint corpus_count;
	struct fuzz_sequence finds[FUZZ_FINDS];
	atomic_uint find_count;
	atomic_uint last_fresh;
};

struct fuzz_cover;

/**
 * struct fuzz_thread - who acts
 * @random: of the action that is under way
 * @pool: shared with the other threads
 * @shared: with the watcher
 * @index: which thread of the episode
 * @alone: there is no other one: a descriptor is what the pool says
 * @timer: interrupts a call that waits
 * @page: room for a structure, with a page behind it that cannot be accessed
 * @cover: what the kernel tells, NULL: nothing
 * @map: where it is noted what is reached
 * @discovered: the action has seen something new
 * @fresh: and that is an edge or a sight
 * @last_call: the call before
 */
struct fuzz_thread {
	struct fuzz_random random;
	struct fuzz_pool *pool;
	struct fuzz_shared *shared;
	unsigned int index;
	bool alone;
	timer_t timer;
	unsigned char *page;
	struct fuzz_cover *cover;
	struct fuzz_map *map;
	bool discovered;
	bool fresh;
	unsigned int last_call;
};

int fuzz_thread_begin(struct fuzz_thread *thread);
/* Says what is wrong, once for all. */
void fuzz_fail(struct fuzz_thread *thread, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Around every system call on a descriptor of krdma's; @ret: 0 or -errno. */
uint64_t fuzz_call_begin(struct fuzz_thread *thread, unsigned int call, bool waits);
void fuzz_call_end(struct fuzz_thread *thread, unsigned int call, bool waits, uint64_t begun,
		   int ret);

/*
 * The request with @structure, of the caller's @size, to the descriptor in @slot (-1:
 * none): what it answers is judged, and taken into the pool.  0 or -errno.
 */
int fuzz_request(struct fuzz_thread *thread, unsigned int index, int slot, void *structure,
		 uint32_t size);

/* Closes what is in the slot. */
void fuzz_close(struct fuzz_thread *thread, int slot);
/* Puts a descriptor into a slot, whose former one is closed; the slot. */
int fuzz_keep(struct fuzz_thread *thread, int fd, enum fuzz_kind kind, unsigned int id,
	      unsigned int session);

/* New to everybody?  fuzz_cover.c */
bool fuzz_discover(struct fuzz_shared *shared, uint64_t what);
/* @what, of &enum fuzz_request_index, was @value: a number, or -errno. */
void fuzz_see(struct fuzz_thread *thread, unsigned int what, int value);
struct fuzz_cover *fuzz_cover_open(void);
void fuzz_cover_begin(struct fuzz_cover *cover);
/* How many edges the call has reached that are new to the map. */
unsigned int fuzz_cover_end(struct fuzz_cover *cover, struct fuzz_map *map);

/*
 * Values (fuzz_value.c)
 */

/* Fills a request's structure: right, nearly right, or wrong; the size to be told. */
uint32_t fuzz_fill(struct fuzz_thread *thread, const struct fuzz_request *request,
		   void *structure, unsigned int session);
/* The same, as right as it can be. */
void fuzz_fill_right(struct fuzz_thread *thread, const struct fuzz_request *request,
		     void *structure, unsigned int session);
void fuzz_address(struct fuzz_thread *thread, enum fuzz_class class,
		  struct __kernel_sockaddr_storage *address);
/* An entry for that target; some are wrong. */
void fuzz_entry(struct fuzz_thread *thread, unsigned int dest, struct krdma_sqe *entry);
uint64_t fuzz_deadline(struct fuzz_thread *thread);

/*
 * What is kept between runs (fuzz_corpus.c)
 */

/**
 * struct fuzz_input - a line of the corpus
 * @sequence: what is done
 * @edges: so many were new with it
 * @sights: and these, by their places in &struct fuzz_map
 * @sight_count: how many
 */
struct fuzz_input {
	struct fuzz_sequence sequence;
	uint32_t edges;
	uint16_t sights[FUZZ_SIGHTS * 8];
	uint32_t sight_count;
};

struct fuzz_inputs {
	struct fuzz_input *list;
	size_t count;
};

/* Reads a corpus, to be freed with free(); 0 or -errno: -EBADMSG: line @*line is wrong. */
int fuzz_corpus_read(const char *path, struct fuzz_inputs *inputs, unsigned int *line);
int fuzz_corpus_write(const char *path, const struct fuzz_inputs *inputs);
/* The sights and edges that @after has and @before has not become those of the input. */
void fuzz_input_note(struct fuzz_input *input, const struct fuzz_map *before,
		     const struct fuzz_map *after);
/* Of its sights, only those that the other one has too. */
void fuzz_input_common(struct fuzz_input *input, const struct fuzz_input *other);
/* "CONN_WAIT:EINTR" */
void fuzz_sight_name(unsigned int sight, char *name, size_t room);

/*
 * Episodes (fuzz_episode.c)
 */

/**
 * struct fuzz_episode - how an episode is to be
 * @seed: of all that happens
 * @threads: how many
 * @actions: of each of them
 * @kill_ms: killed after so many milliseconds; 0: not
 * @unplug: the second device goes and comes meanwhile
 * @closes: everything is closed in the end, instead of left to the kernel
 * @whole: one thread, and no more actions than an input has: it can become one
 * @sequence: these actions and no others; NULL: by chance
 */
struct fuzz_episode {
	uint64_t seed;
	unsigned int threads;
	unsigned int actions;
	unsigned int kill_ms;
	bool unplug;
	bool closes;
	bool whole;
	const struct fuzz_sequence *sequence;
};

/* 0, or what went wrong is in @shared. */
int fuzz_episode_run(struct fuzz_shared *shared, const struct fuzz_episode *episode);
/* An input again, alone. */
int fuzz_sequence_run(struct fuzz_shared *shared, const struct fuzz_sequence *sequence);

/*
 * Of what was found, and was there before, what is worth keeping (fuzz_distil.c): each
 * input reaches something that none before it does, and is as short as trying can make
 * it.  Until @deadline_ms, then the old ones stay as they are.  @kept is to be freed.
 * 0, or what went wrong is in @shared.
 */
int fuzz_distil(struct fuzz_shared *shared, const struct fuzz_inputs *given,
		uint64_t deadline_ms, struct fuzz_inputs *kept);

/*
 * Actions (fuzz_act.c)
 */

void fuzz_act(struct fuzz_thread *thread, uint64_t action);
/* So that there is something to act on. */
void fuzz_prepare(struct fuzz_thread *thread);

#endif
