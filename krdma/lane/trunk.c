// SPDX-License-Identifier: GPL-2.0
/*
 * Trunks: found or made for a lane, accepted from a peer, and ended.
 *
 * An active trunk is made for the first lane towards a peer, by its connect_work, and ends when
 * it has had no lane for KRDMA_TRUNK_IDLE_MS.  A passive one ends with its link, or when it has no
 * lane and no listener takes lanes: soon after that, whatever the peer does.  Two hosts that
 * connect to each other have two trunks.
 *
 * The end of a trunk is work of its own: krdma_trunk_fail() and the events of the link only ask
 * for it.  The work item ends the trunk's lanes, and closes the link, which waits for everything
 * that uses the trunk.  It holds no lock meanwhile.  Then the trunk leaves the list.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/ipv6.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "cm/listen.h"
#include "core/objects.h"
#include "core/session.h"
#include "lane/direct.h"
#include "lane/known.h"
#include "lane/lane.h"
#include "lane/link.h"
#include "lane/port.h"
#include "lane/send.h"
#include "lane/trunk.h"
#include "lane/window.h"
#include "trace.h"

/* How long a trunk without lanes stays. */
#define KRDMA_TRUNK_IDLE_MS	10000
/* How long a peer may take for each step of the link. */
#define KRDMA_TRUNK_ANSWER_MS	1000
/*
 * How long it may take for an answer there, and for the rest of what a trunk sends that is not used
 * any more: as long as a device over Ethernet repeats what is not acknowledged, see
 * krdma_conn.patient.
 */
#define KRDMA_TRUNK_FIND_MS	4000
#define KRDMA_TRUNK_REST_MS	4000
/* How long lanes wait for a trunk: its steps, and some time for what this side does. */
#define KRDMA_TRUNK_CONNECT_MS	(4 * KRDMA_TRUNK_ANSWER_MS)
/* How long nothing is sent to a peer that nothing else checks. */
#define KRDMA_TRUNK_PROBE_MS	30000
/*
 * How long the end of a lane waits for a frame that takes it along, in jiffies.  If none does, so
 * many ends do not wait.
 */
#define KRDMA_TRUNK_LATER	1
#define KRDMA_TRUNK_HURRY	15
/* Time in which a host without lanes is not asked again, and number of such hosts to remember. */
#define KRDMA_ABSENT_MS		10000
#define KRDMA_ABSENT_HOSTS	32

/* A host that takes no trunks; the key's pointers are only compared. */
struct krdma_absent {
	struct krdma_trunk_key key;
	unsigned long until;
	bool valid;
};

/* See core/private.h. */
static DEFINE_MUTEX(krdma_trunks_mutex);
static LIST_HEAD(krdma_trunks);
static unsigned int krdma_trunk_count;
static u64 krdma_trunk_last_id;
static bool krdma_trunks_closed;
static struct krdma_absent krdma_absent_hosts[KRDMA_ABSENT_HOSTS];
static unsigned int krdma_absent_next;
static u64 krdma_lane_instance;

/* Woken when a trunk has ended. */
static DECLARE_WAIT_QUEUE_HEAD(krdma_trunks_wait);

/*
 * Keys
 */

static bool krdma_lane_address_same(const struct sockaddr_in6 *a, const struct sockaddr_in6 *b)
{
	if (a->sin6_family != b->sin6_family)
		return false;
	if (a->sin6_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&a->sin6_addr, &b->sin6_addr) &&
	       a->sin6_scope_id == b->sin6_scope_id;
}

static bool krdma_trunk_key_same(const struct krdma_trunk_key *a, const struct krdma_trunk_key *b)
{
	return a->net == b->net && a->dev == b->dev &&
	       krdma_lane_address_same(&a->local, &b->local) &&
	       krdma_lane_address_same(&a->remote, &b->remote);
}

/*
 * Hosts without lanes
 */

static bool krdma_is_absent(const struct krdma_trunk_key *key)
{
	lockdep_assert_held(&krdma_trunks_mutex);

	for (unsigned int i = 0; i < KRDMA_ABSENT_HOSTS; i++) {
		struct krdma_absent *host = &krdma_absent_hosts[i];

		if (host->valid && time_before(jiffies, host->until) &&
		    krdma_trunk_key_same(&host->key, key))
			return true;
	}
	return false;
}

static void krdma_remember_absent(const struct krdma_trunk_key *key)
{
	mutex_lock(&krdma_trunks_mutex);
	krdma_absent_hosts[krdma_absent_next++ % KRDMA_ABSENT_HOSTS] = (struct krdma_absent) {
		.key = *key,
		.until = jiffies + msecs_to_jiffies(KRDMA_ABSENT_MS),
		.valid = true,
	};
	mutex_unlock(&krdma_trunks_mutex);
}

/**
 * krdma_trunks_forget() - Forget which hosts take no trunks
 * @net: a network namespace
 *
 * Context: process context.
 */
void krdma_trunks_forget(const struct net *net)
{
	mutex_lock(&krdma_trunks_mutex);
	for (unsigned int i = 0; i < KRDMA_ABSENT_HOSTS; i++) {
		if (krdma_absent_hosts[i].key.net == net)
			krdma_absent_hosts[i].valid = false;
	}
	mutex_unlock(&krdma_trunks_mutex);
}

/*
 * References and work
 */

