// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: report what prevents RDMA from working here, and how to fix it.
 */
#include <string.h>

#include <json-c/json.h>

#include "doctor.h"
#include "value.h"

static const char usage[] =
	"Usage: krdma doctor [HOST [PORT]]\n"
	"\n"
	"Checks what RDMA needs on this machine, and with HOST also the route to that\n"
	"host.  Each line is OK, WARN (it works, but may fail in some cases) or FAIL;\n"
	"below it is the command that corrects it, if there is one.  Only root can check\n"
	"the firewall.\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-doctor(8)\n";

int cmd_doctor(int argc, char **argv, struct options *options)
{
	struct doctor doctor = { .options = options };
	int first = options_parse(argc, argv, options, WITH_ARGUMENTS);
	uint64_t port;
	int status;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first + 1 == argc && !strcmp(argv[first], "help"))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first + 2 < argc)
		return usage_error("'krdma doctor' takes a host and a port, and no '%s'; "
				   "see 'krdma doctor help'", argv[first + 2]);
	if (first < argc)
		doctor.host = argv[first];
	if (first + 1 < argc) {
		if (value_number("the port", argv[first + 1], 1, UINT16_MAX, &port))
			return EXIT_USAGE;
		doctor.port = (uint16_t)port;
	}
	if (options->json)
		doctor.checks = json_checked(json_object_new_array());
	doctor_module(&doctor);
	doctor_device(&doctor);
	doctor_limits(&doctor);
	doctor_lanes(&doctor);
	doctor_users(&doctor);
	doctor_firewall(&doctor);
	doctor_network(&doctor);
	status = doctor_conclude(&doctor);
	krdma_close(doctor.session);
	return status;
}
