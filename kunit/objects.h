/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All of krdma's objects that a test has made are gone after it.
 */
#ifndef _KRDMA_KUNIT_OBJECTS_H
#define _KRDMA_KUNIT_OBJECTS_H

#include <kunit/test.h>

/*
 * A suite's init, before each of its tests: when everything that the test has registered to be
 * undone has been undone, there may be no more objects than now.
 */
int test_objects_init(struct kunit *test);

#endif /* _KRDMA_KUNIT_OBJECTS_H */
