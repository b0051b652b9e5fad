/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nothing but the ABI header, for compilers and languages that programs use.
 */
#include <linux/krdma.h>

int abi_header_compiles(const struct krdma_info *info);

int abi_header_compiles(const struct krdma_info *info)
{
	return info->abi_version == KRDMA_ABI_VERSION;
}
