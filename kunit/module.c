// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_kunit.ko: loading it runs the suites; the results are in the kernel log
 * and in /sys/kernel/debug/kunit.
 */
#include <linux/module.h>

#include "personality.h"

/* The suites run if this succeeds. */
static int __init krdma_kunit_init(void)
{
	return fake_personality_default() ? 0 : -EINVAL;
}
module_init(krdma_kunit_init);

static void __exit krdma_kunit_exit(void)
{
}
module_exit(krdma_kunit_exit);

MODULE_DESCRIPTION("Tests of krdma");
MODULE_AUTHOR("The krdma authors");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KRDMA");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
