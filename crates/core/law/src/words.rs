//! The words that host and law exchange: the one place that knows where each of them is.
//!
//! A law's module has a block of [`WORDS`] words of 64 bits, little-endian, in its memory. Before a call the host writes
//! all of them, and after it reads those that are answers. Times are picoseconds, and a word that has no value is
//! [`NONE`]. The header for C has the same words; a test compares both.

use crate::word::Carried;
use shoal_cc::{AckSample, Connection, GrowthRules, LostPacket, RateSample, Signal, Window};

/// Number of words.
pub const WORDS: usize = 72;
/// Number of bytes.
pub const BYTES: usize = WORDS * 8;
/// Most parameters that a law may have.
pub const MOST_PARAMETERS: usize = 16;
/// What a word without a value has.
pub const NONE: u64 = u64::MAX;

/// Declares words from 0 on: their names, which are those of the fields in C.
macro_rules! words {
    ($($(#[doc = $doc:literal])+ $name:ident),* $(,)?) => {
        /// A word of the block. Words are called as they are in C.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #[repr(usize)]
        pub enum Word { $($(#[doc = $doc])+ $name,)* }

        /// Names and sentences of all words but the parameters, in their order.
        pub const WORD_DOCS: &[(&str, &str)] = &[$((stringify!($name), concat!($($doc),+)),)*];
    };
}

words! {
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
    timer,
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
    /// Time of the call.
    now,
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
    rtt,
    /// Smoothed round-trip time; 0 before the first sample.
    srtt,
    /// Timestamp of the ACK in microseconds of its sender's clock, wrapping at 2^32.
    ts_val,
    /// Timestamp that the ACK echoes in microseconds of this host's clock; 0 if none.
    ts_ecr,
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
    idle,
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
    delivered_at,
    /// Packets ever declared lost.
    lost,
    /// Smallest round-trip time of the connection, or NONE.
    min_rtt,
    /// State of loss recovery: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    recovery,
    /// When the next segment may leave by the pacing so far.
    departure,
    /// Whether what is in flight was limited by the application.
    is_app_limited,
    /// Whether the window was used up in the last round trip.
    is_cwnd_limited,
    /// Whether the peer sends selective acknowledgements.
    has_sack,
    /// Whether the packet before a lost one is not lost (`on_packet_lost`).
    begins_range,
}

const _: () = assert!(WORD_DOCS.len() + MOST_PARAMETERS <= WORDS);

/// Place of the first parameter.
pub const PARAMETERS: usize = WORDS - MOST_PARAMETERS;

/// The words of one law in one connection.
#[derive(Clone, Debug)]
pub struct Words(pub [u64; WORDS]);

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
        now: now, acked_packets: acked_packets, acked_bytes: acked_bytes, delivered_packets: delivered_packets,
        marked_packets: marked_packets, in_flight_before: in_flight_before, delivered: delivered,
        delivered_ce: delivered_ce, snd_una: snd_una, snd_nxt: snd_nxt, mss: mss, rtt: rtt, srtt: srtt,
        ts_val: ts_val, ts_ecr: ts_ecr, ece: ece, duplicate: duplicate, app_limited: app_limited, in_cwr: in_cwr,
    }
}

carried! {
    /// A signal of congestion.
    Signal in set_signal and signal {
        now: now, in_flight: in_flight, snd_una: snd_una, snd_nxt: snd_nxt, mss: mss,
    }
}

carried! {
    /// What a law of rate samples reads of the connection.
    Connection in set_connection and connection {
        now: now, delivered: delivered, delivered_at: delivered_at, lost: lost, in_flight: in_flight, srtt: srtt,
        min_rtt: min_rtt, mss: mss, recovery: recovery, departure: departure, is_app_limited: is_app_limited,
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
    /// The words before the first call.
    pub fn new(rules: &GrowthRules, values: impl Iterator<Item = f64>) -> Self {
        let mut words = Self([0; WORDS]);
        for (place, value) in words.0[PARAMETERS..].iter_mut().zip(values) {
            *place = value.to_bits();
        }
        words.set_rules(rules);
        words.set(Word::timer, NONE);
        words.set(Word::alpha, f64::NAN);
        words
    }

    /// What a word carries.
    pub fn get<T: Carried>(&self, word: Word) -> T {
        T::of_word(self.0[word as usize])
    }

    /// Sets a word.
    pub fn set<T: Carried>(&mut self, word: Word, value: T) {
        self.0[word as usize] = value.to_word();
    }

    /// The value of parameter `number`.
    pub fn parameter(&self, number: usize) -> f64 {
        f64::from_bits(self.0[PARAMETERS + number])
    }

    /// Writes all words into a law's memory.
    pub fn write_to(&self, memory: &mut [u8]) {
        for (place, word) in memory.chunks_exact_mut(8).zip(&self.0) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Takes over the answers; what the host alone says stays.
    pub fn read_answers(&mut self, memory: &[u8]) {
        for word in [
            Word::cwnd,
            Word::ssthresh,
            Word::cwnd_cnt,
            Word::pacing_bytes_per_s,
            Word::pacing_burst_packets,
            Word::timer,
            Word::alpha,
        ] {
            let place = word as usize * 8;
            if let Some(Ok(bytes)) = memory.get(place..place + 8).map(<[u8; 8]>::try_from) {
                self.0[word as usize] = u64::from_le_bytes(bytes);
            }
        }
    }
}
