/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * launch FOLDER CPU MEMORY SEED SHIM KERNEL ARGUMENT...
 *
 * Runs a user-mode kernel in FOLDER, on one CPU, with a constant environment, and cleans up after it: when the kernel
 * or the caller has ended, no process is left, and when the caller has ended, the folder is removed too. There is no
 * time limit here: the caller reads the guest's output and can end it.
 *
 * MEMORY is the place of the file that holds the guest's memory: `shm`, or `folder`. Standard input is a pipe that the
 * caller keeps open; its end means that the caller has ended. Exit code: 0 if the guest has powered off, 1 for wrong
 * arguments, 2 if the guest ended otherwise.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDED = 0, WRONG_USE = 1, CRASHED = 2 };

static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
	told_to_end = number;
}

static int die(const char *what)
{
	fprintf(stderr, "launch: %s: %s\n", what, strerror(errno));
	return WRONG_USE;
}

/*
 * Replaces this process by the kernel, with a constant environment and address layout, since both
 * are inputs of the guest.
 */
static void become_kernel(char **argv, const char *seed, const char *shim, int cpu, const char *memory)
{
	char *environment[6] = { "PATH=/usr/bin:/bin", "HOME=/proc/self/cwd", "TMPDIR=/dev/shm" };
	struct rlimit no_core = { 0, 0 }, stack = { 8 << 20, 8 << 20 };
	int null = open("/dev/null", O_RDONLY);

	if (asprintf(&environment[3], "LD_PRELOAD=%s", shim) < 0 || asprintf(&environment[4], "SHOAL_SEED=%s", seed) < 0)
		_exit(WRONG_USE);
	if (strcmp(memory, "shm") != 0)
		environment[2] = "TMPDIR=/proc/self/cwd";
	/*
	 * If every system call of the guest may change the CPU, the run takes 2 to 6 times as long.
	 */
	if (cpu >= 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_STACK, &stack);
	personality(ADDR_NO_RANDOMIZE);
	dup2(null, 0);
	syscall(SYS_close_range, 3U, ~0U, 0U);
	execve(argv[0], argv, environment);
	fprintf(stderr, "launch: cannot execute %s: %s\n", argv[0], strerror(errno));
	_exit(WRONG_USE);
}

/*
 * Kills every descendant. Orphans become children of this process, because it is their subreaper.
 */
static void kill_descendants(void)
{
	for (int round = 0; round < 100; round++) {
		char path[64];
		int pid, any = 0;
		FILE *children;

		snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
		children = fopen(path, "re");
		if (!children)
			break;
		while (fscanf(children, "%d", &pid) == 1) {
			any = 1;
			kill(pid, SIGKILL);
		}
		fclose(children);
		if (!any)
			break;
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

int main(int argc, char **argv)
{
	const char *folder;
	pid_t child;
	int status = 0, result = CRASHED, child_fd, caller_gone = 0;
	struct sigaction action = { .sa_handler = on_signal };

	if (argc < 7) {
		fputs("usage: launch FOLDER CPU MEMORY SEED SHIM KERNEL ARGUMENT...\n", stderr);
		return WRONG_USE;
	}
	folder = argv[1];
	if (chdir(folder))
		return die(folder);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child < 0)
		return die("fork");
	if (child == 0)
		become_kernel(argv + 6, argv[4], argv[5], atoi(argv[2]), argv[3]);
	child_fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (child_fd < 0)
		return die("pidfd_open");
	for (;;) {
		struct pollfd fds[2] = { { .fd = child_fd, .events = POLLIN }, { .fd = 0, .events = 0 } };

		if (poll(fds, 2, -1) < 0 && !told_to_end)
			continue;
		if (fds[0].revents) {
			waitpid(child, &status, 0);
			result = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ENDED : CRASHED;
			break;
		}
		if (told_to_end || fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)) {
			caller_gone = 1;
			break;
		}
	}
	kill_descendants();
	if (caller_gone)
		nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return result;
}
