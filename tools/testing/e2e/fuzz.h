/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the parts of the fuzzer share.
 *
 * An episode is a process that begins with nothing, acts for a while with one or
 * several threads, and ends in one of several ways.  Each action is drawn from one
 * number, so a sequence of actions is a sequence of numbers, which can be stored,
 * repeated and mutated.  The process that starts the episodes supervises them.
 *
 * A sight is a value that was seen: the errno of a call or of an entry, the state of a
 * connection, or the status of a completion.
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
 * Random numbers (fuzz_value.c)
 */

struct fuzz_random {
	uint64_t state;
};

uint64_t fuzz_mix(uint64_t one, uint64_t other);
uint64_t fuzz_next(struct fuzz_random *random);
/* A number from 0 to @count - 1. */
uint32_t fuzz_below(struct fuzz_random *random, uint32_t count);
bool fuzz_one_in(struct fuzz_random *random, uint32_t count);

/*
 * The ioctls (fuzz_table.c)
 */

/* Kinds of descriptors; FUZZ_STRANGER is not one of krdma. */
enum fuzz_kind {
	FUZZ_SESSION,
	FUZZ_LISTENER,
	FUZZ_CONN,
	FUZZ_QUEUE,
	FUZZ_SRQ,
	FUZZ_STRANGER,
	FUZZ_KINDS,
};

/* The source of the valid values of a field. */
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
	FUZZ_FD_LISTENER,
	FUZZ_FD_SRQ,
	FUZZ_ARENA,
	FUZZ_MEMORY,
	FUZZ_ENTRIES,
	FUZZ_ROOM,
	FUZZ_MR_NAME,
};

/**
 * struct fuzz_field - a field of an ioctl's structure that the program sets
 * @offset: offset in the structure
 * @width: bytes
 * @class: &enum fuzz_class
 * @limit: FUZZ_FLAGS: the defined bits; FUZZ_COUNT: the largest sensible value
 */
struct fuzz_field {
	uint16_t offset;
	uint16_t width;
	enum fuzz_class class;
	uint32_t limit;
};

/**
 * struct fuzz_request - an ioctl
 * @name: name for messages
 * @cmd: number of the ioctl
 * @kind: kind of descriptor that has it
 * @size: bytes of its structure
 * @waits: it can wait, until a deadline
 * @fields: fields of its structure; ends with a width of 0
 * @errors: errnos that it may return besides fuzz_common_errors; ends with 0
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

/* Indices of fuzz_requests, and further numbers of calls and of sights. */
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
	/* Those that came later: see act_request(). */
	FUZZ_LATER,
	FUZZ_CONNS_OPEN = FUZZ_LATER,
	FUZZ_CONNS_TAKE,
	FUZZ_CONNS_ACCEPT,
	FUZZ_CONNS_CLOSE,
	FUZZ_CONNS_FD,
	FUZZ_MR_SET_NAME,
	FUZZ_CONN_FIND_MR,
	FUZZ_REQUESTS,
	/* Calls that are not ioctls of krdma. */
	FUZZ_OPEN = FUZZ_REQUESTS,
	FUZZ_CLOSE,
	FUZZ_READ,
	FUZZ_POLL,
	FUZZ_MMAP,
	FUZZ_UNKNOWN,
	FUZZ_CALLS,
	/* Other sights: errnos of entries, states of connections, statuses of completions. */
	FUZZ_ENTRY = FUZZ_CALLS,
	FUZZ_STATE,
	FUZZ_STATUS,
	FUZZ_SIGHTS,
};

extern const struct fuzz_request fuzz_requests[FUZZ_REQUESTS];

/* Errnos that every ioctl may return, and those of entries; both end with 0. */
extern const int fuzz_common_errors[];
extern const int fuzz_entry_errors[];

const char *fuzz_call_name(unsigned int index);
/* True if @error, a positive errno, is in the list. */
bool fuzz_listed(const int *errors, int error);

/*
 * Objects (fuzz_pool.c)
 */

#define FUZZ_SLOTS	48
#define FUZZ_MEMORIES	16
#define FUZZ_PORTS	8
#define FUZZ_THREADS	4

/* Address space for a ring; each slot has its own, so that something is always mapped there. */
#define FUZZ_WINDOW	(256u << 10)

/* Memory for entries, SGEs and data: always mapped, and written by all threads. */
#define FUZZ_ARENA_SIZE	(256u << 10)

