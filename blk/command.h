/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_COMMAND_H
#define _KRDMA_BLK_COMMAND_H

#include <linux/types.h>

#include "export.h"

struct krdma_blk_commands;
struct krdma_blk_export;
struct krdma_conn;
struct krdma_wc;

/* Commands of clients */
void krdma_blk_commands_init(struct krdma_blk_commands *commands);
int krdma_blk_commands_open(struct krdma_blk_commands *commands, struct krdma_blk_export *export,
			    enum krdma_blk_role role, struct krdma_conn *conn);
int krdma_blk_commands_start(struct krdma_blk_commands *commands);
void krdma_blk_commands_begin(struct krdma_blk_commands *commands, unsigned long expires);
void krdma_blk_commands_arrived(struct krdma_blk_commands *commands,
				const struct krdma_wc *completion);
void krdma_blk_commands_replied(struct krdma_blk_commands *commands);
bool krdma_blk_commands_end(struct krdma_blk_commands *commands);
void krdma_blk_commands_close(struct krdma_blk_commands *commands);

#endif /* _KRDMA_BLK_COMMAND_H */
