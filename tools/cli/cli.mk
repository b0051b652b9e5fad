# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# krdma, the tool.  Included by the Makefile at the top.

CLI_SOURCES := cmd_dev cmd_info command errors json main options output
CLI_OBJECTS := $(CLI_SOURCES:%=$(TOOLS_OUTPUT)/cli/%.o)
CLI_TOOL    := $(TOOLS_OUTPUT)/krdma
CLI_STATIC  := $(TOOLS_OUTPUT)/krdma.static
CLI_MAN     := krdma.8 krdma-dev.8 krdma-info.8

JSONC_LIBS  ?= -ljson-c

# Said before the compiler says it in its own way.
.PHONY: tools-needs
tools-needs:
	@command -v $(firstword $(CC)) > /dev/null || { echo "make: there is no C compiler" \
		"'$(firstword $(CC))'; install what is missing with: tools/deps install tools" >&2; \
		exit 1; }
	@printf '#include <json-c/json.h>\n' | $(CC) $(CPPFLAGS) -E -x c - > /dev/null 2>&1 || { \
		echo "make: the headers of json-c are missing; install libjson-c-dev (Debian," \
		"Ubuntu) or json-c-devel (Fedora), or run: tools/deps install tools" >&2; exit 1; }

$(TOOLS_OUTPUT)/cli/%.o: tools/cli/%.c $(TOOLS_OUTPUT)/.flags | $(TOOLS_OUTPUT)/cli tools-needs
	$(call say,CC,$@)
	$(Q)$(CC) $(TOOLS_CPPFLAGS) $(TOOLS_CFLAGS) -fPIE -MMD -MP -c -o '$@' '$<'

# With libkrdma inside, the tool runs from here and from anywhere.
$(CLI_TOOL): $(CLI_OBJECTS) $(LIB_STATIC)
	$(call say,LD,$@)
	$(Q)$(CC) $(TOOLS_CFLAGS) $(TOOLS_LDFLAGS) -pie -o '$@' $^ $(JSONC_LIBS)

$(CLI_STATIC): $(CLI_OBJECTS) $(LIB_STATIC)
	$(call say,LD,$@)
	$(Q)$(CC) $(TOOLS_CFLAGS) $(TOOLS_LDFLAGS) -static -o '$@' $^ $(JSONC_LIBS)
