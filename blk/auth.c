// SPDX-License-Identifier: GPL-2.0
/*
 * Secrets, proofs, challenges, and the limit of failed answers.
 */
#include <crypto/sha2.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "address.h"
#include "auth.h"

/* HMAC-SHA256 does not hash a key that is not longer than a block. */
static_assert(KRDMA_BLK_SECRET_MAX == SHA256_BLOCK_SIZE);

/*
 * Secrets
 */

/**
 * krdma_blk_read_secret() - Parse a secret
 * @page: one line of printable ASCII characters, with or without a newline
 * @count: bytes of @page
 * @secret: filled in; undefined on failure
 *
 * Anything else is refused: a secret of which only a part counts is weaker than it looks.
 *
 * Context: any.
 * Return: 0, or -EINVAL: it is empty, too long, or contains other characters.
 */
int krdma_blk_read_secret(const char *page, size_t count, struct krdma_blk_secret *secret)
{
	if (count && page[count - 1] == '\n')
		count--;
	if (!count || count > KRDMA_BLK_SECRET_MAX)
		return -EINVAL;
	*secret = (struct krdma_blk_secret) { .length = count };
	for (size_t i = 0; i < count; i++) {
		if (page[i] < ' ' || page[i] > '~')
			return -EINVAL;
		secret->bytes[i] = page[i];
	}
	return 0;
}

/*
 * Proofs
 */

enum krdma_blk_prover {
	KRDMA_BLK_CLIENT_PROVES = 1,
	KRDMA_BLK_SERVER_PROVES = 2,
};

#define KRDMA_BLK_SAID_MAX	(sizeof(struct krdma_blk_welcome) - KRDMA_BLK_PROOF_SIZE)

static_assert(offsetof(struct krdma_blk_hello, proof) <= KRDMA_BLK_SAID_MAX);

/*
 * HMAC-SHA256 of RFC 2104.  The kernel's library has it only since Linux 6.17, and that of the
 * crypto API may not be available.
 */
static void krdma_blk_prove(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces, u8 prover, const void *said,
			    size_t length, u8 *proof)
{
	struct {
		u8 key[SHA256_BLOCK_SIZE];
		u8 prover;
		struct krdma_blk_nonces nonces;
		u8 said[KRDMA_BLK_SAID_MAX];
	} __packed inner = { .prover = prover, .nonces = *nonces };
	struct {
		u8 key[SHA256_BLOCK_SIZE];
		u8 digest[SHA256_DIGEST_SIZE];
	} __packed outer;
	u8 digest[SHA256_DIGEST_SIZE];

	for (unsigned int i = 0; i < SHA256_BLOCK_SIZE; i++) {
		inner.key[i] = secret->bytes[i] ^ 0x36;
		outer.key[i] = secret->bytes[i] ^ 0x5c;
	}
	memcpy(inner.said, said, length);
	sha256((const u8 *)&inner, sizeof(inner) - sizeof(inner.said) + length, outer.digest);
	sha256((const u8 *)&outer, sizeof(outer), digest);
	memcpy(proof, digest, KRDMA_BLK_PROOF_SIZE);

	memzero_explicit(&inner, sizeof(inner));
	memzero_explicit(&outer, sizeof(outer));
	memzero_explicit(digest, sizeof(digest));
}

/*
 * Compares in constant time.  crypto_memneq() does the same, but not every kernel has it.
 */
static bool krdma_blk_same_proof(const u8 *a, const u8 *b)
{
	u8 difference = 0;

	for (unsigned int i = 0; i < KRDMA_BLK_PROOF_SIZE; i++) {
		difference |= a[i] ^ b[i];
		/* Keeps the compiler from ending the loop early. */
		OPTIMIZER_HIDE_VAR(difference);
	}
	return !difference;
}

/**
 * krdma_blk_prove_client() - Prove that this client knows the secret
 * @secret: the secret
 * @nonces: nonces of this exchange
 * @hello: hello of the client; its proof is filled in
 *
 * Context: any.
 */
void krdma_blk_prove_client(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces, struct krdma_blk_hello *hello)
{
	krdma_blk_prove(secret, nonces, KRDMA_BLK_CLIENT_PROVES, hello,
			offsetof(struct krdma_blk_hello, proof), hello->proof);
}

/**
 * krdma_blk_prove_server() - Prove that this server knows the secret
 * @secret: the secret
 * @nonces: nonces of this exchange
 * @welcome: welcome of the server; its proof is filled in
 *
 * Context: any.
 */
void krdma_blk_prove_server(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces,
			    struct krdma_blk_welcome *welcome)
{
	size_t length = offsetof(struct krdma_blk_welcome, proof);
	u8 said[KRDMA_BLK_SAID_MAX];

	memcpy(said, welcome, length);
	if (welcome->more) {
		memcpy(said + length, (const u8 *)welcome + KRDMA_BLK_WELCOME_SHORT,
		       sizeof(*welcome) - KRDMA_BLK_WELCOME_SHORT);
		length = sizeof(said);
	}
	krdma_blk_prove(secret, nonces, KRDMA_BLK_SERVER_PROVES, said, length, welcome->proof);
}

