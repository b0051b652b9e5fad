# SPDX-License-Identifier: GPL-2.0
#
# make install and make uninstall.  Included by the Makefile at the top.
#
# DESTDIR is where a package is put together: then nothing outside it is
# touched, and the steps for a running system (depmod, ldconfig, udev) are left
# to the package.

PREFIX      ?= /usr/local
BINDIR      ?= $(PREFIX)/bin
INCLUDEDIR  ?= $(PREFIX)/include
LIBDIR      ?= $(PREFIX)/lib
MANDIR      ?= $(PREFIX)/share/man
COMPDIR     ?= $(PREFIX)/share/bash-completion/completions
# zsh looks there for what is in /usr/local; distributions have a folder of their own for
# packages, as Debian /usr/share/zsh/vendor-completions.
ZSHDIR      ?= $(PREFIX)/share/zsh/site-functions
FISHDIR     ?= $(PREFIX)/share/fish/vendor_completions.d
UDEVDIR     ?= $(PREFIX)/lib/udev/rules.d
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
# For modules that use krdma: the headers to compile with (-I of include and
# uapi in there), and for each kernel the symbols that KBUILD_EXTRA_SYMBOLS takes.
KERNELDIR   ?= $(PREFIX)/src/krdma-$(KRDMA_VERSION)
# The modules' debug information, ten times the size of their code: install-module-debug.
DEBUGDIR    ?= $(PREFIX)/lib/debug

INSTALL         ?= install
INSTALL_MOD_PATH ?= $(DESTDIR)
# Empty leaves the debug information in the modules.
INSTALL_MOD_STRIP ?= 1
# Not include/config/kernel.release: in Debian's 6.1 that has another version
# than the kernel itself.
KERNEL_RELEASE  := $(or $(shell sed -n 's/^\#define UTS_RELEASE "\(.*\)"/\1/p' \
	'$(KDIR)/include/generated/utsrelease.h' 2> /dev/null),$(shell uname -r))
