/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * UDP datagrams at given times, independent of congestion: each one carries its number and its time
 * of sending.
 */
#define _GNU_SOURCE
#include "flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Bytes of the IPv4 and UDP headers. */
#define HEADERS 28
#define RECEIVE_BUFFER (64 << 20)

struct stamp {
	uint64_t number, sent;
};

static char packet[1 << 16];

static int datagram_socket(int host, uint32_t address, uint32_t number)
{
	struct sockaddr_in own = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)(FIRST_PORT + number)), .sin_addr.s_addr = address,
	};
	int fd;

	host_enter(host);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (void *)&own, sizeof(own)))
		fail_errno("cannot make a socket for datagrams");
	return fd;
}

static void set(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		fail_errno("cannot set an option of datagrams");
}

static void schedule(uint32_t number, uint64_t after)
{
	struct flow *flow = &flows[number];

	flow->next_at = after + gaps_next(&flow->gaps, flow->plan.interval);
	agenda_add(flow->next_at, TASK_WORK, number);
}

void datagrams_open(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];
	struct sockaddr_in there = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)(FIRST_PORT + number)),
		.sin_addr.s_addr = flow->plan.destination,
	};

	flow->receiver = datagram_socket(flow->plan.receiver, flow->plan.destination, number);
	set(flow->receiver, IPPROTO_IP, IP_RECVTOS, 1);
	set(flow->receiver, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER);
	watch(flow->receiver, EPOLLIN, ROLE_SINK, number);
	flow->sender = datagram_socket(flow->plan.sender, flow->plan.source, number);
	set(flow->sender, IPPROTO_IP, IP_TOS, (int)(flow->plan.ecn | flow->plan.code_point << 2));
	if (connect(flow->sender, (void *)&there, sizeof(there)))
		fail_errno("cannot connect datagrams");
	/* A Poisson process has no packet at its start. */
	if (flow->gaps.count)
		schedule(number, now);
	else
		datagram_send(number, now);
}

void datagram_send(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];
	struct stamp stamp = { .number = flow->begun++, .sent = now - origin };
	size_t size = flow->plan.bytes - HEADERS;

	if (flow->stopped)
		return;
	memcpy(packet, &stamp, sizeof(stamp));
	if (send(flow->sender, packet, size, 0) < 0)
		fail_errno("cannot send a datagram");
	report(number, REC_SENT, now, 0);
	schedule(number, now);
}

/* The ECN field of a received packet. */
static int ecn_of(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			return *(unsigned char *)CMSG_DATA(c) & 3;
	return 0;
}

void datagrams_receive(uint32_t number, uint64_t now)
{
	for (;;) {
		struct stamp stamp;
		char control[64];
		struct iovec part = { &stamp, sizeof(stamp) };
		struct msghdr message = {
			.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
		};
		struct flow_record record = { .time_ns = now - origin, .flow = number, .kind = REC_RECEIVED };
		ssize_t size = recvmsg(flows[number].receiver, &message, MSG_TRUNC);

		if (size < 0)
			return;
		record.ecn = ecn_of(&message) == 3 ? ECN_CE : 0;
		record.received = stamp.number;
		record.transfers_begun = stamp.sent;
		output_record(&record);
	}
}
