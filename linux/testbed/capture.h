/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHOAL_CAPTURE_H
#define SHOAL_CAPTURE_H

#include <linux/skbuff.h>
#include "sch_line.h"

/* Creates /proc/shoal_capture. Without it capture_packet() keeps nothing. */
int capture_init(void);
void capture_exit(void);

/* Whether unread packets fill half of the buffer. */
bool capture_half_full(void);

/* Keeps a packet, whose data begin with its IP header, behind its record. */
void capture_packet(const struct line_record *about, const struct sk_buff *skb);

#endif
