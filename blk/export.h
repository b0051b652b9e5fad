/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports: memory or a store of this host that other hosts use as a block device.
 */
#ifndef _KRDMA_BLK_EXPORT_H
#define _KRDMA_BLK_EXPORT_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/configfs.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "address.h"
#include "auth.h"
#include "memory.h"
#include "store.h"
#include "wire.h"

struct krdma_conn;
struct krdma_listener;
struct krdma_wc;
struct path;
struct config_item_type;

/**
 * enum krdma_blk_role - what a client may do
 * @KRDMA_BLK_READS: read
 * @KRDMA_BLK_WRITES: read and write
 */
enum krdma_blk_role {
	KRDMA_BLK_READS,
	KRDMA_BLK_WRITES,
};

#define KRDMA_BLK_ROLES		2

#define KRDMA_BLK_PATH_MAX	256

/**
 * struct krdma_blk_export - an export
 * @item: configfs item, which counts the references
 * @lock: protects the settings, and serializes enabling, disabling and growing.  A mutex, outside
 *	all others here, held for as long as these take.  So @file, @path and @allow change with
 *	@settings_lock held, too, and code that shows them takes only that.
 * @settings_lock: see @lock
 * @size: in bytes; 0 while the export is disabled: all of the store
 * @whole: @size was 0 when it was enabled
 * @block_size: in bytes
 * @read_only: clients can only read
 * @exclusive: only one client at a time
 * @shared: any number of clients may write at the same time
 * @force: the next time, it may be disabled while it has clients; or, if it has none, though its
 *	data cannot be saved
 * @secret: secret that a client must know
 * @file: path of the file that keeps the data while the export is disabled; "": none
 * @path: path of the block device or file that has the data; "": they are in memory
 * @allow: networks from which clients may connect; if empty, @secret alone decides
 * @enabled: clients can use it; the settings do not change then, except @force
 * @name: padded with zeroes; set once
 * @generation: a random number, new each time the export is enabled
 * @sessions: for each &enum krdma_blk_role: session of the peers that can access the memory.  An
 *	rkey of the writers' session is not valid in that of the readers.
 * @memory: the memory, unless there is a store
 * @store: what @path is, open
 * @claims: entry of the list of exports that have a file; empty while it has none
 * @claimed: what it has is a file, known by the next four members; protected, like them, by the
 *	list's lock
 * @claimed_dev: device number of the store or of @file, as of stat(2)
 * @claimed_ino: its inode number
 * @claimed_has_birth: its file system knows the next one
 * @claimed_birth: when the file was made
 * @jobs: executes commands for the store, each with a worker of its own, so that a store that does
 *	not answer delays no other export; or NULL
 * @reads: executes those that read: the others may have to wait for each other; or NULL
 * @drains: for the ends of connections, which wait for @jobs, and for replies; or NULL
 * @drain_lock: protects @writing, @draining and @drain_count, and @ended of all commands.  Process
 *	context.
 * @writing: list of &struct krdma_blk_commands that execute writes with @jobs and have not ended
 * @draining: list of &struct krdma_blk_commands of connections that have ended, and for which @jobs
 *	may still write, in the order of their ends; @idle is woken when it becomes shorter
 * @drain_count: number of those that have been added to the list
 * @node: entry of the list of enabled exports; protected by the list's lock, like @users
 * @users: number of contexts that have found it in the list and handle a connection request for
 *	it
 * @windows_lock: protects @windows.  A mutex, outside @clients_lock: registering takes long.
 * @windows: for each role: list of &struct krdma_blk_window
 * @clients_lock: protects the members below.  A mutex, inside @lock and @windows_lock.
 * @closing: no client is admitted any more
 * @paused: none is admitted until the memory has changed
 * @reserved_until: time in jiffies until which clients with a record count as connected; 64 bits,
 *	because on 32-bit machines a time of long ago would be in the future again
 * @clients: list of &struct krdma_blk_client that may return
 * @client_count: number of entries of @clients
 * @forgets: number of clients that have been forgotten
 * @epoch: windows of an earlier one may have an rkey that is not valid any more; changed with
 *	@clients_lock held, and read without
 * @conns: list of &struct krdma_blk_export_conn, the newest first
 * @conn_count: number of entries of @conns
 * @idle: woken when a connection is removed
 * @accepted: number of accepted connections
 * @refused_address: number of connections that were refused because of their address
 * @refused_secret: number of those refused because of their secret
 * @refused_busy: number of those refused because another client uses the export
 * @refused_fenced: number of those refused because the client must not return
 * @refused_other: number of those refused for other reasons
 */