static void krdma_trunk_free(struct kref *refs)
{
	struct krdma_trunk *trunk = container_of(refs, struct krdma_trunk, refs);

	WARN_ON(!list_empty(&trunk->ready) || !list_empty(&trunk->unasked) ||
		!list_empty(&trunk->finders) || !list_empty(&trunk->unanswered));
	xa_destroy(&trunk->peer_windows);
	xa_destroy(&trunk->windows);
	xa_destroy(&trunk->questions);
	xa_destroy(&trunk->lanes);
	mutex_destroy(&trunk->offer_lock);
	kfree(krdma_object_uncount(KRDMA_OBJECT_TRUNK, trunk));
}

/**
 * krdma_trunk_get() - Take a reference to a trunk
 * @trunk: the trunk; the caller holds a reference
 *
 * Context: any.
 */
void krdma_trunk_get(struct krdma_trunk *trunk)
{
	kref_get(&trunk->refs);
}

/**
 * krdma_trunk_put() - Drop a reference to a trunk
 * @trunk: the trunk
 *
 * Context: any.
 */
void krdma_trunk_put(struct krdma_trunk *trunk)
{
	kref_put(&trunk->refs, krdma_trunk_free);
}

/**
 * krdma_trunk_schedule() - Have the work item look at a trunk
 * @trunk: the trunk; the caller holds a reference
 *
 * Context: any.
 */
void krdma_trunk_schedule(struct krdma_trunk *trunk)
{
	krdma_trunk_get(trunk);
	if (!queue_work(krdma_lane_workqueue, &trunk->work))
		krdma_trunk_put(trunk);
}

/**
 * krdma_trunk_send_later() - Send soon what has been added, by itself or with something else
 * @trunk: the trunk
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_send_later(struct krdma_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);

	/* Its end cancels @later only once. */
	if (trunk->state == KRDMA_TRUNK_ENDED)
		return;
	if (trunk->hurry) {
		trunk->hurry--;
		trunk->patient = false;
		krdma_trunk_schedule(trunk);
		return;
	}
	krdma_trunk_get(trunk);
	if (!queue_delayed_work(krdma_lane_workqueue, &trunk->later, KRDMA_TRUNK_LATER))
		krdma_trunk_put(trunk);
}

static void krdma_trunk_later(struct work_struct *work)
{
	struct krdma_trunk *trunk = container_of(work, struct krdma_trunk, later.work);

	spin_lock_bh(&trunk->lock);
	/* They have waited in vain. */
	if (trunk->end_count && trunk->patient)
		trunk->hurry = KRDMA_TRUNK_HURRY;
	trunk->patient = false;
	krdma_link_send(trunk);
	spin_unlock_bh(&trunk->lock);
	krdma_trunk_put(trunk);
}

/**
 * krdma_trunk_fail() - Have a trunk end
 * @trunk: the trunk
 * @error: why, a negative errno
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_fail(struct krdma_trunk *trunk, int error)
{
	lockdep_assert_held(&trunk->lock);

	/* The ends of lanes may wait for something else to be sent. */
	if (error == -ESHUTDOWN) {
		trunk->patient = false;
		krdma_link_send(trunk);
	}
	if (trunk->link_over)
		return;
	trunk->link_over = true;
	trunk->error = error;
	/*
	 * The peer hears of an end in order, unless the link is being established: a thread waits
	 * for that.  Frames in flight are flushed in any case, and may not arrive.
	 */
	if (trunk->conn && (error != -ESHUTDOWN || krdma_conn_disconnect(trunk->conn)))
		krdma_conn_abort(trunk->conn);
	krdma_trunk_schedule(trunk);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_trunk_fail);

/*
 * Lanes that wait for an answer
 */

/* Questions are sent in turn, so those that were not sent are younger. */
static struct krdma_lane *krdma_trunk_oldest_finder(struct krdma_trunk *trunk)
{
	struct list_head *list = list_empty(&trunk->finders) ? &trunk->unasked : &trunk->finders;

	return list_first_entry_or_null(list, struct krdma_lane, find_node);
}

/**
 * krdma_trunk_end_finder() - A lane does not wait for an answer any more
 * @lane: the lane, which does; its reference goes to the caller
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_end_finder(struct krdma_lane *lane)
{
	lockdep_assert_held(&lane->trunk->lock);

	list_del_init(&lane->find_node);
	if (lane->ticket)
		xa_erase(&lane->trunk->questions, lane->ticket);
	lane->ticket = 0;
}

/*
 * How long a lane still waits for its answer, in jiffies.  Nothing can be asked before the trunk is
 * connected, and that may take long: some providers wait for the peer in the call that connects.
 */
static unsigned long krdma_trunk_patience(const struct krdma_trunk *trunk,
					  const struct krdma_lane *lane)
{
	unsigned long since = trunk->up_at;
	unsigned int wait_ms = KRDMA_TRUNK_CONNECT_MS;
	unsigned long until;

	if (trunk->state != KRDMA_TRUNK_CONNECTING) {
		wait_ms = KRDMA_TRUNK_FIND_MS;
		if (time_after(lane->asked_at, since))
			since = lane->asked_at;
	}
	until = since + msecs_to_jiffies(wait_ms);
	return time_before(jiffies, until) ? until - jiffies : 0;
}

