//! The Linux stacks: rules that only their kernels have, and the three profiles.

use super::{CwrAck, EchoChange, Kernel, Profile};
use shoal_cc::{AckCounting, GrowthRules, SlowStartTest};
use shoal_units::Span;

/// How `cwnd` is brought down to `ssthresh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// One packet for every second ACK, never more than one packet beyond the flight (Linux `tcp_cwnd_down`).
    RateHalving,
    /// Proportional rate reduction ([RFC 6937](https://www.rfc-editor.org/rfc/rfc6937), Linux
    /// `tcp_cwnd_reduction`).
    Prr,
}

/// How lost segments are distinguished from delayed ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossDetection {
    /// Forward acknowledgement: everything more than three packets below the highest SACK is lost (Linux until 4.14).
    Fack,
    /// RACK ([RFC 8985](https://www.rfc-editor.org/rfc/rfc8985)): a segment is lost if one sent later was
    /// delivered, after a reordering window of a quarter RTT that closes with the third duplicate ACK or in
    /// recovery (Linux since 4.18).
    Rack,
}

/// When the window grows, relative to the processing of the same ACK by the state machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GrowthTurn {
    /// Before the state machine, but with ECN-Echo only in slow start (Linux 3.2 `tcp_may_raise_cwnd`).
    BeforeUnlessEce,
    /// Before the state machine, also with ECN-Echo: a mark reduces the window that the same ACK has
    /// increased (Linux 3.7 to 4.5).
    Before,
    /// After the state machine, by the state that it has reached (Linux since 4.6, `tcp_cong_control`).
    After,
}

/// How reductions that turn out to be spurious are undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undo {
    /// Linux 3.2: partial ACKs restore the window and stay in Recovery; D-SACK only in Open and Disorder; no undo after
    /// a timeout of data that had been retransmitted; without a remembered threshold `cwnd` rises to `ssthresh`.
    Linux32,
    /// Linux 3.18: partial ACKs and D-SACK end Recovery; otherwise as Linux 3.2.
    Linux318,
    /// Current Linux: without a remembered threshold nothing is undone; an undo withdraws a CWR not yet sent.
    Linux6,
}

/// Where `cwnd` is limited to three packets beyond the flight (Linux `tcp_moderate_cwnd`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BurstLimit {
    /// In Disorder, in Loss, and while a connection without SACK waits for the recovery point (Linux 3.2).
    Always,
    /// Only while a connection without SACK waits for the recovery point (Linux 3.18).
    AtRecoveryPoint,
    /// Never (current Linux).
    Never,
}

/// Tail loss probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TailProbe {
    /// No probes.
    Off,
    /// After max(2 SRTT, 10 ms), or max(2 SRTT, 1.5 SRTT + 200 ms) with one packet in flight; only in Open; a probe of
    /// new data opens no episode (Linux 3.18).
    Linux318,
    /// After 2 SRTT + 2 ms, or 2 SRTT + the RTO floor with one packet in flight; in Open and CWR (current Linux, RFC
    /// 8985 section 7).
    Linux6,
}

/// When `cwnd` counts as fully used, so that it may grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowUse {
    /// At most this many packets were missing before the ACK (Linux 3.2 `tcp_is_cwnd_limited`: `tcp_max_burst` = 3).
    Missing(u32),
    /// Slow start: below twice the largest flight of the window. Else: `cwnd` stopped the transmission that made that
    /// flight (Linux 3.16).
    LargestFlight,
    /// As `LargestFlight`, but once `cwnd` has stopped a transmission, it counts as used for the whole window
    /// (Linux since 5.19).
    StickyLimit,
}

/// How a host with segmentation offload ([`crate::Offload`]) sizes its segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tso {
    /// As large as the device takes; a segment waits until a third of the window may be sent, in Open only (Linux 3.2
    /// `tcp_xmit_size_goal`, `tcp_tso_should_defer`).
    Linux32,
    /// What the rate sends in a millisecond, when the segment begins; waits as 3.2 (Linux 3.18).
    Linux318,
    /// What the rate sends in 1/1024 s and more with a short RTT, at transmission; never more than half of the window;
    /// waits also in CWR, but not if the next ACK is far (current Linux `tcp_tso_autosize`).
    Linux6,
}

