/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rate mode of TCP Prague: where the window is a few packets, or less than one, the state is a
 * rate. Each virtual round trip adds one packet (or 1500 bytes) per virtual round trip to it, less
 * what was marked; cwnd is as large as the rate needs. A part of law/prague.h.
 */
#ifndef _SHOAL_LAW_PRAGUE_RATE_H
#define _SHOAL_LAW_PRAGUE_RATE_H

/* Largest window that is a rate, and smallest packet, in bytes. */
#define PRAGUE_RATE_WINDOW	(4 * PRAGUE_REFERENCE)
#define PRAGUE_SMALLEST_PACKET	150u
/* What the halves of a virtual round trip differ from the rate by: 4/128. */
#define PRAGUE_SWING		4
#define PRAGUE_SWING_BITS	7
/* Most bytes that a rate sends in a round trip: numbers of packets have 20 more bits. */
#define PRAGUE_BYTES_MOST	(U64_MAX >> 20)

/* Bytes of the rate in @span eighths of a microsecond. */
static inline u64 law_prague_bytes(const struct law_prague *law, u64 span)
{
	u64 bytes = law_prague_ratio((u64)law->value, span, PRAGUE_SECOND) >> PRAGUE_RATE_BITS;

	return law_min64(bytes, PRAGUE_BYTES_MOST);
}

/* Size of the packets in use. */
static inline u32 law_prague_packet(const struct law_prague *law, u32 mtu)
{
	return law->packet ? law_min32(law->packet, mtu) : mtu;
}

/*
 * Adds (unit / round) (packet / round) / rate, each in B/s, for each of @acked packets. The rate is
 * never zero.
 */
static inline void law_prague_increase_rate(struct law_prague *law,
					    const struct law_prague_policy *policy,
					    const struct law_prague_ack *ack, u32 acked,
					    u64 round)
{
	u32 packet = law_prague_packet(law, ack->mtu);
	u32 unit = policy->bytes_1500 ? PRAGUE_REFERENCE : packet;
	u64 per_round, packets, added;

	if (!round)
		round = 1;
	per_round = law_div(law_mul(unit, PRAGUE_SECOND), round);
	packets = law_mul(law_div(law_mul(packet, PRAGUE_SECOND), round),
			  law_min32(acked, 1u << 24));
	added = law_prague_ratio(packets, law_shl(per_round, 2 * PRAGUE_RATE_BITS),
				 (u64)law->value);
	law->value = law_prague_clip(law_sum((u64)law->value, law_min64(added, PRAGUE_MOST)));
}

/* cwnd follows what the faster half of a round needs, at least the smallest window. */
static inline void law_prague_step_to_rate(const struct law_prague *law, struct law_window *win,
					   const struct law_prague_ack *ack)
{
	u64 bytes = law_prague_bytes(law, ack->srtt);
	u64 faster = law_sum(bytes, law_mul(bytes, PRAGUE_SWING) >> PRAGUE_SWING_BITS);
	u32 packet = law_max32(law_prague_packet(law, ack->mtu), 1);
	u64 packets = law_div(law_sum(faster, packet - 1), packet);

	if (packets < PRAGUE_LOWEST)
		packets = PRAGUE_LOWEST;
	if (win->cwnd < packets && win->cwnd < win->clamp)
		win->cwnd++;
	else if (win->cwnd > packets)
		law_prague_step_down(win);
}

/* Goes over to the rate mode, or back, as the window demands. */
static inline void law_prague_choose_mode(struct law_prague *law, struct law_window *win,
					  const struct law_prague_ack *ack)
{
	if (law->is_rate) {
		u64 bytes = law_prague_bytes(law, ack->srtt);

		if (bytes <= PRAGUE_RATE_WINDOW) {
			law_prague_step_to_rate(law, win, ack);
			return;
		}
		law->is_rate = 0;
		law->packet = 0;
		law->value = law_prague_clip(law_div(law_shl(bytes, PRAGUE_BITS),
						     law_max32(ack->mtu, 1))) -
			     (s64)win->cwnd * PRAGUE_ONE;
	} else if (law_mul(win->cwnd, ack->mtu) <= PRAGUE_RATE_WINDOW && ack->srtt) {
		u64 window = (u64)law_prague_window(law, win);
		u64 rate = law_prague_ratio(window, law_mul(ack->mtu, PRAGUE_SECOND),
					    law_shl(ack->srtt, PRAGUE_BITS - PRAGUE_RATE_BITS));

		law->is_rate = 1;
		law->value = law_prague_max(law_prague_clip(rate), PRAGUE_LOWEST_RATE);
	}
}

/* Chooses the packet size such that two packets fit into a virtual round trip. */
static inline void law_prague_size_packets(struct law_prague *law,
					   const struct law_prague_policy *policy,
					   const struct law_prague_ack *ack)
{
	u32 most = law_min32(ack->mtu, U16_MAX);
	u64 half;

	law->packet = 0;
	if (!law->is_rate)
		return;
	half = law_prague_bytes(law, law_prague_round(policy, ack->srtt)) / 2;
	half = half < PRAGUE_SMALLEST_PACKET ? PRAGUE_SMALLEST_PACKET : half;
	law->packet = (u16)law_min64(half, most);
}

/* The rate with the swing of this half of the round, in B/s. */
static inline u64 law_prague_paced_rate(const struct law_prague *law)
{
	s64 swing = (law->value >> PRAGUE_SWING_BITS) * PRAGUE_SWING;

	return (u64)(law->first_half ? law->value + swing : law->value - swing) >> PRAGUE_RATE_BITS;
}

#endif
