/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma selftest: the far end of the connections, which carries out the near end's requests.
 */
#ifndef KRDMA_CLI_SELFTEST_FAR_H
#define KRDMA_CLI_SELFTEST_FAR_H

#include <stdint.h>
#include <sys/socket.h>

/*
 * Serve the near end, at the other end of this socket, until it closes the socket.  Listen for
 * connections at @address, and register at most @max_memory bytes at a time.  Returns 0 if the
 * conversation ended in order.
 */
int far_run(int fd, const struct sockaddr_storage *address, uint64_t max_memory);

#endif /* KRDMA_CLI_SELFTEST_FAR_H */
