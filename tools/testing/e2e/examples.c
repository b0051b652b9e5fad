// SPDX-License-Identifier: GPL-2.0
/*
 * One valid example of each ioctl, with an object in a state in which the ioctl
 * succeeds.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "examples.h"
#include "session.h"

/* No session has so many destinations. */
#define NO_TARGET	0x7fffffff

/* The names of memory for lanes: no two MRs of a session have the same. */
#define MR_NAME		"memory"
#define MR_NAME_FOUND	"found"

/* Completions that arm_completed() produces at a time. */
#define COMPLETIONS	64

/*
 * The scene
 */

static int make_srq(struct scene *scene, int *fd)
{
	struct krdma_srq_create_args create = {
		.size = sizeof(create),
		.ring_fd = scene->ring.fd,
		.depth = 16,
	};
	int ret = session_request(scene->pair.sessions[0], KRDMA_SRQ_CREATE, &create);

	*fd = ret ? -1 : create.fd;
	return ret;
}

static int open_parts(struct scene *scene, unsigned int parts)
{
	/*
	 * QPs that were just closed may still reserve entries of the CQ: it has room for those of
	 * a whole test case.
	 */
	struct ring_options options = { .cq_entries = 4096 };
	struct pair_options pair_options = { .no_listener = !(parts & SCENE_LISTENER) };
	int ret;

	memset(scene, 0, sizeof(*scene));
	for (int i = 0; i < KIND_COUNT; i++)
		scene->objects[i] = -1;
	for (int i = 0; i < 3; i++) {
		scene->made[i] = -1;
		scene->lane[i] = -1;
	}
	scene->entry = sqe_send(NO_TARGET, 0, NULL, 0, 0);
	scene->ring.fd = -1;
	ret = pair_begin(&scene->pair, &pair_options);
	if (ret)
		return ret;
	scene->objects[KIND_SESSION] = scene->pair.sessions[0];
	scene->objects[KIND_LISTENER] = scene->pair.listener;
	options.device_id = scene->pair.device;
	if (parts & SCENE_QUEUE)
		ret = ring_create(scene->pair.sessions[0], &options, &scene->ring);
	if (!ret && parts & SCENE_CONN)
		ret = conn_create(scene->pair.sessions[0], &scene->objects[KIND_CONN], NULL);
	scene->objects[KIND_QUEUE] = scene->ring.fd;
	if (!ret && parts & SCENE_SRQ)
		ret = make_srq(scene, &scene->objects[KIND_SRQ]);
	if (!ret && parts & SCENE_MEMORY)
		ret = mr_create(scene->pair.sessions[0], scene->pair.device, 8192, ACCESS_ALL,
				&scene->mr);
	return ret;
}

int scene_open(struct scene *scene)
{
	return open_parts(scene, SCENE_ALL);
}

int scene_open_for(struct scene *scene, const struct example *example)
{
	static const unsigned int object[KIND_COUNT] = {
		[KIND_LISTENER] = SCENE_LISTENER,
		[KIND_CONN] = SCENE_CONN,
		[KIND_QUEUE] = SCENE_QUEUE,
		/* An SRQ belongs to a ring. */
		[KIND_SRQ] = SCENE_QUEUE | SCENE_SRQ,
	};

	return open_parts(scene, object[example->kind] | example->needs);
}

static void unmake(struct scene *scene)
{
	for (int i = 0; i < 3; i++) {
		if (scene->made[i] >= 0)
			close(scene->made[i]);
		scene->made[i] = -1;
	}
	if (scene->spare)
		mr_deregister(scene->pair.sessions[0], scene->spare, 0);
	scene->spare = 0;
}

void scene_close(struct scene *scene)
{
	unmake(scene);
	for (int i = 0; i < 3; i++)
		if (scene->lane[i] >= 0)
			close(scene->lane[i]);
	if (scene->named)
		mr_deregister(scene->pair.sessions[0], scene->named, 0);
	mr_destroy(&scene->mr);
	if (scene->objects[KIND_SRQ] >= 0)
		close(scene->objects[KIND_SRQ]);
	if (scene->objects[KIND_CONN] >= 0)
		close(scene->objects[KIND_CONN]);
	ring_close(&scene->ring);
	pair_close(&scene->pair);
}

/*
 * States
 */

static int arm_session(struct scene *scene)
{
	scene->made[0] = session_open(O_CLOEXEC);
	scene->fd = scene->made[0];
	return scene->fd < 0 ? scene->fd : 0;
}