/**
 * struct fuzz_slot - a descriptor
 * @fd: the descriptor; -1: none
 * @kind: &enum fuzz_kind
 * @id: ID of the connection or SRQ
 * @session: number of its session, assigned by the pool
 * @ring: for a connection, the slot of its ring; -1: none
 * @header: bytes of the mapping of a ring; 0: not mapped
 *
 * Threads change all members at any time, so the values that a thread reads may belong to
 * two different objects.
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
 * struct fuzz_pool - objects that the threads of an episode share
 * @slots: descriptors
 * @memories: memory regions
 * @ports: ports of listeners
 * @devices: IDs of devices
 * @sessions: number of sessions created so far
 * @arena: see FUZZ_ARENA_SIZE
 * @windows: FUZZ_WINDOW bytes for each slot
 * @forbidden: a read-only page, and behind it an inaccessible one
 * @mail: a pair of sockets through which descriptors are sent
 * @stranger: descriptor of a file that is not one of krdma
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

/* Areas of memory of the fuzzer.  Thread N has FUZZ_AREA_THREAD + N. */
enum fuzz_area {
	FUZZ_AREA_ARENA,
	FUZZ_AREA_WINDOWS,
	FUZZ_AREA_FORBIDDEN,
	FUZZ_AREA_THREAD,
};

/* Returns NULL if the pages cannot be mapped. */
void *fuzz_pages(unsigned int area, size_t size, int protection);
int fuzz_pool_begin(struct fuzz_pool *pool);
/* Returns a slot with a descriptor of @kind and of @session (0: any session), or -1. */
int fuzz_pool_find(struct fuzz_pool *pool, struct fuzz_random *random, enum fuzz_kind kind,
		   unsigned int session);
struct krdma_ring_header *fuzz_pool_ring(struct fuzz_pool *pool, int slot);

/*
 * Calls (fuzz_call.c)
 */

/* Maximum number of actions of a stored sequence. */
#define FUZZ_SEQUENCE	40
#define FUZZ_CORPUS	1024
#define FUZZ_FINDS	1024
#define FUZZ_EDGE_BITS	18
#define FUZZ_STRANGE	32

/**
 * struct fuzz_sequence - an input: the actions of one thread from the beginning
 * @seed: seed of the preparation before the actions
 * @length: number of actions
 * @actions: the numbers that the actions are drawn from
 */
struct fuzz_sequence {
	uint64_t seed;
	uint32_t length;
	uint64_t actions[FUZZ_SEQUENCE];
};

/* Number of distinct errnos, states and statuses; 0 is success. */
#define FUZZ_VALUES	160

/**
 * struct fuzz_map - what some episodes have reached
 * @edges: hashed set of edges: transitions from one place in the module to another
 * @sights: nonzero for each value that was seen, by &enum fuzz_request_index
 * @edge_count: number of edges
 * @sight_count: number of sights
 */
struct fuzz_map {
	atomic_uchar edges[1 << (FUZZ_EDGE_BITS - 3)];
	atomic_uchar sights[FUZZ_SIGHTS][FUZZ_VALUES];
	atomic_uint edge_count;
	atomic_uint sight_count;
};

/*
 * Episodes that are whole inputs can be repeated.  They have a map of their own, because what
 * they reach is worth storing even if another episode, of a thousand actions by four threads,
 * has reached it before.
 */
enum fuzz_map_index {
	FUZZ_MAP_LONG,
	FUZZ_MAP_WHOLE,
	FUZZ_MAPS,
};

/* The call that a thread is in, for the supervisor. */
struct fuzz_busy {
	atomic_ulong since_ms;
	atomic_uint call;
	atomic_int thread;
};