struct krdma_blk_export {
	struct config_item item;
	struct mutex lock;		/* see above */
	spinlock_t settings_lock;	/* see above */
	u64 size;
	bool whole;
	u32 block_size;
	bool read_only;
	bool exclusive;
	bool shared;
	bool force;
	struct krdma_blk_secret secret;
	char file[KRDMA_BLK_PATH_MAX];
	char path[KRDMA_BLK_PATH_MAX];
	struct krdma_blk_nets allow;
	bool enabled;

	char name[KRDMA_BLK_NAME_MAX];
	u64 generation;
	struct krdma_session *sessions[KRDMA_BLK_ROLES];
	struct krdma_blk_memory memory;
	struct krdma_blk_store store;
	struct list_head claims;
	bool claimed;
	dev_t claimed_dev;
	u64 claimed_ino;
	bool claimed_has_birth;
	struct timespec64 claimed_birth;
	struct workqueue_struct *jobs;
	struct workqueue_struct *reads;
	struct workqueue_struct *drains;
	spinlock_t drain_lock;		/* see above */
	struct list_head writing;
	struct list_head draining;
	u64 drain_count;

	struct list_head node;
	unsigned int users;

	struct mutex windows_lock;	/* see above */
	struct list_head windows[KRDMA_BLK_ROLES];

	struct mutex clients_lock;	/* see above */
	bool closing;
	bool paused;
	u64 reserved_until;
	struct list_head clients;
	unsigned int client_count;
	u64 forgets;
	u32 epoch;
	struct list_head conns;
	unsigned int conn_count;
	wait_queue_head_t idle;
	atomic64_t accepted;
	atomic64_t refused_address;
	atomic64_t refused_secret;
	atomic64_t refused_busy;
	atomic64_t refused_fenced;
	atomic64_t refused_other;
};

/**
 * struct krdma_blk_client - an attachment of a host, with all of its connections
 * @node: entry of its export's list; empty: it has been forgotten, and must not return
 * @forgotten: its number among those that have been forgotten
 * @refs: references of its connections, and of the list
 * @id: random number that the client has chosen
 * @role: what it may do
 * @settled: those that it replaces have been forgotten
 * @conn_count: number of its connections, including those that are ending
 * @from: address of the last connection
 * @seen: time in jiffies when the last connection began or ended
 *
 * Protected by the export's clients_lock.
 */
struct krdma_blk_client {
	struct list_head node;
	u64 forgotten;
	unsigned int refs;
	u64 id;
	enum krdma_blk_role role;
	bool settled;
	unsigned int conn_count;
	struct sockaddr_storage from;
	unsigned long seen;
};

/* A receive for each command, and one for the message with which a client leaves. */
#define KRDMA_BLK_COMMAND_SLOTS		(KRDMA_BLK_COMMANDS_MAX + 1)

/**
 * struct krdma_blk_job - a command that is executed for a store
 * @commands: the commands of its connection
 * @range: what it does
 * @status: &enum krdma_blk_status
 * @work: executes it
 * @read: executes it if it reads.  A work item of its own, because it has another workqueue: to
 *	cancel one waits only for the workqueue that had it last.
 */
struct krdma_blk_job {
	struct krdma_blk_commands *commands;
	struct krdma_blk_range range;
	int status;
	struct work_struct work;
	struct work_struct read;
};

