// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that guesses an rkey: it knows an address, and all of the rkey but the low byte, which
 * devices choose at random or krdma counts.  Each guess costs a connection, and a wrong guess
 * gives no access.  The right one is found in the end, because an rkey is no password.
 */
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define LENGTH		4096
#define KEYS		256
#define RIGHTS		(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE)

FIXTURE(search)
{
	struct pair pair;
	struct resources before;
	struct mr local;
	struct mr remote;
};

FIXTURE_VARIANT(search)
{
	const char *force_pin;
};

FIXTURE_VARIANT_ADD(search, driver)
{
	.force_pin = "0",
};

FIXTURE_VARIANT_ADD(search, pinned)
{
	.force_pin = "1",
};

FIXTURE_SETUP(search)
{
	static const struct pair_options options = { .two_sessions = true };

	ASSERT_EQ(0, write_text(FORCE_PIN, variant->force_pin));
	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, pair_begin(&self->pair, &options));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, LENGTH, ACCESS_ALL,
			       &self->local));
	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, RIGHTS,
			       &self->remote));
	fill(self->remote.data, LENGTH, 2);
}

FIXTURE_TEARDOWN(search)
{
	mr_destroy(&self->local);
	mr_destroy(&self->remote);
	pair_close(&self->pair);
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
	write_text(FORCE_PIN, "0");
}

/* Make one guess with its own connection.  Returns the status of the operation, or -errno. */
static int guess(struct pair *pair, const struct mr *local, const struct mr *guessed,
		 bool reads)
{
	int ret = pair_connect(pair, NULL);

	if (!ret && reads)
		ret = pair_read(pair, local, guessed);
	else if (!ret)
		ret = pair_write(pair, local, guessed);
	end_close(&pair->a);
	end_close(&pair->b);
	return ret;
}

/* Proves: F6 (library) */
TEST_F_TIMEOUT(search, each_guess_costs_a_connection_and_wrong_ones_give_nothing, 600)
{
	uint32_t right = self->remote.rkey;
	/* All values; on a slow kernel some of them. */
	uint32_t step = stride(1, 17);
	uint64_t begun = now_ms();
	unsigned int connections = 0;

	for (uint32_t low = 0; low < KEYS; low += step) {
		struct mr guessed = self->remote;

		guessed.rkey = (right & ~(KEYS - 1U)) | low;
		if (guessed.rkey == right)
			continue;
		fill(self->local.data, LENGTH, 1);
		EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR,
			  guess(&self->pair, &self->local, &guessed, connections % 2)) {
			TH_LOG("key %#x instead of %#x", guessed.rkey, right);
		}
		connections++;
		/* Neither written nor read. */
		EXPECT_TRUE(filled(self->remote.data, LENGTH, 2));
		EXPECT_TRUE(filled(self->local.data, LENGTH, 1));
	}
	printf("# %u guesses, a connection each, %u ms\n", connections,
	       (unsigned int)(now_ms() - begun));
	EXPECT_LE(KEYS / step - 1, connections);

	/* A peer with the right rkey has full access: there is no further protection. */
	EXPECT_EQ(KRDMA_WC_SUCCESS, guess(&self->pair, &self->local, &self->remote, true));
	EXPECT_TRUE(filled(self->local.data, LENGTH, 2));
	fill(self->local.data, LENGTH, 3);
	EXPECT_EQ(KRDMA_WC_SUCCESS, guess(&self->pair, &self->local, &self->remote, false));
	EXPECT_TRUE(filled(self->remote.data, LENGTH, 3));
}

/* A wrong guess ends its connection, so each connection allows one guess. */
TEST_F(search, a_wrong_guess_ends_the_connection)
{
	struct mr guessed = self->remote;

	guessed.rkey ^= 1;
	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_read(&self->pair, &self->local, &self->remote));
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, pair_write(&self->pair, &self->local, &guessed));
	EXPECT_EQ(-ENOTCONN, pair_write(&self->pair, &self->local, &self->remote));
	EXPECT_TRUE(filled(self->remote.data, LENGTH, 2));
}

TEST_HARNESS_MAIN
