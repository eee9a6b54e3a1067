//! Stack profiles: what the host stack does around the controller. What every stack has stands in [`Profile`], what only one
//! kernel's code has in its own rules, [`Linux`] or [`FreeBsd`].

mod freebsd;
mod linux;

pub use freebsd::FreeBsd;
pub use linux::{BurstLimit, GrowthTurn, Linux, LossDetection, Recovery, TailProbe, Undo, WindowUse};
use shoal_cc::GrowthRules;
use shoal_units::Span;

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

/// Which kernel's code a stack is modelled on, and in what its versions differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Linux: windows in packets, the state machine of `tcp_fastretrans_alert`.
    Linux(Linux),
    /// FreeBSD: windows in bytes, the state machine of `tcp_do_segment`.
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
    /// Lower bound of the retransmission timeout.
    pub rto_min: Span,
    /// Upper bound of the retransmission timeout.
    pub rto_max: Span,
    /// Timeout before the first RTT sample, and of SYNs.
    pub rto_initial: Span,
    /// Initial window in packets (RFC 6928 or older).
    pub initial_window: u32,
    /// Longest delayed-ACK timeout.
    pub delack_max: Span,
    /// DCTCP echo at the receiver.
    pub echo_change: EchoChange,
    /// A packet without ECT counts as unmarked in the DCTCP echo; else it changes nothing.
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

    /// The rules of a Linux kernel, if it is one.
    #[inline]
    pub const fn linux(&self) -> Option<&Linux> {
        match &self.kernel {
            Kernel::Linux(rules) => Some(rules),
            Kernel::FreeBsd(_) => None,
        }
    }
    /// The rules of a Linux kernel, to be changed, if it is one.
    #[inline]
    pub const fn linux_mut(&mut self) -> Option<&mut Linux> {
        match &mut self.kernel {
            Kernel::Linux(rules) => Some(rules),
            Kernel::FreeBsd(_) => None,
        }
    }

    /// Whether a receiver reports data that it received twice (RFC 2883).
    #[inline]
    pub(crate) const fn reports_duplicates(&self) -> bool {
        match &self.kernel {
            Kernel::Linux(_) => true,
            Kernel::FreeBsd(rules) => rules.reports_dsack,
        }
    }
}
