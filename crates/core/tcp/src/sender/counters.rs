//! Counters that a sender reports.

/// Counters of a connection since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Packets delivered (Linux `tp->delivered`).
    pub delivered_packets: u64,
    /// Packets delivered on ACKs with ECN-Echo (Linux `tp->delivered_ce`).
    pub delivered_ce_packets: u64,
    /// ACKs with ECN-Echo.
    pub ece_acks: u64,
    /// Number of retransmitted segments.
    pub retransmissions: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Entries into fast recovery.
    pub fast_recoveries: u32,
    /// Entries into CWR: by marks, and where a full queue of the host refuses a segment.
    pub cwr_reductions: u32,
    /// Reductions undone as spurious.
    pub undos: u32,
    /// Tail loss probes.
    pub probes: u32,
}

/// Packets that are outstanding, and their state (Linux `packets_out`, `sacked_out`, `lost_out`,
/// `retrans_out`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outstanding {
    /// Packets sent and not acknowledged.
    pub unacked: u32,
    /// Packets of these that were delivered out of order; without SACK, the number of duplicate ACKs.
    pub sacked: u32,
    /// Packets of these that were declared lost.
    pub lost: u32,
    /// Retransmissions that are outstanding.
    pub retransmitted: u32,
}
