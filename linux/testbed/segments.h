/* SPDX-License-Identifier: GPL-2.0 */
/* Packets of a segment that TCP has handed over as one, as a network card splits it. */
#ifndef SHOAL_SEGMENTS_H
#define SHOAL_SEGMENTS_H

#include <linux/skbuff.h>

/*
 * Whether the packet belongs to a TCP socket of this host, which counts it until it has left (TCP small queues).
 * Forwarded packets belong to none.
 */
bool segments_owned(const struct sk_buff *skb);

/*
 * Splits a packet whose data begin at the network header into packets of one segment each, whose data begin there, too.
 * The answer is their list, or the packet itself if it has one segment only; null if there is no memory.
 */
struct sk_buff *segments_of(struct sk_buff *skb);

#endif
