/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Hosts, links, addresses, routes and queue disciplines: rtnetlink messages from this one process. */
#define _GNU_SOURCE
#include "guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	char name[32];
	int space;	/* network namespace */
	int netlink;
} hosts[MAX_HOSTS];
static int host_count, current = -1;

/* A message under construction. */
struct message {
	struct nlmsghdr header;
	char body[8192];
};

static void *tail(struct message *m)
{
	return (char *)m + NLMSG_ALIGN(m->header.nlmsg_len);
}

static void start(struct message *m, int type, int flags, const void *fixed, size_t size)
{
	memset(m, 0, sizeof(*m));
	m->header.nlmsg_len = NLMSG_LENGTH(size);
	m->header.nlmsg_type = (uint16_t)type;
	m->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	memcpy(NLMSG_DATA(&m->header), fixed, size);
}

static struct rtattr *put(struct message *m, int type, const void *value, size_t size)
{
	struct rtattr *attribute = tail(m);

	if (NLMSG_ALIGN(m->header.nlmsg_len) + RTA_SPACE(size) > sizeof(*m))
		fail("a netlink message is too long");
	attribute->rta_type = (uint16_t)type;
	attribute->rta_len = (uint16_t)RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(attribute), value, size);
	m->header.nlmsg_len = NLMSG_ALIGN(m->header.nlmsg_len) + (uint32_t)RTA_ALIGN(attribute->rta_len);
	return attribute;
}

static void put_u32(struct message *m, int type, uint32_t value)
{
	put(m, type, &value, sizeof(value));
}

static struct rtattr *nest(struct message *m, int type)
{
	return put(m, type, NULL, 0);
}

static void nest_end(struct message *m, struct rtattr *outer)
{
	outer->rta_len = (uint16_t)((char *)tail(m) - (char *)outer);
}

