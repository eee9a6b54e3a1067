/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The program `tc`, which lies in the directory /tc with its libraries, and what the kernel says of the queue
 * disciplines that it made: the file /queues, with a line of handle, kind and hexadecimal TCA_OPTIONS for each, and the
 * file /said, with what `tc` prints.
 */
#define _GNU_SOURCE
#include "guest.h"
#include "message.h"

#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What `tc` complains of, on one line. */
static const char *complaint(void)
{
	static char text[512];
	int file = open("/complaints", O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text) - 1);

	if (file >= 0)
		close(file);
	text[size > 0 ? size : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	return text;
}

void tc_run(int host, const char *const *arguments)
{
	static const char *const environment[] = { NULL };
	const char *argv[256] = { "ld.so", "--library-path", "/tc", "/tc/tc" };
	int status;
	pid_t pid;

	for (int i = 0; arguments[i]; i++) {
		if (i >= 250)
			fail("a line for tc has too many words");
		argv[4 + i] = arguments[i];
	}
	pid = fork();
	if (pid < 0)
		fail_errno("cannot start tc");
	if (pid == 0) {
		int said = open("/said", O_WRONLY | O_CREAT | O_APPEND, 0644);
		int complaints = open("/complaints", O_WRONLY | O_CREAT | O_TRUNC, 0644);

		host_enter(host);
		dup2(said, 1);
		dup2(complaints, 2);
		execve("/tc/ld.so", (char *const *)argv, (char *const *)environment);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		fail_errno("cannot wait for tc");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail("tc ended with %s %d: %s", WIFEXITED(status) ? "exit code" : "signal",
		     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), complaint());
}

void queue_show(int host, const char *device, uint32_t parent, uint32_t handle)
{
	static unsigned char options[16384];
	char kind[32] = { 0 };
	size_t size;
	FILE *file = fopen("/queues", "ae");

	if (!file)
		fail_errno("cannot write /queues");
	qdisc_counters(host, device, parent, handle, TCA_KIND, kind, sizeof(kind) - 1);
	size = qdisc_counters(host, device, parent, handle, TCA_OPTIONS, options, sizeof(options));
	if (size > sizeof(options))
		fail("too many options");
	fprintf(file, "%x: %s ", handle >> 16, kind);
	for (size_t i = 0; i < size; i++)
		fprintf(file, "%02x", options[i]);
	fputc('\n', file);
	if (fclose(file))
		fail_errno("cannot write /queues");
}
