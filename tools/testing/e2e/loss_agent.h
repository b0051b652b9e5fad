/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The other machine of a test in which something is lost: an agent that has the program there
 * run, kills it, or removes what is below it.  Machine 1 asks it over TCP, so what RDMA does
 * makes no difference to it.
 */
#ifndef KRDMA_E2E_LOSS_AGENT_H
#define KRDMA_E2E_LOSS_AGENT_H

#include <stddef.h>

#define LOSS_NETDEV	"eth0"

/* The command that starts the program. */
#define LOSS_BEGIN	"begin"

/* How long after its answer the agent takes the interface down. */
#define LOSS_DELAY_MS	100

/**
 * loss_serve() - Be the agent, until machine 1 says "quit"
 *
 * Its commands, and what it answers:
 *
 *  - begin MS: start the program, with that default keepalive; 0 or a negative errno
 *  - ready: 1 if its objects are in the states in which the loss is to find them; 0 if not yet
 *  - lose now: the loss is elsewhere; 0
 *  - lose carrier: when the cable is pulled; 0 at once
 *  - lose interface MS: take the interface down, for that long; 0 at once
 *  - lose device: remove the RDMA device; 0 or a negative errno
 *  - lose process: kill the program; 0
 *  - lose module: kill the program, and unload krdma; 0 or a negative errno
 *  - unload: try to unload krdma with the program there; 0 or a negative errno
 *  - lose neighbour MS: neither answer requests for the hardware address nor send any for that
 *    long; at once, 0 or a negative errno
 *  - report: what the program was told, a line for each state
 *  - end: end the program; 0 or a negative errno
 *  - quit
 *
 * Return: exit status.
 */
int loss_serve(void);

/* The module's parameter: the keepalive interval by default, in ms; 0: none. */
int loss_set_keepalive(unsigned int ms);

/* Make the machine's RDMA device anew: what went wrong in it before must not matter. */
int loss_renew_device(void);

/* Ask the agent: its number, or what it says, or a negative errno. */
int loss_ask(const char *command);
int loss_ask_text(const char *command, char *answer, size_t size);

#endif