/* Does it take so long to connect that no lane waits for it? */
static bool krdma_trunk_is_late(struct krdma_trunk *trunk)
{
	bool late;

	spin_lock_bh(&trunk->lock);
	late = trunk->state == KRDMA_TRUNK_CONNECTING && !trunk->link_over &&
	       time_after_eq(jiffies, trunk->up_at + msecs_to_jiffies(KRDMA_TRUNK_CONNECT_MS));
	spin_unlock_bh(&trunk->lock);
	return late;
}

static void krdma_trunk_start_timer(struct krdma_trunk *trunk, unsigned long delay)
{
	krdma_trunk_get(trunk);
	if (mod_delayed_work(krdma_lane_workqueue, &trunk->timer, delay))
		krdma_trunk_put(trunk);
}

/**
 * krdma_trunk_set_timer() - Set the timer after a change of the lanes
 * @trunk: the trunk
 *
 * The time that the oldest question may take does not begin anew.
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_set_timer(struct krdma_trunk *trunk)
{
	unsigned long delay = msecs_to_jiffies(KRDMA_TRUNK_IDLE_MS);
	struct krdma_lane *oldest;

	lockdep_assert_held(&trunk->lock);

	/* How long a passive trunk may be idle is for the peer to say. */
	if (trunk->state > KRDMA_TRUNK_UP || trunk->passive)
		return;
	oldest = krdma_trunk_oldest_finder(trunk);
	trunk->timer_asks = oldest;
	if (oldest)
		delay = krdma_trunk_patience(trunk, oldest);
	else if (trunk->bound || trunk->state != KRDMA_TRUNK_UP)
		return;
	if (!oldest)
		trunk->unused_at = jiffies;
	krdma_trunk_start_timer(trunk, delay);
}

/*
 * Lanes that wait for an answer try another trunk, or are plain connections: all of them, or those
 * that have waited long enough.  There may be many, so the lock is held for one at a time.  The end
 * of a lane removes it from the list, too.
 */
static void krdma_trunk_end_finders(struct krdma_trunk *trunk, bool all, bool retry)
{
	struct krdma_lane *lane;

	spin_lock_bh(&trunk->lock);
	while ((lane = krdma_trunk_oldest_finder(trunk)) &&
	       (all || !krdma_trunk_patience(trunk, lane))) {
		krdma_trunk_end_finder(lane);
		if (retry)
			krdma_lane_retry(lane);
		else
			krdma_lane_found(lane, false);
		krdma_conn_put(lane->conn);
		spin_unlock_bh(&trunk->lock);
		cond_resched();
		spin_lock_bh(&trunk->lock);
	}
	krdma_trunk_set_timer(trunk);
	spin_unlock_bh(&trunk->lock);
}

/* Does nothing need a passive trunk any more? */
static bool krdma_trunk_is_unused(const struct krdma_trunk *trunk)
{
	return trunk->passive && krdma_trunk_is_empty(trunk) &&
	       !krdma_lane_is_taken(trunk->key.net);
}

/*
 * A trunk that is not used any more ends when its frames have arrived, and when the ends of its
 * lanes, and what they owe, are sent.  That is the peer's doing: one without a receive can make the
 * device try for ever.
 */
static void krdma_trunk_end_unused(struct krdma_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);

	if (trunk->state != KRDMA_TRUNK_UP || trunk->link_over)
		return;
	if (!trunk->in_flight && !trunk->unsent_answers && !trunk->end_count) {
		krdma_trunk_fail(trunk, -ESHUTDOWN);
		return;
	}
	/* The time does not begin anew. */
	if (trunk->timer_asks)
		return;
	trunk->timer_asks = true;
	trunk->unused_at = jiffies;
	krdma_trunk_start_timer(trunk, msecs_to_jiffies(KRDMA_TRUNK_REST_MS));
}

/*
 * A device of iWARP has no keepalive, and a passive trunk may have nothing to send.  So a host that
 * was switched off would keep its trunks here, and could not make others when it returns.  A frame
 * now and then has TCP notice.
 */
static void krdma_trunk_probe(struct krdma_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);

	if (trunk->pads)
		return;
	if (trunk->sent_frames == trunk->probed_frames && !trunk->in_flight)
		krdma_link_probe(trunk);
	trunk->probed_frames = trunk->sent_frames;
	krdma_trunk_start_timer(trunk, msecs_to_jiffies(KRDMA_TRUNK_PROBE_MS));
}

static void krdma_trunk_look(struct krdma_trunk *trunk)
{
	unsigned long until = trunk->unused_at + msecs_to_jiffies(KRDMA_TRUNK_REST_MS);
	bool rests = trunk->timer_asks;

	lockdep_assert_held(&trunk->lock);

	trunk->timer_asks = false;
	if (trunk->state != KRDMA_TRUNK_UP || trunk->link_over)
		return;
	if (!krdma_trunk_is_unused(trunk)) {
		krdma_trunk_probe(trunk);
	} else if (!rests) {
		/* The timer was set before. */
		krdma_trunk_end_unused(trunk);
	} else if (time_before(jiffies, until)) {
		/* It was, and had begun to run. */
		trunk->timer_asks = true;
		krdma_trunk_start_timer(trunk, until - jiffies);
	} else {
		krdma_trunk_fail(trunk, -ESHUTDOWN);
	}
}

/*
 * The timer may have been set for a question, and begun to run while the last lane ended.  So this
 * is decided by the time that has passed, and what says that lanes have ended arrives before the
 * link ends, if the peer takes it in time.
 */
