// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of a test that run in other processes.
 */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "session.h"

/* Where this process stores its result; shared with its parent. */
static int *child_answer;

void child_check(bool condition, int line)
{
	if (condition)
		return;
	if (child_answer)
		*child_answer = line;
	_exit(1);
}

int child_become(uid_t user)
{
	if (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user))
		return -errno;
	return 0;
}

pid_t child_start(child_function *function, void *context)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		child_answer = NULL;
		/* The harness kills a test that takes too long, but not the test's children. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(!!function(context));
	}
	return pid;
}

int64_t child_kill(pid_t pid)
{
	uint64_t begin = now_ms();

	if (kill(pid, SIGKILL))
		return -errno;
	if (waitpid(pid, NULL, 0) != pid)
		return -errno;
	return now_ms() - begin;
}

struct child_task {
	child_function *function;
	void *context;
	uid_t user;
	int *answer;
};

static int child_task_run(void *context)
{
	const struct child_task *task = context;
	int ret = task->user ? child_become(task->user) : 0;

	child_answer = task->answer;
	*task->answer = ret ? ret : task->function(task->context);
	return 0;
}

int child_run_as(uid_t user, child_function *function, void *context)
{
	struct child_task task = { .function = function, .context = context, .user = user };
	int status, answer;
	pid_t pid;

	task.answer = mmap(NULL, sizeof(*task.answer), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (task.answer == MAP_FAILED)
		return -errno;
	*task.answer = -ECHILD;

	pid = child_start(child_task_run, &task);
	if (pid < 0)
		answer = pid;
	else if (waitpid(pid, &status, 0) != pid)
		answer = -errno;
	else
		answer = WIFSIGNALED(status) ? -1000 - WTERMSIG(status) : *task.answer;
	munmap(task.answer, sizeof(*task.answer));
	return answer;
}

int child_run(child_function *function, void *context)
{
	return child_run_as(0, function, context);
}
