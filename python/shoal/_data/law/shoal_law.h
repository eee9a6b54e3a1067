/* The interface of laws of controllers from files, for C. Generated (make generate);
 * docs/how-to/write-your-own-law.md explains it.
 *
 *   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o mine.wasm mine.c
 *
 * A law is a module without a clock, files or a network. Before each call the host writes the words below, and after
 * it reads those that are answers. SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef SHOAL_LAW_H
#define SHOAL_LAW_H

#include <stddef.h>
#include <stdint.h>

/* What a word without a value has. */
#define SHOAL_NONE UINT64_MAX

struct shoal_words {
	/* Congestion window in units of `quantum`. Answer. */
	uint64_t cwnd;
	/* Slow-start threshold in the same units. Answer. */
	uint64_t ssthresh;
	/* Progress towards the next linear increase. Answer. */
	uint64_t cwnd_cnt;
	/* Upper bound of `cwnd`. */
	uint64_t clamp;
	/* Window units in one packet: 1 where windows count packets, the MSS where they count bytes. */
	uint64_t quantum;
	/* Bytes of packets with their headers that may leave in a second; 0 leaves the pace to the host. Answer. */
	uint64_t pacing_bytes_per_s;
	/* Packets that may leave at once at that pace; 0 leaves it to the host. Answer. */
	uint64_t pacing_burst_packets;
	/* When `on_timer` is to be called, once; NONE if it is not. Answer. */
	uint64_t timer_ps;
	/* Estimate of the marked fraction as a double, for output; not a number if there is none. Answer. */
	double alpha;
	/* What one ACK counts in congestion avoidance: 0 once, 1 each packet, 2 each byte. */
	uint64_t counting;
	/* What one ACK counts in slow start, likewise. */
	uint64_t slow_start_counting;
	/* Whether slow start is cwnd < ssthresh (1) or cwnd <= ssthresh (0). */
	uint64_t slow_start_is_below;
	/* Whether the host spreads what the window allows. */
	uint64_t is_paced;
	/* Time of the call, in picoseconds. */
	uint64_t now_ps;
	/* Payload bytes of a full segment. */
	uint64_t mss;
	/* Packets in flight (signals, timer, samples). */
	uint64_t in_flight;
	/* First unacknowledged byte of the stream. */
	uint64_t snd_una;
	/* Next byte of the stream to be sent. */
	uint64_t snd_nxt;
	/* Packets newly acknowledged; in `on_growth` on stacks that grow by deliveries the packets newly
	 * delivered. */
	uint64_t acked_packets;
	/* Bytes newly acknowledged. */
	uint64_t acked_bytes;
	/* Packets newly delivered: acknowledged, or for the first time selectively. */
	uint64_t delivered_packets;
	/* Packets among those delivered that are attributed to a CE mark. */
	uint64_t marked_packets;
	/* Packets in flight before the ACK. */
	uint64_t in_flight_before;
	/* Packets delivered since the connection began. */
	uint64_t delivered;
	/* Packets delivered with a CE mark since the connection began. */
	uint64_t delivered_ce;
	/* Round-trip time that the ACK measured, or NONE. */
	uint64_t rtt_ps;
	/* Smoothed round-trip time; 0 before the first sample. */
	uint64_t srtt_ps;
	/* Timestamp of the ACK in microseconds of its sender's clock, wrapping at 2^32. */
	uint64_t ts_val_us;
	/* Timestamp that the ACK echoes in microseconds of this host's clock; 0 if none. */
	uint64_t ts_ecr_us;
	/* Whether the ACK carries ECN-Echo. */
	uint64_t ece;
	/* Whether the ACK is a duplicate. */
	uint64_t duplicate;
	/* Whether the flow failed to fill its window. */
	uint64_t app_limited;
	/* Whether the endpoint is in CWR. */
	uint64_t in_cwr;
	/* Whether CWR or Recovery has already cut for this flight (`on_rto`). */
	uint64_t already_reduced;
	/* How long the connection had nothing in flight (`on_idle_restart`). */
	uint64_t idle_ps;
	/* Packets that were sent (`on_sent`). */
	uint64_t packets;
	/* Names the connection's random draws (`on_start`). */
	uint64_t seed;
	/* Packets delivered when the newest delivered packet was last sent. */
	uint64_t prior_delivered;
	/* Packets delivered since then, or NONE. */
	uint64_t sample_delivered;
	/* Time in which they were delivered, in microseconds; 0 if the sample is not valid. */
	uint64_t interval_us;
	/* Round-trip time of the last packet that the ACK delivers in microseconds, or NONE. */
	uint64_t sample_rtt_us;
	/* Packets that the ACK declares lost. */
	uint64_t losses;
	/* Packets that the ACK delivers. */
	uint64_t newly_delivered;
	/* Whether the application limited the rate when the newest of them was sent. */
	uint64_t sample_app_limited;
	/* Whether the receiver may have delayed the ACK. */
	uint64_t is_ack_delayed;
	/* Packets in flight when the newest of them had been sent, itself included. */
	uint64_t sent_in_flight;
	/* Packets declared lost since the newest of them was sent. */
	uint64_t lost_since_sent;
	/* When a packet was last delivered. */
	uint64_t delivered_at_ps;
	/* Packets ever declared lost. */
	uint64_t lost;
	/* Smallest round-trip time of the connection, or NONE. */
	uint64_t min_rtt_ps;
	/* State of loss recovery: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss. */
	uint64_t recovery;
	/* When the next segment may leave by the pacing so far. */
	uint64_t departure_ps;
	/* Whether what is in flight was limited by the application. */
	uint64_t is_app_limited;
	/* Whether the window was used up in the last round trip. */
	uint64_t is_cwnd_limited;
	/* Whether the peer sends selective acknowledgements. */
	uint64_t has_sack;
	/* Whether the packet before a lost one is not lost (`on_packet_lost`). */
	uint64_t begins_range;
	/* Values of the parameters, in the order in which the module declares them. */
	double parameter[16];
};

