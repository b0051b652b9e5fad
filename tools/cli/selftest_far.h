/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma selftest: the other end of the connections, which does what it is told.
 */
#ifndef KRDMA_CLI_SELFTEST_FAR_H
#define KRDMA_CLI_SELFTEST_FAR_H

#include <stdint.h>
#include <sys/socket.h>

/*
 * Serve the end that tests, at the other end of this socket, until it goes; connections
 * are awaited at @address, and at most @max_memory bytes are registered.  0 if it was an
 * orderly conversation.
 */
int far_run(int fd, const struct sockaddr_storage *address, uint64_t max_memory);

#endif /* KRDMA_CLI_SELFTEST_FAR_H */
