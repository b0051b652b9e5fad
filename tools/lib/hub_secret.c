// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: a shared secret, which both sides prove to know.
 *
 * A hub with a secret says so in its greeting. It refuses a peer without one, and a hub without one
 * refuses a peer that has one. When the connection is established, each side sends 32 random bytes
 * and proves with an HMAC over both values that it knows the secret:
 *
 *	client				server
 *
 *				<-	HUB_CHALLENGE S
 *	HUB_CHALLENGE C		->
 *	HUB_PROOF		->					"krdma-hub-1" "c" S C
 *				<-	HUB_PROOF			"krdma-hub-1" "s" S C
 *
 * The server asks its program's @admit when the proof of the client is right, and sends its own
 * proof afterwards. So the client is up only if it is admitted. Instead of a frame, a side that
 * ends sends HUB_BYE. Until then no other frame is accepted.
 *
 * A hub connects and listens with the same secret. A peer to which it connects could give it the
 * challenge of the same hub, and return the proof. So the first bytes of all nonces of a hub are
 * the same, and it proves nothing to a peer that sends them.
 *
 * Only the proofs depend on the secret. They are valid for one connection, which has one of each
 * side: a connection is worth one guess.
 *
 * The time is bounded by that for joining: frames do not extend it.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "hub.h"

#define LABEL	"krdma-hub-1"

static_assert(KRDMA_HUB_SECRET_MIN == SECRET_MIN && KRDMA_HUB_SECRET_MAX == SECRET_MAX,
	      "a secret of a program has place here");
static_assert(HUB_PROOF_SIZE == SECRET_NONCE && HUB_PROOF_SIZE == SECRET_PROOF,
	      "frames have place for nonces and proofs");
static_assert(HUB_PROOF_SIZE <= HUB_EAGER_MIN, "so has each receive");

int hub_secret_open(struct krdma_hub *hub)
{
	int err = secret_set(&hub->secret, hub->options.secret, hub->options.secret_length);

	/* The caller's memory is not needed any more. */
	hub->options.secret = NULL;
	return err || !hub->secret ? err : secret_nonce(hub->mark);
}

static unsigned char *nonce_of(struct krdma_ep *ep, bool own)
{
	return own == ep->accepted ? ep->nonces.server : ep->nonces.client;
}

static void challenge(struct krdma_ep *ep)
{
	struct hub_frame frame = { .kind = HUB_CHALLENGE };
	unsigned char *nonce = nonce_of(ep, true);

	if (secret_nonce(nonce)) {
		hub_ep_fail(ep, -EIO, "there are no random bytes");
		return;
	}
	memcpy(nonce, ep->hub->mark, HUB_MARK);
	hub_send_control(ep, &frame, nonce, SECRET_NONCE);
}

/* Makes the proof of this side or of the peer. */
static void make_proof(struct krdma_ep *ep, bool own, unsigned char proof[SECRET_PROOF])
{
	secret_proof(ep->hub->secret, LABEL, own == ep->accepted ? 's' : 'c', ep->nonces.server,
		     ep->nonces.client, proof);
}

static void prove(struct krdma_ep *ep)
{
	struct hub_frame frame = { .kind = HUB_PROOF };
	unsigned char proof[SECRET_PROOF];

	make_proof(ep, true, proof);
	hub_send_control(ep, &frame, proof, sizeof(proof));
}

void hub_secret_begin(struct krdma_ep *ep)
{
	ep->state = HUB_PROVING;
	/* That of a server has begun with the request. */
	if (ep->accepted) {
		challenge(ep);
	} else {
		ep->grace = krdma_deadline(ep->hub->options.idle_ms);
		hub_wake_at(ep->hub, ep->grace);
	}
	hub_ep_take_early(ep);
}

int hub_secret_challenge(struct krdma_ep *ep, const struct hub_frame *frame)
{
	if (ep->state != HUB_PROVING || ep->is_challenged)
		return -EPROTO;
	ep->is_challenged = true;
	if (!memcmp(frame->data, ep->hub->mark, HUB_MARK)) {
		hub_ep_refuse(ep, -EKEYREJECTED, "this hub does not prove the secret to itself");
		return 0;
	}
	memcpy(nonce_of(ep, false), frame->data, SECRET_NONCE);
	if (!ep->accepted) {
		challenge(ep);
		prove(ep);
	}
	return 0;
}

int hub_secret_proof(struct krdma_ep *ep, const struct hub_frame *frame)
{
	unsigned char expected[SECRET_PROOF];
	int err;

	if (ep->state != HUB_PROVING || !ep->is_challenged)
		return -EPROTO;
	make_proof(ep, false, expected);
	if (!secret_same(frame->data, expected)) {
		hub_ep_refuse(ep, -EKEYREJECTED, "the secrets differ");
		return 0;
	}
	if (ep->accepted) {
		err = hub_ep_admit(ep);
		if (err) {
			hub_ep_refuse(ep, err, HUB_NOT_ADMITTED);
			return 0;
		}
		prove(ep);
	}
	/* Unless the proof could not be sent. */
	if (ep->state == HUB_PROVING)
		hub_ep_set_up(ep);
	return 0;
}
