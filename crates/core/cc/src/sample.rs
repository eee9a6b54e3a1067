//! What the endpoint reports to a controller.

use shoal_units::{Span, Time};

/// One incoming acknowledgement, after the endpoint has updated its scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Time at which the ACK arrived.
    pub now: Time,
    /// Packets newly acknowledged cumulatively by this ACK; in `on_growth` on stacks that grow by deliveries
    /// (Linux since 4.7), the packets newly delivered instead.
    pub acked_packets: u32,
    /// Bytes newly acknowledged cumulatively by this ACK.
    pub acked_bytes: u64,
    /// Packets newly delivered: cumulatively acknowledged or SACKed for the first time.
    pub delivered_packets: u32,
    /// Packets among those delivered that are attributed to a CE mark (Linux: all of them if the ACK carries
    /// ECE, else none).
    pub marked_packets: u32,
    /// Packets in flight before this ACK was processed (sent and neither delivered nor lost; Linux
    /// `prior_in_flight`).
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
    /// Smoothed round-trip time ([RFC 6298](https://www.rfc-editor.org/rfc/rfc6298)); zero before the first
    /// sample.
    pub srtt: Span,
    /// Timestamp of the ACK, in us of its sender's clock, wrapping
    /// ([RFC 7323, section 3](https://www.rfc-editor.org/rfc/rfc7323#section-3)).
    pub ts_val: u32,
    /// Timestamp that the ACK echoes, in us of this host's clock; 0: none. The difference of both is the one-way delay
    /// of the packet that is echoed, and the time that its receiver waited for others.
    pub ts_ecr: u32,
    /// Whether the ACK carries ECN-Echo.
    pub ece: bool,
    /// Whether the ACK is a duplicate (acknowledges nothing new and carries neither data nor a window
    /// update).
    pub duplicate: bool,
    /// Whether the flow failed to fill its window (Linux `!tcp_is_cwnd_limited`, by the stack profile's own test).
    pub app_limited: bool,
    /// Whether the endpoint is in CWR (an ECN reduction is in progress).
    pub in_cwr: bool,
}

/// A congestion signal that makes the endpoint leave Open or Disorder, or a retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// Time at which the signal arrived.
    pub now: Time,
    /// Packets in flight when the signal arrived.
    pub in_flight: u32,
    /// First unacknowledged byte of the stream.
    pub snd_una: u64,
    /// Next byte of the stream to be sent.
    pub snd_nxt: u64,
    /// Maximum segment size: payload bytes of a full segment.
    pub mss: u32,
}
