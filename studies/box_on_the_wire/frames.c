/* Sends the packet of IP that it reads from its standard input, again and again at a rate, and prints how often it did.
 *
 * Usage: frames INTERFACE MBPS SECONDS, where MBPS counts bits of IP packets.
 *
 * Packets go straight to the device (PACKET_QDISC_BYPASS), those that are due with one call. Behind an interface of
 * Ethernet they have an address that nobody has, so that the host there throws them away first thing. The sender has
 * real-time priority, below that of the box, and waits awake. What it could not send since something else ran, it does
 * not make up for, beyond AT_ONCE packets.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 32, LONGEST = 1500, PRIORITY = 10 };

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **words)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_halen = ETH_ALEN };
	struct mmsghdr messages[AT_ONCE] = { 0 };
	static char packet[LONGEST];
	struct iovec part = { packet, 0 };
	long due, sent = 0;
	double begun, every;
	int line, on = 1;

	if (count != 4)
		errx(2, "usage: frames INTERFACE MBPS SECONDS");
	part.iov_len = fread(packet, 1, LONGEST, stdin);
	every = 8e-6 * part.iov_len / atof(words[2]);
	to.sll_ifindex = if_nametoindex(words[1]);
	to.sll_addr[0] = 2;
	for (int i = 0; i < AT_ONCE; i++)
		messages[i].msg_hdr = (struct msghdr){ &to, sizeof(to), &part, 1 };
	line = socket(AF_PACKET, SOCK_DGRAM, 0);
	if (line < 0 || setsockopt(line, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))
		err(1, "a raw socket");
	if (sched_setscheduler(0, SCHED_RR, &(struct sched_param){ PRIORITY }))
		err(1, "real-time priority");
	begun = now_s();
	for (double end = begun + atof(words[3]), now = begun; now < end; now = now_s()) {
		due = (now - begun) / every + 1 - sent;
		if (due > AT_ONCE) {
			begun += (due - AT_ONCE) * every;
			due = AT_ONCE;
		}
		if (due > 0) {
			int taken = sendmmsg(line, messages, due, 0);

			if (taken < 0 && errno != ENOBUFS)
				err(1, "%s", words[1]);
			/* A device without room has thrown the first of them away. */
			sent += taken > 0 ? taken : 1;
		}
	}
	printf("%ld\n", sent);
	return 0;
}
