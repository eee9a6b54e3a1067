/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A device that was set up sends nothing until the kernel has learnt of its carrier: it looks at once for some devices
 * and once a second, for 100 of them, for others (`linkwatch_run_queue`, `linkwatch_urgent_event`). Before that packets
 * are dropped (`noop_qdisc`); a lost SYN is repeated without ECN after a second.
 */
#define _GNU_SOURCE
#include "guest.h"
#include "fail.h"
#include "message.h"

#include <linux/if.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
	int host;
	unsigned index;
} *devices;
static size_t count, room;

void carrier_note(int host, unsigned index)
{
	if (count == room) {
		room = room ? 2 * room : 256;
		devices = realloc(devices, room * sizeof(*devices));
		if (!devices)
			fail("no memory for %zu devices", room);
	}
	devices[count].host = host;
	devices[count++].index = index;
}

static bool has_carrier(int host, unsigned index)
{
	char answer[16384];
	int left;
	const struct rtattr *a = link_attributes(host, index, answer, sizeof(answer), &left);

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == IFLA_OPERSTATE)
			return *(const unsigned char *)RTA_DATA(a) == IF_OPER_UP;
	fail("%s: a link does not say its state", host_name(host));
}

void carriers_wait(void)
{
	/* As many tenths of a second as the kernel may take, and as many again. */
	size_t patience = 20 * (count / 100 + 2);

	for (size_t i = 0; i < count; i++) {
		while (!has_carrier(devices[i].host, devices[i].index)) {
			struct timespec tenth = { .tv_nsec = 100000000 };

			if (!patience--)
				fail("%s: a device has no carrier", host_name(devices[i].host));
			nanosleep(&tenth, NULL);
		}
	}
}
