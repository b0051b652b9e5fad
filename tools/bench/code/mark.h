/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The addresses at which the plugin expects the first instruction of code-begin and of code-end.
 * Other programs of the machine are elsewhere, because they are position-independent.
 */
#ifndef KRDMA_BENCH_MARK_H
#define KRDMA_BENCH_MARK_H

#define MARK_BEGIN	0x20000000
#define MARK_END	0x30000000

#endif
