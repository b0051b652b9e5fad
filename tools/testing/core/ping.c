// SPDX-License-Identifier: GPL-2.0
/* Sends messages to krdma_echo, checks the echoes, and says how long they took. */
#include <linux/inet.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <krdma/krdma.h>

static char *address = "127.0.0.1";
module_param(address, charp, 0444);
static unsigned int count = 100;
module_param(count, uint, 0444);

static DECLARE_COMPLETION(ended);
static u8 status;

static void ping_complete(const struct krdma_completion *done)
{
	status = done->status;
	complete(&ended);
}

static const struct krdma_conn_ops ping_ops = { .complete = ping_complete };

static int ping(struct krdma_conn *conn, struct krdma_region *region, u64 *message)
{
	struct krdma_sge from = { region, (u64)&message[0], 8 };
	struct krdma_sge to = { region, (u64)&message[1], 8 };
	struct krdma_request send = { .opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_SILENT,
				      .sges = &from, .sge_count = 1 };
	int ret = krdma_conn_receive(conn, &(struct krdma_receive) { 0, &to, 1 }, 1);

	message[0] = ktime_get_ns();
	ret = ret < 0 ? ret : krdma_conn_post(conn, &send, 1);
	if (ret > 0 && !wait_for_completion_timeout(&ended, HZ))
		return -ETIMEDOUT;
	return ret < 0 ? ret : status ? -EIO : message[0] == message[1] ? 0 : -EBADMSG;
}

static int __init ping_init(void)
{
	struct krdma_session *session = krdma_session_create(&init_net);
	struct krdma_conn *conn = krdma_conn_create(session, &ping_ops, NULL);
	u64 *message = kzalloc(2 * sizeof(*message), GFP_KERNEL);
	u64 took, low = U64_MAX, high = 0, sum = 0;
	struct krdma_region *region = NULL;
	struct sockaddr_storage remote;
	struct krdma_route route = { .remote = (struct sockaddr *)&remote };
	int ret;

	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, address, "7471", &remote) ?:
	      krdma_conn_resolve(conn, &route) ?: krdma_conn_wait(conn, 0);
	if (ret)
		goto out;
	region = krdma_region_map(session, krdma_conn_device(conn), message, 16,
				  KRDMA_ACCESS_LOCAL_WRITE);
	ret = PTR_ERR_OR_ZERO(region) ?:
	      krdma_conn_connect(conn, &(struct krdma_conn_param) {}) ?: krdma_conn_wait(conn, 0);
	for (unsigned int i = 0; i < count && !ret; i++) {
		ret = ping(conn, region, message);
		took = ktime_get_ns() - message[0];
		low = min(low, took);
		high = max(high, took);
		sum += took;
	}
	if (!ret)
		pr_info("%u echoes, ns: min %llu avg %llu max %llu\n", count, low, sum / count,
			high);
out:
	krdma_conn_close(conn);
	if (!IS_ERR_OR_NULL(region))
		krdma_region_release(region);
	krdma_conn_put(conn);
	krdma_session_put(session);
	kfree(message);
	return ret;
}
module_init(ping_init);

static void __exit ping_exit(void)
{
}
module_exit(ping_exit);

MODULE_DESCRIPTION("Sends messages to krdma_echo");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KRDMA");
