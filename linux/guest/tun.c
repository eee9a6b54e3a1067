/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The device of conformance scripts. Large segments reach it whole, as they leave TCP. */
#include "guest.h"
#include "mounts.h"
#include "script.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned merged_mss;

int tun_open(unsigned mtu, unsigned mss)
{
	struct ifreq request = { .ifr_name = TUN, .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR };
	int fd, host = host_find("init");
	uint32_t own = inet_addr("192.168.0.1");

	merged_mss = mss;
	mount_devices();
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
		fail_errno("cannot make %s", TUN);
	if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN))
		fail_errno("cannot switch the offloads of %s on", TUN);
	address_add(host, TUN, own);
	nic_set(host, TUN, "mtu", mtu);
	link_up(host, "lo");
	link_up(host, TUN);
	/*
	 * The peer is behind a gateway, which is this host and is never asked for: what a route learns stays with the route.
	 */
	route_add(host, 0, 0, own, &(struct metrics){ 0 });
	return fd;
}

ssize_t tun_read(int tun, unsigned char *into, size_t room)
{
	struct virtio_net_hdr header;
	struct iovec parts[] = { { &header, sizeof(header) }, { into, room } };
	ssize_t size = readv(tun, parts, 2);

	return size < 0 ? size : size - (ssize_t)sizeof(header);
}

void tun_write(int tun, unsigned char *packet, size_t size)
{
	bool tcp = packet[9] == IPPROTO_TCP;
	struct virtio_net_hdr header = { 0 };
	struct iovec parts[] = { { &header, sizeof(header) }, { packet, size } };

	if (merged_mss && tcp) {
		header.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
		header.gso_size = (uint16_t)merged_mss;
	}
	if (writev(tun, parts, 2) != (ssize_t)(sizeof(header) + size))
		fail_errno("cannot write to %s", TUN);
}
