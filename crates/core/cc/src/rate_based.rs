//! What an endpoint tells a law that is driven by samples of the delivery rate, and what such a law answers.
//!
//! Linux has a second way for a controller to hook into the processing of an ACK: `cong_control`, called at the end of
//! [`tcp_ack`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_input.c) with a rate sample. A controller that
//! has it owns `cwnd` in every state: the endpoint makes no reductions of its own (neither proportional rate reduction
//! nor the return to `ssthresh`), and neither decays an unused window nor restarts an idle one. BBR is such a law.

use crate::Window;
use shoal_units::{Span, Time};

/// State of loss recovery (Linux `tcp_ca_state`), from harmless to severe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum RecoveryState {
    /// Nothing is missing.
    #[default]
    Open,
    /// Something arrived out of order.
    Disorder,
    /// A reduction for ECN or for what the host refused is under way.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// A retransmission timeout has passed.
    Loss,
}

/// State of a connection that a law reads besides the sample (Linux `struct tcp_sock`).
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// The present (Linux `tcp_mstamp`, `tcp_clock_cache`).
    pub now: Time,
    /// Packets delivered since the connection began, the SYN included (Linux `delivered`).
    pub delivered: u64,
    /// When a packet was last delivered, or sent with none out (Linux `delivered_mstamp`).
    pub delivered_at: Time,
    /// Packets ever declared lost (Linux `lost`).
    pub lost: u64,
    /// Packets in flight (Linux `tcp_packets_in_flight`).
    pub in_flight: u32,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Smallest round-trip time of the connection, if one was measured (Linux `tcp_min_rtt`).
    pub min_rtt: Option<Span>,
    /// Payload bytes of a full segment (Linux `mss_cache`).
    pub mss: u32,
    /// State of loss recovery.
    pub recovery: RecoveryState,
    /// When the next segment may leave by the pacing so far (Linux `tcp_wstamp_ns`).
    pub departure: Time,
    /// Whether what is in flight was limited by the application (Linux `app_limited`).
    pub is_app_limited: bool,
    /// Whether the window was used up in the last round trip (the `C.is_cwnd_limited` of draft-ietf-ccwg-bbr).
    pub is_cwnd_limited: bool,
    /// Whether the peer sends selective acknowledgements.
    pub has_sack: bool,
}

/// What one ACK tells of the delivery rate (Linux `struct rate_sample`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RateSample {
    /// Packets delivered when the newest of the delivered packets was last sent (Linux `prior_delivered`).
    pub prior_delivered: u64,
    /// Packets delivered since then; `None` without timing information (Linux: -1).
    pub delivered: Option<u32>,
    /// Time in which they were delivered, in microseconds: the longer of the interval in which they were sent and that
    /// in which they were acknowledged. Zero if the sample is not valid.
    pub interval_us: u32,
    /// Round-trip time of the last packet that this ACK delivers, in microseconds, if it shows one.
    pub rtt_us: Option<u32>,
    /// Packets that this ACK declares lost.
    pub losses: u32,
    /// Packets that this ACK delivers (Linux `acked_sacked`).
    pub newly_delivered: u32,
    /// Packets in flight before the ACK (Linux `prior_in_flight`).
    pub prior_in_flight: u32,
    /// Whether the application limited the rate when the newest of them was sent.
    pub is_app_limited: bool,
    /// Whether the ACK may have been delayed by the receiver (Linux `is_ack_delayed`).
    pub is_ack_delayed: bool,
    /// Packets in flight when the newest of them had been sent, itself included.
    pub sent_in_flight: u32,
    /// Packets declared lost since the newest of them was sent.
    pub lost_since_sent: u64,
}

/// A packet that was declared lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostPacket {
    /// Packets in flight when it had been sent, itself included.
    pub sent_in_flight: u32,
    /// Packets declared lost since it was sent, itself included.
    pub lost_since_sent: u64,
    /// Whether the application limited the rate when it was sent.
    pub is_app_limited: bool,
    /// Whether the packet before it in the stream is not lost.
    pub begins_range: bool,
}

/// States of laws with a model of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathState {
    /// The rate doubles each round trip.
    Startup,
    /// What Startup has queued leaves.
    Drain,
    /// The gain goes through its cycle (version 1).
    ProbeBandwidth,
    /// What the probe has queued leaves (version 3: ProbeBW_DOWN).
    Down,
    /// The rate stays (ProbeBW_CRUISE).
    Cruise,
    /// The pipe fills again (ProbeBW_REFILL).
    Refill,
    /// The flow probes for bandwidth (ProbeBW_UP).
    Up,
    /// The flow sends little, so that the smallest RTT shows.
    ProbeRtt,
}

/// State of a law's model of the path, for output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathModel {
    /// State of the law.
    pub state: PathState,
    /// Pacing rate in bytes of payload per second.
    pub pacing_bytes_per_s: u64,
    /// Estimate of the bandwidth in bytes of payload per second.
    pub bandwidth_bytes_per_s: u64,
    /// Estimate of the round-trip time without queues, if there is one.
    pub min_rtt: Option<Span>,
    /// Long-term bound of the packets in flight, if the law has found one.
    pub inflight_longterm: Option<u32>,
    /// Short-term bound of the packets in flight, if the law has one now.
    pub inflight_shortterm: Option<u32>,
    /// Whether the law takes the path to be filled.
    pub full_bandwidth_reached: bool,
}

/// A law that is driven by rate samples.
pub trait RateBased {
    /// Called when the connection is open, or when the law takes over. `seed` names the connection's random draws.
    fn on_start(&mut self, window: &mut Window, connection: &Connection, seed: u64);
    /// Called for every packet that an ACK declares lost, before [`Self::on_sample`].
    fn on_packet_lost(&mut self, window: &mut Window, connection: &Connection, packet: &LostPacket) {
        let _ = (window, connection, packet);
    }
    /// Called at the end of the processing of an ACK (Linux `cong_control`). Sets `cwnd`. Returns whether the law keeps
    /// the flow below what it could send, so that rates count as limited by the application until what is now in
    /// flight is delivered.
    #[must_use]
    fn on_sample(&mut self, window: &mut Window, connection: &Connection, sample: &RateSample) -> bool;
    /// Called before a packet leaves with none in flight (Linux `CA_EVENT_TX_START`).
    fn on_restart(&mut self, window: &mut Window, connection: &Connection);
    /// Called when a retransmission timeout has passed and the endpoint has set `cwnd` (Linux `set_state`).
    fn on_timeout(&mut self, window: &mut Window, connection: &Connection);
    /// Called when a reduction turns out to be spurious, before the window comes back (Linux `undo_cwnd`).
    fn on_undo(&mut self, window: &mut Window, connection: &Connection);
}