/* Sends a message and waits for the answer; `what` names the request in an error message. */
static void talk(int host, struct message *m, const char *what)
{
	static uint32_t sequence;
	char answer[4096];
	ssize_t size;

	m->header.nlmsg_seq = ++sequence;
	if (send(hosts[host].netlink, m, m->header.nlmsg_len, 0) < 0)
		fail_errno("%s: %s", hosts[host].name, what);
	size = recv(hosts[host].netlink, answer, sizeof(answer), 0);
	if (size < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		fail_errno("%s: %s: no answer", hosts[host].name, what);
	const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
	const struct nlmsgerr *error = NLMSG_DATA(header);

	if (header->nlmsg_type != NLMSG_ERROR)
		fail("%s: %s: unexpected answer", hosts[host].name, what);
	if (error->error) {
		const char *words = "";

		/*
		 * The kernel's own error message, if there is one: its attributes follow the header
		 * of our message.
		 */
		if (header->nlmsg_flags & NLM_F_ACK_TLVS) {
			const struct rtattr *a = (const void *)((const char *)(error + 1) +
				(header->nlmsg_flags & NLM_F_CAPPED ? 0 : NLMSG_ALIGN(error->msg.nlmsg_len) - sizeof(error->msg)));
			if ((const char *)(a + 1) < answer + size && a->rta_type == NLMSGERR_ATTR_MSG)
				words = RTA_DATA(a);
		}
		errno = -error->error;
		fail_errno("%s: %s%s%s", hosts[host].name, what, *words ? ": " : "", words);
	}
}

void host_enter(int host)
{
	if (host != current && setns(hosts[host].space, CLONE_NEWNET))
		fail_errno("cannot enter `%s`", hosts[host].name);
	current = host;
}

int host_find(const char *name)
{
	for (int i = 0; i < host_count; i++)
		if (strcmp(hosts[i].name, name) == 0)
			return i;
	fail("no host `%s`", name);
}

static unsigned index_of(int host, const char *device)
{
	host_enter(host);
	unsigned index = if_nametoindex(device);

	if (!index)
		fail_errno("%s has no device `%s`", hosts[host].name, device);
	return index;
}

static void up(int host, const char *device)
{
	struct message m;
	struct ifinfomsg link = { .ifi_index = (int)index_of(host, device), .ifi_flags = IFF_UP, .ifi_change = IFF_UP };

	start(&m, RTM_NEWLINK, 0, &link, sizeof(link));
	talk(host, &m, "cannot set a link up");
}

/* Sets the number of packets that TCP hands over as one; it is 1 (see `describe`) until set. */
void gso_max_segs(int host, const char *device, uint32_t count)
{
	struct message m;
	struct ifinfomsg link = { .ifi_index = (int)index_of(host, device) };

	start(&m, RTM_NEWLINK, 0, &link, sizeof(link));
	put_u32(&m, IFLA_GSO_MAX_SEGS, count);
	talk(host, &m, "cannot set the largest segment");
}

static int host_open(const char *name)
{
	int host = host_count++, one = 1;

	if (host == MAX_HOSTS)
		fail("more than %d hosts", MAX_HOSTS);
	if (strlen(name) >= sizeof(hosts->name))
		fail("the name `%s` is too long", name);
	strcpy(hosts[host].name, name);
	hosts[host].space = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	hosts[host].netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (hosts[host].space < 0 || hosts[host].netlink < 0)
		fail_errno("cannot open the host `%s`", name);
	setsockopt(hosts[host].netlink, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	current = host;
	return host;
}

void host_init(void)
{
	host_open("init");
}

void host_add(const char *name)
{
	if (unshare(CLONE_NEWNET))
		fail_errno("cannot make a network namespace");
	up(host_open(name), "lo");
}

void sysctl_write(int host, const char *path, const char *value)
{
	char file[256];
	int fd;

	host_enter(host);
	snprintf(file, sizeof(file), "/proc/sys/%s", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail_errno("%s: cannot set %s to `%s`", hosts[host].name, path, value);
	close(fd);
}

/* Link-layer addresses are derived from network addresses, so that no ARP packet is ever sent. */
static void hardware_address(uint32_t address, unsigned char into[6])
{
	into[0] = 2;
	into[1] = 0;
	memcpy(into + 2, &address, 4);
}

/* Switches off segmentation and merging below TCP: every packet stays one packet. */
static void no_offload(int host, const char *device)
{
	static const uint32_t commands[] = { ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO };
	int fd;

	host_enter(host);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct ethtool_value value = { .cmd = commands[i], .data = 0 };
		struct ifreq request = { .ifr_data = (void *)&value };

		snprintf(request.ifr_name, IFNAMSIZ, "%s", device);
		if (ioctl(fd, SIOCETHTOOL, &request))
			fail_errno("%s: cannot switch the offloads of `%s` off", hosts[host].name, device);
	}
	close(fd);
}

static void dress(const struct end *own, const struct end *peer)
{
	struct message m;
	unsigned index = index_of(own->host, own->device);
	struct ifaddrmsg address = { .ifa_family = AF_INET, .ifa_prefixlen = 30, .ifa_index = index };
	struct ndmsg neighbour = { .ndm_family = AF_INET, .ndm_ifindex = (int)index, .ndm_state = NUD_PERMANENT };
	unsigned char hardware[6];

	start(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &address, sizeof(address));
	put(&m, IFA_LOCAL, &own->address, 4);
	put(&m, IFA_ADDRESS, &own->address, 4);
	talk(own->host, &m, "cannot add an address");
	no_offload(own->host, own->device);
	up(own->host, own->device);
	hardware_address(peer->address, hardware);
	start(&m, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &neighbour, sizeof(neighbour));
	put(&m, NDA_DST, &peer->address, 4);
	put(&m, NDA_LLADDR, hardware, sizeof(hardware));
	talk(own->host, &m, "cannot add a neighbour");
}

static void describe(struct message *m, const struct end *end, uint32_t mtu)
{
	unsigned char hardware[6];

	hardware_address(end->address, hardware);
	put(m, IFLA_IFNAME, end->device, strlen(end->device) + 1);
	put(m, IFLA_ADDRESS, hardware, sizeof(hardware));
	put_u32(m, IFLA_MTU, mtu);
	/*
	 * TCP always hands over large segments (`sk_setup_caps`) and holds packets back to fill them (`tcp_tso_should_defer`);
	 * they reach the queue as a burst of up to a millisecond of data. One segment is one packet instead.
	 */
	put_u32(m, IFLA_GSO_MAX_SEGS, 1);
}

void veth_add(const struct end *a, const struct end *b, uint32_t mtu)
{
	struct message m;
	struct ifinfomsg link = { 0 };
	struct rtattr *info, *data, *peer;

	start(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof(link));
	describe(&m, a, mtu);
	info = nest(&m, IFLA_LINKINFO);
	put(&m, IFLA_INFO_KIND, "veth", 4);
	data = nest(&m, IFLA_INFO_DATA);
	peer = put(&m, VETH_INFO_PEER, &link, sizeof(link));
	describe(&m, b, mtu);
	put_u32(&m, IFLA_NET_NS_FD, (uint32_t)hosts[b->host].space);
	nest_end(&m, peer);
	nest_end(&m, data);
	nest_end(&m, info);
	talk(a->host, &m, "cannot add a link");
	dress(a, b);
	dress(b, a);
	/* A device whose peer is down has no carrier; now both are up. */
}

void address_add(int host, const char *device, uint32_t address)
{
	struct message m;
	struct ifaddrmsg own = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = index_of(host, device) };

	start(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &own, sizeof(own));
	put(&m, IFA_LOCAL, &address, 4);
	put(&m, IFA_ADDRESS, &address, 4);
	talk(host, &m, "cannot add an address");
}

static void put_metrics(struct message *m, const struct metrics *metrics)
{
	struct rtattr *outer = nest(m, RTA_METRICS);

	if (metrics->initial_window)
		put_u32(m, RTAX_INITCWND, metrics->initial_window);
	if (metrics->quick_acks)
		put_u32(m, RTAX_QUICKACK, 1);
	nest_end(m, outer);
}

void route_add(int host, uint32_t network, int length, uint32_t gateway, const struct metrics *metrics)
{
	struct message m;
	struct rtmsg route = {
		.rtm_family = AF_INET,
		.rtm_dst_len = (unsigned char)length,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_UNICAST,
	};

	start(&m, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &route, sizeof(route));
	if (length)
		put(&m, RTA_DST, &network, 4);
	put(&m, RTA_GATEWAY, &gateway, 4);
	if (metrics->initial_window || metrics->quick_acks)
		put_metrics(&m, metrics);
	talk(host, &m, "cannot add a route");
}

void qdisc_add(int host, const char *device, uint32_t parent, uint32_t handle, const char *kind, const void *options,
	       size_t size)
{
	struct message m;
	struct tcmsg traffic = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = (int)index_of(host, device),
		.tcm_parent = parent,
		.tcm_handle = handle,
	};
	char what[64];

	start(&m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &traffic, sizeof(traffic));
	put(&m, TCA_KIND, kind, strlen(kind) + 1);
	if (size)
		put(&m, TCA_OPTIONS | NLA_F_NESTED, options, size);
	snprintf(what, sizeof(what), "cannot add the queue discipline `%s`", kind);
	talk(host, &m, what);
}

void capture_add(int host, const char *device, uint32_t interface)
{
	char line[32];
	int size = snprintf(line, sizeof(line), "%s %u", device, interface);
	int fd;

	host_enter(host);
	fd = open("/proc/shoal_capture", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, line, (size_t)size) != size)
		fail_errno("%s: cannot capture at `%s`", hosts[host].name, device);
	close(fd);
}

void module_load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		fail_errno("cannot load the module %s", path);
	close(fd);
}
