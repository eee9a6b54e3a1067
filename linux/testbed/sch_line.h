/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 OR MIT */
/*
 * Interface of sch_line: netlink attributes and the records of /proc/shoal_line and /proc/shoal_capture.
 */
#ifndef SHOAL_SCH_LINE_H
#define SHOAL_SCH_LINE_H

#include <linux/types.h>

enum {
	TCA_LINE_UNSPEC,
	TCA_LINE_RATE,		/* u64: bit/s */
	TCA_LINE_OVERHEAD,	/* u32: bytes on the wire beyond the IP size */
	TCA_LINE_NUMBER,	/* u32: number of the link in the records, or LINE_UNRECORDED */
	TCA_LINE_TC_INDEX,	/* u32: a byte for each ECN codepoint, not-ECT in the lowest: skb->tc_index (gred) */
	TCA_LINE_CLASSES,	/* u32: handle of the child: a packet's class there is its port - LINE_FIRST_PORT + 1 */
	TCA_LINE_DELAY,		/* u64: propagation delay behind the transmitter in ns */
	TCA_LINE_RATES,		/* u64: changes of the rate among those written to /proc/shoal_line: first | count << 32 */
	TCA_LINE_DELAYS,	/* u64: changes of the delay, likewise */
	TCA_LINE_OPPORTUNITIES,	/* u64: one lap of opportunities to send, likewise; the line then has no rate */
	/* 64 bytes: for each DiffServ code point the class of the child TCA_LINE_CLASSES that its packets join */
	TCA_LINE_CODE_POINTS,
	__TCA_LINE_MAX,
};

#define TCA_LINE_MAX (__TCA_LINE_MAX - 1)

/* Destination port of flow 0. */
#define LINE_FIRST_PORT 10000

/* Number of a link that is not recorded. */
#define LINE_UNRECORDED 255

/* What is written to /proc/shoal_line: changes of lines, and then the time from which theirs count. */
enum line_order_kind {
	LINE_CHANGE,		/* appends a change */
	LINE_ORIGIN,		/* `at_ns` is the start on CLOCK_MONOTONIC; until it is written no line changes */
};

struct line_order {
	__u64 kind;		/* enum line_order_kind */
	__u64 at_ns;		/* of a change: after the start */
	__u64 value;		/* rate in bit/s, 0 while the line is down; propagation delay in ns; or, of opportunities to send,
				 * the bytes of this one and of all before it in the lap, which the last of them ends */
};

enum line_event {
	LINE_QUEUED,		/* the child accepted the packet */
	LINE_REFUSED,		/* dropped on arrival by the law (NET_XMIT_CN) */
	LINE_OVERFLOW,		/* dropped on arrival for lack of room (NET_XMIT_DROP) */
	LINE_STARTED,		/* transmission begins */
	LINE_DROPPED,		/* dropped on departure, after it had waited */
	LINE_EVICTED,		/* dropped because another packet arrived, after it had waited */
	LINE_ARRIVED,		/* only in captures: arrived at a device; `link` is the number of the interface */
};

/* One record: the packet, what happened, and what waits in the child after it. Native byte order. */
struct line_record {
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 queued_ns;	/* LINE_STARTED: time at which the packet was queued */
	__u32 ports;		/* source << 16 | destination */
	__u32 sequence;
	__u32 backlog_bytes;	/* sum of the IP sizes in the child */
	__u32 backlog_packets;
	__u16 size;		/* size of the IP packet in bytes */
	__u16 payload;		/* TCP payload in bytes */
	__u8 event;		/* enum line_event */
	__u8 ecn;		/* ECN field after the event; of packets that left: on arrival << 2; before the event << 4 */
	__u8 flags;		/* TCP flags */
	__u8 link;
};

#endif
