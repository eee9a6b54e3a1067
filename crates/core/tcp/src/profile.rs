//! Stack profiles: what the host stack does around the controller.

use crate::freebsd::FreeBsd;
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

/// When the window grows, relative to the judgement of the same ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GrowthTurn {
    /// Before; not with ECN-Echo unless in slow start (Linux 3.2 `tcp_may_raise_cwnd`).
    BeforeUnlessEce,
    /// Before, also with ECN-Echo: the mark reduces the window that the same ACK has raised (Linux 3.7 to 4.5).
    Before,
    /// After, by the state that the judgement has led to (Linux since 4.6, `tcp_cong_control`).
    After,
}

/// How reductions that turn out spurious are undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undo {
    /// Not at all.
    Off,
    /// Linux 3.2: partial ACKs restore the window and stay in Recovery; D-SACK only in Open and Disorder; no undo after
    /// a timeout of data that had been retransmitted; without a remembered threshold `cwnd` rises to `ssthresh`.
    Linux32,
    /// Linux 3.18: partial ACKs and D-SACK end Recovery; otherwise as above.
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
    /// None.
    Off,
    /// After max(2 SRTT, 10 ms), or max(2 SRTT, 1.5 SRTT + 200 ms) with one packet in flight; only in Open; a probe of new
    /// data opens no episode (Linux 3.18).
    Linux318,
    /// After 2 SRTT + 2 ms, or 2 SRTT + the RTO floor with one packet in flight; in Open and CWR (current Linux, RFC 8985
    /// section 7).
    Linux6,
}

/// When `cwnd` counts as used, so that it may grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowUse {
    /// At most this many packets were missing before the ACK (Linux 3.2 `tcp_is_cwnd_limited`: `tcp_max_burst` = 3).
    Missing(u32),
    /// Slow start: below twice the largest flight of the window. Else: `cwnd` stopped the transmission that made that
    /// flight (Linux 3.16).
    LargestFlight,
    /// As before, but `cwnd` having stopped any transmission of the window counts for all of it (Linux since 5.19).
    StickyLimit,
}

/// What a receiver does when the DCTCP echo state changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchoChange {
    /// Flush a pending delayed ACK with the old state; the new packet is acknowledged by the usual rules (3.2 patch, 3.18).
    Flush,
    /// Flush, then acknowledge the new packet at once (current Linux).
    FlushAndAck,
    /// Acknowledge at once, everything with the new state (FreeBSD `dctcp_ecnpkt_handler`).
    Ack,
}

/// When data with CWR is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CwrAck {
    /// By the usual rules.
    AsUsual,
    /// At once (Linux since 4.19 `tcp_ecn_accept_cwr`; FreeBSD since 2020).
    AtOnce,
    /// By the usual rules, even if it changes the DCTCP echo state (Kato et al. 2015, section 3.2; FreeBSD 2015).
    Delayed,
}

/// What a receiver feeds back about marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnFeedback {
    /// ECE from a mark until CWR (RFC 3168 section 6.1.3).
    Classic,
    /// ECE as the state of the last packet (RFC 8257 section 3.2).
    Dctcp,
}

/// Which kernel's code a stack is modelled on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kernel {
    /// Linux: windows in packets, the state machine of `tcp_fastretrans_alert`.
    Linux,
    /// FreeBSD: windows in bytes, the state machine of `tcp_do_segment`. Of the other fields of a profile only those named
    /// in [`FreeBsd`] matter then.
    FreeBsd(FreeBsd),
}

