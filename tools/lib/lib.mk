# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# libkrdma, static and shared.  Included by the Makefile at the top.

LIB_SOURCES := address conn device hub hub_device hub_frame hub_link hub_long \
	hub_memory hub_send hub_wire listener mr mr_cache names nets parts remote_mr request ring \
	ring_poll ring_post session srq \
	message rpma simple simple_about simple_link simple_poll simple_receive \
	simple_send simple_wire \
	file_admit file_client file_crc file_destination file_flow file_link file_list file_name file_part \
	file_root file_server \
	file_session file_sha256 file_source file_sync file_window file_wire
LIB_OBJECTS := $(LIB_SOURCES:%=$(TOOLS_OUTPUT)/lib/%.o)
LIB_HEADERS := $(addprefix tools/lib/,krdma.h krdma_entry.h krdma_file.h krdma_hub.h krdma_message.h krdma_rpma.h krdma_simple.h)
LIB_STATIC  := $(TOOLS_OUTPUT)/libkrdma.a
# The soname goes up when something that worked stops working.
LIB_SONAME  := libkrdma.so.0
LIB_SHARED  := $(TOOLS_OUTPUT)/libkrdma.so.$(KRDMA_VERSION)
LIB_LINKS   := $(TOOLS_OUTPUT)/$(LIB_SONAME) $(TOOLS_OUTPUT)/libkrdma.so
LIB_MAN     := libkrdma.3 krdma_conn.3 krdma_ring.3 krdma_mr.3 krdma_hub.3 krdma_simple.3 krdma_message.3 \
	krdma_rpma.3 krdma_file.3 krdma.4
# Pages of one line that name the page of a function: one for each in the map.
LIB_MAN_LINKS := $(addsuffix .3,$(shell sed -n 's/^\t\t\(krdma_[a-z_]*\);$$/\1/p' \
	tools/lib/libkrdma.map))

# One set of objects makes both libraries, hence -fPIC for all.
$(TOOLS_OUTPUT)/lib/%.o: tools/lib/%.c $(TOOLS_OUTPUT)/.flags | $(TOOLS_OUTPUT)/lib
	$(call say,CC,$@)
	$(Q)$(CC) $(TOOLS_CPPFLAGS) $(TOOLS_CFLAGS) -fPIC -fvisibility=hidden \
		-MMD -MP -c -o '$@' '$<'

# An archive knows no hidden names: what files of the library share would be in the way of a
# program's own names.  So in there they begin with krdma, too.
# Removed first: ar only adds, and a file that is gone would stay in it.
LIB_PRIVATE := $(TOOLS_OUTPUT)/lib/archive
$(LIB_STATIC): $(LIB_OBJECTS) tools/lib/lib.mk
	$(call say,AR,$@)
	$(Q)rm -rf '$@' '$(LIB_PRIVATE)'
	$(Q)mkdir '$(LIB_PRIVATE)'
	$(Q)$(NM) -P -g --defined-only $(LIB_OBJECTS) | awk 'NF > 1 && $$1 !~ /^krdma_/ \
		{ print $$1, "krdma_private_" $$1 }' | sort -u > '$(LIB_PRIVATE)/names'
	$(Q)for object in $(LIB_OBJECTS); do $(OBJCOPY) --redefine-syms='$(LIB_PRIVATE)/names' \
		"$$object" '$(LIB_PRIVATE)'/"$${object##*/}" || exit; done
	$(Q)$(AR) rcs '$@' $(LIB_SOURCES:%=$(LIB_PRIVATE)/%.o)

$(LIB_SHARED): $(LIB_OBJECTS) tools/lib/libkrdma.map
	$(call say,LD,$@)
	$(Q)$(CC) $(TOOLS_CFLAGS) $(TOOLS_LDFLAGS) -shared -Wl,-soname,$(LIB_SONAME) \
		-Wl,--version-script=tools/lib/libkrdma.map -Wl,-z,defs \
		-o '$@' $(LIB_OBJECTS)

$(LIB_LINKS): $(LIB_SHARED)
	$(Q)ln -sfn $(notdir $(LIB_SHARED)) '$@'
