/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Orders to the lines (linux/testbed/line.c). */
#include "guest.h"
#include "../testbed/sch_line.h"

#include <fcntl.h>
#include <unistd.h>

static void order(uint64_t kind, uint64_t at, uint64_t value)
{
	struct line_order order = { .kind = kind, .at_ns = at, .value = value };
	int file = open("/proc/shoal_line", O_WRONLY | O_CLOEXEC);

	if (file < 0)
		fail_errno("cannot open the orders of the lines");
	if (write(file, &order, sizeof(order)) != sizeof(order))
		fail_errno("the lines refuse an order");
	close(file);
}

void line_change(uint64_t at, uint64_t value)
{
	order(LINE_CHANGE, at, value);
}

void lines_start(uint64_t origin)
{
	order(LINE_ORIGIN, origin, 0);
}
