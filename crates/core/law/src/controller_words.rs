//! The words that a host exchanges with the law of a controller.

use crate::words::{NONE, Words, words};
use shoal_cc::{AckSample, Connection, GrowthRules, LostPacket, RateSample, Signal, Window};

words! {
    /// A word of a controller's block.
    Word, WORD_DOCS, ANSWERS: [cwnd, ssthresh, cwnd_cnt, pacing_bytes_per_s, pacing_burst_packets, timer_ps, alpha] {
        /// Congestion window in units of `quantum`. Answer.
        cwnd,
        /// Slow-start threshold in the same units. Answer.
        ssthresh,
        /// Progress towards the next linear increase. Answer.
        cwnd_cnt,
        /// Upper bound of `cwnd`.
        clamp,
        /// Window units in one packet: 1 where windows count packets, the MSS where they count bytes.
        quantum,
        /// Bytes of packets with their headers that may leave in a second; 0 leaves the pace to the host. Answer.
        pacing_bytes_per_s,
        /// Packets that may leave at once at that pace; 0 leaves it to the host. Answer.
        pacing_burst_packets,
        /// When `on_timer` is to be called, once; NONE if it is not. Answer.
        timer_ps,
        /// Estimate of the marked fraction as a double, for output; not a number if there is none. Answer.
        alpha,
        /// What one ACK counts in congestion avoidance: 0 once, 1 each packet, 2 each byte.
        counting,
        /// What one ACK counts in slow start, likewise.
        slow_start_counting,
        /// Whether slow start is cwnd < ssthresh (1) or cwnd <= ssthresh (0).
        slow_start_is_below,
        /// Whether the host spreads what the window allows.
        is_paced,
        /// Time of the call, in picoseconds.
        now_ps,
        /// Payload bytes of a full segment.
        mss,
        /// Packets in flight (signals, timer, samples).
        in_flight,
        /// First unacknowledged byte of the stream.
        snd_una,
        /// Next byte of the stream to be sent.
        snd_nxt,
        /// Packets newly acknowledged; in `on_growth` on stacks that grow by deliveries the packets newly delivered.
        acked_packets,
        /// Bytes newly acknowledged.
        acked_bytes,
        /// Packets newly delivered: acknowledged, or for the first time selectively.
        delivered_packets,
        /// Packets among those delivered that are attributed to a CE mark.
        marked_packets,
        /// Packets in flight before the ACK.
        in_flight_before,
        /// Packets delivered since the connection began.
        delivered,
        /// Packets delivered with a CE mark since the connection began.
        delivered_ce,
        /// Round-trip time that the ACK measured, or NONE.
        rtt_ps,
        /// Smoothed round-trip time; 0 before the first sample.
        srtt_ps,
        /// Timestamp of the ACK in microseconds of its sender's clock, wrapping at 2^32.
        ts_val_us,
        /// Timestamp that the ACK echoes in microseconds of this host's clock; 0 if none.
        ts_ecr_us,
        /// Whether the ACK carries ECN-Echo.
        ece,
        /// Whether the ACK is a duplicate.
        duplicate,
        /// Whether the flow failed to fill its window.
        app_limited,
        /// Whether the endpoint is in CWR.
        in_cwr,
        /// Whether CWR or Recovery has already cut for this flight (`on_rto`).
        already_reduced,
        /// How long the connection had nothing in flight (`on_idle_restart`).
        idle_ps,
        /// Packets that were sent (`on_sent`).
        packets,
        /// Names the connection's random draws (`on_start`).
        seed,
        /// Packets delivered when the newest delivered packet was last sent.
        prior_delivered,
        /// Packets delivered since then, or NONE.
        sample_delivered,
        /// Time in which they were delivered, in microseconds; 0 if the sample is not valid.
        interval_us,
        /// Round-trip time of the last packet that the ACK delivers in microseconds, or NONE.
        sample_rtt_us,
        /// Packets that the ACK declares lost.
        losses,
        /// Packets that the ACK delivers.
        newly_delivered,
        /// Whether the application limited the rate when the newest of them was sent.
        sample_app_limited,
        /// Whether the receiver may have delayed the ACK.
        is_ack_delayed,
        /// Packets in flight when the newest of them had been sent, itself included.
        sent_in_flight,
        /// Packets declared lost since the newest of them was sent.
        lost_since_sent,
        /// When a packet was last delivered.
        delivered_at_ps,
        /// Packets ever declared lost.
        lost,
        /// Smallest round-trip time of the connection, or NONE.
        min_rtt_ps,
        /// State of loss recovery: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
        recovery,
        /// When the next segment may leave by the pacing so far.
        departure_ps,
        /// Whether what is in flight was limited by the application.
        is_app_limited,
        /// Whether the window was used up in the last round trip.
        is_cwnd_limited,
        /// Whether the peer sends selective acknowledgements.
        has_sack,
        /// Whether the packet before a lost one is not lost (`on_packet_lost`).
        begins_range,
    }
}

