// SPDX-License-Identifier: GPL-2.0
/* A server that sends every message back; the next client takes the last one's place. */
#include <linux/in.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <krdma/krdma.h>

static struct krdma_session *session;
static struct krdma_listener *listener;
static struct krdma_conn *client;
static struct krdma_region *region;
static u8 *messages;	/* two pages: while one is sent back, the other has room */

static int echo_receive(u64 page)
{
	struct krdma_sge sge = { region, (u64)messages + page * PAGE_SIZE, PAGE_SIZE };

	return min(0, krdma_conn_receive(client, &(struct krdma_receive) { page, &sge, 1 }, 1));
}

static void echo_complete(const struct krdma_completion *done)
{
	struct krdma_sge sge = { region, (u64)messages + done->cookie * PAGE_SIZE, done->length };
	struct krdma_request send = { done->cookie, KRDMA_OP_SEND, .sges = &sge, .sge_count = 1 };

	if (!done->status && done->opcode == KRDMA_OP_RECEIVE)
		krdma_conn_post(client, &send, 1);
	else if (!done->status)
		echo_receive(done->cookie);
}

static const struct krdma_conn_ops echo_ops = { .complete = echo_complete };

static void echo_end(void)
{
	if (IS_ERR_OR_NULL(client))
		return;
	krdma_conn_close(client);
	if (!IS_ERR(region))
		krdma_region_release(region);
	krdma_conn_put(client);
}

static void echo_ready(struct krdma_listener *listener)
{
	echo_end();
	client = krdma_listener_next(listener, &echo_ops, NULL, 0);
	if (IS_ERR(client))
		return;
	region = krdma_region_map(session, krdma_conn_device(client), messages, 2 * PAGE_SIZE,
				  KRDMA_ACCESS_LOCAL_WRITE);
	if (IS_ERR(region) || krdma_conn_prepare(client, &(struct krdma_conn_attr) {}) ||
	    echo_receive(0) || echo_receive(1) ||
	    krdma_conn_accept(client, &(struct krdma_conn_param) {}))
		krdma_conn_abort(client);
}

static void echo_exit(void)
{
	if (!IS_ERR(listener)) {
		krdma_listener_close(listener);
		krdma_listener_put(listener);
	}
	echo_end();
	krdma_session_put(session);
	kfree(messages);
}
module_exit(echo_exit);

static int __init echo_init(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(7471) };
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&any, .ready = echo_ready };

	session = krdma_session_create(&init_net);
	if (IS_ERR(session))
		return PTR_ERR(session);
	messages = kzalloc(2 * PAGE_SIZE, GFP_KERNEL);
	listener = messages ? krdma_listen(session, &attr) : ERR_PTR(-ENOMEM);
	if (IS_ERR(listener))
		echo_exit();
	return PTR_ERR_OR_ZERO(listener);
}
module_init(echo_init);

MODULE_DESCRIPTION("A server that sends every message back");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KRDMA");
