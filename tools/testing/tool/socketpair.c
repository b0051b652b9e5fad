// SPDX-License-Identifier: GPL-2.0
/*
 * socketpair COMMAND...: runs the command with a Unix stream socket as its standard output, as some
 * service managers do.  After the first line, which it prints, nobody has the other end of the
 * socket open.  Exits with the status of the command.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int ends[2], status;
	char byte = 0;
	pid_t pid;

	if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		fprintf(stderr, "socketpair: no command, or no sockets to be had\n");
		return 125;
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	close(ends[1]);
	while (pid > 0 && byte != '\n' && read(ends[0], &byte, 1) == 1)
		putchar(byte);
	fflush(stdout);
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
