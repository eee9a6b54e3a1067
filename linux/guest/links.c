/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Links between hosts: pairs of devices that are ready to send. */
#include "guest.h"
#include "message.h"

#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

/* Link-layer addresses are derived from network addresses, so that no ARP packet is ever sent. */
static void hardware_address(uint32_t address, unsigned char into[6])
{
	into[0] = 2;
	into[1] = 0;
	memcpy(into + 2, &address, 4);
}

static void dress(const struct end *own, const struct end *peer)
{
	struct message m;
	unsigned index = host_device(own->host, own->device);
	struct ifaddrmsg address = { .ifa_family = AF_INET, .ifa_prefixlen = 30, .ifa_index = index };
	struct ndmsg neighbour = { .ndm_family = AF_INET, .ndm_ifindex = (int)index, .ndm_state = NUD_PERMANENT };
	unsigned char hardware[6];

	message_start(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &address, sizeof(address));
	message_put(&m, IFA_LOCAL, &own->address, 4);
	message_put(&m, IFA_ADDRESS, &own->address, 4);
	host_request(own->host, &m, "cannot add an address");
	offloads_off(own->host, own->device);
	link_up(own->host, own->device);
	carrier_note(own->host, index);
	hardware_address(peer->address, hardware);
	message_start(&m, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &neighbour, sizeof(neighbour));
	message_put(&m, NDA_DST, &peer->address, 4);
	message_put(&m, NDA_LLADDR, hardware, sizeof(hardware));
	host_request(own->host, &m, "cannot add a neighbour");
}

static void describe(struct message *m, const struct end *end, uint32_t mtu)
{
	unsigned char hardware[6];

	hardware_address(end->address, hardware);
	message_put(m, IFLA_IFNAME, end->device, strlen(end->device) + 1);
	message_put(m, IFLA_ADDRESS, hardware, sizeof(hardware));
	message_put_u32(m, IFLA_MTU, mtu);
	/*
	 * TCP always hands over large segments (`sk_setup_caps`) and holds packets back to fill them (`tcp_tso_should_defer`);
	 * they reach the queue as a burst of up to a millisecond of data. One segment is one packet instead.
	 */
	message_put_u32(m, IFLA_GSO_MAX_SEGS, 1);
}

void veth_add(const struct end *a, const struct end *b, uint32_t mtu)
{
	struct message m;
	struct ifinfomsg link = { 0 };
	struct rtattr *info, *data, *peer;

	message_start(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof(link));
	describe(&m, a, mtu);
	info = message_nest(&m, IFLA_LINKINFO);
	message_put(&m, IFLA_INFO_KIND, "veth", 4);
	data = message_nest(&m, IFLA_INFO_DATA);
	peer = message_put(&m, VETH_INFO_PEER, &link, sizeof(link));
	describe(&m, b, mtu);
	message_put_u32(&m, IFLA_NET_NS_FD, (uint32_t)host_space(b->host));
	message_nest_end(&m, peer);
	message_nest_end(&m, data);
	message_nest_end(&m, info);
	host_request(a->host, &m, "cannot add a link");
	dress(a, b);
	dress(b, a);
	/* A device whose peer is down has no carrier; now both are up. */
}
