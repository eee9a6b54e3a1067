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

/* Reads the counters that the root queue discipline of a device has of its own; returns their size. */
static size_t read_counters(int host, const char *device, void *counters, size_t room)
{
	static const char what[] = "cannot read the counters of netem";
	static char answer[32768];
	struct message m;
	struct tcmsg root = { .tcm_ifindex = (int)host_device(host, device), .tcm_parent = TC_H_ROOT };
	const struct nlmsghdr *header = (const void *)answer;
	int left;

	/* The discipline is the answer, which the kernel sends to those that listen to all changes, and to us only on demand. */
	message_start(&m, RTM_GETQDISC, NLM_F_ECHO, &root, sizeof(root));
	left = (int)host_question(host, &m, answer, sizeof(answer), what) - (int)NLMSG_LENGTH(sizeof(root));
	if (left < 0 || header->nlmsg_type != RTM_NEWQDISC)
		fail("%s: %s of `%s`", host_name(host), what, device);
	for (struct rtattr *a = (struct rtattr *)(answer + NLMSG_LENGTH(sizeof(root))); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		size_t found = RTA_PAYLOAD(a);

		if (a->rta_type == TCA_XSTATS) {
			memcpy(counters, RTA_DATA(a), found < room ? found : room);
			return found;
		}
	}
	return 0;
}

void paths_report(uint64_t now)
{
	for (size_t i = 0; i < path_count; i++) {
		struct netem_counters counters = { 0 };
		size_t size = read_counters(paths[i].host, paths[i].device, &counters, sizeof(counters));
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