/// A host stack. All times are what the stack uses, with its clock granularity applied.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Profile {
    /// Name in the scenario file.
    pub name: &'static str,
    /// Whose code it is.
    pub kernel: Kernel,
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
    /// Order of growth and judgement.
    pub growth_turn: GrowthTurn,
    /// Recovery that follows CWR begins a new proportional reduction up to a new recovery point (3.2); else it continues
    /// that of CWR (Linux since 3.7 `tcp_enter_recovery`).
    pub recovery_restarts_reduction: bool,
    /// Duplicate ACKs without SACK count as deliveries in PRR (Linux since 3.7).
    pub prr_counts_duplicates: bool,
    /// SACKed segments give RTT samples when nothing was acknowledged that could (Linux since 3.15).
    pub rtt_from_sack: bool,
    /// Tail loss probe.
    pub tail_probe: TailProbe,
    /// A SYN that is sent again does not ask for ECN (RFC 3168 section 6.1.1.1; Linux since 4.2 `tcp_ecn_clear_syn`).
    pub ecn_fallback: bool,
    /// A timeout leaves segments alone that were sent less than an RTT ago, and `cwnd` is the flight plus one (Linux since
    /// 4.18 `tcp_timeout_mark_lost`); else all is lost and `cwnd` is one.
    pub timeout_spares_recent: bool,
    /// A last segment with FIN need not fit `cwnd` (Linux before 6.10 `tcp_cwnd_test`).
    pub fin_beyond_cwnd: bool,
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
    pub undo: Undo,
    /// Restart from the initial window after an idle RTO (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// Where bursts are limited.
    pub burst_limit: BurstLimit,
    /// DCTCP echo at the receiver.
    pub echo_change: EchoChange,
    /// A packet without ECT counts as unmarked in the DCTCP echo; else it changes nothing.
    pub not_ect_clears_echo: bool,
    /// When data with CWR is acknowledged.
    pub cwr_ack: CwrAck,
    /// ACKs sent at once after the first CE mark on a connection with classic ECN (Linux `tcp_ecn_check_ce`).
    pub quick_acks_after_ce: u32,
    /// ACKs sent at once after data without ECT on a connection that had some with it: a retransmission.
    pub quick_acks_after_not_ect: u32,
    /// When the window counts as used.
    pub window_use: WindowUse,
    /// While packets are missing, an ACK waits for others at most this part of the RTT, percent, and 1 ms (Linux
    /// `tcp_comp_sack_rtt_percent`); 0: every packet is acknowledged.
    pub compressed_ack_percent: u32,
    /// A full segment with PSH is acknowledged as soon as the application has read it (Linux since 6.6
    /// `tcp_measure_rcv_mss`), as smaller ones are on any Linux.
    pub acks_full_pushed: bool,
}

impl Profile {
    /// Linux 3.2: the kernel of Kuehlewind et al. 2014 and of the CS244 study.
    pub const LINUX_3_2: Self = Self {
        name: "linux-3.2",
        kernel: Kernel::Linux,
        growth: GrowthRules {
            counting: AckCounting::PerAck,
            slow_start_test: SlowStartTest::BelowOrAt,
            slow_start_counting: AckCounting::PerAck,
        },
        cwr: Recovery::RateHalving,
        recovery: Recovery::Prr,
        loss_detection: LossDetection::Fack,
        prr_always_one_more: true,
        growth_turn: GrowthTurn::BeforeUnlessEce,
        recovery_restarts_reduction: true,
        prr_counts_duplicates: false,
        rtt_from_sack: false,
        tail_probe: TailProbe::Off,
        ecn_fallback: false,
        timeout_spares_recent: false,
        fin_beyond_cwnd: true,
        rto_min: Span::from_millis(200),
        rto_max: Span::from_secs(120),
        rto_initial: Span::from_secs(1),
        delack_min: Span::from_millis(40),
        delack_max: Span::from_millis(200),
        quick_acks: 16,
        initial_window: 10,
        frto: true,
        undo: Undo::Linux32,
        slow_start_after_idle: true,
        burst_limit: BurstLimit::Always,
        echo_change: EchoChange::Flush,
        not_ect_clears_echo: false,
        cwr_ack: CwrAck::AsUsual,
        quick_acks_after_ce: 0,
        quick_acks_after_not_ect: 16,
        window_use: WindowUse::Missing(3),
        compressed_ack_percent: 0,
        acks_full_pushed: false,
    };
    /// Linux 3.18: the kernel of De Schepper et al. 2015.
    pub const LINUX_3_18: Self = Self {
        name: "linux-3.18",
        growth: GrowthRules {
            counting: AckCounting::PerAck,
            slow_start_test: SlowStartTest::BelowOrAt,
            slow_start_counting: AckCounting::PerPacket,
        },
        cwr: Recovery::Prr,
        recovery: Recovery::Prr,
        growth_turn: GrowthTurn::Before,
        recovery_restarts_reduction: false,
        prr_counts_duplicates: true,
        rtt_from_sack: true,
        tail_probe: TailProbe::Linux318,
        undo: Undo::Linux318,
        burst_limit: BurstLimit::AtRecoveryPoint,
        quick_acks_after_ce: 16,
        window_use: WindowUse::LargestFlight,
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
        growth_turn: GrowthTurn::After,
        tail_probe: TailProbe::Linux6,
        ecn_fallback: true,
        timeout_spares_recent: true,
        fin_beyond_cwnd: false,
        undo: Undo::Linux6,
        burst_limit: BurstLimit::Never,
        echo_change: EchoChange::FlushAndAck,
        cwr_ack: CwrAck::AtOnce,
        quick_acks_after_ce: 2,
        quick_acks_after_not_ect: 2,
        window_use: WindowUse::StickyLimit,
        compressed_ack_percent: 33,
        acks_full_pushed: true,
        ..Self::LINUX_3_18
    };
    /// All profiles.
    pub const ALL: &'static [Self] =
        &[Self::LINUX_3_2, Self::LINUX_3_18, Self::LINUX_6, Self::FREEBSD_2015, Self::FREEBSD_14];