static void krdma_trunk_end_idle(struct krdma_trunk *trunk)
{
	unsigned long until = trunk->unused_at + msecs_to_jiffies(KRDMA_TRUNK_IDLE_MS);

	lockdep_assert_held(&trunk->lock);

	if (trunk->bound || trunk->state != KRDMA_TRUNK_UP)
		return;
	if (trunk->in_flight || trunk->end_count || trunk->unsent_answers)
		until += msecs_to_jiffies(KRDMA_TRUNK_REST_MS);
	if (time_before(jiffies, until))
		krdma_trunk_start_timer(trunk, until - jiffies);
	else
		krdma_trunk_fail(trunk, -ESHUTDOWN);
}

/* The peer does not answer, or the trunk was not used for some time. */
static void krdma_trunk_timer(struct work_struct *work)
{
	struct krdma_trunk *trunk = container_of(work, struct krdma_trunk, timer.work);
	bool unanswered = false;

	spin_lock_bh(&trunk->lock);
	if (trunk->passive) {
		krdma_trunk_look(trunk);
	} else if (trunk->state <= KRDMA_TRUNK_UP) {
		unanswered = krdma_trunk_oldest_finder(trunk);
		if (!unanswered)
			krdma_trunk_end_idle(trunk);
	}
	spin_unlock_bh(&trunk->lock);
	if (unanswered)
		krdma_trunk_end_finders(trunk, false, false);
	krdma_trunk_put(trunk);
}

/*
 * Charges
 */

/*
 * The user of the connection that makes the trunk pays for it until it ends, even if only other
 * users use it meanwhile: a user must not take all trunks of the host.
 */
static int krdma_trunk_charge(struct krdma_trunk *trunk, struct krdma_session *session)
{
	int ret = krdma_session_charge_trunk(session);

	if (ret)
		return ret;
	krdma_session_get(session);
	trunk->payer = session;
	return 0;
}

static void krdma_trunk_uncharge(struct krdma_trunk *trunk)
{
	if (!trunk->payer)
		return;
	krdma_session_uncharge_trunk(trunk->payer);
	krdma_session_put(trunk->payer);
	trunk->payer = NULL;
}

/*
 * The end
 */

/* The peer expects no record of any lane. */
static void krdma_trunk_lose_lanes(struct krdma_trunk *trunk)
{
	unsigned long number = 0;
	void *entry;

	do {
		spin_lock_bh(&trunk->lock);
		entry = xa_find(&trunk->lanes, &number, ULONG_MAX, XA_PRESENT);
		if (entry && !xa_is_value(entry))
			krdma_lane_lost(entry, trunk->error, trunk->fail_status);
		spin_unlock_bh(&trunk->lock);
		number++;
		cond_resched();
	} while (entry);
}

/* Nothing is sent any more. */
static void krdma_trunk_end_ready(struct krdma_trunk *trunk)
{
	struct krdma_lane *lane;

	do {
		spin_lock_bh(&trunk->lock);
		spin_lock_irq(&trunk->ready_lock);
		trunk->dead = true;
		lane = list_first_entry_or_null(&trunk->ready, struct krdma_lane, ready_node);
		if (lane)
			list_del_init(&lane->ready_node);
		spin_unlock_irq(&trunk->ready_lock);
		if (lane && (lane->due & BIT(KRDMA_LANE_DUE_OPEN)))
			krdma_lane_lost(lane, trunk->error, 0);
		spin_unlock_bh(&trunk->lock);
		if (lane)
			krdma_conn_put(lane->conn);
		cond_resched();
	} while (lane);
}

/* It has counted, for the host and for its peer, as long as it had a link and its memory. */
static void krdma_trunk_remove(struct krdma_trunk *trunk)
{
	mutex_lock(&krdma_trunks_mutex);
	if (!list_empty(&trunk->node)) {
		list_del_init(&trunk->node);
		WRITE_ONCE(krdma_trunk_count, krdma_trunk_count - 1);
	}
	mutex_unlock(&krdma_trunks_mutex);
}

static void krdma_trunk_end(struct krdma_trunk *trunk)
{
	trace_krdma_trunk(trunk->id, trunk->passive, false, trunk->error);
	/* Lanes that retry do not get it again: its link is over. */
	krdma_trunk_end_finders(trunk, true, trunk->was_up);

	/* Frames that have arrived are read, as messages of a connection that ends are. */
	krdma_link_close(trunk);
	krdma_link_read_late(trunk);

	spin_lock_bh(&trunk->lock);
	trunk->state = KRDMA_TRUNK_ENDED;
	spin_unlock_bh(&trunk->lock);
	krdma_trunk_lose_lanes(trunk);
	krdma_trunk_end_ready(trunk);
	krdma_trunk_forget_windows(trunk);
	krdma_trunk_end_windows(trunk);

	/* It looks at the work requests of the link. */
	if (cancel_delayed_work_sync(&trunk->drain))
		krdma_trunk_put(trunk);
	krdma_link_destroy(trunk);
	krdma_trunk_uncharge(trunk);
	krdma_trunk_remove(trunk);
	if (cancel_delayed_work_sync(&trunk->timer))
		krdma_trunk_put(trunk);
	if (cancel_delayed_work_sync(&trunk->later))
		krdma_trunk_put(trunk);
	if (cancel_delayed_work_sync(&trunk->give_up))
		krdma_trunk_put(trunk);
	wake_up_all(&krdma_trunks_wait);
	krdma_trunk_put(trunk);
}

