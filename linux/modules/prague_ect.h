/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ECT(1) on the packets of a socket.
 *
 * Linux 7.3 writes ECT(0) over accurate ECN whatever a congestion control asks for: tcp_ecn_send()
 * sets it before each packet, after the last function of a congestion control was called
 * (https://elixir.bootlin.com/linux/v7.0/source/net/ipv4/tcp_output.c; TCP_CONG_ECT_1_NEGOTIATION
 * concerns the handshake alone). What follows is the function of the address family that hands the
 * packet to IP, which reads the codepoint then. Sockets get a copy of that table, as those of SMC
 * and MPTCP do, whose function changes ECT(0) into ECT(1) first. Not-ECT, which the stack writes
 * where it mistrusts the path, stays.
 */
#ifndef _PRAGUE_ECT_H
#define _PRAGUE_ECT_H

#include <linux/spinlock.h>
#include <net/inet_connection_sock.h>
#include <net/inet_ecn.h>
#include <net/mptcp.h>

/* IPv4, IPv6, and IPv4 in a socket of IPv6. */
#define PRAGUE_FAMILIES	3

struct prague_family {
	struct inet_connection_sock_af_ops ops;
	const struct inet_connection_sock_af_ops *original;
};

static struct prague_family prague_families[PRAGUE_FAMILIES];
/* Protects the entries of prague_families while they are made; they stay as they are. */
static DEFINE_SPINLOCK(prague_families_lock);

static int prague_queue_xmit(struct sock *sk, struct sk_buff *skb, struct flowi *fl)
{
	const struct prague_family *family =
		container_of(inet_csk(sk)->icsk_af_ops, struct prague_family, ops);

	if ((inet_sk(sk)->tos & INET_ECN_MASK) == INET_ECN_ECT_0)
		__INET_ECN_xmit(sk, true);
	return family->original->queue_xmit(sk, skb, fl);
}

/* The copy of a table, made when the first socket has it; NULL: there are too many. */
static struct prague_family *prague_family_of(const struct inet_connection_sock_af_ops *ops)
{
	struct prague_family *family, *match = NULL;

	spin_lock_bh(&prague_families_lock);
	for (family = prague_families; family < prague_families + PRAGUE_FAMILIES; family++) {
		if (!family->original) {
			family->ops = *ops;
			family->ops.queue_xmit = prague_queue_xmit;
			family->original = ops;
		}
		if (family->original == ops) {
			match = family;
			break;
		}
	}
	spin_unlock_bh(&prague_families_lock);
	return match;
}

/*
 * Sends ECT(1) from now on; returns whether the socket can. A subflow of MPTCP has a table of its
 * own.
 */
static bool prague_ect_begin(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct prague_family *family;

	family = sk_is_mptcp(sk) ? NULL : prague_family_of(icsk->icsk_af_ops);
	if (family)
		WRITE_ONCE(icsk->icsk_af_ops, &family->ops);
	return family;
}

/* The socket leaves the module, unless somebody else has given it another table already. */
static void prague_ect_end(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (icsk->icsk_af_ops->queue_xmit == prague_queue_xmit)
		WRITE_ONCE(icsk->icsk_af_ops,
			   container_of(icsk->icsk_af_ops, struct prague_family, ops)->original);
}

#endif