_Static_assert(sizeof(struct shoal_words) == 8 * 72, "the host and this file agree");

/* A module is one file of C, and has one block of words. */
static struct shoal_words shoal;

/* Defines a function that the host calls, as in SHOAL_CALL(on_loss) { ...; return 0; } */
#define SHOAL_CALL(name) \
	__attribute__((export_name(#name))) int32_t name(void); \
	int32_t name(void)

/* What the module says of itself: a text in JSON. */
#define SHOAL_DESCRIBE(text) \
	SHOAL_CALL(shoal_io) \
	{ \
		return (int32_t)(uintptr_t)&shoal; \
	} \
	SHOAL_CALL(shoal_describe) \
	{ \
		return (int32_t)(uintptr_t)(text); \
	}

static inline uint64_t shoal_min(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static inline uint64_t shoal_max(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* Ways in which stacks count ACKs. */
enum { SHOAL_PER_ACK = 0, SHOAL_PER_PACKET = 1, SHOAL_PER_BYTE = 2 };

/* Whether the window is in slow start by the host's own test. */
static inline int shoal_in_slow_start(void)
{
	return shoal.slow_start_is_below ? shoal.cwnd < shoal.ssthresh : shoal.cwnd <= shoal.ssthresh;
}

/* What the ACK acknowledges, in packets or, where windows count bytes, in bytes. */
static inline uint64_t shoal_acked(void)
{
	return shoal.counting == SHOAL_PER_BYTE ? shoal.acked_bytes : shoal.acked_packets;
}

/* Slow start by the host's rules for one ACK; returns what is left over for congestion avoidance. */
static inline uint64_t shoal_slow_start(uint64_t acked)
{
	uint64_t grown = shoal.cwnd + acked, left;

	switch (shoal.slow_start_counting) {
	case SHOAL_PER_ACK:
		shoal.cwnd_cnt += shoal.cwnd;
		while (shoal.cwnd_cnt >= shoal.cwnd) {
			shoal.cwnd_cnt -= shoal.cwnd;
			if (shoal.cwnd < shoal.clamp)
				shoal.cwnd++;
		}
		return 0;
	case SHOAL_PER_BYTE:
		shoal.cwnd = shoal_min(grown, shoal.clamp);
		shoal.cwnd_cnt = 0;
		return 0;
	default:
		if (!shoal.slow_start_is_below) {
			shoal.cwnd = shoal_min(shoal_min(grown, shoal.ssthresh + 1), shoal.clamp);
			return 0;
		}
		grown = shoal_min(grown, shoal.ssthresh);
		left = acked - (grown - shoal.cwnd);
		shoal.cwnd = shoal_min(grown, shoal.clamp);
		return left;
	}
}

/* Linear growth by the host's rules: a packet more for every `every` ACKs, packets or bytes. */
static inline void shoal_linear(uint64_t every, uint64_t acked)
{
	every = shoal_max(every, 1);
	switch (shoal.counting) {
	case SHOAL_PER_ACK:
		if (shoal.cwnd_cnt < every) {
			shoal.cwnd_cnt++;
			return;
		}
		if (shoal.cwnd < shoal.clamp)
			shoal.cwnd++;
		shoal.cwnd_cnt = 0;
		return;
	case SHOAL_PER_BYTE:
		shoal.cwnd_cnt += acked;
		if (shoal.cwnd_cnt >= every) {
			shoal.cwnd_cnt -= every;
			shoal.cwnd = shoal_min(shoal.cwnd + shoal.quantum, shoal.clamp);
		}
		return;
	default:
		if (shoal.cwnd_cnt >= every) {
			shoal.cwnd_cnt = 0;
			shoal.cwnd++;
		}
		shoal.cwnd_cnt += acked;
		shoal.cwnd += shoal.cwnd_cnt / every;
		shoal.cwnd_cnt %= every;
		shoal.cwnd = shoal_min(shoal.cwnd, shoal.clamp);
	}
}

/* Growth as in Reno: slow start, or else a packet more each window. */
static inline void shoal_reno(void)
{
	uint64_t acked = shoal_acked();

	if (shoal.app_limited)
		return;
	if (shoal_in_slow_start()) {
		acked = shoal_slow_start(acked);
		if (!acked)
			return;
	}
	shoal_linear(shoal.cwnd, acked);
}

/* This part of the window in whole packets, but two at least. */
static inline uint64_t shoal_part(uint64_t numerator, uint64_t denominator)
{
	return shoal_max(shoal.cwnd * numerator / denominator / shoal.quantum, 2) * shoal.quantum;
}

/* The functions that a law of controllers may have; on_growth and on_loss it must have.
 *
 * on_init: The connection is made, and the parameters have their values; answers 0, or the address of a text
 *     that says what is wrong with them.
 * on_established: The connection is established.
 * on_ack: An ACK arrived, before any window logic.
 * on_growth: The window may grow.
 * on_ecn: The first ECN-Echo of an episode: sets ssthresh. Answers 0 if the endpoint is to bring cwnd there, 1
 *     if cwnd is already as it should be. Without it, `on_loss` is called.
 * on_ece_in_cwr: A further ACK with ECN-Echo in CWR.
 * on_loss: Fast recovery begins: sets ssthresh.
 * on_loss_in_cwr: Fast recovery begins during a reduction for ECN. Answers 1 if that reduction counts from the
 *     present window.
 * on_rto: A retransmission timeout: sets ssthresh. Without it, `on_loss` is called unless the flight was cut
 *     already.
 * on_exit: An episode (CWR, Recovery or Loss) ended.
 * on_recovered: Fast recovery or an ECN episode ended on a FreeBSD stack. Without it, `on_exit` is called.
 * on_idle_restart: Sending resumes after the connection had nothing in flight for `idle`.
 * on_idle_beyond_rto: That was longer than the retransmission timeout (FreeBSD).
 * on_sent: New packets were sent.
 * on_timer: The time in the word `timer` has come.
 * undo_cwnd: A reduction was spurious: answers the window to restore. Without it, the larger of cwnd and twice
 *     ssthresh.
 * rate_halving_floor: Answers the lowest cwnd that rate halving may reach. Without it, ssthresh.
 * on_start: A law of rate samples: the connection is open.
 * on_packet_lost: A law of rate samples: an ACK declares a packet lost.
 * on_sample: A law of rate samples: the end of the processing of an ACK; sets cwnd in every state. Answers 1 if
 *     the law keeps the flow below what it could send.
 * on_restart: A law of rate samples: sending resumes with nothing in flight.
 * on_timeout: A law of rate samples: a retransmission timeout has passed.
 * on_undo: A law of rate samples: a reduction was spurious.
 */
#endif