static void krdma_trunk_work(struct work_struct *work)
{
	struct krdma_trunk *trunk = container_of(work, struct krdma_trunk, work);
	bool unused, over;

	krdma_link_read_late(trunk);
	spin_lock_bh(&trunk->lock);
	unused = krdma_trunk_is_unused(trunk);
	/* Nothing comes that could take the last ends along. */
	if (unused)
		trunk->patient = false;
	krdma_link_send(trunk);
	if (unused)
		krdma_trunk_end_unused(trunk);
	over = trunk->link_over && !trunk->busy && trunk->state < KRDMA_TRUNK_ENDING;
	if (over)
		trunk->state = KRDMA_TRUNK_ENDING;
	spin_unlock_bh(&trunk->lock);
	if (over)
		krdma_trunk_end(trunk);
	krdma_trunk_put(trunk);
}

/* An event of the link. */
static void krdma_trunk_event(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct krdma_trunk *trunk = krdma_conn_context(conn);

	switch (event->type) {
	case KRDMA_EVENT_ADDR_RESOLVED:
	case KRDMA_EVENT_ROUTE_RESOLVED:
	case KRDMA_EVENT_ADDR_CHANGE:
		return;
	case KRDMA_EVENT_ESTABLISHED:
		/* Now frames can be sent. */
		krdma_trunk_schedule(trunk);
		return;
	default:
		break;
	}
	spin_lock_bh(&trunk->lock);
	krdma_trunk_fail(trunk, event->error ?: -ECONNRESET);
	spin_unlock_bh(&trunk->lock);
}

static const struct krdma_conn_ops krdma_trunk_ops = {
	.event = krdma_trunk_event,
	.complete = krdma_link_complete,
};

/*
 * Making trunks
 */

static struct krdma_trunk *krdma_trunk_alloc(bool passive)
{
	struct krdma_trunk *trunk;

	trunk = krdma_object_count(KRDMA_OBJECT_TRUNK, kzalloc_obj(*trunk, GFP_KERNEL_ACCOUNT));
	if (!trunk)
		return NULL;
	kref_init(&trunk->refs);
	trunk->passive = passive;
	mutex_init(&trunk->offer_lock);
	spin_lock_init(&trunk->lock);
	xa_init_flags(&trunk->lanes, XA_FLAGS_LOCK_BH);
	INIT_LIST_HEAD(&trunk->node);
	INIT_LIST_HEAD(&trunk->unasked);
	INIT_LIST_HEAD(&trunk->finders);
	xa_init(&trunk->questions);
	INIT_LIST_HEAD(&trunk->unanswered);
	xa_init_flags(&trunk->windows, XA_FLAGS_LOCK_BH);
	INIT_LIST_HEAD(&trunk->revokes);
	xa_init_flags(&trunk->peer_windows, XA_FLAGS_LOCK_BH);
	INIT_LIST_HEAD(&trunk->revoked);
	trunk->direct_free = GENMASK(KRDMA_TRUNK_DIRECT - 1, 0);
	INIT_LIST_HEAD(&trunk->direct_waiters);
	INIT_LIST_HEAD(&trunk->direct_short_waiters);
	INIT_LIST_HEAD(&trunk->free);
	INIT_LIST_HEAD(&trunk->ready);
	spin_lock_init(&trunk->ready_lock);
	INIT_WORK(&trunk->work, krdma_trunk_work);
	INIT_DELAYED_WORK(&trunk->timer, krdma_trunk_timer);
	INIT_DELAYED_WORK(&trunk->later, krdma_trunk_later);
	INIT_DELAYED_WORK(&trunk->drain, krdma_trunk_drain);
	INIT_DELAYED_WORK(&trunk->give_up, krdma_link_give_up);
	return trunk;
}

/* The peer may be any program that can send packets. */
static unsigned int krdma_trunks_of_peer(const struct krdma_trunk_key *key)
{
	struct krdma_trunk *trunk;
	unsigned int count = 0;

	lockdep_assert_held(&krdma_trunks_mutex);

	list_for_each_entry(trunk, &krdma_trunks, node)
		count += trunk->passive && krdma_trunk_key_same(&trunk->key, key);
	return count;
}

/* Adds a trunk to the list, unless there are too many. */
static bool krdma_trunk_add(struct krdma_trunk *trunk)
{
	lockdep_assert_held(&krdma_trunks_mutex);

	if (krdma_trunks_closed || krdma_trunk_count == KRDMA_TRUNKS_MAX)
		return false;
	if (trunk->passive && krdma_trunks_of_peer(&trunk->key) >= KRDMA_TRUNKS_PEER_MAX)
		return false;
	krdma_trunk_count++;
	trunk->id = ++krdma_trunk_last_id;
	list_add_tail(&trunk->node, &krdma_trunks);
	return true;
}

static void krdma_trunk_hello(struct krdma_lane_hello *hello, u8 *bytes)
{
	hello->frame_size = KRDMA_LANE_FRAME_SIZE;
	hello->frames = KRDMA_TRUNK_FRAMES;
	hello->instance = krdma_lane_instance;
	krdma_lane_hello_encode(hello, bytes);
}

