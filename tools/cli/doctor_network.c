// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: check the route to another machine.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cause.h"
#include "doctor.h"
#include "krdma_file.h"
#include "peer.h"
#include "url.h"

/* Timeouts of resolving the route, and of waiting for an answer, in milliseconds. */
#define ROUTE_MS	10000
#define ANSWER_MS	15000

/* The connection manager's reject reason for: a program of the peer has rejected. */
#define REASON_PROGRAM	28

/* Name of the interface that IP packets to @remote use; empty if not known. */
static void interface_to(const struct sockaddr_storage *remote, char name[KRDMA_NAME_MAX])
{
	struct sockaddr_storage local = { 0 };
	socklen_t length = sizeof(local);
	struct ifaddrs *list, *each;
	bool six = remote->ss_family == AF_INET6;
	int fd = socket(remote->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	name[0] = '\0';
	if (fd < 0)
		return;
	if (!connect(fd, (const struct sockaddr *)remote, six ? sizeof(struct sockaddr_in6) :
		     sizeof(struct sockaddr_in)) &&
	    !getsockname(fd, (struct sockaddr *)&local, &length) && !getifaddrs(&list)) {
		for (each = list; each; each = each->ifa_next) {
			const struct sockaddr *is = each->ifa_addr;

			if (!is || is->sa_family != local.ss_family)
				continue;
			if (six ? !memcmp(&((const struct sockaddr_in6 *)is)->sin6_addr,
					  &((struct sockaddr_in6 *)&local)->sin6_addr, 16) :
			    !memcmp(&((const struct sockaddr_in *)is)->sin_addr,
				    &((struct sockaddr_in *)&local)->sin_addr, 4)) {
				snprintf(name, KRDMA_NAME_MAX, "%s", each->ifa_name);
				break;
			}
		}
		freeifaddrs(list);
	}
	close(fd);
}

static void explain_no_route(struct doctor *doctor, const struct sockaddr_storage *remote,
			     const char *address, int err)
{
	char interface[KRDMA_NAME_MAX];
	struct cause cause;

	interface_to(remote, interface);
	cause_of(&cause, address, err);
	if (err == -EHOSTUNREACH && *interface && strcmp(interface, "lo")) {
		doctor_say(doctor, "route", VERDICT_FAIL, "%s; packets go there out of %s",
			   cause.why, interface);
		doctor_mend(doctor, "as root", "rdma link add rxe_%s type rxe netdev %s",
			    doctor_name(interface, "INTERFACE"),
			    doctor_name(interface, "INTERFACE"));
		return;
	}
	doctor_say(doctor, "route", VERDICT_FAIL, "%s", cause.why);
	doctor_mend(doctor, "shows the route that the kernel takes", "ip route get %s", address);
}

/* Returns the device with a route to @remote, or 0. */
static uint32_t check_route(struct doctor *doctor, const struct sockaddr_storage *remote,
			    const char *address)
{
	struct krdma_device_query_args device;
	char name[KRDMA_NAME_MAX + 1] = "?";
	uint32_t id;
	int err = krdma_device_by_address(doctor->session, NULL, (const struct sockaddr *)remote,
					  krdma_deadline(ROUTE_MS), &id);

	if (err) {
		explain_no_route(doctor, remote, address, err);
		return 0;
	}
	if (!krdma_device_query(doctor->session, id, &device, sizeof(device)))
		printable(name, sizeof(name), device.name, KRDMA_NAME_MAX);
	doctor_say(doctor, "route", VERDICT_OK, "%s is reached from %s", address, name);
	return id;
}

/* Returns true if a program has rejected, not the connection manager itself. */
static bool refused_by_program(struct krdma_conn *conn)
{
	struct krdma_event_record record;

	while (!krdma_conn_next_event(conn, 0, &record, sizeof(record)))
		if (record.type == KRDMA_EVENT_REJECTED)
			return record.reason == REASON_PROGRAM;
	return false;
}

static int ask(struct krdma_conn *conn, struct krdma_ring *ring,
	       const struct sockaddr_storage *remote)
{
	int err = krdma_conn_resolve(conn, (const struct sockaddr *)remote, NULL);

	if (!err)
		err = krdma_conn_wait(conn, krdma_deadline(ROUTE_MS), NULL);
	if (!err)
		err = krdma_conn_create_qp(conn, ring, NULL, NULL, NULL);
	if (!err)
		err = krdma_conn_connect(conn, NULL, NULL, 0);
	return err ? err : krdma_conn_wait(conn, krdma_deadline(ANSWER_MS), NULL);
}

static void explain_answer(struct doctor *doctor, const char *address, uint16_t port, int err,
			   bool program)
{
	struct cause cause;

	cause_of(&cause, address, err);
	if (!err || (err == -ECONNREFUSED && program)) {
		doctor_say(doctor, "connect", VERDICT_OK, "a program answers at %s, port %u",
			   address, port);
	} else if (err == -ECONNREFUSED && !doctor->port) {
		doctor_say(doctor, "connect", VERDICT_OK, "%s answers", address);
	} else if (err == -ECONNREFUSED) {
		doctor_say(doctor, "connect", VERDICT_FAIL,
			   "%s answers, but no program listens at port %u there", address, port);
		doctor_mend(doctor, "there; or another server", "krdma serve -P %u DIR",
			    port);
	} else if (err == -ETIMEDOUT) {
		doctor_say(doctor, "connect", VERDICT_FAIL, "%s", cause.why);
		doctor_mend(doctor, "there, as root: checks its device and firewall",
			    "krdma doctor");
	} else if (err == -EINVAL && *cause.mend) {
		doctor_say(doctor, "connect", VERDICT_FAIL, "%s", cause.why);
		doctor_mend(doctor, "shows the interfaces; give one as in fe80::1%eth0",
			    "ip -6 address");
	} else {
		doctor_say(doctor, "connect", VERDICT_FAIL, "cannot connect to %s: %s", address,
			   cause.why);
	}
}

static void explain_object(struct doctor *doctor, const char *what, int err)
{
	struct cause cause;

	if (err == -EDQUOT) {
		cause_of_quota(&cause, doctor->session);
		doctor_say(doctor, "connect", VERDICT_FAIL, "cannot create %s: %s", what,
			   cause.why);
		doctor_mend(doctor, "the limits, and what counts against them", "krdma info");
	} else {
		doctor_say(doctor, "connect", VERDICT_FAIL, "cannot create %s: %s", what,
			   strerror(-err));
	}
}

/* Even without a listener, an answer shows that packets pass in both directions. */
static void check_answer(struct doctor *doctor, const struct sockaddr_storage *remote,
			 const char *address)
{
	struct sockaddr_storage place = *remote;
	uint16_t port = doctor->port ? doctor->port : KRDMA_FILE_PORT;
	struct krdma_ring *ring;
	struct krdma_conn *conn;
	bool program;
	int err;

	address_set_port(&place, port);
	err = krdma_ring_create(doctor->session, NULL, &ring);
	if (err) {
		explain_object(doctor, "a ring", err);
		return;
	}
	err = krdma_conn_create(doctor->session, &conn);
	if (err) {
		explain_object(doctor, "a connection", err);
	} else {
		err = ask(conn, ring, &place);
		program = refused_by_program(conn);
		explain_answer(doctor, address, port, err, program);
		krdma_conn_close(conn);
		if (doctor->port && (!err || program))
			doctor_lane_to(doctor, &place, address);
	}
	krdma_ring_close(ring);
}

void doctor_network(struct doctor *doctor)
{
	struct sockaddr_storage addresses[URL_ADDRESSES];
	struct url url = { 0 };
	char address[PEER_TEXT];
	size_t count;
	int error;

	if (!doctor->host || !doctor->session)
		return;
	snprintf(url.host, sizeof(url.host), "%s", doctor->host);
	count = url_find(&url, addresses, &error);
	if (!count) {
		doctor_say(doctor, "host", VERDICT_FAIL, "cannot find the address of '%s': %s",
			   url.host, url_error(error));
		doctor_mend(doctor, "checks the name", "getent hosts %s", url.host);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		address_text(&addresses[i], false, address);
		if (check_route(doctor, &addresses[i], address))
			check_answer(doctor, &addresses[i], address);
	}
}
