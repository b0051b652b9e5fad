# SPDX-License-Identifier: GPL-2.0
#
# krdma: RDMA as a kernel service.  "make help" says what can be made.
#
# The kernel's own build reads Kbuild, never this file.  No name that its
# Makefile uses (VERSION, O, OUTPUT) is used here: what is given on the command
# line reaches that one too.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# Rules name files from here; "make -f elsewhere/Makefile" would not find them.
ifeq ($(wildcard tools/lib/lib.mk),)
$(error Start make in the folder of this Makefile, or with make -C FOLDER)
endif

KRDMA_VERSION := $(shell sed -n 's/^\#define KRDMA_VERSION[[:space:]]*"\(.*\)"$$/\1/p' krdma/version.h)
ifeq ($(KRDMA_VERSION),)
$(error krdma/version.h does not say the version, as in: #define KRDMA_VERSION "0.2.0")
endif

# Build ---------------------------------------------------------------------

KDIR         ?= /lib/modules/$(shell uname -r)/build
TOOLS_OUTPUT ?= build/tools
ifneq ($(words $(TOOLS_OUTPUT)),1)
$(error TOOLS_OUTPUT is '$(TOOLS_OUTPUT)': make cannot handle a path with spaces there)
endif
ifeq ($(origin O),command line)
$(error There is no O= here; the folder for library and tool is set with TOOLS_OUTPUT=$(O))
endif

ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
NM             ?= $(CROSS_COMPILE)nm
OBJCOPY        ?= $(CROSS_COMPILE)objcopy
CFLAGS         ?= -O2 -g
TOOLS_CPPFLAGS  = -Iuapi -Itools/lib -Itools/files -D_GNU_SOURCE -DKRDMA_VERSION='"$(KRDMA_VERSION)"' $(CPPFLAGS)
TOOLS_CFLAGS    = -std=c11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
		  -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 $(WERROR) $(CFLAGS)
TOOLS_LDFLAGS   = -Wl,-z,relro,-z,now -Wl,--as-needed $(LDFLAGS)
# What is wrong with any compiler.  The tests say -Werror; a stranger's compiler
# may know warnings that nobody has seen yet.
WERROR         ?= -Werror=implicit-function-declaration -Werror=int-conversion \
		  -Werror=incompatible-pointer-types -Werror=return-type

ifeq ($(V),1)
Q   :=
say :=
else
Q   := @
say  = @printf '  %-7s %s\n' '$(1)' '$(2)'
endif
# make -s
ifneq ($(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),)
say :=
endif

.PHONY: all module tools static clean help vm demo check check-full check-races check-kcsan bench \
	fuzz pcap soak fuzz-peer mutants docs dist deb rpm
all: module

include tools/lib/lib.mk
include tools/files/files.mk
include tools/rpma/rpma.mk
include tools/cli/cli.mk
include tools/install/install.mk
include tools/python/python.mk

module: kernel-headers
	$(Q)$(MAKE) -C '$(KDIR)' M='$(CURDIR)' modules

# Said before the kernel's build says it in its own way.
.PHONY: kernel-headers
kernel-headers:
	@KDIR='$(KDIR)' KDIR_ORIGIN='$(origin KDIR)' tools/install/kernel-headers

tools: $(LIB_STATIC) $(LIB_SHARED) $(LIB_LINKS) $(CLI_TOOL) tools-man

static: $(CLI_STATIC)

$(addprefix $(TOOLS_OUTPUT)/,$(LIB_FOLDERS) cli man):
	$(Q)mkdir -p '$@'

# Changes when the way of compiling does, and everything is compiled anew.
COMPILED_WITH := $(CC) $(TOOLS_CPPFLAGS) $(TOOLS_CFLAGS)
.PHONY: FORCE
$(TOOLS_OUTPUT)/.flags: export COMPILED_WITH := $(COMPILED_WITH)
$(TOOLS_OUTPUT)/.flags: FORCE
	@mkdir -p '$(@D)'
	@printf '%s\n' "$$COMPILED_WITH" | cmp -s - '$@' || printf '%s\n' "$$COMPILED_WITH" > '$@'

-include $(foreach folder,$(LIB_FOLDERS) cli,$(wildcard $(TOOLS_OUTPUT)/$(folder)/*.d))

# Pages carry the version; they are read from the source as well as installed.
MAN_PAGES := $(addprefix $(TOOLS_OUTPUT)/man/,$(LIB_MAN) $(CLI_MAN))
.PHONY: tools-man
tools-man: $(MAN_PAGES)

MAN_FROM = $(Q)sed 's/@VERSION@/$(KRDMA_VERSION)/g' '$<' > '$@'
define man_from
$(TOOLS_OUTPUT)/man/%: tools/$(1)/man/% krdma/version.h | $(TOOLS_OUTPUT)/man
	$$(MAN_FROM)
endef
$(foreach folder,$(LIB_FOLDERS) cli,$(eval $(call man_from,$(folder))))

# By hand, not by the kernel's build: that would need its headers to clean up.
clean:
	$(Q)rm -rf build '$(PYTHON_OUTPUT)' $(LIB_FOLDERS:%='$(TOOLS_OUTPUT)'/%) \
		'$(TOOLS_OUTPUT)'/cli '$(TOOLS_OUTPUT)'/man
	$(Q)rm -f '$(TOOLS_OUTPUT)'/.flags $(LIB_NAMES:%='$(TOOLS_OUTPUT)'/lib%.*) \
		'$(TOOLS_OUTPUT)'/krdma '$(TOOLS_OUTPUT)'/krdma.static
	$(Q)find . -maxdepth 1 \( -name Module.symvers -o -name modules.order \) -delete
	$(Q)find . -maxdepth 1 -type f \( -name 'krdma*.o' -o -name 'krdma*.ko' -o \
		-name 'krdma*.mod' -o -name 'krdma*.mod.c' -o -name '.*.cmd' -o \
		-name '.module-common.o' \) -delete
	$(Q)[ ! -d krdma ] || find krdma blk kunit $(wildcard tools/testing/core tools/testing/blk tools/bench) -type f \( -name '*.o' -o -name '*.o.d' -o \
		-name '*.mod' -o -name '*.ko' -o -name '.*.cmd' -o -name modules.order \) -delete

# Try and prove -------------------------------------------------------------

# These start builds of their own, which must not inherit this one's settings.
ALONE := env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL

vm:
	@$(ALONE) tools/vm/run --interactive $(VM)

demo:
	@$(ALONE) tools/demo $(DEMO)

check:
	@$(ALONE) tools/testing/check $(CHECK)

check-full:
	@$(ALONE) tools/testing/check-full $(CHECK) $(SHARD)

# By its usual name, too.
check-races check-kcsan:
	@$(ALONE) tools/testing/check-full $(CHECK) race kcsan-kunit kcsan-core kcsan-storm \
		kcsan-e2e tsan-library

bench:
	@$(ALONE) tools/bench/run $(if $(QUICK),--quick) $(BENCH)

fuzz:
	@$(ALONE) tools/testing/fuzz $(TIME)

soak:
	@$(ALONE) tools/testing/soak $(TIME)

fuzz-peer:
	@$(ALONE) tools/fuzz/peer $(PEER)

mutants:
	@$(ALONE) tools/testing/mutants/run $(MUTANTS)

pcap:
	@$(ALONE) tools/pcap

# Documents -----------------------------------------------------------------

docs:
	@tools/docs/build

# Packages ------------------------------------------------------------------

dist deb rpm:
	@$(ALONE) packaging/build $@

# Help ----------------------------------------------------------------------

define HELP
krdma $(KRDMA_VERSION): RDMA as a kernel service

Try and prove (in virtual machines; they install what they need, or with
KRDMA_NO_INSTALL=1 only name it)
  make demo               see krdma at work
  make check              what proves krdma, in 10 minutes [CHECK='OPTION...']
  make check-full         the whole matrix, in shards       [SHARD='NAME...'] [CHECK=--list]
  make check-races        of that, what looks for data races
  make bench              krdma and its peers side by side  [QUICK=1] [BENCH='OPTION...']
  make fuzz               calls that no program makes, for  [TIME=SECONDS]
  make fuzz-peer          what no honest peer sends         [PEER='OPTION...']
  make mutants            do the tests notice planted faults?  [MUTANTS='CLASS...']
  make soak               storms: everything goes wrong, for  [TIME=SECONDS]
  make pcap               what krdma says on the wire, as   [build/pcap/krdma.pcap]
                          packets for Wireshark
  make vm                 a shell beside the loaded module  [VM='OPTION...']

Build
  make                    the module, krdma.ko              [KDIR=FOLDER]
  make tools              the libraries and the tool krdma  [TOOLS_OUTPUT=FOLDER]
  make static             the tool as one static file       [TOOLS_OUTPUT=FOLDER]
  make python             the Python package as a wheel     [PYTHON_OUTPUT=FOLDER]
  make clean              remove everything built here

Install (as root where the folders are root's)
  make install            module, library, tool and manual
  make install-module     only the module, stripped         [KDIR=FOLDER]
  make install-module-debug  its debug information          [DEBUGDIR=FOLDER]
  make install-tools      only library, tool and manual
  make uninstall          remove exactly that, with the same settings
                          (also uninstall-module, uninstall-tools)

Documents
  make docs               HTML                              [build/docs/html]

Packages
  make dist               the source archive                [build/dist]
  make deb                Debian packages                   [build/packages/deb]
  make rpm                the same for rpm                  [build/packages/rpm]

Settings now, to be changed on the command line
  KDIR=$(KDIR)
  TOOLS_OUTPUT=$(TOOLS_OUTPUT)
  PREFIX=$(PREFIX)
  LIBDIR=$(LIBDIR)
  MANDIR=$(MANDIR)
  UDEVDIR=$(UDEVDIR)
  DESTDIR=$(DESTDIR)
V=1 shows every command; -j builds in parallel.
endef

help: export HELP := $(HELP)
help:
	@printf '%s\n' "$$HELP"
