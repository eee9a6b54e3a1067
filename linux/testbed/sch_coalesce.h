/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 OR MIT */
/* Netlink attributes of sch_coalesce, the interrupt moderation of a network card. */
#ifndef SHOAL_SCH_COALESCE_H
#define SHOAL_SCH_COALESCE_H

enum {
	TCA_COALESCE_UNSPEC,
	TCA_COALESCE_WAIT,	/* u64: ns from the first packet to the interrupt */
	TCA_COALESCE_FRAMES,	/* u32: the packet that raises the interrupt before that time; 0 or absent: none */
	TCA_COALESCE_RING,	/* u32: packets that may wait; 0 or absent: any number */
	__TCA_COALESCE_MAX,
};

#define TCA_COALESCE_MAX (__TCA_COALESCE_MAX - 1)

#endif