static int arm_memory(struct scene *scene)
{
	struct mr mr;
	int ret = mr_register(scene->pair.sessions[0], scene->pair.device, scene->mr.data,
			      4096, 0, &mr);

	scene->spare = mr.id;
	return ret;
}

/* Memory that peers of lanes may read. */
static int register_for_lanes(struct scene *scene, uint32_t *id)
{
	struct mr mr;
	int ret = mr_register_with(scene->pair.sessions[0], scene->pair.device, scene->mr.data,
				   4096, KRDMA_ACCESS_REMOTE_READ, KRDMA_MR_REGISTER_LANES, &mr);

	*id = mr.id;
	return ret;
}

static int arm_lane_memory(struct scene *scene)
{
	return register_for_lanes(scene, &scene->spare);
}

static int arm_new(struct scene *scene)
{
	int ret = conn_create(scene->pair.sessions[0], &scene->made[0], NULL);

	scene->fd = scene->made[0];
	return ret;
}

static int arm_resolved(struct scene *scene)
{
	int ret = arm_new(scene);

	if (!ret)
		ret = conn_resolve(scene->fd, &scene->pair.address);
	return ret ? ret : conn_wait(scene->fd, deadline_in(PATIENCE_MS), NULL);
}

static int create_qp(struct scene *scene, int conn)
{
	struct krdma_conn_create_qp_args request = {
		.size = sizeof(request),
		.ring_fd = scene->ring.fd,
		.send_depth = COMPLETIONS,
		.recv_depth = COMPLETIONS,
	};

	return session_request(conn, KRDMA_CONN_CREATE_QP, &request);
}

static int arm_prepared(struct scene *scene)
{
	int ret = arm_resolved(scene);

	return ret ? ret : create_qp(scene, scene->fd);
}

/* The listener has a connection request. */
static int arm_asked(struct scene *scene)
{
	struct krdma_conn_param_args param = { .size = sizeof(param) };
	int ret = arm_prepared(scene);
	int former;

	/* An earlier request may still be there, and be given up just after poll() has seen it. */
	while (!listener_next(scene->pair.listener, 0, &former, NULL))
		close(former);
	if (!ret)
		ret = session_request(scene->fd, KRDMA_CONN_CONNECT, &param);
	/* Wait for the request, because the example does not. */
	if (!ret && !(poll_mask(scene->pair.listener, 1, PATIENCE_MS) & 1))
		ret = -ETIMEDOUT;
	scene->fd = scene->pair.listener;
	return ret;
}

static int arm_requested(struct scene *scene)
{
	int ret = arm_asked(scene);

	if (!ret)
		ret = listener_next(scene->pair.listener, 0, &scene->made[1], NULL);
	scene->fd = scene->made[1];
	return ret;
}

static int arm_acceptable(struct scene *scene)
{
	int ret = arm_requested(scene);

	return ret ? ret : create_qp(scene, scene->made[1]);
}

/* A lane of the session to itself. */
static int make_lane(struct scene *scene)
{
	struct krdma_conn_param_args param = { .size = sizeof(param) };
	int session = scene->pair.sessions[0], *lane = scene->lane;
	struct __kernel_sockaddr_storage address;
	int ret = listener_open_with(session, BOOT_ADDRESS, 0, 0, KRDMA_LISTEN_LANES, &lane[0],
				     &address);

	if (!ret)
		ret = conn_create_with(session, KRDMA_CONN_CREATE_LANE, &lane[1], NULL);
	if (!ret)
		ret = conn_resolve(lane[1], &address);
	if (!ret)
		ret = conn_wait(lane[1], deadline_in(PATIENCE_MS), NULL);
	if (!ret)
		ret = create_qp(scene, lane[1]);
	if (!ret)
		ret = session_request(lane[1], KRDMA_CONN_CONNECT, &param);
	if (!ret)
		ret = listener_next(lane[0], deadline_in(PATIENCE_MS), &lane[2], NULL);
	if (!ret)
		ret = create_qp(scene, lane[2]);
	if (!ret)
		ret = session_request(lane[2], KRDMA_CONN_ACCEPT, &param);
	for (int i = 1; i < 3 && !ret; i++)
		ret = conn_wait(lane[i], deadline_in(PATIENCE_MS), NULL);
	return ret;
}

