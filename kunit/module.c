// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_kunit.ko: loading it runs the suites; the results are in the kernel log
 * and in /sys/kernel/debug/kunit.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("Tests of krdma");
MODULE_AUTHOR("The krdma authors");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KRDMA");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
