// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: check the connection manager's own QP of a port.  rxe moves it to the error state
 * when it cannot send a message of the connection manager.  From then on no connection can be made
 * over the device until it is created again, and nothing else reports this.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* "link rxe0/1 lqpn 1 type GSI state ERR sq-psn 0 comm [ib_core]" */
static bool is_dead(char *text, const char *port)
{
	size_t length = strlen(port);
	char *line, *rest = text;
	bool dead = false;

	while ((line = strsep(&rest, "\n")))
		dead |= !strncmp(line, "link ", 5) && !strncmp(line + 5, port, length) &&
			line[5 + length] == ' ' && strstr(line, " type GSI state ERR ");
	return dead;
}

bool doctor_manager_is_dead(const char *device, uint32_t number)
{
	static const char *const show[] = { "rdma", "resource", "show", "qp", NULL };
	char port[KRDMA_NAME_MAX + 16];
	bool there, dead;
	char *text;

	/* Without the program, or the right to see the QP, assume that it works. */
	text = doctor_output_of(show, &there);
	if (!text)
		return false;
	snprintf(port, sizeof(port), "%s/%u", device, number);
	dead = is_dead(text, port);
	free(text);
	return dead;
}