MODULE_DIR       = /lib/modules/$(KERNEL_RELEASE)/updates
UAPI_HEADERS    := $(wildcard uapi/linux/*.h)
KERNEL_HEADERS  := $(wildcard include/krdma/*.h) $(UAPI_HEADERS)

# What install-tools puts where, from the root of the system.
INSTALLED_TOOLS = \
	$(BINDIR)/krdma \
	$(addprefix $(INCLUDEDIR)/,$(notdir $(LIB_HEADERS))) \
	$(UAPI_HEADERS:uapi/%=$(INCLUDEDIR)/%) \
	$(addprefix $(LIBDIR)/,$(notdir $(LIB_STATIC) $(LIB_SHARED) $(LIB_LINKS))) \
	$(LIB_NAMES:%=$(LIBDIR)/pkgconfig/lib%.pc) \
	$(foreach page,$(LIB_MAN) $(LIB_MAN_LINKS) $(CLI_MAN) $(CLI_MAN_LINKS),$(MANDIR)/man$(lastword $(subst ., ,$(page)))/$(page)) \
	$(COMPDIR)/krdma \
	$(ZSHDIR)/_krdma \
	$(FISHDIR)/krdma.fish \
	$(UDEVDIR)/60-krdma.rules \
	$(SYSUSERSDIR)/krdma.conf

# And install-module; a kernel may have its modules compressed.
INSTALLED_MODULE = $(foreach name,krdma krdma_blk, \
	$(addprefix $(MODULE_DIR)/$(name),.ko .ko.gz .ko.xz .ko.zst))
INSTALLED_DEBUG = $(addprefix $(DEBUGDIR)$(MODULE_DIR)/,krdma.ko.debug krdma_blk.ko.debug)
INSTALLED_KERNELDIR = \
	$(KERNELDIR)/$(KERNEL_RELEASE)/Module.symvers \
	$(KERNEL_HEADERS:%=$(KERNELDIR)/%)

.PHONY: install install-module install-module-debug install-tools uninstall uninstall-module uninstall-tools
install: install-tools install-module
uninstall: uninstall-tools uninstall-module

# Lists of files are divided at spaces, and "~" is not a folder to make.
.PHONY: install-folders
install-folders:
	@case '$(PREFIX)$(BINDIR)$(INCLUDEDIR)$(LIBDIR)$(MANDIR)$(COMPDIR)$(ZSHDIR)$(FISHDIR)$(UDEVDIR)$(SYSUSERSDIR)$(KERNELDIR)$(DEBUGDIR)' in \
	*' '* | *'~'*) echo "make: PREFIX and the folders set with it may have no spaces and no ~" \
		"in them (DESTDIR may have spaces)" >&2; exit 1 ;; \
	esac
	@case '$(PREFIX)' in \
	/*) ;; \
	*) echo "make: PREFIX=$(PREFIX) must begin with /; to install under another folder set" \
		"DESTDIR" >&2; exit 1 ;; \
	esac

# $(call put,MODE,FILE,FOLDER[/NAME]): install says itself what it may not do.
put = $(Q)$(INSTALL) -D -m $(1) '$(2)' '$(DESTDIR)$(3)'

install-tools: tools install-folders
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(call put,755,$(CLI_TOOL),$(BINDIR)/krdma)
	$(Q)for header in $(LIB_HEADERS); do \
		$(INSTALL) -D -m 644 "$$header" '$(DESTDIR)$(INCLUDEDIR)'/"$${header##*/}" || exit; \
	done
	$(Q)for header in $(UAPI_HEADERS:uapi/%=%); do \
		$(INSTALL) -D -m 644 "uapi/$$header" '$(DESTDIR)$(INCLUDEDIR)'/"$$header" || exit; \
	done
	$(Q)for name in $(LIB_NAMES:%=lib%); do \
		to='$(DESTDIR)$(LIBDIR)'/$$name so=$$name.so.$(LIB_SONUMBER) pc=pkgconfig/$$name.pc && \
		$(INSTALL) -D -m 644 '$(TOOLS_OUTPUT)'/$$name.a "$$to.a" && \
		$(INSTALL) -D -m 755 '$(TOOLS_OUTPUT)'/$$name.so.$(KRDMA_VERSION) \
			"$$to.so.$(KRDMA_VERSION)" && \
		ln -sfn $$name.so.$(KRDMA_VERSION) "$$to.so.$(LIB_SONUMBER)" && \
		ln -sfn $$so "$$to.so" && \
		$(INSTALL) -D -m 644 /dev/null '$(DESTDIR)$(LIBDIR)'/$$pc && \
		sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
			-e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(KRDMA_VERSION)|' \
			tools/*/$$name.pc.in > '$(DESTDIR)$(LIBDIR)'/$$pc || exit; \
	done
	$(Q)for page in $(LIB_MAN) $(CLI_MAN); do \
		$(INSTALL) -D -m 644 "$(TOOLS_OUTPUT)/man/$$page" \
			"$(DESTDIR)$(MANDIR)/man$${page##*.}/$$page" || exit; \
	done
	$(Q)for page in $(LIB_MAN_LINKS); do \
		its=$$(grep -lE "^([^.].*[ ,])?$${page%.3}(,|\$$)" $(LIB_FOLDERS:%=tools/%/man/*.3)) || { \
			echo "make: no page of a library has $${page%.3} in its NAME" >&2; exit 1; }; \
		echo ".so man3/$${its##*/}" > "$(DESTDIR)$(MANDIR)/man3/$$page" || exit; \
		chmod 644 "$(DESTDIR)$(MANDIR)/man3/$$page" || exit; \
	done
	$(Q)for alias in $(CLI_MAN_ALIASES); do \
		page=$${alias%=*} its=$${alias#*=}; \
		echo ".so man$${its##*.}/$$its" > "$(DESTDIR)$(MANDIR)/man$${page##*.}/$$page" || exit; \
		chmod 644 "$(DESTDIR)$(MANDIR)/man$${page##*.}/$$page" || exit; \
	done
	$(call put,644,tools/cli/krdma.bash,$(COMPDIR)/krdma)
	$(call put,644,tools/cli/krdma.zsh,$(ZSHDIR)/_krdma)
	$(call put,644,tools/cli/krdma.fish,$(FISHDIR)/krdma.fish)
	$(call put,644,tools/install/60-krdma.rules,$(UDEVDIR)/60-krdma.rules)
	$(call put,644,tools/install/krdma.sysusers,$(SYSUSERSDIR)/krdma.conf)
ifeq ($(DESTDIR),)
	$(Q)tools/install/refresh tools '$(SYSUSERSDIR)/krdma.conf'
endif

# Kbuild runs depmod only where it finds System.map, which headers packages do
# not have; and there is no "-b" to guess right: it is done below.
install-module: module install-folders
	@case '$(INSTALL_MOD_PATH)' in \
	*' '*) echo "make: the kernel's build cannot install into '$(INSTALL_MOD_PATH)', which" \
		"has spaces in its path; choose another DESTDIR" >&2; exit 1 ;; \
	esac
	$(Q)$(MAKE) -C '$(KDIR)' M='$(CURDIR)' INSTALL_MOD_PATH='$(abspath $(INSTALL_MOD_PATH))' \
		INSTALL_MOD_STRIP='$(INSTALL_MOD_STRIP)' INSTALL_MOD_DIR=updates DEPMOD=true modules_install
	$(call put,644,Module.symvers,$(KERNELDIR)/$(KERNEL_RELEASE)/Module.symvers)
	$(Q)for header in $(KERNEL_HEADERS); do \
		$(INSTALL) -D -m 644 "$$header" "$(DESTDIR)$(KERNELDIR)/$$header" || exit; \
	done
ifeq ($(INSTALL_MOD_PATH),)
	$(Q)tools/install/refresh module '$(KERNEL_RELEASE)'
endif

# Debuggers, perf and crash look there for what belongs to /lib/modules.
install-module-debug: module install-folders
	$(Q)mkdir -p '$(DESTDIR)$(DEBUGDIR)$(MODULE_DIR)'
	$(Q)for name in krdma krdma_blk; do \
		[ ! -e "$$name.ko" ] || $(OBJCOPY) --only-keep-debug "$$name.ko" \
			"$(DESTDIR)$(DEBUGDIR)$(MODULE_DIR)/$$name.ko.debug" || exit; \
	done

uninstall-tools: install-folders
	$(call say,REMOVE,$(DESTDIR)$(PREFIX))
	$(Q)for file in $(INSTALLED_TOOLS); do rm -f "$(DESTDIR)$$file" || exit; done
ifeq ($(DESTDIR),)
	$(Q)tools/install/refresh tools
endif

# The folders of KERNELDIR are krdma's own; they stay while another kernel's
# symbols are in there.
uninstall-module: install-folders
	$(call say,REMOVE,$(INSTALL_MOD_PATH)$(MODULE_DIR)/krdma.ko and krdma_blk.ko)
	$(Q)for file in $(INSTALLED_MODULE); do rm -f "$(INSTALL_MOD_PATH)$$file" || exit; done
	$(Q)for file in $(INSTALLED_DEBUG) $(INSTALLED_KERNELDIR); do rm -f "$(DESTDIR)$$file" || exit; done
	$(Q)for folder in /include/krdma /include /uapi/linux /uapi '/$(KERNEL_RELEASE)' ''; do \
		rmdir "$(DESTDIR)$(KERNELDIR)$$folder" 2> /dev/null || true; \
	done
ifeq ($(INSTALL_MOD_PATH),)
	$(Q)tools/install/refresh module '$(KERNEL_RELEASE)'
endif
