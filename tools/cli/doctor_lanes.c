// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: check whether lanes can be used: memory for them, the port of trunks, and whether
 * the host takes them.
 */
#include <errno.h>
#include <string.h>
#include <netinet/in.h>

#include "doctor.h"
#include "objects.h"
#include "peer.h"

/* Limits of krdma; no parameter changes them. */
#define TRUNKS_MAX	1024
#define USER_TRUNKS_MAX	128
#define LANES_MAX	65536

#define TRIAL		4096
#define FIND_MS		10000

/* Returns false if there is no sense in further checks of lanes. */
static bool check_memory(struct doctor *doctor)
{
	struct krdma_mr *mr;
	int err = krdma_mr_alloc_for_lanes(doctor->session, doctor->device, TRIAL,
					   KRDMA_ACCESS_LOCAL_WRITE, 0, &mr);

	if (!err) {
		krdma_mr_deregister(mr, 0);
		return true;
	}
	/* Other errors are those of all memory, which are reported already. */
	if (err == -EOPNOTSUPP) {
		doctor_say(doctor, "lanes", VERDICT_WARN,
			   "no memory for lanes: the module has none, or the device no fast registration");
		doctor_mend(doctor, "the device needs fast_reg", "krdma dev");
	}
	return false;
}

/* Listen for a moment at a free port, which needs the port of trunks, too. */
static int try_listener(struct doctor *doctor, sa_family_t family)
{
	struct sockaddr_storage any = { .ss_family = family };
	struct krdma_listener *listener;
	int err = krdma_listen(doctor->session, (const struct sockaddr *)&any,
			       KRDMA_LISTEN_LANES | (family == AF_INET6 ? KRDMA_LISTEN_V6ONLY : 0),
			       0, &listener);

	if (err)
		return err == -EAFNOSUPPORT ? 0 : err;
	krdma_listener_close(listener);
	return 0;
}

/* Listeners that take lanes, as far as this user may see them. */
static unsigned int count_listeners(void)
{
	struct objects objects;
	unsigned int count = 0;

	if (objects_read(&objects))
		return 0;
	for (size_t i = 0; i < objects.count; i++)
		count += objects.list[i].kind == OBJECT_LISTENER && objects.list[i].lanes;
	objects_free(&objects);
	return count;
}

static void check_port(struct doctor *doctor)
{
	unsigned int listeners;
	int err = try_listener(doctor, AF_INET);

	if (!err)
		err = try_listener(doctor, AF_INET6);
	switch (err) {
	case 0:
		listeners = count_listeners();
		doctor_say(doctor, "lanes", VERDICT_OK,
			   "listeners can take lanes, with port %u for trunks; %u of them %s now",
			   LANE_PORT, listeners, listeners == 1 ? "does" : "do");
		break;
	case -EADDRINUSE:
		doctor_say(doctor, "lanes", VERDICT_WARN,
			   "no listener can take lanes: port %u, where trunks connect, is in use",
			   LANE_PORT);
		doctor_mend(doctor, "as root; which program is it?",
			    "rdma resource show cm_id | grep :%u", LANE_PORT);
		break;
	case -EDQUOT:
		/* The check of limits has reported it. */
		break;
	default:
		doctor_say(doctor, "lanes", VERDICT_WARN, "no listener can take lanes: %s",
			   strerror(-err));
		break;
	}
}

/* Only root can read the number of trunks. */
static void check_limits(struct doctor *doctor)
{
	long long trunks = objects_of_kernel().trunks;
	bool full = trunks >= TRUNKS_MAX - TRUNKS_MAX / 10;

	if (trunks < 0)
		return;
	doctor_say(doctor, "trunks", full ? VERDICT_WARN : VERDICT_OK,
		   "this host has %lld of %d trunks; a user may have %d, and a trunk %d lanes",
		   trunks, TRUNKS_MAX, USER_TRUNKS_MAX, LANES_MAX);
	if (full)
		doctor_mend(doctor, "whose are they?", "krdma trunk -d");
}

void doctor_lanes(struct doctor *doctor)
{
	if (!doctor->session || !doctor->device || !check_memory(doctor))
		return;
	check_port(doctor);
	check_limits(doctor);
}

void doctor_lane_to(struct doctor *doctor, const struct sockaddr_storage *place,
		    const char *address)
{
	struct krdma_conn *conn;
	uint64_t trunk = 0;
	int err = krdma_conn_create_lane(doctor->session, &conn);

	/* A module without lanes is reported already. */
	if (err)
		return;
	err = krdma_conn_resolve(conn, (const struct sockaddr *)place, NULL);
	if (!err)
		err = krdma_conn_wait(conn, krdma_deadline(FIND_MS), NULL);
	if (!err)
		err = krdma_conn_trunk(conn, &trunk);
	if (err)
		doctor_say(doctor, "lane", VERDICT_WARN, "whether %s takes lanes is not known: %s",
			   address, strerror(-err));
	else
		doctor_say(doctor, "lane", VERDICT_OK, "%s takes %s at port %u%s", address,
			   trunk ? "lanes" : "no lanes", doctor->port,
			   trunk ? "" : ", so connections are plain ones");
	krdma_conn_close(conn);
}