/// The words that carry a double; the others are whole numbers.
pub const DOUBLES: &[usize] = &[Word::alpha as usize];

/// Says which word carries which field, for both directions.
macro_rules! carried {
    ($(#[doc = $doc:literal])+ $record:ident in $set:ident and $get:ident { $($field:ident: $word:ident),* $(,)? }) => {
        impl Words {
            $(#[doc = $doc])+
            pub fn $set(&mut self, record: &$record) {
                $(self.set(Word::$word, record.$field);)*
            }
            $(#[doc = $doc])+
            pub fn $get(&self) -> $record {
                $record { $($field: self.get(Word::$word)),* }
            }
        }
    };
}

carried! {
    /// The window that endpoint and controller share.
    Window in set_window and window {
        cwnd: cwnd, ssthresh: ssthresh, cwnd_cnt: cwnd_cnt, clamp: clamp, quantum: quantum,
    }
}

carried! {
    /// The growth rules of the host.
    GrowthRules in set_rules and rules {
        counting: counting, slow_start_counting: slow_start_counting, slow_start_test: slow_start_is_below,
        is_paced: is_paced,
    }
}

carried! {
    /// An acknowledgement.
    AckSample in set_ack and ack {
        now: now_ps, acked_packets: acked_packets, acked_bytes: acked_bytes, delivered_packets: delivered_packets,
        marked_packets: marked_packets, in_flight_before: in_flight_before, delivered: delivered,
        delivered_ce: delivered_ce, snd_una: snd_una, snd_nxt: snd_nxt, mss: mss, rtt: rtt_ps, srtt: srtt_ps,
        ts_val: ts_val_us, ts_ecr: ts_ecr_us, ece: ece, duplicate: duplicate, app_limited: app_limited, in_cwr: in_cwr,
    }
}

carried! {
    /// A signal of congestion.
    Signal in set_signal and signal {
        now: now_ps, in_flight: in_flight, snd_una: snd_una, snd_nxt: snd_nxt, mss: mss,
    }
}

carried! {
    /// What a law of rate samples reads of the connection.
    Connection in set_connection and connection {
        now: now_ps, delivered: delivered, delivered_at: delivered_at_ps, lost: lost, in_flight: in_flight,
        srtt: srtt_ps,
        min_rtt: min_rtt_ps, mss: mss, recovery: recovery, departure: departure_ps, is_app_limited: is_app_limited,
        is_cwnd_limited: is_cwnd_limited, has_sack: has_sack,
    }
}

carried! {
    /// A sample of the delivery rate.
    RateSample in set_sample and sample {
        prior_delivered: prior_delivered, delivered: sample_delivered, interval_us: interval_us,
        rtt_us: sample_rtt_us, losses: losses, newly_delivered: newly_delivered, prior_in_flight: in_flight_before,
        is_app_limited: sample_app_limited, is_ack_delayed: is_ack_delayed, sent_in_flight: sent_in_flight,
        lost_since_sent: lost_since_sent,
    }
}

carried! {
    /// A lost packet.
    LostPacket in set_lost and lost_packet {
        sent_in_flight: sent_in_flight, lost_since_sent: lost_since_sent, is_app_limited: sample_app_limited,
        begins_range: begins_range,
    }
}

impl Words {
    /// The words of a controller before the first call.
    pub fn new(rules: &GrowthRules, values: impl Iterator<Item = f64>) -> Self {
        let mut words = Self::with_parameters(values);
        words.set_rules(rules);
        words.set(Word::timer_ps, NONE);
        words.set(Word::alpha, f64::NAN);
        words
    }
}
