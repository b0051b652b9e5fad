/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A rxe device of a test's own: the device that the machine was booted with is
 * left alone by tests that unplug, rename or reconfigure.
 */
#ifndef KRDMA_E2E_FABRIC_H
#define KRDMA_E2E_FABRIC_H

#define FABRIC_DEVICE	"ktest"
#define FABRIC_NETDEV	"ktestnet"
#define FABRIC_ADDRESS	"10.79.0.1"

/* Removes what an earlier test left behind, then makes interface and device. */
int fabric_create(void);

/* Both away, however far creation came. */
void fabric_destroy(void);

#endif
