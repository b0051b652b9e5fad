// SPDX-License-Identifier: GPL-2.0
/* The faults of the fake device's completions: which fail, come twice or get lost. */
#include "fake_private.h"

void fake_set_fault(struct fake_device *fake, enum fake_direction direction,
		    const struct fake_fault *fault)
{
	unsigned long flags = fake_begin();

	fake->faults[direction] = fault ? *fault : (struct fake_fault) {};
	fake->fault_seen[direction] = 0;
	fake_end(flags);
}

const struct fake_fault *fake_meet_fault(struct fake_qp *qp, enum fake_direction direction)
{
	struct fake_device *fake = to_fake(qp->ib.device);
	const struct fake_fault *fault = &fake->faults[direction];

	if (!fault->nth || (fault->qp && fault->qp != &qp->ib))
		return NULL;
	return ++fake->fault_seen[direction] == fault->nth ? fault : NULL;
}