/* The peer of a lane has memory with a name. */
static int arm_named(struct scene *scene)
{
	struct krdma_mr_set_name_args name = { .size = sizeof(name), .name = MR_NAME_FOUND };
	int ret = 0;

	if (!scene->named) {
		ret = register_for_lanes(scene, &scene->named);
		name.id = scene->named;
		if (!ret)
			ret = session_request(scene->pair.sessions[0], KRDMA_MR_SET_NAME, &name);
		if (!ret)
			ret = make_lane(scene);
	}
	scene->fd = scene->lane[1];
	return ret;
}

/* The CQ has completions, of receives that were flushed. */
static int arm_completed(struct scene *scene)
{
	struct krdma_sqe receives[COMPLETIONS];
	struct krdma_conn_query_args query;
	int ret;

	scene->fd = scene->ring.fd;
	if (scene->completions)
		return 0;
	ret = arm_prepared(scene);
	if (!ret)
		ret = conn_query(scene->fd, NULL, 0, &query);
	for (int i = 0; i < COMPLETIONS; i++)
		receives[i] = sqe_receive(query.id, i, NULL, 0, 0);
	if (!ret)
		ret = ring_post(scene->ring.fd, receives, COMPLETIONS, NULL);
	if (!ret)
		ret = conn_disconnect(scene->fd, KRDMA_DISCONNECT_ABORT);
	if (!ret)
		ret = conn_await_closed(scene->fd, PATIENCE_MS);
	scene->fd = scene->ring.fd;
	if (!ret)
		ret = ring_enter(&scene->ring, 0, COMPLETIONS, deadline_in(PATIENCE_MS), NULL);
	if (!ret)
		scene->completions = COMPLETIONS;
	return ret;
}

/*
 * Structures
 */

static void fill_device(struct scene *scene, void *bytes)
{
	((struct krdma_device_query_args *)bytes)->id = scene->pair.device;
}

static void fill_port(struct scene *scene, void *bytes)
{
	struct krdma_port_query_args *port = bytes;

	port->device_id = scene->pair.device;
	port->port = 1;
}

static void fill_find(struct scene *scene, void *bytes)
{
	struct krdma_device_find_args *find = bytes;

	(void)scene;
	find->flags = KRDMA_DEVICE_FIND_LOCAL;
	address_set(&find->local, BOOT_ADDRESS, 0);
}

static void fill_listen(struct scene *scene, void *bytes)
{
	(void)scene;
	address_set(&((struct krdma_listen_args *)bytes)->address, BOOT_ADDRESS, 0);
}

static void fill_srq_create(struct scene *scene, void *bytes)
{
	struct krdma_srq_create_args *create = bytes;

	create->ring_fd = scene->ring.fd;
	create->depth = 16;
}

static void fill_register(struct scene *scene, void *bytes)
{
	struct krdma_mr_register_args *request = bytes;

	request->addr = (uintptr_t)scene->mr.data;
	request->length = scene->mr.length;
	request->device_id = scene->pair.device;
}

static void fill_release(struct scene *scene, void *bytes)
{
	((struct krdma_mr_deregister_args *)bytes)->id = scene->spare;
}

static void fill_memory_query(struct scene *scene, void *bytes)
{
	((struct krdma_mr_query_args *)bytes)->id = scene->mr.id;
}

static void fill_advise(struct scene *scene, void *bytes)
{
	struct krdma_mr_advise_args *advise = bytes;

	advise->id = scene->mr.id;
	advise->advice = KRDMA_ADVICE_READ;
	advise->length = scene->mr.length;
}

static void fill_name(struct scene *scene, void *bytes)
{
	struct krdma_mr_set_name_args *name = bytes;

	name->id = scene->spare;
	memcpy(name->name, MR_NAME, sizeof(MR_NAME));
}

static void fill_find_mr(struct scene *scene, void *bytes)
{
	struct krdma_conn_find_mr_args *find = bytes;

	(void)scene;
	find->deadline_ns = deadline_in(PATIENCE_MS);
	memcpy(find->name, MR_NAME_FOUND, sizeof(MR_NAME_FOUND));
}

static void fill_resolve(struct scene *scene, void *bytes)
{
	((struct krdma_conn_resolve_args *)bytes)->remote = scene->pair.address;
}

static void fill_prepare(struct scene *scene, void *bytes)
{
	((struct krdma_conn_create_qp_args *)bytes)->ring_fd = scene->ring.fd;
}

