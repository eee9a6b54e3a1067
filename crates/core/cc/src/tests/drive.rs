//! Growth rules of hosts, and the ACKs of a stream.

use crate::{AckCounting, AckSample, GrowthRules, Signal, SlowStartTest};
use shoal_units::{Span, Time};

pub(crate) const MSS: u32 = 1448;

/// Linux 3.2: ACKs counted, `cwnd <= ssthresh` is slow start.
pub(crate) const LINUX_3_2: GrowthRules = GrowthRules {
    counting: AckCounting::PerAck,
    slow_start_test: SlowStartTest::BelowOrAt,
    slow_start_counting: AckCounting::PerAck,
};
/// Linux 3.18.
pub(crate) const LINUX_3_18: GrowthRules =
    GrowthRules { slow_start_counting: AckCounting::PerPacket, ..LINUX_3_2 };
/// Current Linux.
pub(crate) const LINUX_6: GrowthRules = GrowthRules {
    counting: AckCounting::PerPacket,
    slow_start_test: SlowStartTest::Below,
    slow_start_counting: AckCounting::PerPacket,
};

/// FreeBSD: bytes counted.
pub(crate) const FREEBSD: GrowthRules = GrowthRules {
    counting: AckCounting::Bytes,
    slow_start_test: SlowStartTest::BelowOrAt,
    slow_start_counting: AckCounting::Bytes,
};

/// The stream as its sender sees it, from which the ACKs follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) now: Time,
    pub(crate) rtt: Span,
    pub(crate) snd_una: u64,
    pub(crate) snd_nxt: u64,
}

impl Stream {
    /// A stream with `flight` packets out and an RTT of 10 ms.
    pub(crate) fn with_flight(flight: u32) -> Self {
        Self {
            now: Time::ZERO + Span::from_secs(1),
            rtt: Span::from_millis(10),
            snd_una: 0,
            snd_nxt: u64::from(flight) * u64::from(MSS),
        }
    }

    /// An ACK for `packets`, all of which are marked if `ece`; as many packets are sent.
    pub(crate) fn ack(&mut self, packets: u32, ece: bool) -> AckSample {
        let bytes = u64::from(packets) * u64::from(MSS);
        let in_flight_before = ((self.snd_nxt - self.snd_una) / u64::from(MSS)) as u32;
        self.snd_una += bytes;
        let sample = AckSample {
            now: self.now,
            acked_packets: packets,
            acked_bytes: bytes,
            delivered_packets: packets,
            marked_packets: if ece { packets } else { 0 },
            in_flight_before,
            delivered: 0,
            delivered_ce: 0,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: MSS,
            rtt: (packets > 0).then_some(self.rtt),
            srtt: self.rtt,
            ece,
            duplicate: packets == 0,
            app_limited: false,
            in_cwr: false,
        };
        self.snd_nxt += bytes;
        sample
    }

    pub(crate) fn signal(&self) -> Signal {
        Signal {
            now: self.now,
            in_flight: ((self.snd_nxt - self.snd_una) / u64::from(MSS)) as u32,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: MSS,
        }
    }
}