/**
 * krdma_blk_client_knows() - Check the proof of a client
 * @secret: the secret; with length 0 no proof is valid
 * @nonces: nonces of this exchange
 * @hello: hello of the client
 *
 * Context: any.
 * Return: true if the client knows the secret.
 */
bool krdma_blk_client_knows(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces,
			    const struct krdma_blk_hello *hello)
{
	struct krdma_blk_hello right = *hello;

	krdma_blk_prove_client(secret, nonces, &right);
	return krdma_blk_same_proof(right.proof, hello->proof) && secret->length;
}

/**
 * krdma_blk_server_knows() - Check the proof of a server
 * @secret: the secret
 * @nonces: nonces of this exchange
 * @welcome: welcome of the server
 *
 * Context: any.
 * Return: true if the server knows the secret.
 */
bool krdma_blk_server_knows(const struct krdma_blk_secret *secret,
			    const struct krdma_blk_nonces *nonces,
			    const struct krdma_blk_welcome *welcome)
{
	struct krdma_blk_welcome right = *welcome;

	krdma_blk_prove_server(secret, nonces, &right);
	return krdma_blk_same_proof(right.proof, welcome->proof);
}

/*
 * Challenges: a fixed number at a time, however many unauthorized peers there are
 */

#define KRDMA_BLK_CHALLENGES		128
/* The most of these for one address, and for one IPv6 network. */
#define KRDMA_BLK_CHALLENGES_EACH	16
#define KRDMA_BLK_CHALLENGES_LINK	96
#define KRDMA_BLK_CHALLENGE_TIME	(30 * HZ)

/**
 * struct krdma_blk_challenge - a challenge that was given to a peer
 * @used: the entry is in use
 * @given: time in jiffies when it was given
 * @queue: queue of the hello that it was given for
 * @client: client of the hello that it was given for
 * @from: address of the peer
 * @nonces: the two random numbers
 */
struct krdma_blk_challenge {
	bool used;
	unsigned long given;
	__le16 queue;
	__le64 client;
	struct krdma_blk_net from;
	struct krdma_blk_nonces nonces;
};

/* Protects the variables below, and the guessers. */
static DEFINE_MUTEX(challenge_lock);
static struct krdma_blk_challenge challenges[KRDMA_BLK_CHALLENGES];

static bool krdma_blk_is_open(const struct krdma_blk_challenge *one)
{
	return one->used && time_before(jiffies, one->given + KRDMA_BLK_CHALLENGE_TIME);
}

static bool krdma_blk_is_for(const struct krdma_blk_challenge *one,
			     const struct krdma_blk_hello *hello, const struct krdma_blk_net *from)
{
	return krdma_blk_is_open(one) && one->client == hello->client &&
	       one->queue == hello->queue && krdma_blk_same_net(&one->from, from);
}

/*
 * Returns the challenge that this client has for this queue, because it asks again; otherwise the
 * oldest one of its address, or of its IPv6 network, if that has used its share, so that it takes
 * none from others; otherwise a free one; otherwise the oldest one.
 */
static struct krdma_blk_challenge *krdma_blk_challenge_slot(const struct krdma_blk_hello *hello,
							    const struct krdma_blk_net *from)
{
	struct krdma_blk_challenge *free = NULL, *oldest = NULL, *own = NULL, *near = NULL;
	unsigned int count = 0, near_count = 0;

	lockdep_assert_held(&challenge_lock);
	for (unsigned int i = 0; i < ARRAY_SIZE(challenges); i++) {
		struct krdma_blk_challenge *one = &challenges[i];

		if (krdma_blk_is_for(one, hello, from))
			return one;
		if (!krdma_blk_is_open(one)) {
			free = one;
			continue;
		}
		if (!oldest || time_before(one->given, oldest->given))
			oldest = one;
		if (krdma_blk_same_link(&one->from, from)) {
			near_count++;
			if (!near || time_before(one->given, near->given))
				near = one;
		}
		if (!krdma_blk_same_net(&one->from, from))
			continue;
		count++;
		if (!own || time_before(one->given, own->given))
			own = one;
	}
	if (count >= KRDMA_BLK_CHALLENGES_EACH)
		return own;
	if (near_count >= KRDMA_BLK_CHALLENGES_LINK)
		return near;
	return free ?: oldest;
}

/**
 * krdma_blk_challenge_create() - Create a challenge for a peer
 * @hello: hello of the peer
 * @remote: address of the peer
 * @challenge: filled in, KRDMA_BLK_PROOF_SIZE bytes
 *
 * Context: process context; may sleep.
 */