    /// The profile called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|p| p.name == name)
    }

    /// The rules of a FreeBSD kernel, if it is one.
    #[inline]
    pub const fn freebsd(&self) -> Option<&FreeBsd> {
        match &self.kernel {
            Kernel::Linux => None,
            Kernel::FreeBsd(rules) => Some(rules),
        }
    }
}

/// What a receiver does differently from what the sender's side of the flow group says. All `None`: nothing.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReceiverConfig {
    /// Host stack, if not the sender's.
    pub stack: Option<Profile>,
    /// ECN feedback, if not what the sender's controller wants.
    pub feedback: Option<EcnFeedback>,
    /// When data with CWR is acknowledged, if not by the stack's rule.
    pub cwr_ack: Option<CwrAck>,
}

/// ECN as the flow asks for it. DCTCP controllers always use ECN; `Off` with DCTCP falls back to Reno as the kernels do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnSetting {
    /// Not negotiated.
    Off,
    /// Negotiated (RFC 3168), with the DCTCP echo if the controller wants it.
    On,
}

/// IPv4 and TCP headers without options, bytes.
const HEADER_BYTES_WITHOUT_OPTIONS: u16 = 20 + 20;

/// Everything a connection is made from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EndpointConfig {
    /// Host stack of the sender, and of the receiver unless that says otherwise.
    pub stack: Profile,
    /// What is different at the receiver.
    pub receiver: ReceiverConfig,
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
    /// Host stack of the receiver.
    #[inline]
    pub const fn receiver_stack(&self) -> &Profile {
        match &self.receiver.stack {
            Some(stack) => stack,
            None => &self.stack,
        }
    }
    /// What the receiver feeds back about marks if ECN is negotiated: as its own side says, else as the sender's controller
    /// wants it.
    pub const fn feedback(&self) -> EcnFeedback {
        match (self.receiver.feedback, &self.cc) {
            (Some(feedback), _) => feedback,
            (None, CcConfig::Dctcp(_)) => EcnFeedback::Dctcp,
            (None, CcConfig::Reno(_) | CcConfig::Cubic(_)) => EcnFeedback::Classic,
        }
    }
    /// When the receiver acknowledges data with CWR.
    pub const fn cwr_ack(&self) -> CwrAck {
        match self.receiver.cwr_ack {
            Some(rule) => rule,
            None => self.receiver_stack().cwr_ack,
        }
    }
    /// Maximum segment size: payload of a full packet, bytes.
    #[inline]
    pub const fn mss(&self) -> u16 {
        self.mtu_bytes - self.header_bytes
    }
    /// Maximum segment size as SYN and SYN/ACK announce it: the MTU less the IP and TCP headers without any options, which
    /// senders deduct themselves (RFC 6691 section 2). Linux (`tcp_advertise_mss`) and FreeBSD (`tcp_mssopt`) alike.
    #[inline]
    pub const fn announced_mss(&self) -> u16 {
        self.mtu_bytes.saturating_sub(HEADER_BYTES_WITHOUT_OPTIONS)
    }
    /// Window scale (RFC 7323): the smallest that can express the receive window.
    pub const fn window_scale(&self) -> u8 {
        let mut scale = 0;
        while scale < 14 && (self.receive_window_bytes >> scale) > 0xffff {
            scale += 1;
        }
        scale
    }
    /// The receive window in SYN and SYN/ACK, which is never scaled (RFC 7323 section 2.2).
    #[inline]
    pub const fn syn_window(&self) -> u16 {
        if self.receive_window_bytes > 0xffff { 0xffff } else { self.receive_window_bytes as u16 }
    }
    /// The receive window as on the wire. Constant: the application reads at once, and out-of-order data lies inside it.
    #[inline]
    pub const fn advertised_window(&self) -> u16 {
        let scaled = self.receive_window_bytes >> self.window_scale();
        if scaled > 0xffff { 0xffff } else { scaled as u16 }
    }
}
