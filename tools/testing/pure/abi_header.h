/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Includes nothing but the ABI's headers, for compilers and languages that programs use.
 */
#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>

int abi_header_compiles(const struct krdma_info_args *info);

int abi_header_compiles(const struct krdma_info_args *info)
{
	return info->abi_version == KRDMA_ABI_VERSION;
}