/* Sets the link, unless the trunk has to end already. */
static int krdma_trunk_set_link(struct krdma_trunk *trunk, struct krdma_conn *conn)
{
	int ret;

	spin_lock_bh(&trunk->lock);
	trunk->conn = conn;
	ret = trunk->link_over ? -ESHUTDOWN : 0;
	spin_unlock_bh(&trunk->lock);
	return ret;
}

static int krdma_trunk_resolve(struct krdma_trunk *trunk)
{
	struct sockaddr_in6 remote = trunk->key.remote;
	struct krdma_route route = {
		.local = (struct sockaddr *)&trunk->key.local,
		.remote = (struct sockaddr *)&remote,
		.timeout_ms = KRDMA_TRUNK_ANSWER_MS,
	};
	int ret;

	remote.sin6_port = htons(KRDMA_LANE_PORT);
	ret = krdma_conn_resolve(trunk->conn, &route);
	if (!ret)
		ret = krdma_conn_wait(trunk->conn, 2 * KRDMA_TRUNK_ANSWER_MS);
	if (!ret && krdma_conn_device(trunk->conn) != trunk->key.dev)
		ret = -EXDEV;
	return ret;
}

static int krdma_trunk_greet(struct krdma_trunk *trunk)
{
	struct krdma_lane_hello hello = {
		.version_min = KRDMA_LANE_VERSION_MIN,
		.version_max = KRDMA_LANE_VERSION_MAX,
	};
	u8 bytes[KRDMA_LANE_HELLO_SIZE], answer[KRDMA_PRIVATE_DATA_MAX];
	struct krdma_conn_param param = {
		.private_data = bytes,
		.private_data_len = sizeof(bytes),
	};
	u8 version;
	int ret;

	krdma_trunk_hello(&hello, bytes);
	ret = krdma_conn_connect(trunk->conn, &param);
	if (!ret)
		ret = krdma_conn_wait(trunk->conn, KRDMA_TRUNK_ANSWER_MS);
	if (ret)
		return ret;
	ret = krdma_conn_private_data(trunk->conn, answer, sizeof(answer));
	if (krdma_lane_hello_decode(answer, ret, &hello) ||
	    krdma_lane_hello_choose(&hello, &version) || !hello.lanes)
		return -EPROTO;

	spin_lock_bh(&trunk->lock);
	ret = trunk->link_over ? trunk->error : 0;
	if (!ret)
		krdma_link_up(trunk, &hello);
	spin_unlock_bh(&trunk->lock);
	return ret;
}

static int krdma_trunk_connect(struct krdma_trunk *trunk)
{
	struct krdma_conn *conn;

	conn = krdma_conn_create(trunk->session, &krdma_trunk_ops, trunk);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	conn->patient = true;
	return krdma_trunk_set_link(trunk, conn) ?: krdma_trunk_resolve(trunk) ?:
	       krdma_link_create(trunk) ?: krdma_trunk_greet(trunk);
}

/* Does the error say that the host takes no trunks? */
static bool krdma_trunk_is_refused(int error)
{
	return error == -ECONNREFUSED || error == -ETIMEDOUT || error == -EPROTO;
}

static void krdma_trunk_connect_work(struct work_struct *work)
{
	struct krdma_trunk *trunk = container_of(work, struct krdma_trunk, connect_work);
	int ret;

	ret = krdma_trunk_connect(trunk);
	if (krdma_trunk_is_refused(ret))
		krdma_remember_absent(&trunk->key);
	spin_lock_bh(&trunk->lock);
	if (ret)
		krdma_trunk_fail(trunk, ret);
	trunk->busy = false;
	krdma_trunk_set_timer(trunk);
	spin_unlock_bh(&trunk->lock);
	krdma_trunk_schedule(trunk);
	krdma_trunk_put(trunk);
}

/*
 * Of all trunks.  Lanes of many users share one, and a peer makes the passive ones, so no user can
 * give them turns.  With turns of their own, a peer's trunks would fill the queue of all users.
 */
static struct krdma_turns krdma_trunk_turns = {
	.queues = {
		[KRDMA_TURN_CONN] =
			KRDMA_TURN_QUEUE_INIT(krdma_trunk_turns.queues[KRDMA_TURN_CONN]),
		[KRDMA_TURN_PART] =
			KRDMA_TURN_QUEUE_INIT(krdma_trunk_turns.queues[KRDMA_TURN_PART]),
	},
};

/**
 * krdma_trunk_session_create() - Create a session for a link, or for the port of trunks
 * @net: the network namespace
 *
 * Context: process context; may sleep.
 * Return: the session, to be released by krdma_session_put(), or ERR_PTR(-ENOMEM).
 */
struct krdma_session *krdma_trunk_session_create(struct net *net)
{
	struct krdma_session *session = krdma_session_create(net);

	if (!IS_ERR(session))
		krdma_session_set_turns(session, &krdma_trunk_turns);
	return session;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_trunk_session_create);

static struct krdma_trunk *krdma_trunk_make(const struct krdma_trunk_key *key,
					    struct krdma_session *payer)
{
	struct krdma_trunk *trunk;

