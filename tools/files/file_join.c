// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The further connections of a server's clients.
 *
 * A client that is granted several connections gets a ticket with the first one. A connection
 * joins that client if it comes from the same address with the token that the ticket makes, and
 * with a number that was granted and that no other connection has had. With a secret, the ticket
 * alone makes no token.
 */
#include "file_server.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

void file_joining_init(struct krdma_file_server *server, struct file_joining *joining,
		       const struct sockaddr_storage *peer)
{
	memset(joining, 0, sizeof(*joining));
	joining->peer = *peer;
	/* Without random numbers nothing can join, and the client gets one connection. */
	joining->closed = getrandom(joining->ticket, FILE_TOKEN, 0) != FILE_TOKEN;
	pthread_mutex_lock(&server->join_lock);
	joining->next = server->joinings;
	server->joinings = joining;
	pthread_mutex_unlock(&server->join_lock);
}

void file_joining_exit(struct krdma_file_server *server, struct file_joining *joining)
{
	struct file_joining **link;

	file_joining_close(server, joining);
	pthread_mutex_lock(&server->join_lock);
	for (link = &server->joinings; *link; link = &(*link)->next) {
		if (*link == joining) {
			*link = joining->next;
			break;
		}
	}
	pthread_mutex_unlock(&server->join_lock);
}

/*
 * Each client has its first connection in any case. Of the others, the clients of one address get
 * the same share as of the places for clients.
 */
uint32_t file_joining_grant(struct krdma_file_server *server, struct file_joining *joining,
			    uint32_t asked)
{
	const struct krdma_file_server_options *options = &server->options;
	uint32_t all = options->max_conns - options->max_clients;
	uint64_t same = (uint64_t)all * options->max_per_peer / options->max_clients;
	uint32_t further = asked < FILE_STREAMS_MAX ? asked : FILE_STREAMS_MAX;
	const struct file_joining *other;

	if (asked < 2 || joining->closed)
		return 1;
	further--;
	if (same > all)
		same = all;
	pthread_mutex_lock(&server->join_lock);
	for (other = server->joinings; other; other = other->next) {
		all -= other->further;
		if (nets_same_peer(&other->peer, &joining->peer))
			same -= other->further;
	}
	if (further > same)
		further = (uint32_t)same;
	if (further > all)
		further = all;
	joining->further = further;
	pthread_mutex_unlock(&server->join_lock);
	return 1 + further;
}

void file_joining_close(struct krdma_file_server *server, struct file_joining *joining)
{
	pthread_mutex_lock(&server->join_lock);
	joining->closed = true;
	pthread_mutex_unlock(&server->join_lock);
	for (unsigned int i = 0; i < FILE_STREAMS_MAX; i++) {
		/* Closing rejects it. */
		if (joining->conns[i])
			krdma_conn_close(joining->conns[i]);
		joining->conns[i] = NULL;
	}
}

struct krdma_conn *file_joining_take(struct krdma_file_server *server,
				     struct file_joining *joining, unsigned int number,
				     unsigned int ms)
{
	struct krdma_conn *conn;
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&server->join_lock);
	while (!joining->conns[number] && !err)
		err = pthread_cond_timedwait(&server->joined, &server->join_lock, &until);
	conn = joining->conns[number];
	joining->conns[number] = NULL;
	pthread_mutex_unlock(&server->join_lock);
	return conn;
}

/* Compares in constant time, which does not reveal where the values differ. */
static bool is_token(const struct krdma_file_server *server, const struct file_joining *joining,
		     const struct file_hello *hello)
{
	unsigned char token[FILE_TOKEN];
	unsigned int differ = 0;

	file_link_token(server->secret, joining->ticket, hello->streams, token);
	for (size_t i = 0; i < FILE_TOKEN; i++)
		differ |= token[i] ^ hello->token[i];
	return !differ;
}

int file_joining_give(struct krdma_file_server *server, const struct sockaddr_storage *peer,
		      const struct file_hello *hello, struct krdma_conn *conn)
{
	struct file_joining *joining;
	int err = -EACCES;

	if (!hello->streams || hello->streams >= FILE_STREAMS_MAX)
		return err;
	pthread_mutex_lock(&server->join_lock);
	for (joining = server->joinings; joining && err; joining = joining->next) {
		if (joining->closed || !nets_same_peer(&joining->peer, peer) ||
		    hello->streams > joining->further ||
		    joining->came >> hello->streams & 1 || !is_token(server, joining, hello))
			continue;
		joining->came |= 1u << hello->streams;
		joining->conns[hello->streams] = conn;
		pthread_cond_broadcast(&server->joined);
		err = 0;
	}
	pthread_mutex_unlock(&server->join_lock);
	return err;
}
