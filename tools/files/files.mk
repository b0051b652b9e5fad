# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# libkrdma-files: whole files, over libkrdma.  Included by the Makefile at the top.

$(eval $(call library,krdma-files,files,$(addprefix file_,admit client compare crc destination flow join keeper link list \
	name part root server session source sync window wire),krdma_file.h,krdma_file.3,$(addprefix \
	$(TOOLS_OUTPUT)/lib/,nets.o options.o secret.o sha256.o),$(KRDMA_SHARED)))
