// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configures the three disciplines through rtnetlink with all values that their attributes can
 * hold, bounds first, and sends packets through each configuration that the kernel accepts. It
 * needs a machine that may crash, which the console of the kernel shows (modules_qemu.py reads it).
 *
 *  fuzz_netlink [CONFIGURATIONS [SEED]]
 *
 * Before that: what law/bounds.h allows is accepted up to its edges, and one beyond is refused with
 * its message.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../law/bounds.h"
#include "../uapi/pkt_sched_shoal.h"
#include "random.h"

#define DEVICE		"fuzz0"
#define PEER		"fuzz1"
#define ROOT		TC_H_MAKE(1 << 16, 0)
#define CHILDS_PLACE	TC_H_MAKE(1 << 16, 1)

#ifndef SOL_NETLINK
#define SOL_NETLINK	270
#endif

static struct random generator;
static uint64_t seed;
static int netlink, packets;
static int device;
static char message[256];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "fuzz_netlink: %s: %s; seed %" PRIu64 "\n", what, strerror(errno), seed);
	exit(1);
}

static void expect(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_netlink: %s (the kernel says: %s); seed %" PRIu64 "\n", what, message,
		seed);
	exit(1);
}

/* One request. */
static union {
	struct nlmsghdr header;
	char room[8192];
} request;

static void *append(size_t len)
{
	void *place = request.room + request.header.nlmsg_len;

	request.header.nlmsg_len += NLMSG_ALIGN(len);
	return memset(place, 0, NLMSG_ALIGN(len));
}

static void begin(uint16_t type, uint16_t flags)
{
	request.header = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags,
	};
}

