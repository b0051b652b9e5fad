# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# How a library is made, static and shared, and libkrdma.  Included by the Makefile at the top,
# before the libraries that stand on this one: tools/files/files.mk, tools/rpma/rpma.mk.

# Of all libraries, in the order in which a program is linked with them.
LIB_NAMES     :=
LIB_FOLDERS   :=
LIB_HEADERS   :=
LIB_MAN       :=
LIB_MAN_LINKS :=
LIB_STATIC     = $(LIB_NAMES:%=$(TOOLS_OUTPUT)/lib%.a)
LIB_SHARED     = $(LIB_NAMES:%=$(TOOLS_OUTPUT)/lib%.so.$(KRDMA_VERSION))
# The number goes up when something that worked stops working: the same for all, for they are
# built and installed together.
LIB_SONUMBER  := 0
LIB_LINKS      = $(foreach name,$(LIB_NAMES),$(TOOLS_OUTPUT)/lib$(name).so.$(LIB_SONUMBER) \
	$(TOOLS_OUTPUT)/lib$(name).so)

# $(call library,NAME,FOLDER,SOURCES,HEADERS,PAGES,OBJECTS,SHARED): libNAME is made of tools/FOLDER,
# where lib[NAME].map says what it exports, of the OBJECTS of another library, which it keeps to
# itself, and stands on the SHARED libraries.
#
# One set of objects makes both libraries, hence -fPIC for all.
#
# Each shared library names libc, also one that calls nothing of it: those who check packages take
# a library without it for a mistake.
#
# An archive knows no hidden names: what files of the library share would be in the way of a
# program's own names.  So in there they begin with the library's name, too.
# Removed first: ar only adds, and a file that is gone would stay in it.
define library
LIB_NAMES     := $(1) $(LIB_NAMES)
LIB_FOLDERS   += $(2)
LIB_HEADERS   += $(4:%=tools/$(2)/%)
LIB_MAN       += $(5)
# Pages of one line that name the page of a function: one for each in the map.
LIB_MAN_LINKS += $(addsuffix .3,$(shell sed -n 's/^\t\t\(krdma_[a-z_]*\);$$/\1/p' \
	tools/$(2)/lib$(1).map))
$(1)_OBJECTS  := $(3:%=$(TOOLS_OUTPUT)/$(2)/%.o) $(6)
$(1)_PRIVATE  := $(TOOLS_OUTPUT)/$(2)/archive

$(TOOLS_OUTPUT)/$(2)/%.o: tools/$(2)/%.c $(TOOLS_OUTPUT)/.flags | $(TOOLS_OUTPUT)/$(2)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(TOOLS_CPPFLAGS) $$(TOOLS_CFLAGS) -fPIC -fvisibility=hidden \
		-MMD -MP -c -o '$$@' '$$<'

$(TOOLS_OUTPUT)/lib$(1).a: $$($(1)_OBJECTS) tools/lib/lib.mk $(wildcard tools/$(2)/$(2).mk)
	$$(call say,AR,$$@)
	$$(Q)rm -rf '$$@' '$$($(1)_PRIVATE)'
	$$(Q)mkdir '$$($(1)_PRIVATE)'
	$$(Q)$$(NM) -P -g --defined-only $$($(1)_OBJECTS) | awk 'NF > 1 && $$$$1 !~ /^krdma_/ \
		{ print $$$$1, "$(subst -,_,$(1))_private_" $$$$1 }' | \
		sort -u > '$$($(1)_PRIVATE)/names'
	$$(Q)for object in $$($(1)_OBJECTS); do \
		$$(OBJCOPY) --redefine-syms='$$($(1)_PRIVATE)/names' \
			"$$$$object" '$$($(1)_PRIVATE)'/"$$$${object##*/}" || exit; done
	$$(Q)$$(AR) rcs '$$@' $$(addprefix $$($(1)_PRIVATE)/,$$(notdir $$($(1)_OBJECTS)))

$(TOOLS_OUTPUT)/lib$(1).so.$(KRDMA_VERSION): $$($(1)_OBJECTS) tools/$(2)/lib$(1).map $(7)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(TOOLS_CFLAGS) $$(TOOLS_LDFLAGS) -shared \
		-Wl,-soname,lib$(1).so.$(LIB_SONUMBER) \
		-Wl,--version-script=tools/$(2)/lib$(1).map -Wl,-z,defs \
		-o '$$@' $$($(1)_OBJECTS) $(7) -Wl,--no-as-needed -lc

$(TOOLS_OUTPUT)/lib$(1).so.$(LIB_SONUMBER) $(TOOLS_OUTPUT)/lib$(1).so: \
		$(TOOLS_OUTPUT)/lib$(1).so.$(KRDMA_VERSION)
	$$(Q)ln -sfn $$(notdir $$<) '$$@'
endef

KRDMA_SHARED := $(TOOLS_OUTPUT)/libkrdma.so.$(KRDMA_VERSION)
$(eval $(call library,krdma,lib,address channel conn conns device hub hub_device hub_frame hub_link hub_long \
	hub_memory hub_secret hub_send hub_wire listener message mr mr_cache names nets options parts \
	remote_mr request ring ring_lock ring_poll ring_post secret session sha256 simple simple_about simple_link \
	simple_poll simple_receive simple_send simple_wire srq,krdma.h krdma_entry.h krdma_hub.h \
	krdma_message.h krdma_simple.h,libkrdma.3 krdma_conn.3 krdma_ring.3 krdma_mr.3 krdma_hub.3 \
	krdma_simple.3 krdma_message.3 krdma.4,,))
