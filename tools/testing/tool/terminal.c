// SPDX-License-Identifier: GPL-2.0
/*
 * terminal COMMAND...: runs the command on a new terminal, 80 columns wide, and prints its output.
 * What can be read from standard input is typed there.  Exits with the status of the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(int master, char **argv)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	const char *name = ptsname(master);
	int slave;

	setsid();
	slave = name ? open(name, O_RDWR) : -1;
	if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size)) {
		perror("terminal");
		return 125;
	}
	dup2(slave, STDIN_FILENO);
	dup2(slave, STDOUT_FILENO);
	dup2(slave, STDERR_FILENO);
	close(slave);
	close(master);
	execvp(argv[0], argv);
	perror(argv[0]);
	return 127;
}

/* Returns false when what is typed has come to its end. */
static bool type(int master)
{
	char piece[256];
	ssize_t got = read(STDIN_FILENO, piece, sizeof(piece));

	return got > 0 && write(master, piece, got) == got;
}

static void pass_on(int master)
{
	struct pollfd sides[] = {
		{ .fd = master, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	char piece[4096];
	ssize_t got;

	for (;;) {
		if (poll(sides, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (sides[1].revents && !type(master))
			sides[1].fd = -1;
		if (!sides[0].revents)
			continue;
		/* read() fails with EIO when no process has the other side open any more. */
		got = read(master, piece, sizeof(piece));
		if (got <= 0 || write(STDOUT_FILENO, piece, got) != got)
			return;
	}
}

int main(int argc, char **argv)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;
	pid_t pid;

	if (argc < 2 || master < 0 || grantpt(master) || unlockpt(master)) {
		fprintf(stderr, "terminal: no command, or no terminal to be had\n");
		return 125;
	}
	pid = fork();
	if (!pid)
		_exit(run(master, argv + 1));
	if (pid > 0)
		pass_on(master);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
