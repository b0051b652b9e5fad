/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An rxe device that belongs to the test, for tests that remove, rename or reconfigure a device.
 * They must not do so to the device that the machine was booted with.
 */
#ifndef KRDMA_E2E_FABRIC_H
#define KRDMA_E2E_FABRIC_H

#define FABRIC_DEVICE	"ktest"
#define FABRIC_NETDEV	"ktestnet"
#define FABRIC_ADDRESS	"10.79.0.1"

/* Removes what an earlier test left behind, then creates interface and device. */
int fabric_create(void);

/* Removes both, also after a partial creation. */
void fabric_destroy(void);

#endif