/**
 * struct krdma_blk_commands - commands of a connection
 * @export: the export
 * @conn: the connection
 * @opcodes: bits 1 << &enum krdma_blk_opcode that the client may use
 * @messages: array of KRDMA_BLK_COMMAND_SLOTS commands, into which they are received; NULL: the
 *	connection has no commands
 * @mr: MR of @messages
 * @slots: with a store: the memory of the slots
 * @window: with a store: @slots as the client accesses them
 * @jobs: with a store: array of KRDMA_BLK_COMMAND_SLOTS, one for each of @messages; or NULL
 * @arrived: bit map of the commands that @work executes
 * @ended: the connection has ended, and no further job begins
 * @draining: entry of the export's list
 * @drain: its number in that list
 * @executed: bit map of the commands whose @jobs have ended, and to which @work replies
 * @replies: number of replies in flight
 * @expires: krdma_blk_now() from which on none is begun: the client may rely on that.  Later each
 *	time that the client has answered a check.
 * @work: executes them, or replies
 */
struct krdma_blk_commands {
	struct krdma_blk_export *export;
	struct krdma_conn *conn;
	u8 opcodes;
	struct krdma_blk_command *messages;
	struct krdma_mr *mr;
	struct krdma_blk_memory slots;
	struct krdma_blk_window *window;
	struct krdma_blk_job *jobs;
	bool ended;
	struct list_head draining;
	u64 drain;
	DECLARE_BITMAP(arrived, KRDMA_BLK_COMMAND_SLOTS);
	DECLARE_BITMAP(executed, KRDMA_BLK_COMMAND_SLOTS);
	atomic_t replies;
	unsigned long expires;
	struct work_struct work;
};

/**
 * struct krdma_blk_export_conn - a connection of a client, or one that is being refused
 * @node: entry of its export's list
 * @export: the export; NULL until the client is admitted.  Set by @answer alone.
 * @client: the client; NULL until it is admitted.  Set by @answer alone.
 * @queue: index of the connection among those of the client
 * @conn: the connection
 * @window: the memory as the client accesses it; NULL: it cannot, or there is a store.  Protected
 *	by the export's clients_lock.
 * @asked: a check is in flight, which the client has not answered
 * @asked_at: krdma_blk_now() when the last check was posted, or the client was accepted
 * @wants_commands: the client knows commands
 * @left: the client has said that it leaves
 * @commands: commands of the client; open if they were offered
 * @from: address of the peer
 * @answering: entry of the list of connections whose requests are being answered
 * @exceeds: there are too many of them from this address, or from its IPv6 network
 * @lease: checks the client, or ends the connection
 * @answer: answers the connection request
 * @end: frees this structure after the connection's last event
 * @drain: does the same when the store has executed the commands
 */
struct krdma_blk_export_conn {
	struct list_head node;
	struct krdma_blk_export *export;
	struct krdma_blk_client *client;
	u16 queue;
	struct krdma_conn *conn;
	struct krdma_blk_window *window;
	bool asked;
	unsigned long asked_at;
	bool wants_commands;
	bool left;
	struct krdma_blk_commands commands;
	struct krdma_blk_net from;
	struct list_head answering;
	bool exceeds;
	struct delayed_work lease;
	struct work_struct answer;
	struct work_struct end;
	struct work_struct drain;
};

/*
 * Milliseconds.  While this host is suspended they go on as those of its clients do, and jiffies do
 * not.
 */
static inline unsigned long krdma_blk_now(void)
{
	return div_u64(ktime_get_boottime_ns(), NSEC_PER_MSEC);
}

/**
 * struct krdma_blk_listen_ops - what a listener needs of the code that answers its requests
 * @requested: takes the connection requests that wait; process context.  Returns why there are no
 *	more: -EAGAIN: none waits, or enough are being answered; -ENOMEM; -ENODEV: the listener's
 *	device has been removed; -ESHUTDOWN: it has been closed.
 * @wait: waits until all connections are freed; process context, uninterruptible.  There is no
 *	listener any more, and no export is enabled.
 */
struct krdma_blk_listen_ops {
	int (*requested)(struct krdma_listener *listener);
	void (*wait)(void);
};

/* Item types of configfs. */
extern const struct config_item_type krdma_blk_exports_type;

#endif /* _KRDMA_BLK_EXPORT_H */
