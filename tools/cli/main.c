// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma: the tool for RDMA as a kernel service.
 */
#include <signal.h>
#include <string.h>

#include "cli.h"
#include "completion.h"
#include "peer_stop.h"

static const char usage[] =
	"Usage: krdma [OPTION]... COMMAND [ARGUMENT]...\n"
	"       krdma help [COMMAND]\n"
	"\n"
	"Commands, which may be shortened (krdma d):\n"
	"  dev [show [NAME|ID]]    RDMA devices, their ports and limits\n"
	"  info                    the module: its version, features and limits\n"
	"  ping HOST | --listen    check that a peer answers, and how fast\n"
	"  bench HOST | --listen   measure operations\n"
	"  stat [KIND]             sessions and connections, and how much they transfer\n"
	"  top                     the busiest connections, updated repeatedly\n"
	"  serve DIR|FILE          offer files to other machines\n"
	"  get HOST:PATH [DEST]    get files from there\n"
	"  put FILE HOST:[PATH]    put files there\n"
	"  monitor                 events of RDMA devices and ports\n"
	"  doctor [HOST [PORT]]    what is missing, and how to correct it\n"
	"  blk VERB                block devices in other hosts' memory\n"
	"  selftest DEVICE         check that krdma works on this device\n"
	"  ls HOST:[PATH]          list the files that another machine offers\n"
	"  trunk                   the trunks that carry lanes\n"
	"  help [COMMAND]          this help, or a command's\n"
	"\n"
	OPTIONS_HELP
	"  -V, --version  the tool's version\n"
	"\n"
	"Manual: krdma(8)\n";

static int cmd_help(int argc, char **argv, struct options *options);

/*
 * A shortened word selects the first command that it fits.  New commands go to the end, so that
 * existing short forms keep their meaning.
 */
static const struct command commands[] = {
	{ "dev", cmd_dev },
	{ "info", cmd_info },
	{ "ping", cmd_ping },
	{ "bench", cmd_bench },
	{ "stat", cmd_stat },
	{ "top", cmd_top },
	{ "serve", cmd_serve },
	{ "get", cmd_get },
	{ "put", cmd_put },
	{ "monitor", cmd_monitor },
	{ "doctor", cmd_doctor },
	{ "blk", cmd_blk },
	{ "selftest", cmd_selftest },
	{ "ls", cmd_ls },
	{ "trunk", cmd_trunk },
	{ "help", cmd_help },
	{ NULL, NULL },
};

static int run_command(int argc, char **argv, struct options *options)
{
	const struct command *command;

	/* For the shells' scripts.  Cannot be shortened, so other commands keep their letters. */
	if (!strcmp(argv[0], "completion"))
		return cmd_completion(argc, argv, commands);
	command = command_find(commands, argv[0]);
	if (!command)
		return usage_error("'%s' is not a command; 'krdma help' lists the commands",
				   argv[0]);
	return command->run(argc, argv, options);
}

static int cmd_help(int argc, char **argv, struct options *options)
{
	if (argc > 1 && !is_help(argv[1])) {
		options->help = true;
		return run_command(argc - 1, argv + 1, options);
	}
	fputs(usage, stdout);
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct options options = { 0 };
	int first = options_parse(argc, argv, &options, BEFORE_COMMAND);

	if (first < 0)
		return EXIT_USAGE;
	if (first < argc)
		return run_command(argc - first, argv + first, &options);
	fputs(usage, options.help ? stdout : stderr);
	return options.help ? EXIT_OK : EXIT_USAGE;
}

int main(int argc, char **argv)
{
	/* A shell has background jobs ignore it.  Ctrl-C ends each command in the same way. */
	signal(SIGINT, SIG_DFL);
	reserve_standard_streams();
	return stop_end(close_standard_output(run(argc, argv)));
}
