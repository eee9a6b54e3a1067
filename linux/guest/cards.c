/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the cards of hosts do: the counters of the discipline `coalesce` in front of each (linux/testbed/coalesce.c). */
#include "guest.h"
#include "message.h"

#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

static struct card {
	int router;
	uint32_t handle, node;
	char device[16];
} *cards;
static size_t count;

void card_add(int router, const char *device, uint32_t handle, uint32_t node)
{
	cards = realloc(cards, (count + 1) * sizeof(*cards));
	if (!cards)
		fail("no memory for the cards of hosts");
	if (strlen(device) >= sizeof(cards->device))
		fail("the name `%s` is too long", device);
	cards[count] = (struct card){ .router = router, .handle = handle, .node = node };
	strcpy(cards[count++].device, device);
}

void cards_report(uint64_t now)
{
	for (size_t i = 0; i < count; i++) {
		/* Packets sent, drops, and as `overlimits` the interrupts. */
		struct tc_stats stats = { 0 };
		size_t size = qdisc_counters(cards[i].router, cards[i].device, 0, cards[i].handle, TCA_STATS, &stats, sizeof(stats));
		struct flow_record record = {
			.time_ns = now,
			.flow = cards[i].node,
			.kind = REC_CARD,
			.received = stats.packets,
			.data_packets = stats.overlimits,
			.acks = stats.drops,
		};

		if (size < sizeof(stats))
			fail("%s: the card at `%s` counts nothing", host_name(cards[i].router), cards[i].device);
		output_record(&record);
	}
}
