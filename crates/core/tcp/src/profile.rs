//! Stack profiles: what the host stack does around the controller.

use shoal_cc::{AckCounting, CcConfig, GrowthRules, SlowStartTest};
use shoal_units::Span;

/// How `cwnd` is brought down to `ssthresh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// One packet for every second ACK, never more than one packet beyond the flight (Linux `tcp_cwnd_down`).
    RateHalving,
    /// Proportional rate reduction (RFC 6937, Linux `tcp_cwnd_reduction`).
    Prr,
}

/// How lost segments are told from delayed ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossDetection {
    /// Forward acknowledgement: everything more than three packets below the highest SACK is lost (Linux until 4.14).
    Fack,
    /// RACK (RFC 8985): a segment is lost if one sent later was delivered, after a reordering window of a quarter RTT
    /// that closes with the third duplicate ACK or in recovery (Linux since 4.18).
    Rack,
}

/// What a receiver does when the DCTCP echo state changes (semantics C1, C2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchoChange {
    /// Flush a pending delayed ACK with the old state; the new packet is acknowledged by the usual rules (3.2 patch, 3.18).
    Flush,
    /// Flush, then acknowledge the new packet at once (current Linux).
    FlushAndAck,
}

/// A host stack. All times are what the stack uses, with its clock granularity applied.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Profile {
    /// Name in the scenario file.
    pub name: &'static str,
    /// ACK counting and the slow-start test.
    pub growth: GrowthRules,
    /// How an ECN reduction is spread.
    pub cwr: Recovery,
    /// How fast recovery paces retransmissions.
    pub recovery: Recovery,
    /// How lost segments are found.
    pub loss_detection: LossDetection,
    /// PRR in its slow-start part sends one packet more on every ACK (Linux before 4.5) or only on ACKs that advance
    /// without new losses (later).
    pub prr_always_one_more: bool,
    /// The window grows before the ACK is judged, and ECE blocks growth (3.2); else after, and only the state blocks it.
    pub grows_before_judging: bool,
    /// Tail loss probe (RFC 8985 section 7; Linux since 3.10).
    pub tail_loss_probe: bool,
    /// Lower bound of the retransmission timeout.
    pub rto_min: Span,
    /// Upper bound of the retransmission timeout.
    pub rto_max: Span,
    /// Timeout before the first RTT sample, and of SYNs.
    pub rto_initial: Span,
    /// Shortest delayed-ACK timeout.
    pub delack_min: Span,
    /// Longest delayed-ACK timeout.
    pub delack_max: Span,
    /// ACKs sent at once at the start of a connection and after loss or idle (Linux quick-ACK mode).
    pub quick_acks: u32,
    /// Initial window in packets (RFC 6928 or older).
    pub initial_window: u32,
    /// F-RTO (RFC 5682): tell spurious timeouts apart.
    pub frto: bool,
    /// Undo of spurious reductions (Eifel by timestamps, D-SACK).
    pub undo: bool,
    /// Restart from the initial window after an idle RTO (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// Limit bursts in Disorder and Loss to flight + 3 (Linux `tcp_moderate_cwnd`).
    pub moderates_bursts: bool,
    /// DCTCP echo at the receiver.
    pub echo_change: EchoChange,
    /// `cwnd` is considered used if at most this many packets are missing (3.2: `tcp_max_burst` = 3), else the newer test.
    pub cwnd_limited_slack: Option<u32>,
}

impl Profile {
    /// Linux 3.2: the kernel of K13 and CS.
    pub const LINUX_3_2: Self = Self {
        name: "linux-3.2",
        growth: GrowthRules {
            counting: AckCounting::PerAck,
            slow_start_test: SlowStartTest::BelowOrAt,
            slow_start_counting: AckCounting::PerAck,
        },
        cwr: Recovery::RateHalving,
        recovery: Recovery::Prr,
        loss_detection: LossDetection::Fack,
        prr_always_one_more: true,
        grows_before_judging: true,
        tail_loss_probe: false,
        rto_min: Span::from_millis(200),
        rto_max: Span::from_secs(120),
        rto_initial: Span::from_secs(1),
        delack_min: Span::from_millis(40),
        delack_max: Span::from_millis(200),
        quick_acks: 16,
        initial_window: 10,
        frto: true,
        undo: true,
        slow_start_after_idle: true,
        moderates_bursts: true,
        echo_change: EchoChange::Flush,
        cwnd_limited_slack: Some(3),
    };
    /// Linux 3.18: the kernel of DH.
    pub const LINUX_3_18: Self = Self {
        name: "linux-3.18",
        growth: GrowthRules {
            counting: AckCounting::PerAck,
            slow_start_test: SlowStartTest::BelowOrAt,
            slow_start_counting: AckCounting::PerPacket,
        },
        cwr: Recovery::Prr,
        recovery: Recovery::Prr,
        grows_before_judging: false,
        tail_loss_probe: true,
        cwnd_limited_slack: None,
        ..Self::LINUX_3_2
    };
    /// Current Linux (6.x).
    pub const LINUX_6: Self = Self {
        name: "linux-6",
        growth: GrowthRules {
            counting: AckCounting::PerPacket,
            slow_start_test: SlowStartTest::Below,
            slow_start_counting: AckCounting::PerPacket,
        },
        loss_detection: LossDetection::Rack,
        prr_always_one_more: false,
        moderates_bursts: false,
        echo_change: EchoChange::FlushAndAck,
        ..Self::LINUX_3_18
    };
    /// All profiles; FreeBSD joins with its own file.
    pub const ALL: &'static [Self] = &[Self::LINUX_3_2, Self::LINUX_3_18, Self::LINUX_6];

    /// The profile called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|p| p.name == name)
    }
}

/// ECN as the flow asks for it. DCTCP controllers always use ECN; `Off` with DCTCP falls back to Reno as the kernels do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnSetting {
    /// Not negotiated.
    Off,
    /// Negotiated (RFC 3168), with the DCTCP echo if the controller wants it.
    On,
}

/// Everything a connection is made from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EndpointConfig {
    /// Host stack of both ends.
    pub stack: Profile,
    /// Controller of the sender.
    pub cc: CcConfig,
    /// ECN.
    pub ecn: EcnSetting,
    /// Size of a full IP packet in bytes.
    pub mtu_bytes: u16,
    /// IP and TCP headers with the timestamp option, bytes (52 for IPv4).
    pub header_bytes: u16,
    /// SACK negotiated.
    pub sack: bool,
    /// Delayed ACKs at the receiver.
    pub delayed_ack: bool,
    /// Initial window in packets, if not the stack's.
    pub initial_window: Option<u32>,
    /// Receive buffer in bytes: bounds the flight.
    pub receive_window_bytes: u32,
    /// Upper bound of `cwnd` in packets.
    pub cwnd_clamp_packets: u32,
}

impl EndpointConfig {
    /// Maximum segment size: payload of a full packet, bytes.
    #[inline]
    pub const fn mss(&self) -> u16 {
        self.mtu_bytes - self.header_bytes
    }
    /// Window scale (RFC 7323): the smallest that can express the receive window.
    pub const fn window_scale(&self) -> u8 {
        let mut scale = 0;
        while scale < 14 && (self.receive_window_bytes >> scale) > 0xffff {
            scale += 1;
        }
        scale
    }
    /// The receive window as on the wire. Constant: the application reads at once, and out-of-order data lies inside it.
    #[inline]
    pub const fn advertised_window(&self) -> u16 {
        let scaled = self.receive_window_bytes >> self.window_scale();
        if scaled > 0xffff { 0xffff } else { scaled as u16 }
    }
}
