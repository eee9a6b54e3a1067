//! What a congestion control law must say of itself to stand in the list of controllers.

use crate::{CongestionControl, EcnUse, GrowthRules, RenoConfig};

/// The configuration of a law.
pub trait Law: Copy {
    /// The state of one connection.
    type Controller: CongestionControl;
    /// How its controllers use ECN.
    const ECN_USE: EcnUse = EcnUse::Classic;

    /// Whether its controllers are driven by samples of the delivery rate ([`crate::RateBased`]). The endpoint takes
    /// none for other ones.
    const NEEDS_RATE_SAMPLES: bool = false;

    /// The controller of a new connection on a host with `rules`.
    fn start(self, rules: GrowthRules) -> Self::Controller;
    /// Reno in the place of a law that is nothing without ECN.
    fn without_ecn(self) -> Option<RenoConfig> {
        None
    }
    /// Initial window in packets that the law asks for, unless the flow says otherwise; `None`: the stack's.
    fn initial_window_packets(&self) -> Option<u32> {
        None
    }
    /// Whether a window of data brings at most one reduction, as the property model checks.
    fn cuts_once_a_window(&self) -> bool {
        true
    }
}

/// Window restored when a reduction turns out spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UndoWindow {
    /// That of the host's kernel: `TwiceSsthresh` where each ACK counts once, as on Linux 3.x, else `AtReduction`.
    #[default]
    Kernel,
    /// `max(cwnd, 2 ssthresh)` (Linux Reno before 4.15).
    TwiceSsthresh,
    /// `max(cwnd, cwnd at the reduction)` (Linux Reno since 4.15; DCTCP and CUBIC modules by their `loss_cwnd`).
    AtReduction,
}
