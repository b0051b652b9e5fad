// SPDX-License-Identifier: GPL-2.0
/* A server that sends every message back.  The next client replaces the last one. */
#include <linux/in.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <krdma/krdma.h>

static struct krdma_session *session;
static struct krdma_listener *listener;
static struct krdma_conn *client;
static struct krdma_mr *mr;
static u8 *messages;
static struct krdma_sge pages[2];	/* while one is sent back, the other has room */
static const struct krdma_recv_wr rooms[] = { { 0, &pages[0], 1 }, { 1, &pages[1], 1 } };

static void echo_complete(const struct krdma_wc *done)
{
	struct krdma_sge sge = { mr, pages[done->wr_id].addr, done->length };
	struct krdma_send_wr send = { done->wr_id, KRDMA_OP_SEND, .sges = &sge, .sge_count = 1 };

	if (!done->status && done->opcode == KRDMA_OP_RECV)
		krdma_conn_post_send(client, &send, 1);
	else if (!done->status)
		krdma_conn_post_recv(client, &rooms[done->wr_id], 1);
}

static const struct krdma_conn_ops echo_ops = { .complete = echo_complete };

static void echo_end(void)
{
	if (IS_ERR_OR_NULL(client))
		return;
	krdma_conn_close(client);
	if (!IS_ERR(mr))
		krdma_mr_deregister(mr);
	krdma_conn_put(client);
	kfree(messages);
}

static void echo_ready(struct krdma_listener *listener)
{
	echo_end();
	client = krdma_listener_next(listener, &echo_ops, NULL, 0);
	if (IS_ERR(client))
		return;
	messages = kzalloc(2 * PAGE_SIZE, GFP_KERNEL);
	mr = krdma_mr_register(session, krdma_conn_device(client), messages, 2 * PAGE_SIZE,
			       KRDMA_ACCESS_LOCAL_WRITE);
	for (int i = 0; i < 2; i++)
		pages[i] = (struct krdma_sge) { mr, (u64)messages + i * PAGE_SIZE, PAGE_SIZE };
	if (IS_ERR(mr) || krdma_conn_create_qp(client, &(struct krdma_conn_attr) {}) ||
	    krdma_conn_post_recv(client, rooms, 2) != 2 ||
	    krdma_conn_accept(client, &(struct krdma_conn_param) {}))
		krdma_conn_abort(client);
}

static int __init echo_init(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(7471) };
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&any, .ready = echo_ready };

	session = krdma_session_create(&init_net);
	listener = IS_ERR(session) ? ERR_CAST(session) : krdma_listen(session, &attr);
	if (IS_ERR(listener) && !IS_ERR(session))
		krdma_session_put(session);
	return PTR_ERR_OR_ZERO(listener);
}
module_init(echo_init);

static void __exit echo_exit(void)
{
	krdma_listener_close(listener);
	krdma_listener_put(listener);
	echo_end();
	krdma_session_put(session);
}
module_exit(echo_exit);

MODULE_DESCRIPTION("A server that sends every message back");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KRDMA");
