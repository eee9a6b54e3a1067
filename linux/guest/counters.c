/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counters of /proc/net/snmp and /proc/net/netstat: lines of names and lines of values, `TcpExt: A B` and `TcpExt: 1
 * 2`.
 */
#include "guest.h"
#include "script.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM (64 << 10)

static char before[ROOM], now[ROOM];

static void read_all(char into[ROOM])
{
	static const char *const files[] = { "/proc/net/snmp", "/proc/net/netstat" };
	size_t used = 0;

	for (int i = 0; i < 2; i++) {
		int fd = open(files[i], O_RDONLY | O_CLOEXEC);
		ssize_t size;

		if (fd < 0)
			fail_errno("cannot open %s", files[i]);
		while ((size = read(fd, into + used, ROOM - 1 - used)) > 0)
			used += (size_t)size;
		close(fd);
	}
	into[used] = 0;
}

void counters_begin(void)
{
	read_all(before);
}

static int64_t find(const char *text, const char *name)
{
	while (*text) {
		const char *values = strchr(text, '\n'), *colon = strchr(text, ':');
		size_t prefix;

		if (!values || !colon || colon > values)
			return -1;
		values++;
		prefix = (size_t)(colon - text);
		if (strncmp(name, text, prefix) == 0) {
			const char *value = values + prefix + 1, *word = colon + 1;

			/* Both lines have the same number of words. */
			while (*word == ' ' && *value == ' ') {
				size_t size = strcspn(++word, " \n");

				if (size == strlen(name + prefix) && strncmp(word, name + prefix, size) == 0)
					return strtoll(value, NULL, 10);
				word += size;
				value++;
				value += strcspn(value, " \n");
			}
		}
		text = strchr(values, '\n');
		if (!text)
			return -1;
		text++;
	}
	return -1;
}

int64_t counter_read(const char *name)
{
	int64_t first = find(before, name), last;

	read_all(now);
	last = find(now, name);
	return last < 0 ? -1 : last - (first < 0 ? 0 : first);
}
