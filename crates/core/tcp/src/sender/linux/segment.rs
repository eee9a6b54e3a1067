//! One entry of the retransmission queue, and what an acknowledgement did to such entries.

use shoal_packet::Seq;
use shoal_units::Time;

/// One segment in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// First stream position.
    pub start: u64,
    /// When it was last transmitted.
    pub sent: Time,
    /// `snd_nxt` when it was last transmitted (low bits): a SACK above it proves a retransmission lost.
    pub marker: Seq,
    /// Stream positions it covers (payload, plus one for FIN).
    pub len: u16,
    pub(super) marks: u8,
}

pub(super) const SACKED: u8 = 1;
pub(super) const LOST: u8 = 2;
pub(super) const RETRANSMITTED: u8 = 4;
pub(super) const EVER_RETRANSMITTED: u8 = 8;
pub(super) const FIN: u8 = 16;
/// RACK has marked it lost since it was last sent, and looks at it no more (Linux takes it off `tsorted_sent_queue`).
pub(super) const EXAMINED: u8 = 32;

impl Segment {
    #[inline]
    pub(super) fn new(start: u64, len: u16, fin: bool, sent: Time, snd_nxt: u64) -> Self {
        Self { start, sent, marker: Seq::of(snd_nxt), len, marks: if fin { FIN } else { 0 } }
    }
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
    pub(super) fn is_fin(&self) -> bool {
        self.marks & FIN != 0
    }
    pub(super) fn payload(&self) -> u16 {
        self.len - u16::from(self.is_fin())
    }
    #[inline]
    pub(super) fn is_sacked(&self) -> bool {
        self.marks & SACKED != 0
    }
    #[inline]
    pub(super) fn is_lost(&self) -> bool {
        self.marks & LOST != 0
    }
    #[inline]
    pub(super) fn is_retransmitted(&self) -> bool {
        self.marks & RETRANSMITTED != 0
    }
    #[inline]
    pub(super) fn was_ever_retransmitted(&self) -> bool {
        self.marks & EVER_RETRANSMITTED != 0
    }
}

/// What one acknowledgement removed or marked. Times are [`Time::NEVER`] if there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// Packets removed by the cumulative acknowledgement.
    pub acked_packets: u32,
    /// Packets delivered for the first time: removed without having been SACKed, or newly SACKed.
    pub delivered_packets: u32,
    /// Bytes newly SACKed, less those of acknowledged segments that had been SACKed before: what was delivered beyond
    /// what the cumulative acknowledgement covers.
    pub sacked_bytes: i64,
    /// A retransmitted segment was acknowledged: no RTT sample (Karn).
    pub retransmitted_acked: bool,
    /// A segment never retransmitted, sent before the timeout, was newly (S)ACKed: the timeout was spurious (F-RTO).
    pub original_delivered: bool,
    /// New SACK information.
    pub newly_sacked: bool,
    /// Transmission time of the first removed segment that gives an RTT sample.
    pub first_sent: Time,
    /// Transmission time of the last removed segment that gives an RTT sample.
    pub last_sent: Time,
    /// Transmission time of the first newly SACKed segment that was never retransmitted.
    pub first_sacked: Time,
    /// Latest transmission time of the delivered segments that were SACKed or retransmitted; zero if there is none.
    pub newest_marked: Time,
}

impl Delivery {
    pub(super) const NOTHING: Self = Self {
        acked_packets: 0,
        delivered_packets: 0,
        sacked_bytes: 0,
        retransmitted_acked: false,
        original_delivered: false,
        newly_sacked: false,
        first_sent: Time::NEVER,
        last_sent: Time::NEVER,
        first_sacked: Time::NEVER,
        newest_marked: Time::ZERO,
    };

    /// Whether an acknowledged segment gives an RTT sample: no retransmission was acknowledged with it (Karn).
    #[inline]
    pub(super) fn gives_rtt(&self) -> bool {
        self.first_sent != Time::NEVER && !self.retransmitted_acked
    }
    /// When the newest of the delivered segments was sent; `None` if nothing was delivered.
    pub(super) fn newest_sent(&self) -> Option<Time> {
        let newest = if self.last_sent == Time::NEVER { Time::ZERO } else { self.last_sent };
        (self.delivered_packets > 0).then_some(newest.max(self.newest_marked))
    }
    /// Whether a segment that was never retransmitted was newly SACKed.
    pub(super) fn newly_sacked_original(&self) -> bool {
        self.first_sacked != Time::NEVER
    }
}
