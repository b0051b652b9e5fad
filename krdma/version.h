/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_VERSION_H
#define _KRDMA_VERSION_H

/* The only place that has the version; everything else reads it from here. */
#define KRDMA_VERSION	"0.2.0"

#endif /* _KRDMA_VERSION_H */
