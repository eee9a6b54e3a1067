/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records of a script, collected in memory and written once. */
#include "guest.h"
#include "script.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char buffer[8 << 20];
static size_t used;
static int fd = -1;

void record_open(const char *path)
{
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		fail_errno("cannot write %s", path);
}

void record_add(const struct script_record *record, const void *data)
{
	if (used + sizeof(*record) + record->size > sizeof(buffer))
		fail("the script has too many records");
	memcpy(buffer + used, record, sizeof(*record));
	used += sizeof(*record);
	if (record->size)
		memcpy(buffer + used, data, record->size);
	used += record->size;
}

void record_close(void)
{
	for (size_t at = 0; at < used;) {
		ssize_t size = write(fd, buffer + at, used - at);

		if (size < 0)
			fail_errno("cannot write the records to the host");
		at += (size_t)size;
	}
	if (close(fd))
		fail_errno("cannot write the records to the host");
}
