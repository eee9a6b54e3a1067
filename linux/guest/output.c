/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Results: fixed-size records, collected in memory and written to files of the host; packets, if
 * they are captured.
 */
#include "guest.h"
#include "../testbed/sch_line.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Bytes collected for one write: a write to the host costs some microseconds, whatever its size. */
#define BUFFER_SIZE (1 << 20)

struct file {
	int fd;
	size_t used;
	char buffer[BUFFER_SIZE];
};

static struct file flows, lines, packets;
static int source = -1, captured = -1;

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

static void open_captures(uint64_t origin)
{
	captured = open("/proc/shoal_capture", O_RDONLY | O_CLOEXEC);
	if (captured < 0 && errno != ENOENT)
		fail_errno("cannot open the captures");
	if (captured < 0)
		return;
	open_file(&packets, "/packets.bin");
	/* The origin of the packets' times. */
	memcpy(packets.buffer, &origin, sizeof(origin));
	packets.used = sizeof(origin);
}

int output_open(uint64_t origin)
{
	open_file(&flows, "/flows.bin");
	open_file(&lines, "/lines.bin");
	source = open("/proc/shoal_line", O_RDONLY | O_CLOEXEC);
	if (source < 0)
		fail_errno("cannot open the record of the lines");
	open_captures(origin);
	return source;
}

void output_record(const struct flow_record *record)
{
	if (flows.used + sizeof(*record) > BUFFER_SIZE)
		flush(&flows);
	memcpy(flows.buffer + flows.used, record, sizeof(*record));
	flows.used += sizeof(*record);
}

static void output_packets(void)
{
	for (;;) {
		size_t room = BUFFER_SIZE - packets.used;
		ssize_t size = read(captured, packets.buffer + packets.used, room);

		if (size < 0)
			fail("the capture overflowed: more than 16 MiB of packets came before this program could run");
		packets.used += (size_t)size;
		if ((size_t)size < room)
			return;
		flush(&packets);
	}
}

void output_lines(uint64_t origin)
{
	if (captured >= 0)
		output_packets();

	for (;;) {
		struct line_record *first = (void *)(lines.buffer + lines.used);
		size_t room = (BUFFER_SIZE - lines.used) / sizeof(*first) * sizeof(*first);
		ssize_t size = read(source, first, room);

		if (size < 0)
			fail("the record of the lines overflowed: more came than this program could take");
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
	if (captured >= 0) {
		flush(&packets);
		close(packets.fd);
	}
	if (close(flows.fd) || close(lines.fd))
		fail_errno("cannot write the results to the host");
}