static void fill_disconnect(struct scene *scene, void *bytes)
{
	(void)scene;
	((struct krdma_conn_disconnect_args *)bytes)->flags = KRDMA_DISCONNECT_ABORT;
}

static void fill_post(struct scene *scene, void *bytes)
{
	struct krdma_ring_post_args *post = bytes;

	post->entries = (uintptr_t)&scene->entry;
	post->count = 1;
}

static void fill_reap(struct scene *scene, void *bytes)
{
	struct krdma_ring_reap_args *reap = bytes;

	reap->entries = (uintptr_t)&scene->completion;
	reap->count = 1;
}

static void fill_confine(struct scene *scene, void *bytes)
{
	struct krdma_ring_confine_args *confine = bytes;

	confine->mr = (uintptr_t)&scene->mr.id;
	confine->count = 1;
}

/*
 * Undoing
 */

/* One entry, which fails: the ioctl succeeds. */
static void fill_many(struct scene *scene, void *bytes)
{
	struct krdma_conns_args *args = bytes;

	memset(&scene->many, 0, sizeof(scene->many));
	args->entries = (uintptr_t)&scene->many;
	args->count = 1;
}

static void fill_many_ring(struct scene *scene, void *bytes)
{
	fill_many(scene, bytes);
	((struct krdma_conns_args *)bytes)->fd = scene->ring.fd;
}

static int arm_many_taken(struct scene *scene)
{
	int ret = arm_asked(scene);

	scene->fd = scene->pair.sessions[0];
	return ret;
}

static void fill_many_taken(struct scene *scene, void *bytes)
{
	fill_many(scene, bytes);
	((struct krdma_conns_args *)bytes)->fd = scene->pair.listener;
}

static void undo_many(struct scene *scene, const void *bytes)
{
	struct krdma_conns_args args = {
		.size = sizeof(args), .entries = (uintptr_t)&scene->many, .count = 1,
	};

	(void)bytes;
	session_request(scene->pair.sessions[0], KRDMA_CONNS_CLOSE, &args);
}

/* A request without a descriptor, in scene->many. */
static int arm_many_fd(struct scene *scene)
{
	struct krdma_conns_args args = { .size = sizeof(args), .count = 1 };
	int ret = arm_many_taken(scene);

	if (ret)
		return ret;
	fill_many_taken(scene, &args);
	args.count = 1;
	ret = session_request(scene->pair.sessions[0], KRDMA_CONNS_TAKE, &args);
	return ret ? ret : args.error;
}

static void fill_many_fd(struct scene *scene, void *bytes)
{
	((struct krdma_conns_fd_args *)bytes)->id = scene->many.id;
}

static void undo_many_fd(struct scene *scene, const void *bytes)
{
	(void)scene;
	close(((const struct krdma_conns_fd_args *)bytes)->fd);
}

/* All ioctls that create a descriptor return it at the same offset, except LISTENER_NEXT. */
static void undo_fd(struct scene *scene, const void *bytes)
{
	(void)scene;
	close(((const struct krdma_conn_create_args *)bytes)->fd);
}

static void undo_next(struct scene *scene, const void *bytes)
{
	(void)scene;
	close(((const struct krdma_listener_next_args *)bytes)->fd);
}

static void undo_register(struct scene *scene, const void *bytes)
{
	mr_deregister(scene->pair.sessions[0], ((const struct krdma_mr_register_args *)bytes)->id,
		      0);
}

static void undo_release(struct scene *scene, const void *bytes)
{
	(void)bytes;
	scene->spare = 0;
}

static void undo_reap(struct scene *scene, const void *bytes)
{
	(void)bytes;
	scene->completions--;
}

/* The ioctl number, the first published size (pinned), and the size in this header. */
#define EXAMPLE(id, object, structure, size)			\
	.name = #id, .number = KRDMA_##id, .kind = object,	\
	.first_size = (size), .known_size = sizeof(struct structure)

#define RESERVED(structure) { offsetof(struct structure, reserved) }

