// SPDX-License-Identifier: GPL-2.0
/* Objects of an end of a connection. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpma.h"

const char *const peer_name = "rpma";

bool peer_does(enum peer_op op)
{
	return op != PEER_FETCH_ADD;
}

void rpma_check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s: %s\n", peer_name, what, rpma_err_2str(err));
	exit(1);
}

struct rpma_where rpma_locate(const struct sockaddr_in *address)
{
	struct rpma_where where;

	if (!inet_ntop(AF_INET, &address->sin_addr, where.host, sizeof(where.host)))
		peer_fail("address", errno);
	snprintf(where.port, sizeof(where.port), "%u", ntohs(address->sin_port));
	return where;
}

struct rpma_peer *rpma_device(const struct rpma_where *where, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *verbs;
	struct rpma_peer *rpma;

	rpma_check("device", rpma_utils_get_ibv_context(where->host, type, &verbs));
	rpma_check("peer", rpma_peer_new(verbs, &rpma));
	return rpma;
}

struct rpma_conn_cfg *rpma_config(void)
{
	struct rpma_conn_cfg *config;

	rpma_check("configuration", rpma_conn_cfg_new(&config));
	rpma_check("timeout", rpma_conn_cfg_set_timeout(config, RPMA_TIMEOUT_MS));
	rpma_check("completions", rpma_conn_cfg_set_cq_size(config, PEER_COMPLETIONS));
	rpma_check("depth", rpma_conn_cfg_set_sq_size(config, PEER_DEPTH));
	rpma_check("receives", rpma_conn_cfg_set_rq_size(config, PEER_DEPTH));
	return config;
}

struct rpma_mr_local *rpma_memory(struct rpma_peer *rpma, size_t length, void **data)
{
	struct rpma_mr_local *mr;

	if (posix_memalign(data, 4096, length))
		peer_fail("memory", ENOMEM);
	memset(*data, 0, length);
	rpma_check("memory", rpma_mr_reg(rpma, *data, length, RPMA_USAGE, &mr));
	return mr;
}

void rpma_expect(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event;

	rpma_check("event", rpma_conn_next_event(conn, &event));
	if (event == expected)
		return;
	fprintf(stderr, "%s: %s\n", peer_name, rpma_utils_conn_event_2str(event));
	exit(1);
}

void rpma_unmake(struct rpma_end *end)
{
	if (end->remote)
		rpma_check("remote memory", rpma_mr_remote_delete(&end->remote));
	rpma_check("end of a connection", rpma_conn_delete(&end->conn));
	if (end->own)
		rpma_check("release", rpma_mr_dereg(&end->own));
	free(end->data);
	memset(end, 0, sizeof(*end));
}