/// Differences between the modelled Linux kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linux {
    /// How an ECN reduction is spread.
    pub cwr: Recovery,
    /// How fast recovery paces retransmissions.
    pub recovery: Recovery,
    /// How lost segments are detected.
    pub loss_detection: LossDetection,
    /// Whether PRR in its slow-start part sends one packet more on every ACK (Linux before 4.5), or only on
    /// ACKs that advance without new losses (later).
    pub prr_always_one_more: bool,
    /// Order of window growth and state machine.
    pub growth_turn: GrowthTurn,
    /// Whether a recovery that follows CWR begins a new proportional reduction up to a new recovery point
    /// (3.2), or continues that of CWR (Linux since 3.7 `tcp_enter_recovery`).
    pub recovery_restarts_reduction: bool,
    /// Whether duplicate ACKs without SACK count as deliveries in PRR (Linux since 3.7).
    pub prr_counts_duplicates: bool,
    /// Whether SACKed segments give RTT samples if no acknowledged segment does (Linux since 3.15).
    pub rtt_from_sack: bool,
    /// Whether controllers take the RTT that an echoed timestamp gives when a retransmission is acknowledged (Linux
    /// since 4.9), or none.
    pub controllers_take_echoes: bool,
    /// Tail loss probe.
    pub tail_probe: TailProbe,
    /// Whether a retransmitted SYN does not request ECN
    /// ([RFC 3168, section 6.1.1.1](https://www.rfc-editor.org/rfc/rfc3168#section-6.1.1.1); Linux since 4.2
    /// `tcp_ecn_clear_syn`).
    pub ecn_fallback: bool,
    /// Number of timeouts of a SYN before they begin to double (`tcp_syn_linear_timeouts`, since 6.5, where it is 4).
    pub syn_linear_timeouts: u8,
    /// Whether a timeout spares segments that were sent less than an RTT ago and sets `cwnd` to the flight
    /// plus one (Linux since 4.18 `tcp_timeout_mark_lost`); otherwise all segments are lost and `cwnd` is
    /// one.
    pub timeout_spares_recent: bool,
    /// Whether a last segment with FIN may exceed `cwnd` (Linux before 6.10 `tcp_cwnd_test`).
    pub fin_beyond_cwnd: bool,
    /// Whether F-RTO detects spurious timeouts ([RFC 5682](https://www.rfc-editor.org/rfc/rfc5682)).
    pub frto: bool,
    /// How spurious reductions are undone (Eifel by timestamps, D-SACK).
    pub undo: Undo,
    /// Whether sending restarts from the initial window after an idle RTO (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// Where bursts are limited.
    pub burst_limit: BurstLimit,
    /// When the window counts as fully used.
    pub window_use: WindowUse,
    /// Number of ACKs sent immediately at the start of a connection and after loss or idle (quick-ACK mode).
    pub quick_acks: u32,
    /// Whether timers wait for a slot of the kernel's timer wheel ([`shoal_units::wheel_expiry`], Linux since 4.8), or
    /// go off when they are due (the wheel of before was exact to a tick, which is not modelled).
    pub timer_wheel: bool,
    /// Shortest delayed-ACK timeout.
    pub delack_min: Span,
    /// Number of ACKs sent immediately after the first CE mark on a connection with classic ECN
    /// (`tcp_ecn_check_ce`).
    pub quick_acks_after_ce: u32,
    /// Number of ACKs sent immediately after data without ECT on a connection that had ECT data before: a
    /// retransmission.
    pub quick_acks_after_not_ect: u32,
    /// While packets are missing: percentage of the RTT that an ACK waits for others, at most 1 ms
    /// (`tcp_comp_sack_rtt_percent`); 0 if every packet is acknowledged.
    pub compressed_ack_percent: u32,
    /// Whether a full segment with PSH is acknowledged as soon as the application has read it (Linux since
    /// 6.6 `tcp_measure_rcv_mss`), as smaller ones are in every Linux.
    pub acks_full_pushed: bool,
    /// Whether the ACKs of what comes while the application reads become one, which is sent when it has read (Linux
    /// since 6.7 `tcp_backlog_ack_defer`).
    pub defers_acks_while_reading: bool,
    /// Segmentation offload.
    pub tso: Tso,
}

