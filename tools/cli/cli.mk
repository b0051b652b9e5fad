# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# krdma, the tool.  Included by the Makefile at the top.

CLI_SOURCES := cause color cmd_dev cmd_info command completion errors json main new_file options output \
	cmd_ping ping_ask ping_echo ping_listen ping_report ping_rping ping_rping_format \
	ping_rping_listen \
	cmd_bench bench_ask bench_chart bench_compare bench_compare_plot bench_connect bench_crew \
	bench_data bench_listen bench_plot bench_report bench_run \
	cmd_copy copy_explain copy_glob copy_input copy_json copy_name copy_one copy_queue copy_tree_get \
	copy_tree_put copy_walk progress secret url cmd_ls cmd_serve cmd_monitor \
	cmd_doctor doctor_device doctor_driver doctor_firewall doctor_installed doctor_lanes doctor_limits \
	doctor_manager doctor_module doctor_network doctor_program doctor_report doctor_rules doctor_users \
	peer peer_address peer_client peer_echo peer_hello peer_serve peer_stop \
	cmd_stat cmd_top cmd_trunk objects port_counters rates stat_ports table cmd_blk blk_config \
	cmd_selftest selftest_atomic selftest_device selftest_end selftest_far selftest_far_end \
	selftest_limit selftest_link selftest_memory selftest_message selftest_op \
	selftest_pattern selftest_rdma selftest_report selftest_run selftest_serve selftest_wire \
	stats stats_json svg svg_axis value
CLI_OBJECTS := $(CLI_SOURCES:%=$(TOOLS_OUTPUT)/cli/%.o)
CLI_TOOL    := $(TOOLS_OUTPUT)/krdma
CLI_STATIC  := $(TOOLS_OUTPUT)/krdma.static
CLI_MAN     := krdma.8 krdma-bench.8 krdma-dev.8 krdma-info.8 krdma-ping.8 krdma-stat.8 \
	krdma-serve.8 krdma-get.1 krdma-monitor.8 krdma-doctor.8 krdma-blk.8 krdma-selftest.8 krdma-trunk.8
# Commands that are described in the page of another one: ALIAS=PAGE.
CLI_MAN_ALIASES := krdma-ls.1=krdma-get.1 krdma-put.1=krdma-get.1 krdma-top.8=krdma-stat.8
CLI_MAN_LINKS   := $(foreach alias,$(CLI_MAN_ALIASES),$(firstword $(subst =, ,$(alias))))

JSONC_LIBS  ?= -ljson-c
CLI_LIBS     = $(JSONC_LIBS) -lm -pthread
# That a static program looks up names by what is on the machine where it runs is known;
# the linker need not say it each time, where it can be told.
CLI_HUSH     = $(shell echo 'int main(void) { return 0; }' | \
	$(CC) -Wl,--no-warnings -x c - -o /dev/null 2> /dev/null && echo -Wl,--no-warnings)

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

# With the libraries inside, the tool runs from here and from anywhere.
$(CLI_TOOL): $(CLI_OBJECTS) $(LIB_STATIC)
	$(call say,LD,$@)
	$(Q)$(CC) $(TOOLS_CFLAGS) $(TOOLS_LDFLAGS) -pie -o '$@' $^ $(CLI_LIBS)

$(CLI_STATIC): $(CLI_OBJECTS) $(LIB_STATIC)
	$(call say,LD,$@)
	$(Q)$(CC) $(TOOLS_CFLAGS) $(TOOLS_LDFLAGS) -static $(CLI_HUSH) -o '$@' $^ $(CLI_LIBS)
