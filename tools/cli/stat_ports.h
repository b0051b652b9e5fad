/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma stat ports: what the ports of RDMA devices have counted.
 */
#ifndef KRDMA_CLI_STAT_PORTS_H
#define KRDMA_CLI_STAT_PORTS_H

#include <stdint.h>

#include "cli.h"

/*
 * Print once, or @count times (0: always) at this interval in ns, with rates per second.  Returns
 * an exit code.
 */
int stat_ports(uint64_t interval, uint64_t count, const struct options *options);

#endif /* KRDMA_CLI_STAT_PORTS_H */