static struct rtattr *put(uint16_t type, const void *data, size_t len)
{
	struct rtattr *attr = append(RTA_LENGTH(len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	return attr;
}

/* An integer of @len bytes of a little-endian machine. */
static void put_number(uint16_t type, uint64_t value, size_t len)
{
	put(type, &value, len);
}

static struct rtattr *nest(uint16_t type)
{
	return put(type | NLA_F_NESTED, NULL, 0);
}

static void end(struct rtattr *attr)
{
	attr->rta_len = request.room + request.header.nlmsg_len - (char *)attr;
}

/* The text of an extended answer. */
static void read_message(const struct nlmsghdr *answer)
{
	const struct nlmsgerr *error = NLMSG_DATA(answer);
	size_t skip = sizeof(*error);
	struct rtattr *attr;
	int len;

	message[0] = 0;
	if (!(answer->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(answer->nlmsg_flags & NLM_F_CAPPED))
		skip += error->msg.nlmsg_len - sizeof(error->msg);
	attr = (struct rtattr *)((char *)error + NLMSG_ALIGN(skip));
	len = answer->nlmsg_len - NLMSG_HDRLEN - NLMSG_ALIGN(skip);
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len))
		if ((attr->rta_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			snprintf(message, sizeof(message), "%s", (char *)RTA_DATA(attr));
}

/* Sends the request; returns 0 or a negative error. Other messages of the kernel are skipped. */
static int ask(void)
{
	static uint32_t sequence;
	static union {
		struct nlmsghdr header;
		char room[32768];
	} answer;
	struct nlmsghdr *part;
	int len;

	request.header.nlmsg_seq = ++sequence;
	if (send(netlink, &request, request.header.nlmsg_len, 0) < 0)
		die("send");
	for (;;) {
		len = recv(netlink, &answer, sizeof(answer), 0);
		if (len < 0)
			die("recv");
		for (part = &answer.header; NLMSG_OK(part, (unsigned int)len);
		     part = NLMSG_NEXT(part, len)) {
			if (part->nlmsg_seq != sequence)
				continue;
			if (part->nlmsg_type == NLMSG_DONE)
				return 0;
			if (part->nlmsg_type != NLMSG_ERROR)
				continue;
			read_message(part);
			return ((struct nlmsgerr *)NLMSG_DATA(part))->error;
		}
	}
}

static void make_device(void)
{
	struct rtattr *info, *data, *peer;
	struct ifinfomsg *link;

	begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	append(sizeof(*link));
	put(IFLA_IFNAME, DEVICE, sizeof(DEVICE));
	put_number(IFLA_TXQLEN, 1000, 4);
	info = nest(IFLA_LINKINFO);
	put(IFLA_INFO_KIND, "veth", 4);
	data = nest(IFLA_INFO_DATA);
	peer = nest(VETH_INFO_PEER);
	append(sizeof(*link));
	put(IFLA_IFNAME, PEER, sizeof(PEER));
	end(peer);
	end(data);
	end(info);
	if (ask())
		expect(false, "no veth pair");
	device = if_nametoindex(DEVICE);
}

static void set_link(int index, bool up, uint32_t mtu)
{
	struct ifinfomsg *link;

	begin(RTM_NEWLINK, 0);
	link = append(sizeof(*link));
	link->ifi_index = index;
	link->ifi_change = IFF_UP;
	link->ifi_flags = up ? IFF_UP : 0;
	if (mtu)
		put_number(IFLA_MTU, mtu, 4);
	expect(!ask(), "the device is not changed");
}

static void begin_qdisc(uint16_t type, uint16_t flags, uint32_t parent, uint32_t handle,
			const char *kind)
{
	struct tcmsg *tc;

	begin(type, flags);
	tc = append(sizeof(*tc));
	tc->tcm_ifindex = device;
	tc->tcm_parent = parent;
	tc->tcm_handle = handle;
	if (kind)
		put(TCA_KIND, kind, strlen(kind) + 1);
}

/* A shaper, so that packets wait. */
static void make_root(uint32_t bytes_per_second)
{
	const struct tc_tbf_qopt shaper = {
		.rate = { .rate = bytes_per_second, .linklayer = 1, .cell_align = -1 },
		.limit = 1 << 30,
		.buffer = 1 << 20,
	};
	struct rtattr *options;

	begin_qdisc(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, TC_H_ROOT, ROOT, "tbf");
	options = nest(TCA_OPTIONS);
	put(TCA_TBF_PARMS, &shaper, sizeof(shaper));
	put_number(TCA_TBF_BURST, 70000, 4);
	end(options);
	expect(!ask(), "no tbf");
}

/* A parameter, and its bounds. */
struct parameter {
	uint16_t type;
	uint8_t len;
	uint64_t min, max;
	/* NULL: refused by the policy, without a message of the module. */
	const char *says;
};

#define BOUNDED(type, len, bound)	{ type, len, bound##_MIN, bound##_MAX, bound##_SAYS }

static const struct parameter dualred[] = {
	{ TCA_DUALRED_LIMIT_BYTES, 4, 0, UINT32_MAX, NULL },
	{ TCA_DUALRED_LIMIT_PACKETS, 4, 0, UINT32_MAX, NULL },
	BOUNDED(TCA_DUALRED_RATE, 8, LAW_RATE),
	BOUNDED(TCA_DUALRED_MEAN_PACKET, 4, LAW_MEAN_PACKET),
	{ TCA_DUALRED_AVERAGE, 1, 0, 1, NULL },
};

/* Thresholds are drawn in order, else nearly half of all would be refused. */
static const struct parameter dualred_red[] = {
	BOUNDED(TCA_DUALRED_RED_MAX_P, 8, LAW_FRACTION),
	BOUNDED(TCA_DUALRED_RED_WEIGHT, 8, LAW_FRACTION),
	{ TCA_DUALRED_RED_GENTLE, 1, 0, 1, NULL },
	{ TCA_DUALRED_RED_INDEPENDENT, 1, 0, 1, NULL },
};

static const struct parameter coupled[] = {
	{ TCA_COUPLED_LIMIT_BYTES, 4, 0, UINT32_MAX, NULL },
	{ TCA_COUPLED_LIMIT_PACKETS, 4, 0, UINT32_MAX, NULL },
	BOUNDED(TCA_COUPLED_RATE, 8, LAW_RATE),
	{ TCA_COUPLED_DECIDE, 1, 0, 1, NULL },
	{ TCA_COUPLED_MEASURE, 1, 0, 2, NULL },
	{ TCA_COUPLED_FORM, 1, 0, 1, NULL },
	BOUNDED(TCA_COUPLED_SATURATION, 8, LAW_SATURATION),
	BOUNDED(TCA_COUPLED_COUPLING, 4, LAW_COUPLING),
	BOUNDED(TCA_COUPLED_DROP_BITS, 1, LAW_BITS),
	BOUNDED(TCA_COUPLED_MARK_BITS, 1, LAW_BITS),
	BOUNDED(TCA_COUPLED_UNIT, 8, LAW_UNIT),
	/* The parameters from here on are those of the dual queue alone. */
	BOUNDED(TCA_COUPLED_THRESHOLD, 8, LAW_THRESHOLD),
	{ TCA_COUPLED_THRESHOLD_MEASURE, 1, 0, 2, NULL },
	{ TCA_COUPLED_INPUT, 1, 0, 1, NULL },
	{ TCA_COUPLED_SCHEDULER, 1, 0, 2, NULL },
	BOUNDED(TCA_COUPLED_CLASSIC_PERCENT, 1, LAW_PERCENT),
	BOUNDED(TCA_COUPLED_SHIFT, 8, LAW_SHIFT),
	BOUNDED(TCA_COUPLED_MTU, 4, LAW_MTU),
};

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))
#define SINGLE		11

struct kind {
	const char *name;
	/* An existing discipline is not replaced by one of another kind. */
	uint32_t handle;
	const struct parameter *parameter;
	size_t count;
};

static const struct kind kinds[] = {
	{ "dualred", 10 << 16, dualred, COUNT(dualred) },
	{ "coupled", 11 << 16, coupled, SINGLE },
	{ "dualq_coupled", 12 << 16, coupled, COUNT(coupled) },
};

static void delete_child(void)
{
	begin_qdisc(RTM_DELQDISC, 0, CHILDS_PLACE, 0, NULL);
	ask();
}

/* One parameter with @value in an instance of dualred, or in the discipline. */
static int set_one(const struct kind *kind, const struct parameter *parameter, uint64_t value,
		   uint16_t instance)
{
	struct rtattr *options, *inner = NULL;

	begin_qdisc(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, CHILDS_PLACE, kind->handle,
		    kind->name);
	options = nest(TCA_OPTIONS);
	if (instance)
		inner = nest(instance);
	put_number(parameter->type, value, parameter->len);
	if (inner)
		end(inner);
	end(options);
	return ask();
}

static uint64_t largest(const struct parameter *parameter)
{
	return parameter->len == 8 ? UINT64_MAX : (1ULL << 8 * parameter->len) - 1;
}

static unsigned int check_edges(const struct kind *kind, const struct parameter *parameter,
				size_t count, uint16_t instance)
{
	unsigned int checked = 0;

	for (; count--; parameter++) {
		const uint64_t beyond[] = { parameter->min - 1, parameter->max + 1,
					    largest(parameter) };
		const uint64_t edges[] = { parameter->min, parameter->max };
		size_t n;

		for (n = 0; n < COUNT(edges); n++, checked++)
			expect(!set_one(kind, parameter, edges[n], instance), "an edge is refused");
		for (n = 0; n < COUNT(beyond); n++) {
			/* The value does not fit into the attribute, or is within the bounds. */
			if (beyond[n] > largest(parameter) ||
			    (beyond[n] >= parameter->min && beyond[n] <= parameter->max))
				continue;
			expect(set_one(kind, parameter, beyond[n], instance) == -ERANGE,
			       "a value beyond an edge is not refused");
			expect(!parameter->says || strstr(message, parameter->says),
			       "a refusal without the remedy");
			checked++;
		}
	}
	return checked;
}

static void check_all_edges(void)
{
	unsigned int checked = 0;
	size_t n;

	for (n = 0; n < COUNT(kinds); n++) {
		delete_child();
		checked += check_edges(&kinds[n], kinds[n].parameter, kinds[n].count, 0);
		if (!n)
			checked += check_edges(&kinds[n], dualred_red, COUNT(dualred_red),
					       TCA_DUALRED_ECT);
	}
	printf("edges of bounds: %u accepted or refused as law/bounds.h says\n", checked);
}

/* Within the bounds, or anything that the attribute holds one time in fifty. */
static void put_random(const struct parameter *parameter)
{
	bool any = !random_below(&generator, 50);

	put_number(parameter->type,
		   any ? random_between(&generator, 0, largest(parameter)) :
			 random_between(&generator, parameter->min, parameter->max),
		   parameter->len);
}

static void put_some(const struct parameter *parameter, size_t count)
{
	for (; count--; parameter++)
		if (random_below(&generator, 3))
			put_random(parameter);
}

static void put_instance(uint16_t type)
{
	struct rtattr *instance = nest(type);
	uint64_t max = random_between(&generator, 0, UINT32_MAX);

	if (random_below(&generator, 2)) {
		put_number(TCA_DUALRED_RED_MIN, random_between(&generator, 0, max), 4);
		put_number(TCA_DUALRED_RED_MAX, max, 4);
	}
	put_some(dualred_red, COUNT(dualred_red));
	end(instance);
}

/* A table of sizes, which assigns arbitrary lengths to packets. */
static void put_size_table(void)
{
	struct tc_sizespec spec = {
		.size_log = random_below(&generator, 31), .cell_log = 10, .tsize = 4,
		.overhead = (int)random_below(&generator, 2000) - 1000, .linklayer = 1,
	};
	struct rtattr *table = nest(TCA_STAB);
	uint16_t sizes[4];
	size_t n;

	for (n = 0; n < COUNT(sizes); n++)
		sizes[n] = random_u64(&generator);
	put(TCA_STAB_BASE, &spec, sizeof(spec));
	put(TCA_STAB_DATA, sizes, sizeof(sizes));
	end(table);
}

static bool configure(const struct kind *kind)
{
	uint16_t flags = NLM_F_CREATE | NLM_F_REPLACE;
	struct rtattr *options;

	/* A new discipline, or a change of the existing one with the packets that wait in it. */
	if (!random_below(&generator, 8))
		delete_child();
	begin_qdisc(RTM_NEWQDISC, flags, CHILDS_PLACE, kind->handle, kind->name);
	if (!random_below(&generator, 10))
		put_size_table();
	options = nest(TCA_OPTIONS);
	put_some(kind->parameter, kind->count);
	if (kind->parameter == dualred) {
		put_instance(TCA_DUALRED_NOT_ECT);
		put_instance(TCA_DUALRED_ECT);
	}
	end(options);
	return !ask();
}

/* An IPv4 or IPv6 header, whole or not, behind a tag or none; frames of TCP may be aggregates. */
static void send_packet(void)
{
	static union {
		struct virtio_net_hdr header;
		unsigned char byte[16384];
	} packet;
	const struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = device };
	const unsigned int ip = sizeof(packet.header) + ETH_HLEN;
	bool aggregate = !random_below(&generator, 8);
	unsigned int len = aggregate ? random_between(&generator, 3000, 12000) :
				       random_between(&generator, 1, 1500);
	unsigned char *header = packet.byte + ip;
	unsigned int n;