	trunk = krdma_trunk_alloc(false);
	if (!trunk)
		return NULL;
	if (krdma_trunk_charge(trunk, payer)) {
		krdma_trunk_put(trunk);
		return NULL;
	}
	trunk->key = *key;
	trunk->session = krdma_trunk_session_create(key->net);
	if (IS_ERR(trunk->session))
		goto err_uncharge;
	if (!krdma_trunk_add(trunk)) {
		krdma_session_put(trunk->session);
		goto err_uncharge;
	}
	trunk->busy = true;
	trunk->up_at = jiffies;
	INIT_WORK(&trunk->connect_work, krdma_trunk_connect_work);
	krdma_trunk_get(trunk);
	queue_work(krdma_trunk_workqueue, &trunk->connect_work);
	return trunk;

err_uncharge:
	krdma_trunk_uncharge(trunk);
	krdma_trunk_put(trunk);
	return NULL;
}

/**
 * krdma_trunk_takes_lane() - Check whether a trunk that is up can take one more lane
 * @trunk: the trunk
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false if it has as many as the peer takes, or its numbers run out.
 */
bool krdma_trunk_takes_lane(const struct krdma_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);

	/* Those that are bound have their numbers later, beside the ends that have theirs still. */
	return trunk->last_lane < U32_MAX - KRDMA_TRUNK_LANES_MAX &&
	       (trunk->state == KRDMA_TRUNK_CONNECTING ||
		(trunk->lane_count < trunk->lanes_max &&
		 trunk->bound + trunk->end_count < trunk->lanes_max));
}
EXPORT_SYMBOL_IF_KUNIT(krdma_trunk_takes_lane);

/* Has the trunk take the lane, unless it ends, or is full. */
static bool krdma_trunk_take(struct krdma_trunk *trunk, struct krdma_lane *lane)
{
	bool taken;

	spin_lock_bh(&trunk->lock);
	taken = !trunk->link_over && krdma_trunk_takes_lane(trunk);
	if (taken) {
		if (lane->trunk)
			krdma_trunk_put(lane->trunk);
		krdma_trunk_get(trunk);
		lane->trunk = trunk;
		lane->asked_at = jiffies;
		krdma_conn_get(lane->conn);
		list_add_tail(&lane->find_node, &trunk->unasked);
		if (!trunk->timer_asks)
			krdma_trunk_set_timer(trunk);
		krdma_link_send(trunk);
	}
	spin_unlock_bh(&trunk->lock);
	return taken;
}

/**
 * krdma_trunk_find() - Find a trunk to the peer, or make one
 * @lane: the lane; in its find_work
 * @key: what the trunk connects
 *
 * The trunk calls krdma_lane_found() later, or krdma_lane_retry().
 *
 * Context: process context; may sleep.
 * Return: 0, or -ENOENT: there is none and there will be none.
 */
int krdma_trunk_find(struct krdma_lane *lane, const struct krdma_trunk_key *key)
{
	struct krdma_trunk *trunk;
	bool absent;
	int ret = 0;

	mutex_lock(&krdma_trunks_mutex);
	absent = krdma_is_absent(key);
	list_for_each_entry(trunk, &krdma_trunks, node) {
		if (trunk->passive || !krdma_trunk_key_same(&trunk->key, key))
			continue;
		/* A second one would not be faster. */
		if (krdma_trunk_is_late(trunk))
			absent = true;
		else if (krdma_trunk_take(trunk, lane))
			goto out;
	}
	ret = -ENOENT;
	if (absent)
		goto out;
	trunk = krdma_trunk_make(key, lane->conn->session);
	if (trunk && krdma_trunk_take(trunk, lane))
		ret = 0;
out:
	mutex_unlock(&krdma_trunks_mutex);
	return ret;
}

/* Is this the way that the consumer wants, if the rest is known? */
static bool krdma_trunk_leads_to(const struct krdma_trunk *trunk, const struct krdma_lane *lane,
				 const struct krdma_conn_path *path)
{
	return !trunk->passive && trunk->key.net == lane->conn->session->net &&
	       krdma_lane_address_same(&trunk->key.remote, &path->remote) &&
	       (lane->routed || krdma_lane_address_same(&trunk->key.local, &path->local));
}

/**
 * krdma_trunk_find_known() - Find a trunk to a listener that is known to take lanes
 * @lane: the lane; under the connection's cm_lock
 * @path: the peer's address, and the local one if the consumer has given it; filled in if this
 *	succeeds, with a reference to the device
 *
 * Context: process context; may sleep.
 * Return: true: the lane has its trunk.
 */
bool krdma_trunk_find_known(struct krdma_lane *lane, struct krdma_conn_path *path)
{
	struct krdma_trunk *trunk;
	bool found = false;

	mutex_lock(&krdma_trunks_mutex);
	list_for_each_entry(trunk, &krdma_trunks, node) {
		if (!krdma_trunk_leads_to(trunk, lane, path))
			continue;
		spin_lock_bh(&trunk->lock);
		found = krdma_trunk_reach(trunk, lane, path);
		spin_unlock_bh(&trunk->lock);
		if (found)
			break;
	}
	mutex_unlock(&krdma_trunks_mutex);
	return found;
}

/*
 * Accepting trunks
 */

static int krdma_trunk_check_request(struct krdma_conn *conn, struct krdma_lane_hello *hello,
				     u8 *version)
{
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	int length;

	length = krdma_conn_private_data(conn, data, sizeof(data));
	return krdma_lane_hello_decode(data, length, hello) ?:
	       krdma_lane_hello_choose(hello, version);
}