const struct example examples[EXAMPLE_COUNT] = {
	[EXAMPLE_INFO] = { EXAMPLE(INFO, KIND_SESSION, krdma_info_args, 64), .answers = true,
		.reads = true },
	[EXAMPLE_DEVICE_QUERY] = {
		EXAMPLE(DEVICE_QUERY, KIND_SESSION, krdma_device_query_args, 152), .answers = true,
		.reads = true,
		.known_flags = KRDMA_DEVICE_QUERY_NEXT | KRDMA_DEVICE_QUERY_NAME,
		.fill = fill_device,
	},
	[EXAMPLE_PORT_QUERY] = {
		EXAMPLE(PORT_QUERY, KIND_SESSION, krdma_port_query_args, 112), .answers = true,
		.reads = true,
		.fill = fill_port,
	},
	[EXAMPLE_DEVICE_FIND] = {
		EXAMPLE(DEVICE_FIND, KIND_SESSION, krdma_device_find_args, 280), .answers = true,
		.reads = true,
		.known_flags = KRDMA_DEVICE_FIND_LOCAL | KRDMA_DEVICE_FIND_REMOTE,
		.reserved = RESERVED(krdma_device_find_args), .fill = fill_find,
	},
	[EXAMPLE_DEVICE_NOTIFY] = {
		EXAMPLE(DEVICE_NOTIFY, KIND_SESSION, krdma_device_notify_args, 8),
		.reads = true, .once = true, .again = -EALREADY, .arm = arm_session,
	},
	[EXAMPLE_LISTEN] = {
		EXAMPLE(LISTEN, KIND_SESSION, krdma_listen_args,
			144), .answers = true, .once = true,
		.known_flags = KRDMA_LISTEN_V6ONLY | KRDMA_LISTEN_LANES, .fill = fill_listen,
		.undo = undo_fd,
	},
	[EXAMPLE_CONN_CREATE] = {
		EXAMPLE(CONN_CREATE, KIND_SESSION, krdma_conn_create_args, 16), .answers = true,
		.known_flags = KRDMA_CONN_CREATE_LANE,
		.undo = undo_fd,
	},
	[EXAMPLE_RING_CREATE] = {
		EXAMPLE(RING_CREATE, KIND_SESSION, krdma_ring_create_args, 48), .answers = true,
		.known_flags = KRDMA_RING_POLLED | KRDMA_RING_VECTOR,
		.reserved = RESERVED(krdma_ring_create_args), .undo = undo_fd,
	},
	[EXAMPLE_SRQ_CREATE] = {
		EXAMPLE(SRQ_CREATE, KIND_SESSION, krdma_srq_create_args, 32), .answers = true,
		.known_flags = KRDMA_SRQ_CREATE_LANES,
		.needs = SCENE_QUEUE,
		.once = true, .again = -ENOSPC, .fill = fill_srq_create, .undo = undo_fd,
	},
	[EXAMPLE_MR_REGISTER] = {
		EXAMPLE(MR_REGISTER, KIND_SESSION, krdma_mr_register_args, 48), .answers = true,
		.known_flags = KRDMA_MR_REGISTER_LANES | KRDMA_MR_REGISTER_WINDOWS,
		.needs = SCENE_MEMORY,
		.once = true, .fill = fill_register, .undo = undo_register,
	},
	[EXAMPLE_MR_DEREGISTER] = {
		EXAMPLE(MR_DEREGISTER, KIND_SESSION, krdma_mr_deregister_args, 16),
		.needs = SCENE_MEMORY,
		.once = true, .again = -ENOENT, .known_flags = KRDMA_DEREGISTER_LATER,
		.reserved = RESERVED(krdma_mr_deregister_args),
		.arm = arm_memory, .fill = fill_release, .undo = undo_release,
	},
	[EXAMPLE_MR_QUERY] = {
		EXAMPLE(MR_QUERY, KIND_SESSION, krdma_mr_query_args, 112), .answers = true,
		.needs = SCENE_MEMORY,
		.reads = true,
		.fill = fill_memory_query,
	},
	[EXAMPLE_MR_ADVISE] = {
		EXAMPLE(MR_ADVISE, KIND_SESSION, krdma_mr_advise_args, 32), .fill = fill_advise,
		.needs = SCENE_MEMORY,
	},
	[EXAMPLE_LIMIT_QUERY] = {
		EXAMPLE(LIMIT_QUERY, KIND_SESSION, krdma_limit_query_args, 56), .answers = true,
		.reads = true,
		.known_flags = KRDMA_LIMIT_QUERY_REFUSED,
	},
	[EXAMPLE_CONNS_OPEN] = {
		EXAMPLE(CONNS_OPEN, KIND_SESSION, krdma_conns_args, 64), .answers = true,
		.needs = SCENE_QUEUE,
		.known_flags = KRDMA_CONNS_LANES | KRDMA_CONNS_SRQ, .fill = fill_many_ring,
	},
	[EXAMPLE_CONNS_TAKE] = {
		EXAMPLE(CONNS_TAKE, KIND_SESSION, krdma_conns_args, 64), .answers = true,
		.needs = SCENE_LISTENER | SCENE_QUEUE,
		.once = true, .again = -EAGAIN, .arm = arm_many_taken, .fill = fill_many_taken,
		.undo = undo_many,
	},
	[EXAMPLE_CONNS_ACCEPT] = {
		EXAMPLE(CONNS_ACCEPT, KIND_SESSION, krdma_conns_args, 64), .answers = true,
		.needs = SCENE_QUEUE, .known_flags = KRDMA_CONNS_SRQ, .fill = fill_many_ring,
	},
	[EXAMPLE_CONNS_CLOSE] = {
		EXAMPLE(CONNS_CLOSE, KIND_SESSION, krdma_conns_args, 64), .answers = true,
		.fill = fill_many,
	},
	[EXAMPLE_CONNS_FD] = {
		EXAMPLE(CONNS_FD, KIND_SESSION, krdma_conns_fd_args, 16), .answers = true,
		.needs = SCENE_LISTENER | SCENE_QUEUE,
		.once = true, .again = -ENOENT, .arm = arm_many_fd, .fill = fill_many_fd,
		.undo = undo_many_fd,
	},
	[EXAMPLE_MR_SET_NAME] = {
		EXAMPLE(MR_SET_NAME, KIND_SESSION, krdma_mr_set_name_args, 80),
		.needs = SCENE_MEMORY,
		.reserved = RESERVED(krdma_mr_set_name_args),
		.arm = arm_lane_memory, .fill = fill_name,
	},
	[EXAMPLE_LISTENER_QUERY] = {
		EXAMPLE(LISTENER_QUERY, KIND_LISTENER, krdma_listener_query_args,
			136), .answers = true,
		.reserved = RESERVED(krdma_listener_query_args),
	},
	[EXAMPLE_LISTENER_NEXT] = {
		EXAMPLE(LISTENER_NEXT, KIND_LISTENER, krdma_listener_next_args,
			24), .answers = true,
		.needs = SCENE_QUEUE,
		.once = true, .again = -EAGAIN, .arm = arm_asked, .undo = undo_next,
	},
	[EXAMPLE_CONN_RESOLVE] = {
		EXAMPLE(CONN_RESOLVE, KIND_CONN, krdma_conn_resolve_args, 280),
		.needs = SCENE_LISTENER,
		.once = true, .again = -EALREADY, .known_flags = KRDMA_RESOLVE_LOCAL,
		.reserved = RESERVED(krdma_conn_resolve_args), .arm = arm_new, .fill = fill_resolve,
	},
	[EXAMPLE_CONN_CREATE_QP] = {
		EXAMPLE(CONN_CREATE_QP, KIND_CONN, krdma_conn_create_qp_args, 48), .answers = true,
		.needs = SCENE_LISTENER | SCENE_QUEUE,
		.once = true, .again = -EALREADY,
		.known_flags = KRDMA_CREATE_QP_RECV_RING | KRDMA_CREATE_QP_SRQ,
		.arm = arm_resolved, .fill = fill_prepare,
	},
	[EXAMPLE_CONN_CONNECT] = {
		EXAMPLE(CONN_CONNECT, KIND_CONN, krdma_conn_param_args, 40),
		.needs = SCENE_LISTENER | SCENE_QUEUE,
		.once = true, .again = -EALREADY,
		.known_flags = KRDMA_CONN_PARAM_PLAIN | KRDMA_CONN_PARAM_NO_RNR_RETRY |
			       KRDMA_CONN_PARAM_EARLY,
		.reserved = RESERVED(krdma_conn_param_args), .arm = arm_prepared,
	},
	[EXAMPLE_CONN_ACCEPT] = {
		EXAMPLE(CONN_ACCEPT, KIND_CONN, krdma_conn_param_args, 40),
		.needs = SCENE_LISTENER | SCENE_QUEUE,
		.once = true, .again = -EALREADY,
		.known_flags = KRDMA_CONN_PARAM_PLAIN | KRDMA_CONN_PARAM_NO_RNR_RETRY,
		.reserved = RESERVED(krdma_conn_param_args), .arm = arm_acceptable,
	},
	[EXAMPLE_CONN_REJECT] = {
		EXAMPLE(CONN_REJECT, KIND_CONN, krdma_conn_reject_args, 24),
		.needs = SCENE_LISTENER | SCENE_QUEUE,
		.once = true, .again = -EALREADY,
		.reserved = RESERVED(krdma_conn_reject_args), .arm = arm_requested,
	},
	[EXAMPLE_CONN_DISCONNECT] = {
		EXAMPLE(CONN_DISCONNECT, KIND_CONN, krdma_conn_disconnect_args, 8),
		.once = true, .again = -EALREADY, .known_flags = KRDMA_DISCONNECT_ABORT,
		.arm = arm_new, .fill = fill_disconnect,
	},
	[EXAMPLE_CONN_WAIT] = {
		EXAMPLE(CONN_WAIT, KIND_CONN, krdma_conn_wait_args, 24), .answers = true,
		.reserved = RESERVED(krdma_conn_wait_args),
	},
	[EXAMPLE_CONN_QUERY] = {
		EXAMPLE(CONN_QUERY, KIND_CONN, krdma_conn_query_args, 368), .answers = true,
		.reserved = RESERVED(krdma_conn_query_args),
	},
	[EXAMPLE_CONN_FIND_MR] = {
		EXAMPLE(CONN_FIND_MR, KIND_CONN, krdma_conn_find_mr_args, 120), .answers = true,
		.needs = SCENE_MEMORY | SCENE_QUEUE,
		.arm = arm_named, .fill = fill_find_mr,
	},
	[EXAMPLE_RING_ENTER] = {
		EXAMPLE(RING_ENTER, KIND_QUEUE, krdma_ring_enter_args, 40), .answers = true,
		.reserved = RESERVED(krdma_ring_enter_args),
	},
	[EXAMPLE_RING_POST] = {
		EXAMPLE(RING_POST, KIND_QUEUE, krdma_ring_post_args, 32), .answers = true,
		.reserved = RESERVED(krdma_ring_post_args), .fill = fill_post,
	},
	[EXAMPLE_RING_REAP] = {
		EXAMPLE(RING_REAP, KIND_QUEUE, krdma_ring_reap_args, 40), .answers = true,
		.needs = SCENE_LISTENER,
		.once = true, .again = -EAGAIN, .reserved = RESERVED(krdma_ring_reap_args),
		.arm = arm_completed, .fill = fill_reap, .undo = undo_reap,
	},
	[EXAMPLE_RING_QUERY] = {
		EXAMPLE(RING_QUERY, KIND_QUEUE, krdma_ring_query_args, 64), .answers = true,
		.reserved = RESERVED(krdma_ring_query_args),
	},
	[EXAMPLE_RING_CONFINE] = {
		EXAMPLE(RING_CONFINE, KIND_QUEUE, krdma_ring_confine_args, 24),
		.needs = SCENE_MEMORY,
		.reserved = RESERVED(krdma_ring_confine_args), .fill = fill_confine,
	},
	[EXAMPLE_SRQ_QUERY] = {
		EXAMPLE(SRQ_QUERY, KIND_SRQ, krdma_srq_query_args, 24), .answers = true,
	},
	[EXAMPLE_SRQ_POST] = {
		EXAMPLE(SRQ_POST, KIND_SRQ, krdma_ring_post_args, 32), .answers = true,
		.reserved = RESERVED(krdma_ring_post_args), .fill = fill_post,
	},
};

int example_arm(const struct example *example, struct scene *scene)
{
	unmake(scene);
	scene->fd = scene->objects[example->kind];
	return example->arm ? example->arm(scene) : 0;
}

void example_place(const struct example *example, struct scene *scene, void *at, size_t room,
		   uint32_t size)
{
	uint64_t aligned[EXAMPLE_ROOM / sizeof(uint64_t)] = {};

	if (example->fill)
		example->fill(scene, aligned);
	memcpy(aligned, &size, sizeof(size));
	memcpy(at, aligned, room < sizeof(aligned) ? room : sizeof(aligned));
	if (room > sizeof(aligned))
		memset((char *)at + sizeof(aligned), 0, room - sizeof(aligned));
}

void example_undo(const struct example *example, struct scene *scene, const void *bytes)
{
	uint64_t aligned[EXAMPLE_ROOM / sizeof(uint64_t)];

	memcpy(aligned, bytes, example->known_size);
	if (example->undo)
		example->undo(scene, aligned);
}