	memset(&packet, 0, ip + 60);
	for (n = 0; n < 12; n++)
		packet.byte[sizeof(packet.header) + n] = n ? 2 : 0;
	packet.byte[ip - 2] = 0x08;
	header[0] = 0x45;
	header[1] = random_u64(&generator);
	header[2] = len >> 8;
	header[3] = len;
	header[8] = 64;
	header[9] = IPPROTO_TCP;
	header[12] = 10;
	header[16] = 10;
	header[20 + 12] = 0x50;
	header[20 + 13] = 0x10;
	if (aggregate) {
		packet.header = (struct virtio_net_hdr){
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
			.hdr_len = ETH_HLEN + 40, .csum_start = ETH_HLEN + 20, .csum_offset = 16,
			.gso_size = random_between(&generator, 500, 1400),
		};
	} else if (!random_below(&generator, 3)) {
		packet.byte[ip - 2] = 0x86;
		packet.byte[ip - 1] = 0xdd;
		header[0] = 0x60 | (random_u64(&generator) & 15);
	} else if (!random_below(&generator, 20)) {
		packet.byte[ip - 2] = random_u64(&generator);
	} else if (!random_below(&generator, 20)) {
		packet.byte[ip - 2] = 0x81;
		header[2] = 0x08;
		header[3] = 0;
	}
	/* Packets that do not fit the device or its queue are refused. */
	sendto(packets, &packet, ip + len, MSG_DONTWAIT, (const struct sockaddr *)&to, sizeof(to));
}

