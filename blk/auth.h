/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Authorization for an export: secrets, and how each end proves that it knows one.
 *
 * The secret is never sent over the network.  A client first sends a hello with a random number,
 * its nonce.  Unless the export is open to the client, the server rejects that with another
 * random number, the challenge, whether the export exists or not.  The client sends another
 * hello, with a proof:
 *
 *	HMAC-SHA256(secret, 1 | challenge | nonce | hello without its proof)
 *
 * and the server's welcome has its own proof:
 *
 *	HMAC-SHA256(secret, 2 | challenge | nonce | welcome without its proof)
 *
 * of which the first 16 bytes are sent.  A challenge is valid once, for half a minute, for the
 * client, queue and address that it was given to.
 */
#ifndef _KRDMA_BLK_AUTH_H
#define _KRDMA_BLK_AUTH_H

#include <linux/socket.h>
#include <linux/types.h>

#include "wire.h"

#define KRDMA_BLK_SECRET_MAX	64

/**
 * struct krdma_blk_secret - a secret that both ends know
 * @length: in bytes; 0: there is no secret
 * @bytes: the secret, padded with zeroes, as HMAC needs its key
 */
struct krdma_blk_secret {
	u8 length;
	u8 bytes[KRDMA_BLK_SECRET_MAX];
};

/**
 * struct krdma_blk_nonces - the two random numbers of one exchange
 * @challenge: of the server
 * @nonce: of the client
 */
struct krdma_blk_nonces {
	u8 challenge[KRDMA_BLK_PROOF_SIZE];
	u8 nonce[KRDMA_BLK_PROOF_SIZE];
};

int krdma_blk_read_secret(const char *page, size_t count, struct krdma_blk_secret *secret);

void krdma_blk_prove_client(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces, struct krdma_blk_hello *hello);
void krdma_blk_prove_server(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces,
			    struct krdma_blk_welcome *welcome);
bool krdma_blk_client_knows(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces,
			    const struct krdma_blk_hello *hello);
bool krdma_blk_server_knows(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces,
			    const struct krdma_blk_welcome *welcome);

void krdma_blk_challenge_create(const struct krdma_blk_hello *hello,
				const struct sockaddr_storage *remote, u8 *challenge);
bool krdma_blk_challenged(const struct krdma_blk_hello *hello,
			  const struct sockaddr_storage *remote,
			  struct krdma_blk_nonces *nonces);

int krdma_blk_try_begin(const struct sockaddr_storage *remote);
void krdma_blk_try_end(const struct sockaddr_storage *remote, bool right);

#endif /* _KRDMA_BLK_AUTH_H */
