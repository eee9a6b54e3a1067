//! What a controller is told.

use shoal_units::{Span, Time};

/// One incoming acknowledgement, after the endpoint has updated its scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When it arrived.
    pub now: Time,
    /// Packets newly acknowledged cumulatively by this ACK; in `on_growth` on stacks that grow by deliveries (Linux since
    /// 4.7) the packets newly delivered instead.
    pub acked_packets: u32,
    /// Bytes newly acknowledged cumulatively by this ACK.
    pub acked_bytes: u64,
    /// Packets newly delivered: cumulatively acknowledged or SACKed for the first time.
    pub delivered_packets: u32,
    /// Of those, packets attributed to a CE mark (Linux: all of them if the ACK has ECE, else none).
    pub marked_packets: u32,
    /// Packets in flight before this ACK was processed (sent, minus left the network; Linux `prior_in_flight`).
    pub in_flight_before: u32,
    /// Packets delivered since the connection began (Linux `tp->delivered`), this ACK included.
    pub delivered: u64,
    /// Packets delivered with a CE mark since the connection began (Linux `tp->delivered_ce`), this ACK included.
    pub delivered_ce: u64,
    /// First unacknowledged byte of the stream (after this ACK).
    pub snd_una: u64,
    /// Next byte of the stream to be sent.
    pub snd_nxt: u64,
    /// Maximum segment size: payload bytes of a full segment.
    pub mss: u32,
    /// Round-trip time measured by this ACK, if it measured one (Karn's rule applied).
    pub rtt: Option<Span>,
    /// Smoothed round-trip time (RFC 6298); zero before the first sample.
    pub srtt: Span,
    /// Whether the ACK carries ECN-Echo.
    pub ece: bool,
    /// Whether it is a duplicate (acknowledges nothing new and carries no data or window update).
    pub duplicate: bool,
    /// Whether the flow failed to fill its window (Linux `!tcp_is_cwnd_limited`, by the stack profile's own test).
    pub app_limited: bool,
    /// Whether the endpoint is in CWR state (an ECN reduction is under way).
    pub in_cwr: bool,
}

/// A congestion signal that makes the endpoint leave Open or Disorder, or a retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// When it arrived.
    pub now: Time,
    /// Packets in flight when it arrived.
    pub in_flight: u32,
    /// First unacknowledged byte of the stream.
    pub snd_una: u64,
    /// Next byte of the stream to be sent.
    pub snd_nxt: u64,
    /// Maximum segment size: payload bytes of a full segment.
    pub mss: u32,
}