static void look(void)
{
	begin_qdisc(RTM_GETQDISC, NLM_F_DUMP, 0, 0, NULL);
	request.header.nlmsg_flags &= ~NLM_F_ACK;
	expect(!ask(), "no statistics");
}

static void open_sockets(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	const int on = 1, room = 1 << 22;

	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (netlink < 0 || bind(netlink, (struct sockaddr *)&address, sizeof(address)))
		die("netlink");
	setsockopt(netlink, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(netlink, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	packets = socket(AF_PACKET, SOCK_RAW, 0);
	if (packets < 0 || setsockopt(packets, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)))
		die("packet socket");
	setsockopt(packets, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
}

static void try_configurations(unsigned long configurations)
{
	unsigned long accepted = 0, sent = 0, n;

	for (n = 0; n < configurations; n++) {
		const struct kind *kind = &kinds[random_below(&generator, COUNT(kinds))];
		unsigned int count;

		/* A shaper with a rate from a kilobyte per second on. */
		if (!random_below(&generator, 500))
			make_root(1000ULL << random_below(&generator, 20));
		if (!random_below(&generator, 1000)) {
			set_link(device, false, 0);
			set_link(device, true, random_between(&generator, 1280, 9000));
		}
		if (!configure(kind))
			continue;
		accepted++;
		for (count = random_between(&generator, 1, 12); count; count--, sent++)
			send_packet();
		if (!random_below(&generator, 16))
			look();
	}
	printf("fuzz: %lu configurations, %lu accepted, %lu packets; seed %" PRIu64 "\n",
	       configurations, accepted, sent, seed);
	expect(accepted > configurations / 4, "too few configurations were accepted");
}

int main(int argc, char **argv)
{
	unsigned long configurations = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000;

	seed = random_seed(argc > 2 ? argv[2] : NULL);
	generator.state = seed;
	printf("fuzz_netlink: seed %" PRIu64 "\n", seed);
	fflush(stdout);
	if (unshare(CLONE_NEWNET))
		die("a network namespace (as root only)");
	open_sockets();
	make_device();
	set_link(device, true, 0);
	set_link(if_nametoindex(PEER), true, 0);
	make_root(1000000);
	check_all_edges();
	try_configurations(configurations);
	return 0;
}