void krdma_blk_challenge_create(const struct krdma_blk_hello *hello,
				const struct sockaddr_storage *remote, u8 *challenge)
{
	struct krdma_blk_challenge *one;
	struct krdma_blk_net from;

	krdma_blk_net_of(remote, &from);
	get_random_bytes(challenge, KRDMA_BLK_PROOF_SIZE);

	mutex_lock(&challenge_lock);
	one = krdma_blk_challenge_slot(hello, &from);
	*one = (struct krdma_blk_challenge) {
		.used = true, .given = jiffies, .queue = hello->queue, .client = hello->client,
		.from = from,
	};
	memcpy(one->nonces.challenge, challenge, KRDMA_BLK_PROOF_SIZE);
	memcpy(one->nonces.nonce, hello->proof, KRDMA_BLK_PROOF_SIZE);
	mutex_unlock(&challenge_lock);
}

/**
 * krdma_blk_challenged() - Find the challenge that was given to a peer, and invalidate it
 * @hello: the answer
 * @remote: address of the peer
 * @nonces: filled in; zeroes if there is no challenge
 *
 * The challenge is used up, whether the answer is right or not.
 *
 * Context: process context; may sleep.
 * Return: true if there was one.
 */
bool krdma_blk_challenged(const struct krdma_blk_hello *hello,
			  const struct sockaddr_storage *remote,
			  struct krdma_blk_nonces *nonces)
{
	struct krdma_blk_net from;
	bool found = false;

	krdma_blk_net_of(remote, &from);
	*nonces = (struct krdma_blk_nonces) {};

	mutex_lock(&challenge_lock);
	for (unsigned int i = 0; i < ARRAY_SIZE(challenges) && !found; i++) {
		struct krdma_blk_challenge *one = &challenges[i];

		found = krdma_blk_is_for(one, hello, &from);
		if (found) {
			*nonces = one->nonces;
			one->used = false;
		}
	}
	mutex_unlock(&challenge_lock);
	return found;
}

/*
 * Limit of failed answers: a few at once, then one per second.  By address, so that a peer cannot
 * keep others out.
 */

#define KRDMA_BLK_GUESSERS	64
#define KRDMA_BLK_GUESSES	20

/**
 * struct krdma_blk_guesser - failed answers of some addresses
 * @left: how many more answers may fail
 * @trying: answers that are being checked, each of which may fail
 * @since: time in jiffies when @left was last increased
 */
struct krdma_blk_guesser {
	unsigned int left;
	unsigned int trying;
	unsigned long since;
};

static struct krdma_blk_guesser guessers[KRDMA_BLK_GUESSERS];
static u32 guesser_seed __read_mostly;

static struct krdma_blk_guesser *krdma_blk_guesser_find(const struct sockaddr_storage *remote)
{
	struct krdma_blk_guesser *guesser;
	struct krdma_blk_net from;
	unsigned long seconds;

	lockdep_assert_held(&challenge_lock);
	krdma_blk_net_of(remote, &from);
	/* A host may use any number of addresses of its IPv6 network. */
	if (from.family == AF_INET6)
		memset(from.bytes + 8, 0, 8);
	/* Peers must not know which addresses share an entry. */
	while (!guesser_seed)
		guesser_seed = get_random_u32();
	guesser = &guessers[jhash(from.bytes, sizeof(from.bytes), guesser_seed + from.family) %
			    KRDMA_BLK_GUESSERS];

	seconds = (jiffies - guesser->since) / HZ;
	if (!guesser->since || seconds >= KRDMA_BLK_GUESSES) {
		guesser->left = KRDMA_BLK_GUESSES;
		guesser->since = jiffies ?: 1;
	} else if (seconds) {
		guesser->left = min_t(unsigned long, guesser->left + seconds, KRDMA_BLK_GUESSES);
		guesser->since += seconds * HZ;
	}
	return guesser;
}

/**
 * krdma_blk_try_begin() - Begin to check a peer's answer to a challenge
 * @remote: address of the peer
 *
 * Context: process context; may sleep.
 * Return: 0, and krdma_blk_try_end() is to be called; KRDMA_BLK_REFUSED: it has failed too often
 * recently; KRDMA_BLK_FULL: it would have if all its answers that are being checked were wrong.
 */
int krdma_blk_try_begin(const struct sockaddr_storage *remote)
{
	struct krdma_blk_guesser *guesser;
	int reason = 0;

	mutex_lock(&challenge_lock);
	guesser = krdma_blk_guesser_find(remote);
	if (!guesser->left)
		reason = KRDMA_BLK_REFUSED;
	else if (guesser->trying >= guesser->left)
		reason = KRDMA_BLK_FULL;
	else
		guesser->trying++;
	mutex_unlock(&challenge_lock);
	return reason;
}

/**
 * krdma_blk_try_end() - Count a wrong answer of a peer
 * @remote: address of the peer, as for krdma_blk_try_begin()
 * @right: it was right
 *
 * Context: process context; may sleep.
 */
void krdma_blk_try_end(const struct sockaddr_storage *remote, bool right)
{
	struct krdma_blk_guesser *guesser;

	mutex_lock(&challenge_lock);
	guesser = krdma_blk_guesser_find(remote);
	guesser->trying--;
	if (!right && guesser->left)
		guesser->left--;
	mutex_unlock(&challenge_lock);
}
