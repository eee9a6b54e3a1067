/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bulk flows that iperf3 drives: a server at the receiver and a client at the sender, both in the directory /iperf3
 * with their libraries. The guest obtains descriptors of their sockets (pidfd_getfd), so that they are sampled like
 * those of all flows.
 */
#define _GNU_SOURCE
#include "flow.h"
#include "mounts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Virtual time in which a program that has just been started becomes ready; the kernel needs almost
 * none of it.
 */
#define SETTLE_NS 20000000
/* The descriptors of iperf3 are below this number. */
#define MAX_DESCRIPTOR 64

static pid_t servers[MAX_FLOWS], clients[MAX_FLOWS];
static bool any;

static pid_t spawn(int host, const char *const *arguments)
{
	static const char *const environment[] = { "TMPDIR=/tmp", NULL };
	const char *argv[32] = { "ld.so", "--library-path", "/iperf3", "/iperf3/iperf3" };
	pid_t pid;

	for (int i = 0; arguments[i]; i++)
		argv[4 + i] = arguments[i];
	pid = fork();
	if (pid < 0)
		fail_errno("cannot start iperf3");
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		host_enter(host);
		dup2(null, 0);
		/* Its error messages go to the console. */
		dup2(null, 1);
		execve("/iperf3/ld.so", (char *const *)argv, (char *const *)environment);
		_exit(127);
	}
	return pid;
}

static void words(uint32_t number, char port[8], char there[INET_ADDRSTRLEN], char here[INET_ADDRSTRLEN])
{
	const struct flow_plan *plan = &flows[number].plan;

	snprintf(port, 8, "%u", FIRST_PORT + number);
	inet_ntop(AF_INET, &plan->destination, there, INET_ADDRSTRLEN);
	inet_ntop(AF_INET, &plan->source, here, INET_ADDRSTRLEN);
}

static void prepare_root(void)
{
	mount_devices();
	if (mkdir("/tmp", 0755) && errno != EEXIST)
		fail_errno("cannot make /tmp");
	if (mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		fail_errno("cannot mount /tmp");
}

void iperf3_listen(uint32_t number)
{
	const struct flow_plan *plan = &flows[number].plan;
	char port[8], there[INET_ADDRSTRLEN], here[INET_ADDRSTRLEN];
	const char *const arguments[] = { "-s", "-1", "-4", "-B", there, "-p", port, NULL };
	struct timespec settle = { .tv_nsec = SETTLE_NS };

	if (!any)
		prepare_root();
	any = true;
	words(number, port, there, here);
	/*
	 * A listener's feedback depends on its own controller, and iperf3 sets the client's before
	 * it connects: the listener's is the host's default.
	 */
	sysctl_write(plan->receiver, "net/ipv4/tcp_congestion_control", plan->listen_cc);
	servers[number] = spawn(plan->receiver, arguments);
	nanosleep(&settle, NULL);
}

void iperf3_start(uint32_t number)
{
	const struct flow_plan *plan = &flows[number].plan;
	char port[8], there[INET_ADDRSTRLEN], here[INET_ADDRSTRLEN], seconds[16];
	const char *const arguments[] = {
		"-c", there, "-p", port, "-4", "-B", here, "--cport", port, "-C", plan->cc, "-t", seconds, "-i", "0", NULL,
	};

	words(number, port, there, here);
	/* Longer than the experiment: iperf3 ends with the guest. */
	snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long)plan->interval);
	clients[number] = spawn(plan->sender, arguments);
}

/* Whether a socket is the data connection, which has the flow's port at both ends. */
static bool is_data(int fd, uint32_t number)
{
	struct sockaddr_in own, peer;
	socklen_t size = sizeof(own);
	in_port_t port = htons((uint16_t)(FIRST_PORT + number));

	if (getsockname(fd, (void *)&own, &size) || own.sin_family != AF_INET || own.sin_port != port)
		return false;
	size = sizeof(peer);
	return getpeername(fd, (void *)&peer, &size) == 0 && peer.sin_port == port;
}

static int borrow(pid_t of, uint32_t number)
{
	int process = (int)syscall(SYS_pidfd_open, of, 0);
	int found = -1;

	if (process < 0)
		fail_errno("cannot open iperf3");
	for (int fd = 0; fd < MAX_DESCRIPTOR && found < 0; fd++) {
		int copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);

		if (copy >= 0 && is_data(copy, number))
			found = copy;
		else if (copy >= 0)
			close(copy);
	}
	close(process);
	return found;
}

void iperf3_look(void)
{
	int status;
	pid_t ended;

	if (!any)
		return;
	ended = waitpid(-1, &status, WNOHANG);
	if (ended > 0)
		fail("iperf3 ended before the experiment: %s %d", WIFEXITED(status) ? "exit code" : "signal",
		     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	for (uint32_t i = 0; i < flow_count; i++) {
		if (flows[i].plan.app != APP_IPERF3 || !clients[i])
			continue;
		if (flows[i].sender < 0)
			flows[i].sender = borrow(clients[i], i);
		if (flows[i].receiver < 0) {
			flows[i].receiver = borrow(servers[i], i);
			if (flows[i].receiver >= 0)
				open_window(flows[i].receiver);
		}
	}
}
