/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What links with impairments do to packets: the counters of their netem. */
#include "guest.h"
#include "message.h"

#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

static struct path {
	int host;
	uint32_t link;
	char device[16];
} *paths;
static size_t path_count;

/* struct tc_netem_xstats of Linux 7.3; 6.12 has none. */
struct netem_counters {
	uint64_t delayed, dropped, corrupted, duplicated, reordered, ecn_marked, allocation_errors;
};

void path_add(int host, const char *device, uint32_t link)
{
	paths = realloc(paths, (path_count + 1) * sizeof(*paths));
	if (!paths)
		fail("no memory for the links with impairments");
	if (strlen(device) >= sizeof(paths->device))
		fail("the name `%s` is too long", device);
	paths[path_count] = (struct path){ .host = host, .link = link };
	strcpy(paths[path_count++].device, device);
}

void paths_report(uint64_t now)
{
	for (size_t i = 0; i < path_count; i++) {
		struct netem_counters counters = { 0 };
		size_t size = qdisc_counters(paths[i].host, paths[i].device, TC_H_ROOT, 0, TCA_XSTATS, &counters,
					     sizeof(counters));
		struct flow_record record = {
			.time_ns = now,
			.flow = paths[i].link,
			.kind = REC_PATH,
			.has_alpha = size >= offsetof(struct netem_counters, ecn_marked),
			.received = counters.dropped,
			.transfers_begun = counters.duplicated,
			.data_packets = (uint32_t)counters.corrupted,
			.acks = (uint32_t)counters.reordered,
		};

		output_record(&record);
	}
}