static int krdma_trunk_set_key(struct krdma_trunk *trunk, struct krdma_listener *listener)
{
	struct krdma_trunk_key *key = &trunk->key;
	struct sockaddr_storage local, remote;
	int ret;

	ret = krdma_conn_addresses(trunk->conn, &local, &remote);
	if (ret)
		return ret;
	memcpy(&key->local, &local, sizeof(key->local));
	memcpy(&key->remote, &remote, sizeof(key->remote));
	key->local.sin6_port = 0;
	key->remote.sin6_port = 0;
	key->net = listener->session->net;
	key->dev = krdma_conn_device(trunk->conn);
	return 0;
}

static int krdma_trunk_accept(struct krdma_trunk *trunk, struct krdma_listener *listener)
{
	u8 bytes[KRDMA_LANE_HELLO_SIZE];
	struct krdma_conn_param param = {
		.private_data = bytes,
		.private_data_len = sizeof(bytes),
	};
	struct krdma_lane_hello hello;
	struct krdma_lane_hello answer = { .lanes = KRDMA_TRUNK_LANES_MAX };
	u8 version;
	int ret;

	ret = krdma_trunk_check_request(trunk->conn, &hello, &version) ?:
	      krdma_trunk_set_key(trunk, listener);
	if (ret)
		return ret;

	/* Before there is memory for it. */
	mutex_lock(&krdma_trunks_mutex);
	ret = krdma_trunk_add(trunk) ? 0 : -ENOSPC;
	mutex_unlock(&krdma_trunks_mutex);
	ret = ret ?: krdma_link_create(trunk);
	if (ret)
		return ret;
	/* A frame may arrive before the call returns. */
	spin_lock_bh(&trunk->lock);
	krdma_link_up(trunk, &hello);
	spin_unlock_bh(&trunk->lock);

	answer.version_min = version;
	answer.version_max = version;
	krdma_trunk_hello(&answer, bytes);
	return krdma_conn_accept(trunk->conn, &param);
}

/* Takes a request, if there is one. */
static bool krdma_trunks_accept_one(struct krdma_listener *listener)
{
	struct krdma_trunk *trunk;
	struct krdma_conn *conn;
	int ret;

	trunk = krdma_trunk_alloc(true);
	if (!trunk)
		return false;
	trunk->busy = true;
	trunk->session = krdma_trunk_session_create(listener->session->net);
	if (IS_ERR(trunk->session)) {
		krdma_trunk_put(trunk);
		return false;
	}
	conn = krdma_listener_next(listener, &krdma_trunk_ops, trunk, 0);
	if (IS_ERR(conn)) {
		krdma_session_put(trunk->session);
		krdma_trunk_put(trunk);
		return false;
	}
	/* The first reference belongs to the end, which may come once the trunk is not busy. */
	krdma_trunk_get(trunk);
	ret = krdma_trunk_set_link(trunk, conn) ?: krdma_trunk_accept(trunk, listener);

	/* An accepted trunk exists for as long as its link; one that failed ends at once. */
	spin_lock_bh(&trunk->lock);
	if (ret)
		krdma_trunk_fail(trunk, ret);
	else if (!trunk->pads)
		krdma_trunk_start_timer(trunk, msecs_to_jiffies(KRDMA_TRUNK_PROBE_MS));
	trunk->busy = false;
	spin_unlock_bh(&trunk->lock);
	krdma_trunk_schedule(trunk);
	krdma_trunk_put(trunk);
	return true;
}

/**
 * krdma_trunks_accept() - Accept the trunks that peers ask for
 * @listener: a listener at the port of trunks
 *
 * Context: process context; may sleep.
 */
void krdma_trunks_accept(struct krdma_listener *listener)
{
	while (krdma_listener_pending(listener) > 0 && krdma_trunks_accept_one(listener))
		;
}

/**
 * krdma_trunks_shut() - End the passive trunks that have no lanes
 * @net: a network namespace, in which no listener takes lanes
 *
 * Context: process context; may sleep.
 */
void krdma_trunks_shut(const struct net *net)
{
	struct krdma_trunk *trunk;

	mutex_lock(&krdma_trunks_mutex);
	list_for_each_entry(trunk, &krdma_trunks, node) {
		if (trunk->passive && trunk->key.net == net)
			krdma_trunk_schedule(trunk);
	}
	mutex_unlock(&krdma_trunks_mutex);
}

void __init krdma_trunks_init(void)
{
	krdma_lane_instance = get_random_u64();
}

/**
 * krdma_trunks_exit() - End all trunks
 *
 * No consumer is left, so no trunk has lanes.
 *
 * Context: process context; may sleep.
 */
void krdma_trunks_exit(void)
{
	struct krdma_trunk *trunk;

	mutex_lock(&krdma_trunks_mutex);
	krdma_trunks_closed = true;
	list_for_each_entry(trunk, &krdma_trunks, node) {
		spin_lock_bh(&trunk->lock);
		krdma_trunk_fail(trunk, -ESHUTDOWN);
		spin_unlock_bh(&trunk->lock);
	}
	mutex_unlock(&krdma_trunks_mutex);
	/* A condition must not take a mutex.  Trunks are not added any more. */
	wait_event(krdma_trunks_wait, !READ_ONCE(krdma_trunk_count));
	/* The last steps of their beginnings and ends. */
	flush_workqueue(krdma_trunk_workqueue);
	flush_workqueue(krdma_lane_workqueue);
	flush_workqueue(krdma_window_workqueue);
}
