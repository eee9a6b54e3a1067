/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Results: fixed records, collected in memory and written to two files of the host. */
#include "guest.h"
#include "../testbed/sch_line.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A write to the host costs some microseconds, whatever its size. */
#define BUFFER_SIZE (1 << 20)

struct file {
	int fd;
	size_t used;
	char buffer[BUFFER_SIZE];
};

static struct file flows, lines;
static int source = -1;

static void open_file(struct file *file, const char *path)
{
	file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file->fd < 0)
		fail_errno("cannot write %s", path);
}

static void flush(struct file *file)
{
	for (size_t done = 0; done < file->used;) {
		ssize_t size = write(file->fd, file->buffer + done, file->used - done);

		if (size < 0)
			fail_errno("cannot write the results to the host");
		done += (size_t)size;
	}
	file->used = 0;
}

void output_open(void)
{
	open_file(&flows, "/flows.bin");
	open_file(&lines, "/lines.bin");
	source = open("/proc/shoal_line", O_RDONLY | O_CLOEXEC);
	if (source < 0)
		fail_errno("cannot open the record of the lines");
}

void output_record(const struct flow_record *record)
{
	if (flows.used + sizeof(*record) > BUFFER_SIZE)
		flush(&flows);
	memcpy(flows.buffer + flows.used, record, sizeof(*record));
	flows.used += sizeof(*record);
}

void output_lines(uint64_t origin)
{
	for (;;) {
		struct line_record *first = (void *)(lines.buffer + lines.used);
		size_t room = (BUFFER_SIZE - lines.used) / sizeof(*first) * sizeof(*first);
		ssize_t size = read(source, first, room);

		if (size < 0)
			fail("the record of the lines overflowed: sample more often");
		for (struct line_record *r = first; (char *)r < (char *)first + size; r++) {
			r->time_ns -= origin;
			r->queued_ns -= origin;
		}
		lines.used += (size_t)size;
		if ((size_t)size < room)
			return;
		flush(&lines);
	}
}

void output_close(void)
{
	flush(&flows);
	flush(&lines);
	if (close(flows.fd) || close(lines.fd))
		fail_errno("cannot write the results to the host");
}
