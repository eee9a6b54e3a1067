/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernel modules that a user wrote: loaded before everything else, asked for what they register, and unloaded after the
 * experiment, which shows whether anything of them is left.
 *
 * The host reads lines of the console that begin with "shoal-module".
 */
#define _GNU_SOURCE
#include "modules.h"
#include "flow.h"
#include "mounts.h"
#include "words.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_MODULES 16
/* Seconds of virtual time in which the kernel has closed every connection that nobody holds any more. */
#define CLOSING_SECONDS 300

static char names[MAX_MODULES][64];
static int count;

/* The fields of /proc/modules: references and address; false if the module is not loaded. */
static bool look_up(const char *name, unsigned *references, unsigned long long *address)
{
	char line[512], called[64];
	FILE *file = fopen("/proc/modules", "re");
	bool there = false;

	if (!file)
		fail_errno("cannot read /proc/modules");
	while (!there && fgets(line, sizeof(line), file)) {
		char *last = strstr(line, " 0x");

		there = sscanf(line, "%63s %*s %u", called, references) == 2 && strcmp(called, name) == 0;
		*address = last ? strtoull(last + 1, NULL, 16) : 0;
	}
	fclose(file);
	return there;
}

void user_module_load(const char *name, const char *parameters)
{
	char path[80];
	unsigned references;
	unsigned long long address;
	int fd;

	if (count == MAX_MODULES)
		fail("more than %d modules of the user", MAX_MODULES);
	copy_name(names[count], sizeof(*names), name);
	snprintf(path, sizeof(path), "/%s.ko", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_errno("cannot open %s", path);
	printf("shoal-module loading %s\n", name);
	fflush(stdout);
	if (syscall(SYS_finit_module, fd, parameters, 0))
		fail_errno("module %s: loading failed", name);
	close(fd);
	if (!look_up(name, &references, &address))
		fail("module %s: not in /proc/modules after it was loaded", name);
	printf("shoal-module loaded %s %llx\n", name, address);
	count++;
}

void user_modules_known(const char *const *candidates)
{
	char controllers[4096], before[64];

	sysctl_read(0, "net/ipv4/tcp_available_congestion_control", controllers, sizeof(controllers));
	printf("shoal-module controllers %s\n", controllers);
	/* A discipline that the kernel knows may be the default one; nothing is made of it by that. */
	sysctl_read(0, "net/core/default_qdisc", before, sizeof(before));
	for (; *candidates; candidates++) {
		if (!sysctl_try(0, "net/core/default_qdisc", *candidates))
			continue;
		printf("shoal-module discipline %s\n", *candidates);
		sysctl_write(0, "net/core/default_qdisc", before);
	}
}

/* Closes every connection at once; a peer that is asked would answer. */
static void sockets_abort(void)
{
	const struct linger at_once = { .l_onoff = 1 };
	DIR *list = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!list)
		fail_errno("cannot read /proc/self/fd");
	while ((entry = readdir(list)) != NULL) {
		int kind, fd = atoi(entry->d_name);
		socklen_t size = sizeof(kind);

		if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &kind, &size) || kind != IPPROTO_TCP)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(fd);
	}
	closedir(list);
}

static void unload(const char *name)
{
	unsigned references = 0;
	unsigned long long address;
	struct timespec second = { .tv_sec = 1 };

	for (int i = 0; i < CLOSING_SECONDS; i++) {
		if (syscall(SYS_delete_module, name, O_NONBLOCK) == 0) {
			printf("shoal-module unloaded %s\n", name);
			return;
		}
		if (errno != EAGAIN && errno != EBUSY)
			fail_errno("module %s: unloading failed", name);
		nanosleep(&second, NULL);
	}
	look_up(name, &references, &address);
	fail("module %s: %u references to it are left after all queues and connections are gone", name, references);
}

/* A number that the kernel shows in /sys. */
static unsigned long long shown(const char *path)
{
	unsigned long long value = 0;
	FILE *file = fopen(path, "re");

	if (!file || fscanf(file, "%llu", &value) != 1)
		fail_errno("cannot read %s", path);
	fclose(file);
	return value;
}

void user_modules_unload(bool after_experiment)
{
	if (!count)
		return;
	if (after_experiment) {
		mount_kernel_objects();
		/* Programs that hold sockets. */
		kill(-1, SIGKILL);
		while (waitpid(-1, NULL, 0) > 0)
			;
		printf("shoal-module emptying\n");
		fflush(stdout);
		qdiscs_remove();
		sockets_abort();
		printf("shoal-module held %llu\n", shown("/sys/module/sch_line/parameters/held"));
	}
	while (count)
		unload(names[--count]);
}
