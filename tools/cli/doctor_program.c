// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: get the output of other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"

#define OUTPUT_MAX	1048576u

char *doctor_output_of(const char *const argv[], bool *there)
{
	posix_spawn_file_actions_t actions;
	size_t length = 0;
	char *text;
	int ends[2], status, err;
	ssize_t got;
	pid_t pid;

	*there = true;
	text = malloc(OUTPUT_MAX + 1);
	if (!text)
		return NULL;
	if (pipe2(ends, O_CLOEXEC)) {
		free(text);
		return NULL;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*there = err != ENOENT;
	while (!err && length < OUTPUT_MAX) {
		got = read(ends[0], text + length, OUTPUT_MAX - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	close(ends[0]);
	text[length] = '\0';
	while (!err && waitpid(pid, &status, 0) < 0)
		err = errno == EINTR ? 0 : errno;
	if (!err && WIFEXITED(status) && WEXITSTATUS(status) == 127)
		*there = false;
	if (!err && WIFEXITED(status) && !WEXITSTATUS(status))
		return text;
	free(text);
	return NULL;
}
