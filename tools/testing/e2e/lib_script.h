/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server for one client of libkrdma's file transfers that says what a test wants.
 */
#ifndef KRDMA_E2E_LIB_SCRIPT_H
#define KRDMA_E2E_LIB_SCRIPT_H

#include "lib_raw.h"

/**
 * struct script - a server of one client
 * @hello: its private data
 * @length: their length in bytes
 * @talk: what it does when the client is connected; or NULL.  Then it waits for the client's end
 * @context: for @talk
 * @listener, @session: used by script_get()
 */
struct script {
	unsigned char hello[HELLO];
	size_t length;
	void (*talk)(struct raw *raw, void *context);
	void *context;
	struct krdma *session;
	struct krdma_listener *listener;
};

/* Get @name from the script to files->here.  Returns the error of the get, or of its setting up. */
int script_get(struct script *script, struct files *files, const char *name, const char *as,
	       const struct krdma_file_options *options, struct krdma_file_result *result);

#endif
