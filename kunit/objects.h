/* SPDX-License-Identifier: GPL-2.0 */
/* All of krdma's objects that a test has created are gone after it. */
#ifndef _KRDMA_KUNIT_OBJECTS_H
#define _KRDMA_KUNIT_OBJECTS_H

#include <kunit/test.h>

/*
 * The init function of a suite, called before each of its tests.  When all actions that the test
 * has registered have run, there may be no more objects than now.
 */
int test_objects_init(struct kunit *test);

#endif /* _KRDMA_KUNIT_OBJECTS_H */
