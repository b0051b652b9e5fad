/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The folders of krdma_blk in configfs.
 */
#ifndef KRDMA_CLI_BLK_CONFIG_H
#define KRDMA_CLI_BLK_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#define BLK_CONFIG	"/sys/kernel/config/krdma_blk"
#define BLK_EXPORTS	"exports"
#define BLK_DEVICES	"devices"
/* The text of an attribute has at most a page. */
#define BLK_TEXT_MAX	4097

/* Returns true if the module is loaded, false after an error message. */
bool blk_config_there(void);

/*
 * Each returns 0 or a negative errno, and prints no message.  A value that an attribute cannot take
 * at once is not written: the error is -EMSGSIZE.
 */
int blk_config_make(const char *kind, const char *name);
int blk_config_remove(const char *kind, const char *name);
int blk_config_write(const char *kind, const char *name, const char *attribute,
		     const char *value);

/* Read the whole text of an attribute. */
int blk_config_read_all(char *text, size_t size, const char *kind, const char *name,
			const char *attribute);

/* The text of an attribute, with blanks for line breaks; "" if it cannot be read. */
const char *blk_config_read(char text[BLK_TEXT_MAX], const char *kind, const char *name,
			    const char *attribute);

/* Call @each with every name, in sorted order, until @each returns nonzero. */
int blk_config_walk(const char *kind, int (*each)(const char *name, void *to), void *to);

#endif /* KRDMA_CLI_BLK_CONFIG_H */