/**
 * struct fuzz_shared - memory that episodes share with the process that supervises them
 * @calls: number of calls, by &enum fuzz_request_index
 * @successes: number of those that succeeded
 * @slowest_ms: milliseconds of the slowest call
 * @has_coverage: the kernel reports edges (KCOV)
 * @failed: something went wrong and all threads stop: see @failure
 * @failure: message that describes it
 * @strange: messages about undocumented errnos, each once
 * @strange_count: number of undocumented errnos; may exceed FUZZ_STRANGE
 * @busy: the call of each thread; the last entry is for children of fork()
 * @seen: hashed set of discoveries, such as pairs of calls with the result of the second
 * @maps: what was reached
 * @corpus: sequences to begin with, and those that discovered something
 * @corpus_count: number of sequences ever added; the oldest are overwritten
 * @finds: inputs that reached something new, for the stored corpus
 * @find_count: number of such inputs; may exceed FUZZ_FINDS
 * @last_fresh: the last action of an input that reached something new, counted from 1
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
 * struct fuzz_thread - a thread of an episode
 * @random: random numbers of the current action
 * @pool: shared with the other threads
 * @shared: shared with the supervisor
 * @index: index in the episode; FUZZ_THREADS in a child of fork()
 * @alone: the episode has no other thread, so slots always describe their descriptors
 * @timer: interrupts a call that waits
 * @page: two pages for a structure, with an inaccessible page behind them
 * @cover: coverage reported by the kernel; NULL: none
 * @map: records what this thread reaches
 * @discovered: the current action has discovered something
 * @fresh: the discovery is an edge or a sight
 * @last_call: the previous call
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
/* Records what went wrong, for the first failure only, and makes all threads stop. */
void fuzz_fail(struct fuzz_thread *thread, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Called around each system call on a descriptor of krdma; a negative @ret is -errno. */
uint64_t fuzz_call_begin(struct fuzz_thread *thread, unsigned int call, bool waits);
void fuzz_call_end(struct fuzz_thread *thread, unsigned int call, bool waits, uint64_t begun,
		   int ret);

/*
 * Makes the ioctl with @structure, of @size bytes, on the descriptor in @slot (-1: none), checks
 * the result, and puts created objects into the pool.  Returns 0 or -errno.
 */
int fuzz_issue(struct fuzz_thread *thread, unsigned int index, int slot, void *structure,
	       uint32_t size);

/* Closes the descriptor in the slot. */
void fuzz_close(struct fuzz_thread *thread, int slot);
/* Puts a descriptor into a slot and closes the slot's former one.  Returns the slot. */
int fuzz_keep(struct fuzz_thread *thread, int fd, enum fuzz_kind kind, unsigned int id,
	      unsigned int session);

/* True if no thread has discovered @what before (fuzz_cover.c). */
bool fuzz_discover(struct fuzz_shared *shared, uint64_t what);
/* Records a sight: @value, a number or -errno, of @what, of &enum fuzz_request_index. */
void fuzz_see(struct fuzz_thread *thread, unsigned int what, int value);
struct fuzz_cover *fuzz_cover_open(void);
void fuzz_cover_begin(struct fuzz_cover *cover);
/* Returns the number of edges of the call that are new to the map. */
unsigned int fuzz_cover_end(struct fuzz_cover *cover, struct fuzz_map *map);

/*
 * Values (fuzz_value.c)
 */

/* Fills in a structure: valid, nearly valid, or invalid.  Returns the size to claim. */
uint32_t fuzz_fill(struct fuzz_thread *thread, const struct fuzz_request *request,
		   void *structure, unsigned int session);
/* The same, as valid as possible. */
void fuzz_fill_right(struct fuzz_thread *thread, const struct fuzz_request *request,
		     void *structure, unsigned int session);
void fuzz_address(struct fuzz_thread *thread, enum fuzz_class class,
		  struct __kernel_sockaddr_storage *address);
/* Fills in an entry for that destination; some are invalid. */
void fuzz_entry(struct fuzz_thread *thread, unsigned int dest, struct krdma_sqe *entry);
uint64_t fuzz_deadline(struct fuzz_thread *thread);

/*
 * The corpus that is stored between runs (fuzz_corpus.c)
 */

/**
 * struct fuzz_input - a line of the corpus
 * @sequence: the actions
 * @edges: number of edges that were new with it
 * @sights: sights that were new with it, as indices of the sights of &struct fuzz_map
 * @sight_count: number of @sights
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

/*
 * Reads a corpus; the caller frees @inputs->list with free().  Returns 0 or -errno; -EBADMSG means
 * that line @*line is invalid.
 */
int fuzz_corpus_read(const char *path, struct fuzz_inputs *inputs, unsigned int *line);
int fuzz_corpus_write(const char *path, const struct fuzz_inputs *inputs);
/* Records in @input the sights and edges that @after has and @before has not. */
void fuzz_input_note(struct fuzz_input *input, const struct fuzz_map *before,
		     const struct fuzz_map *after);
/* Removes the sights that @other does not have. */
void fuzz_input_common(struct fuzz_input *input, const struct fuzz_input *other);
/* Formats a sight, such as "CONN_WAIT:EINTR". */
void fuzz_sight_name(unsigned int sight, char *name, size_t room);

/*
 * Episodes (fuzz_episode.c)
 */

/**
 * struct fuzz_episode - parameters of an episode
 * @seed: seed of all random numbers
 * @threads: number of threads
 * @actions: actions of each thread
 * @kill_ms: milliseconds after which the process is killed; 0: never
 * @unplug: the second device is removed and added again meanwhile
 * @closes: the process closes all descriptors before it exits
 * @whole: one thread with at most FUZZ_SEQUENCE actions, so the episode can become an input
 * @sequence: the actions; NULL: random ones
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

/* Returns 0, or -errno: then @shared->failure says what went wrong. */
int fuzz_episode_run(struct fuzz_shared *shared, const struct fuzz_episode *episode);
/* Repeats an input, in an episode of one thread. */
int fuzz_sequence_run(struct fuzz_shared *shared, const struct fuzz_sequence *sequence);

/*
 * Selects the inputs worth storing from @given and from the new finds (fuzz_distil.c).  Each
 * selected input reaches something that none before it does; finds are made as short as possible.
 * After @deadline_ms the rest of @given is kept as it is, and the rest of the finds is dropped.
 * The caller frees @kept->list.  Returns 0, or -errno: then @shared->failure says what went wrong.
 */
int fuzz_distil(struct fuzz_shared *shared, const struct fuzz_inputs *given,
		uint64_t deadline_ms, struct fuzz_inputs *kept);

/*
 * Actions (fuzz_act.c)
 */

void fuzz_act(struct fuzz_thread *thread, uint64_t action);
/* Creates objects to act on. */
void fuzz_prepare(struct fuzz_thread *thread);

#endif
