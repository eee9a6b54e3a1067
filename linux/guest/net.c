/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Hosts, addresses, routes and queue disciplines: rtnetlink messages from this one process. */
#define _GNU_SOURCE
#include "guest.h"
#include "message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	char name[32];
	int space;	/* network namespace */
	int netlink;
	bool paces;
} hosts[MAX_HOSTS];
static int host_count, current = -1;

size_t host_answer(int host, void *answer, size_t room, const char *what)
{
	ssize_t size = recv(hosts[host].netlink, answer, room, 0);

	if (size < (ssize_t)NLMSG_LENGTH(sizeof(int)))
		fail_errno("%s: %s: no answer", hosts[host].name, what);
	return (size_t)size;
}

size_t host_question(int host, struct message *m, void *answer, size_t room, const char *what)
{
	static uint32_t sequence;

	m->header.nlmsg_seq = ++sequence;
	if (send(hosts[host].netlink, m, m->header.nlmsg_len, 0) < 0)
		fail_errno("%s: %s", hosts[host].name, what);
	return host_answer(host, answer, room, what);
}

const struct rtattr *link_attributes(int host, unsigned index, void *answer, size_t room, int *left)
{
	static const char what[] = "cannot read a link";
	struct message m;
	struct ifinfomsg link = { .ifi_index = (int)index };
	const struct nlmsghdr *header = answer;

	message_start(&m, RTM_GETLINK, 0, &link, sizeof(link));
	host_question(host, &m, answer, room, what);
	if (header->nlmsg_type != RTM_NEWLINK)
		fail("%s: %s", hosts[host].name, what);
	*left = (int)IFLA_PAYLOAD(header);
	return IFLA_RTA(NLMSG_DATA(header));
}

size_t qdisc_counters(int host, const char *device, uint32_t parent, uint32_t handle, int type, void *counters,
		      size_t room)
{
	static const char what[] = "cannot read the counters of a queue discipline";
	static char answer[32768];
	struct message m;
	struct tcmsg which = { .tcm_ifindex = (int)host_device(host, device), .tcm_parent = parent, .tcm_handle = handle };
	const struct nlmsghdr *header = (const void *)answer;
	int left;

	/*
	 * The discipline is the answer, which the kernel sends to those that listen to all changes, and to us only on demand.
	 */
	message_start(&m, RTM_GETQDISC, NLM_F_ECHO, &which, sizeof(which));
	left = (int)host_question(host, &m, answer, sizeof(answer), what) - (int)NLMSG_LENGTH(sizeof(which));
	if (left < 0 || header->nlmsg_type != RTM_NEWQDISC)
		fail("%s: %s of `%s`", hosts[host].name, what, device);
	struct rtattr *a = (struct rtattr *)(answer + NLMSG_LENGTH(sizeof(which)));
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		size_t found = RTA_PAYLOAD(a);

		if (a->rta_type == type) {
			memcpy(counters, RTA_DATA(a), found < room ? found : room);
			return found;
		}
	}
	return 0;
}

void host_request(int host, struct message *m, const char *what)
{
	char answer[4096];
	size_t size;

	m->header.nlmsg_flags |= NLM_F_ACK;
	size = host_question(host, m, answer, sizeof(answer), what);
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

unsigned host_device(int host, const char *device)
{
	host_enter(host);
	unsigned index = if_nametoindex(device);

	if (!index)
		fail_errno("%s has no device `%s`", hosts[host].name, device);
	return index;
}

void link_up(int host, const char *device)
{
	struct message m;
	struct ifinfomsg link = { .ifi_index = (int)host_device(host, device), .ifi_flags = IFF_UP, .ifi_change = IFF_UP };

	message_start(&m, RTM_NEWLINK, 0, &link, sizeof(link));
	host_request(host, &m, "cannot set a link up");
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
	link_up(host_open(name), "lo");
}

void host_pace(int host)
{
	hosts[host].paces = true;
}

bool host_paces(int host)
{
	return hosts[host].paces;
}

const char *host_name(int host)
{
	return hosts[host].name;
}

int host_space(int host)
{
	return hosts[host].space;
}

void address_add(int host, const char *device, uint32_t address)
{
	struct message m;
	struct ifaddrmsg own = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = host_device(host, device) };

	message_start(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &own, sizeof(own));
	message_put(&m, IFA_LOCAL, &address, 4);
	message_put(&m, IFA_ADDRESS, &address, 4);
	host_request(host, &m, "cannot add an address");
}

static void put_metrics(struct message *m, const struct metrics *metrics)
{
	struct rtattr *outer = message_nest(m, RTA_METRICS);

	if (metrics->initial_window)
		message_put_u32(m, RTAX_INITCWND, metrics->initial_window);
	if (metrics->quick_acks)
		message_put_u32(m, RTAX_QUICKACK, 1);
	message_nest_end(m, outer);
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

	message_start(&m, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &route, sizeof(route));
	if (length)
		message_put(&m, RTA_DST, &network, 4);
	message_put(&m, RTA_GATEWAY, &gateway, 4);
	if (metrics->initial_window || metrics->quick_acks)
		put_metrics(&m, metrics);
	host_request(host, &m, "cannot add a route");
}

/* Disciplines at the roots of devices. */
static struct root {
	int host, device;
	uint32_t handle;
} *roots;
static size_t root_count;

static void note_root(int host, int device, uint32_t handle)
{
	for (size_t i = 0; i < root_count; i++) {
		if (roots[i].host == host && roots[i].device == device) {
			roots[i].handle = handle;
			return;
		}
	}
	roots = realloc(roots, (root_count + 1) * sizeof(*roots));
	if (!roots)
		fail_errno("cannot remember a queue discipline");
	roots[root_count++] = (struct root){ host, device, handle };
}

void qdisc_add(int host, const char *device, uint32_t parent, uint32_t handle, const char *kind, const void *options,
	       size_t size)
{
	struct message m;
	struct tcmsg traffic = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = (int)host_device(host, device),
		.tcm_parent = parent,
		.tcm_handle = handle,
	};
	char what[64];

	message_start(&m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &traffic, sizeof(traffic));
	message_put(&m, TCA_KIND, kind, strlen(kind) + 1);
	if (size)
		message_put(&m, TCA_OPTIONS | NLA_F_NESTED, options, size);
	snprintf(what, sizeof(what), "cannot add the queue discipline `%s`", kind);
	host_request(host, &m, what);
	if (parent == TC_H_ROOT)
		note_root(host, traffic.tcm_ifindex, handle);
}

void qdiscs_remove(void)
{
	for (size_t i = 0; i < root_count; i++) {
		struct message m;
		struct tcmsg traffic = {
			.tcm_family = AF_UNSPEC,
			.tcm_ifindex = roots[i].device,
			.tcm_parent = TC_H_ROOT,
			.tcm_handle = roots[i].handle,
		};

		message_start(&m, RTM_DELQDISC, 0, &traffic, sizeof(traffic));
		host_request(roots[i].host, &m, "cannot remove a queue discipline");
	}
	root_count = 0;
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
