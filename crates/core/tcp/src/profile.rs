//! Stack profiles: the behaviour of the host stack around the controller. [`Profile`] contains what all
//! stacks have, and [`Linux`] and [`FreeBsd`] the rules that only one kernel has.

mod freebsd;
mod linux;

pub use freebsd::FreeBsd;
pub use linux::{BurstLimit, GrowthTurn, Linux, LossDetection, Recovery, TailProbe, Tso, Undo, WindowUse};
use shoal_cc::GrowthRules;
use shoal_units::Span;

/// Response of a receiver to a change of the DCTCP echo state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchoChange {
    /// Flush a pending delayed ACK with the old state; the new packet is acknowledged by the usual rules (3.2 patch,
    /// 3.18).
    Flush,
    /// Flush, and acknowledge the new packet immediately (current Linux).
    FlushAndAck,
    /// Acknowledge immediately, everything with the new state (FreeBSD `dctcp_ecnpkt_handler`).
    Ack,
}

/// When data with CWR is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CwrAck {
    /// By the usual rules.
    AsUsual,
    /// Immediately (Linux since 4.19 `tcp_ecn_accept_cwr`; FreeBSD since 2020).
    AtOnce,
    /// By the usual rules, even if it changes the DCTCP echo state (Kato et al. 2015, section 3.2; FreeBSD 2015).
    Delayed,
}

/// Feedback of a receiver on marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnFeedback {
    /// ECE from a mark until CWR arrives
    /// ([RFC 3168, section 6.1.3](https://www.rfc-editor.org/rfc/rfc3168#section-6.1.3)).
    Classic,
    /// ECE is the CE state of the last packet
    /// ([RFC 8257, section 3.2](https://www.rfc-editor.org/rfc/rfc8257#section-3.2)).
    Dctcp,
    /// Counters of packets with CE and of bytes by codepoint
    /// ([RFC 9768](https://www.rfc-editor.org/rfc/rfc9768)).
    Accurate,
}

/// The kernel on which a stack is modelled, with the rules of its version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Linux: windows in packets, the state machine of `tcp_fastretrans_alert`.
    Linux(Linux),
    /// FreeBSD: windows in bytes, the state machine of `tcp_do_segment`.
    FreeBsd(FreeBsd),
}

/// A host stack. All times are those that the stack uses, after rounding to its clock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Profile {
    /// Name in the scenario file.
    pub name: &'static str,
    /// Kernel of the stack.
    pub kernel: Kernel,
    /// ACK counting and the slow-start test.
    pub growth: GrowthRules,
    /// Lower bound of the retransmission timeout.
    pub rto_min: Span,
    /// Upper bound of the retransmission timeout.
    pub rto_max: Span,
    /// Timeout before the first RTT sample, and of SYNs.
    pub rto_initial: Span,
    /// Initial window in packets ([RFC 6928](https://www.rfc-editor.org/rfc/rfc6928) or older).
    pub initial_window: u32,
    /// Longest delayed-ACK timeout.
    pub delack_max: Span,
    /// DCTCP echo at the receiver.
    pub echo_change: EchoChange,
    /// Whether a packet without ECT counts as unmarked in the DCTCP echo; otherwise it changes nothing.
    pub not_ect_clears_echo: bool,
    /// When data with CWR is acknowledged.
    pub cwr_ack: CwrAck,
}

impl Profile {
    /// All profiles.
    pub const ALL: &'static [Self] =
        &[Self::LINUX_3_2, Self::LINUX_3_18, Self::LINUX_6, Self::FREEBSD_2015, Self::FREEBSD_14];

    /// The profile called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|p| p.name == name)
    }

    /// The rules of a Linux kernel, if the stack is one.
    #[inline]
    pub const fn linux(&self) -> Option<&Linux> {
        match &self.kernel {
            Kernel::Linux(rules) => Some(rules),
            Kernel::FreeBsd(_) => None,
        }
    }
    /// The rules of a Linux kernel for modification, if the stack is one.
    #[inline]
    pub const fn linux_mut(&mut self) -> Option<&mut Linux> {
        match &mut self.kernel {
            Kernel::Linux(rules) => Some(rules),
            Kernel::FreeBsd(_) => None,
        }
    }

    /// Whether a receiver reports data that it received twice
    /// ([RFC 2883](https://www.rfc-editor.org/rfc/rfc2883)).
    #[inline]
    pub(crate) const fn reports_duplicates(&self) -> bool {
        match &self.kernel {
            Kernel::Linux(_) => true,
            Kernel::FreeBsd(rules) => rules.reports_dsack,
        }
    }
}
