# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# libkrdma-rpma: the formats of librpma, over libkrdma.  Included by the Makefile at the top.

$(eval $(call library,krdma-rpma,rpma,rpma,krdma_rpma.h,krdma_rpma.3,,$(KRDMA_SHARED)))
