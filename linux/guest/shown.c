/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What `sysctl`, `ip -d link`, `ethtool -k`, `tc -s qdisc` and `ss -tin` would show of hosts, in the file /shown: a
 * line for each value, with host, program and text, separated by tabs. Settings are read when all of them are made, and
 * counters at the end.
 */
#define _GNU_SOURCE
#include "flow.h"
#include "message.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static FILE *file;
static struct device {
	int host;
	char name[16];
} *devices;
static size_t count;

static void line(int host, const char *program, const char *text)
{
	if (fprintf(file, "%s\t%s\t%s\n", host_name(host), program, text) < 0)
		fail_errno("cannot write what is set");
}

void show(int host, const char *device)
{
	char text[512];

	if (!file)
		file = fopen("/shown", "we");
	devices = realloc(devices, (count + 1) * sizeof(*devices));
	if (!file || !devices)
		fail_errno("cannot write what is set");
	devices[count].host = host;
	snprintf(devices[count++].name, sizeof(devices->name), "%s", device);
	nic_sizes(host, device, text, sizeof(text));
	line(host, "ip -d link", text);
	nic_offloads(host, device, text, sizeof(text));
	line(host, "ethtool -k", text);
}

void show_sysctl(int host, const char *path)
{
	char name[256], value[256], text[520];

	sysctl_read(host, path, value, sizeof(value));
	snprintf(name, sizeof(name), "%s", path);
	for (char *at = name; (at = strchr(at, '/')) != NULL;)
		*at = '.';
	snprintf(text, sizeof(text), "%s = %s", name, value);
	line(host, "sysctl", text);
}

/* The attribute of this type, or null. */
static const struct rtattr *find(const struct rtattr *list, int size, int type)
{
	for (; RTA_OK(list, size); list = RTA_NEXT(list, size))
		if ((list->rta_type & NLA_TYPE_MASK) == type)
			return list;
	return NULL;
}

/* Copies an attribute within `outer`, of which another kernel may have more or less. */
static void copy(const struct rtattr *outer, int type, void *into, size_t size)
{
	const struct rtattr *part = find(RTA_DATA(outer), (int)RTA_PAYLOAD(outer), type);

	if (part)
		memcpy(into, RTA_DATA(part), RTA_PAYLOAD(part) < size ? RTA_PAYLOAD(part) : size);
}

static void show_qdisc(int host, const struct nlmsghdr *header)
{
	const struct tcmsg *traffic = NLMSG_DATA(header);
	const struct rtattr *list = TCA_RTA(traffic), *kind, *stats;
	int size = (int)TCA_PAYLOAD(header);
	struct gnet_stats_basic sent = { 0 };
	struct gnet_stats_queue queue = { 0 };
	struct tc_fq_qd_stats fq = { 0 };
	char text[512];
	int used;

	kind = find(list, size, TCA_KIND);
	stats = find(list, size, TCA_STATS2);
	if (!kind || !stats)
		fail("%s: a queue discipline without counters", host_name(host));
	copy(stats, TCA_STATS_BASIC, &sent, sizeof(sent));
	copy(stats, TCA_STATS_QUEUE, &queue, sizeof(queue));
	used = snprintf(text, sizeof(text), "qdisc %s %x: sent %llu bytes %u pkt, dropped %u, overlimits %u, requeues %u",
			(const char *)RTA_DATA(kind), traffic->tcm_handle >> 16, (unsigned long long)sent.bytes, sent.packets,
			queue.drops, queue.overlimits, queue.requeues);
	if (strcmp(RTA_DATA(kind), "fq") == 0) {
		copy(stats, TCA_STATS_APP, &fq, sizeof(fq));
		snprintf(text + used, sizeof(text) - (size_t)used, ", flows %u, throttled %llu", fq.flows,
			 (unsigned long long)fq.throttled);
	}
	line(host, "tc -s qdisc", text);
}

/* Shows all queue disciplines of the device. */
static void show_qdiscs(int host, const char *device)
{
	static const char what[] = "cannot read the queue disciplines";
	struct message m;
	struct tcmsg all = { .tcm_ifindex = (int)host_device(host, device) };
	char answer[32768];
	size_t size;

	message_start(&m, RTM_GETQDISC, NLM_F_DUMP, &all, sizeof(all));
	size = host_question(host, &m, answer, sizeof(answer), what);
	for (;;) {
		const struct nlmsghdr *header = (const void *)answer;

		for (; NLMSG_OK(header, size); header = NLMSG_NEXT(header, size)) {
			if (header->nlmsg_type == NLMSG_DONE)
				return;
			if (header->nlmsg_type != RTM_NEWQDISC)
				fail("%s: %s", host_name(host), what);
			if (((const struct tcmsg *)NLMSG_DATA(header))->tcm_ifindex == all.tcm_ifindex)
				show_qdisc(host, header);
		}
		size = host_answer(host, answer, sizeof(answer), what);
	}
}

/* Shows the socket of the first open flow that this host sends. */
static void show_socket(int host)
{
	for (uint32_t i = 0; i < flow_count; i++) {
		const struct flow *flow = &flows[i];
		struct tcp_info info = { 0 };
		socklen_t size = sizeof(info);
		char text[256];

		if (flow->plan.sender != host || flow->sender < 0 || !flow->connected ||
		    getsockopt(flow->sender, IPPROTO_TCP, TCP_INFO, &info, &size))
			continue;
		snprintf(text, sizeof(text), "flow %u: cwnd %u, mss %u, rtt %u us, minrtt %u us, pacing_rate %llu bps", i,
			 info.tcpi_snd_cwnd, info.tcpi_snd_mss, info.tcpi_rtt, info.tcpi_min_rtt,
			 (unsigned long long)info.tcpi_pacing_rate * 8);
		line(host, "ss -tin", text);
		return;
	}
}

void show_end(void)
{
	for (size_t i = 0; i < count; i++) {
		show_qdiscs(devices[i].host, devices[i].name);
		show_socket(devices[i].host);
	}
	if (file && fclose(file))
		fail_errno("cannot write what is set");
}
