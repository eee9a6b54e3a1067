/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The device of conformance scripts. Large segments reach it whole, as they leave TCP. */
#include "guest.h"
#include "mounts.h"
#include "script.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <net/route.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int control(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd;
}

static struct ifreq request(void)
{
	struct ifreq request = { 0 };

	strcpy(request.ifr_name, TUN);
	return request;
}

static void set_address(unsigned long what, const char *text)
{
	struct ifreq r = request();
	struct sockaddr_in *address = (struct sockaddr_in *)&r.ifr_addr;

	address->sin_family = AF_INET;
	inet_pton(AF_INET, text, &address->sin_addr);
	if (ioctl(control(), what, &r))
		fail_errno("cannot give %s the address %s", TUN, text);
}

void tun_set_mtu(unsigned mtu)
{
	struct ifreq r = request();

	r.ifr_mtu = (int)mtu;
	if (ioctl(control(), SIOCSIFMTU, &r))
		fail_errno("cannot set the MTU of %s to %u", TUN, mtu);
}

void tun_set_offload(bool generic, bool on)
{
	struct ethtool_value value = { .cmd = generic ? ETHTOOL_SGSO : ETHTOOL_STSO, .data = on };
	struct ifreq r = request();

	r.ifr_data = (void *)&value;
	if (ioctl(control(), SIOCETHTOOL, &r))
		fail_errno("cannot change the offloads of %s", TUN);
}

/*
 * The peer is behind a gateway, which is this host and is never asked for: what a route learns
 * stays with the route.
 */
static void route(void)
{
	struct rtentry route = { .rt_flags = RTF_UP | RTF_GATEWAY, .rt_dev = (char *)TUN };
	struct sockaddr_in *gateway = (struct sockaddr_in *)&route.rt_gateway;

	((struct sockaddr_in *)&route.rt_dst)->sin_family = AF_INET;
	((struct sockaddr_in *)&route.rt_genmask)->sin_family = AF_INET;
	gateway->sin_family = AF_INET;
	inet_pton(AF_INET, "192.168.0.1", &gateway->sin_addr);
	if (ioctl(control(), SIOCADDRT, &route))
		fail_errno("cannot route through %s", TUN);
}

static void up(const char *name)
{
	struct ifreq r = { .ifr_flags = IFF_UP };

	strcpy(r.ifr_name, name);
	if (ioctl(control(), SIOCSIFFLAGS, &r))
		fail_errno("cannot set %s up", name);
}

static unsigned merged_mss;

int tun_open(unsigned mtu, unsigned mss)
{
	struct ifreq r = request();
	int fd;

	merged_mss = mss;
	mount_devices();
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	r.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
	if (fd < 0 || ioctl(fd, TUNSETIFF, &r))
		fail_errno("cannot make %s", TUN);
	if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN))
		fail_errno("cannot switch the offloads of %s on", TUN);
	set_address(SIOCSIFADDR, "192.168.0.1");
	set_address(SIOCSIFNETMASK, "255.255.0.0");
	tun_set_mtu(mtu);
	up("lo");
	up(TUN);
	route();
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
	struct virtio_net_hdr header = { 0 };
	struct iovec parts[] = { { &header, sizeof(header) }, { packet, size } };

	if (merged_mss && packet[9] == IPPROTO_TCP) {
		header.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
		header.gso_size = (uint16_t)merged_mss;
	}
	if (writev(tun, parts, 2) != (ssize_t)(sizeof(header) + size))
		fail_errno("cannot write to %s", TUN);
}
