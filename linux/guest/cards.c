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

/* Packets sent, drops, and as `overlimits` the interrupts. */
static struct tc_stats read_stats(const struct card *card)
{
	static const char what[] = "cannot read the counters of a card";
	static char answer[32768];
	struct message m;
	struct tcmsg own = { .tcm_ifindex = (int)host_device(card->router, card->device), .tcm_handle = card->handle };
	const struct nlmsghdr *header = (const void *)answer;
	struct tc_stats stats = { 0 };
	int left;

	/* The discipline is the answer, which the kernel sends to those that listen to all changes, and to us only on demand. */
	message_start(&m, RTM_GETQDISC, NLM_F_ECHO, &own, sizeof(own));
	left = (int)host_question(card->router, &m, answer, sizeof(answer), what) - (int)NLMSG_LENGTH(sizeof(own));
	if (left < 0 || header->nlmsg_type != RTM_NEWQDISC)
		fail("%s: %s at `%s`", host_name(card->router), what, card->device);
	for (struct rtattr *a = (struct rtattr *)(answer + NLMSG_LENGTH(sizeof(own))); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == TCA_STATS && RTA_PAYLOAD(a) >= sizeof(stats)) {
			memcpy(&stats, RTA_DATA(a), sizeof(stats));
			return stats;
		}
	}
	fail("%s: %s at `%s`: it has none", host_name(card->router), what, card->device);
}

void cards_report(uint64_t now)
{
	for (size_t i = 0; i < count; i++) {
		struct tc_stats stats = read_stats(&cards[i]);
		struct flow_record record = {
			.time_ns = now,
			.flow = cards[i].node,
			.kind = REC_CARD,
			.received = stats.packets,
			.data_packets = stats.overlimits,
			.acks = stats.drops,
		};

		output_record(&record);
	}
}