impl Linux {
    /// Rules of Linux 3.2.
    const V3_2: Self = Self {
        cwr: Recovery::RateHalving,
        recovery: Recovery::Prr,
        loss_detection: LossDetection::Fack,
        prr_always_one_more: true,
        growth_turn: GrowthTurn::BeforeUnlessEce,
        recovery_restarts_reduction: true,
        prr_counts_duplicates: false,
        rtt_from_sack: false,
        controllers_take_echoes: false,
        tail_probe: TailProbe::Off,
        ecn_fallback: false,
        syn_linear_timeouts: 0,
        timeout_spares_recent: false,
        fin_beyond_cwnd: true,
        frto: true,
        undo: Undo::Linux32,
        slow_start_after_idle: true,
        burst_limit: BurstLimit::Always,
        window_use: WindowUse::Missing(3),
        quick_acks: 16,
        timer_wheel: false,
        delack_min: Span::from_millis(40),
        quick_acks_after_ce: 0,
        quick_acks_after_not_ect: 16,
        compressed_ack_percent: 0,
        acks_full_pushed: false,
        defers_acks_while_reading: false,
        tso: Tso::Linux32,
    };
    /// Rules of Linux 3.18.
    const V3_18: Self = Self {
        cwr: Recovery::Prr,
        growth_turn: GrowthTurn::Before,
        recovery_restarts_reduction: false,
        prr_counts_duplicates: true,
        rtt_from_sack: true,
        tail_probe: TailProbe::Linux318,
        undo: Undo::Linux318,
        burst_limit: BurstLimit::AtRecoveryPoint,
        window_use: WindowUse::LargestFlight,
        quick_acks_after_ce: 16,
        tso: Tso::Linux318,
        ..Self::V3_2
    };
    /// Rules of Linux 6.x.
    const V6: Self = Self {
        loss_detection: LossDetection::Rack,
        timer_wheel: true,
        controllers_take_echoes: true,
        prr_always_one_more: false,
        growth_turn: GrowthTurn::After,
        tail_probe: TailProbe::Linux6,
        ecn_fallback: true,
        syn_linear_timeouts: 4,
        timeout_spares_recent: true,
        fin_beyond_cwnd: false,
        undo: Undo::Linux6,
        burst_limit: BurstLimit::Never,
        window_use: WindowUse::StickyLimit,
        quick_acks_after_ce: 2,
        quick_acks_after_not_ect: 2,
        compressed_ack_percent: 33,
        acks_full_pushed: true,
        defers_acks_while_reading: true,
        tso: Tso::Linux6,
        ..Self::V3_18
    };
}

impl Profile {
    /// Linux 3.2: the kernel of Kuehlewind et al. 2014 and of the CS244 study.
    pub const LINUX_3_2: Self = Self {
        name: "linux-3.2",
        kernel: Kernel::Linux(Linux::V3_2),
        growth: GrowthRules {
            counting: AckCounting::PerAck,
            slow_start_test: SlowStartTest::BelowOrAt,
            slow_start_counting: AckCounting::PerAck,
            is_paced: false,
        },
        rto_min: Span::from_millis(200),
        rto_max: Span::from_secs(120),
        rto_initial: Span::from_secs(1),
        initial_window: 10,
        delack_max: Span::from_millis(200),
        echo_change: EchoChange::Flush,
        not_ect_clears_echo: false,
        cwr_ack: CwrAck::AsUsual,
    };
    /// Linux 3.18: the kernel of De Schepper et al. 2015.
    pub const LINUX_3_18: Self = Self {
        name: "linux-3.18",
        kernel: Kernel::Linux(Linux::V3_18),
        growth: GrowthRules {
            counting: AckCounting::PerAck,
            slow_start_test: SlowStartTest::BelowOrAt,
            slow_start_counting: AckCounting::PerPacket,
            is_paced: false,
        },
        ..Self::LINUX_3_2
    };
    /// Current Linux (6.x).
    pub const LINUX_6: Self = Self {
        name: "linux-6",
        kernel: Kernel::Linux(Linux::V6),
        growth: GrowthRules {
            counting: AckCounting::PerPacket,
            slow_start_test: SlowStartTest::Below,
            slow_start_counting: AckCounting::PerPacket,
            is_paced: false,
        },
        echo_change: EchoChange::FlushAndAck,
        cwr_ack: CwrAck::AtOnce,
        ..Self::LINUX_3_18
    };
}
