// SPDX-License-Identifier: GPL-2.0
/* The scripts of the fake device: which call fails, and where a call stops. */
#include <linux/completion.h>
#include <linux/spinlock.h>

#include "fake_private.h"

/**
 * fake_device_fail() - Make a call fail
 * @fake: the device
 * @verb: the verb
 * @nth: the nth call from now on, from 1; 0 for none
 * @error: negative
 */
void fake_device_fail(struct fake_device *fake, enum fake_verb verb, unsigned int nth, int error)
{
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	fake->scripts[verb] = (struct fake_script) { .fail_at = nth, .error = error };
	spin_unlock_irqrestore(&fake->lock, flags);
}

/**
 * fake_device_calls() - Get the number of calls of a verb
 * @fake: the device
 * @verb: the verb
 *
 * Return: calls since fake_device_fail() for @verb, or since the beginning.
 */
unsigned int fake_device_calls(struct fake_device *fake, enum fake_verb verb)
{
	unsigned int calls;
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	calls = fake->scripts[verb].calls;
	spin_unlock_irqrestore(&fake->lock, flags);

	return calls;
}

/* Posting also happens with interrupts off, so every verb takes the lock this way. */
int fake_device_follow_script(struct fake_device *fake, enum fake_verb verb)
{
	struct fake_script *script = &fake->scripts[verb];
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&fake->lock, flags);
	if (++script->calls == script->fail_at)
		ret = script->error;
	spin_unlock_irqrestore(&fake->lock, flags);

	return ret;
}

static void fake_device_pause(struct fake_device *fake, struct fake_pause **where,
			      struct fake_pause *pause)
{
	unsigned long flags;

	if (pause) {
		init_completion(&pause->entered);
		init_completion(&pause->go_on);
	}
	spin_lock_irqsave(&fake->lock, flags);
	*where = pause;
	spin_unlock_irqrestore(&fake->lock, flags);
}

/**
 * fake_device_pause_port() - Make query_port stop
 * @fake: the device
 * @pause: where it stops; NULL for nowhere.  Must stay until every call that it stopped has
 *	continued.
 */
void fake_device_pause_port(struct fake_device *fake, struct fake_pause *pause)
{
	fake_device_pause(fake, &fake->port_pause, pause);
}

/**
 * fake_device_pause_dereg() - Make dereg_mr stop before it does anything
 * @fake: the device
 * @pause: see fake_device_pause_port()
 */
void fake_device_pause_dereg(struct fake_device *fake, struct fake_pause *pause)
{
	fake_device_pause(fake, &fake->dereg_pause, pause);
}

/* Stops a call if the test has ordered it. */
void fake_device_stop_at(struct fake_device *fake, struct fake_pause **where)
{
	struct fake_pause *pause;
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	pause = *where;
	spin_unlock_irqrestore(&fake->lock, flags);
	if (pause) {
		complete(&pause->entered);
		wait_for_completion(&pause->go_on);
	}
}
