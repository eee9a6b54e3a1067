/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Settings of hosts: kernel parameters, and offloads of network cards. Each is read back: one without effect ends the
 * guest.
 */
#define _GNU_SOURCE
#include "guest.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Attributes that <linux/if_link.h> has since Linux 6.3. */
#define GSO_IPV4_MAX_SIZE 63
#define GRO_IPV4_MAX_SIZE 64

/* Reads a kernel parameter, with single blanks between its words. */
void sysctl_read(int host, const char *path, char *into, size_t room)
{
	char file[256], *word, *rest, raw[256];
	ssize_t size = -1;
	int fd;

	host_enter(host);
	snprintf(file, sizeof(file), "/proc/sys/%s", path);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		size = read(fd, raw, sizeof(raw) - 1);
	if (size < 0)
		fail_errno("%s: cannot read %s", host_name(host), path);
	close(fd);
	raw[size] = 0;
	*into = 0;
	rest = raw;
	while ((word = strsep(&rest, " \t\n")) != NULL) {
		if (strlen(into) + strlen(word) + 2 > room)
			fail("the value of %s is too long", path);
		if (*word)
			strcat(strcat(into, *into ? " " : ""), word);
	}
}

bool sysctl_try(int host, const char *path, const char *value)
{
	char file[256];
	bool written;
	int fd;

	host_enter(host);
	snprintf(file, sizeof(file), "/proc/sys/%s", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	written = write(fd, value, strlen(value)) >= 0;
	close(fd);
	return written;
}

void sysctl_write(int host, const char *path, const char *value)
{
	if (!sysctl_try(host, path, value))
		fail_errno("%s: cannot set %s to `%s`", host_name(host), path, value);
}

void sysctl_set(int host, const char *path, const char *value)
{
	char found[256];

	sysctl_write(host, path, value);
	sysctl_read(host, path, found, sizeof(found));
	/* Numbers stay as they are; names may come back in another order. */
	if (strspn(value, "-0123456789 ") == strlen(value) && strcmp(found, value))
		fail("%s: %s is `%s` after it was set to `%s`", host_name(host), path, found, value);
}

/* The value of a switch of `ethtool -K`, after it was set if `on` is not negative. */
static bool offload(int host, const char *device, uint32_t get, uint32_t set, int on)
{
	struct ethtool_value value = { .cmd = get };
	struct ifreq request = { .ifr_data = (void *)&value };
	int fd;

	host_enter(host);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(request.ifr_name, IFNAMSIZ, "%s", device);
	if (on >= 0) {
		value = (struct ethtool_value){ .cmd = set, .data = (uint32_t)on };
		if (ioctl(fd, SIOCETHTOOL, &request))
			fail_errno("%s: cannot set the offloads of `%s`", host_name(host), device);
		value = (struct ethtool_value){ .cmd = get };
	}
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request))
		fail_errno("%s: cannot read the offloads of `%s`", host_name(host), device);
	close(fd);
	if (on >= 0 && value.data != (uint32_t)on)
		fail("%s: an offload of `%s` cannot be switched %s", host_name(host), device, on ? "on" : "off");
	return value.data;
}

/* Switches off segmentation and merging below TCP: every packet stays one packet. */
void offloads_off(int host, const char *device)
{
	offload(host, device, ETHTOOL_GTSO, ETHTOOL_STSO, 0);
	offload(host, device, ETHTOOL_GGSO, ETHTOOL_SGSO, 0);
	offload(host, device, ETHTOOL_GGRO, ETHTOOL_SGRO, 0);
}

/* The MTU, and what `ip -d link` shows of the sizes of segments, with its names. */
static const struct {
	const char *name;
	int attribute;
} sizes[] = {
	{ "mtu", IFLA_MTU },
	{ "gso_max_size", IFLA_GSO_MAX_SIZE },
	{ "gso_max_segs", IFLA_GSO_MAX_SEGS },
	{ "gro_max_size", IFLA_GRO_MAX_SIZE },
	/* Of IPv4 packets; setting the other one to at most 64 KiB sets this one too. */
	{ "gso_ipv4_max_size", GSO_IPV4_MAX_SIZE },
	{ "gro_ipv4_max_size", GRO_IPV4_MAX_SIZE },
};
#define SIZES (sizeof(sizes) / sizeof(*sizes))

static void read_sizes(int host, const char *device, uint32_t into[SIZES])
{
	char answer[16384];
	int left;
	const struct rtattr *a = link_attributes(host, host_device(host, device), answer, sizeof(answer), &left);

	memset(into, 0, SIZES * sizeof(*into));
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		for (size_t i = 0; i < SIZES; i++)
			if (a->rta_type == sizes[i].attribute)
				memcpy(&into[i], RTA_DATA(a), sizeof(*into));
}

void nic_set(int host, const char *device, const char *name, uint32_t value)
{
	struct message m;
	struct ifinfomsg link = { .ifi_index = (int)host_device(host, device) };
	uint32_t found[SIZES];
	static const struct {
		const char *name;
		uint32_t get, set;
	} offloads[] = {
		/* With GRO veth receives with NAPI, if its peer does not do TSO (`veth_skb_is_eligible_for_gro`). */
		{ "gro", ETHTOOL_GGRO, ETHTOOL_SGRO },
		{ "gso", ETHTOOL_GGSO, ETHTOOL_SGSO },
		{ "tso", ETHTOOL_GTSO, ETHTOOL_STSO },
	};

	for (size_t i = 0; i < sizeof(offloads) / sizeof(*offloads); i++)
		if (strcmp(name, offloads[i].name) == 0) {
			offload(host, device, offloads[i].get, offloads[i].set, value != 0);
			return;
		}
	for (size_t i = 0; i < SIZES; i++) {
		if (strcmp(name, sizes[i].name))
			continue;
		message_start(&m, RTM_NEWLINK, 0, &link, sizeof(link));
		message_put_u32(&m, sizes[i].attribute, value);
		host_request(host, &m, name);
		read_sizes(host, device, found);
		if (found[i] != value)
			fail("%s: %s of `%s` is %u after it was set to %u", host_name(host), name, device, found[i], value);
		return;
	}
	fail("a network card has no `%s`", name);
}

void nic_sizes(int host, const char *device, char *into, size_t room)
{
	uint32_t found[SIZES];
	size_t used = 0;

	read_sizes(host, device, found);
	for (size_t i = 1; i < SIZES; i++)
		used += (size_t)snprintf(into + used, room - used, "%s%s %u", i > 1 ? " " : "", sizes[i].name, found[i]);
}

void nic_offloads(int host, const char *device, char *into, size_t room)
{
	const char *states[] = { "off", "on" };

	snprintf(into, room, "tcp-segmentation-offload: %s, generic-segmentation-offload: %s, generic-receive-offload: %s",
		 states[offload(host, device, ETHTOOL_GTSO, 0, -1)], states[offload(host, device, ETHTOOL_GGSO, 0, -1)],
		 states[offload(host, device, ETHTOOL_GGRO, 0, -1)]);
}
