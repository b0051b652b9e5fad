// SPDX-License-Identifier: GPL-2.0
/* The asynchronous events of the fake device and of its QPs. */
#include <linux/irqflags.h>

#include "fake_private.h"

/**
 * fake_device_event() - Raise an event of the device
 * @fake: the device
 * @type: type of the event
 * @port: port of the event, if it is one of a port
 */
void fake_device_event(struct fake_device *fake, enum ib_event_type type, u32 port)
{
	struct ib_event event = {
		.device = &fake->ib,
		.element.port_num = port,
		.event = type,
	};
	unsigned long flags;

	local_irq_save(flags);
	ib_dispatch_event(&event);
	local_irq_restore(flags);
}

/**
 * fake_qp_event() - Raise an event of a QP
 * @qp: the QP
 * @type: type of the event
 */
void fake_qp_event(struct ib_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->device,
		.element.qp = qp,
		.event = type,
	};
	unsigned long flags;

	local_irq_save(flags);
	qp->event_handler(&event, qp->qp_context);
	local_irq_restore(flags);
}
