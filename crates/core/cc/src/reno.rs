//! Reno as Linux implements it ([RFC 5681](https://www.rfc-editor.org/rfc/rfc5681)): the window grows by the
//! stack's rules, by one packet per ACK in slow start and by one packet per window in congestion avoidance;
//! every signal of congestion halves it, with a floor of two packets.

use crate::{
    AckCounting, AckSample, CcConfig, CongestionControl, GrowthRules, Law, Preset, Reduction, Signal,
    UndoWindow, Window,
};
use shoal_units::{Difference, ModelDoc, ModelKind};

/// Parameters of Reno; the stack profile contains the other differences between hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RenoConfig {
    /// Lower bound of `cwnd` for rate halving in CWR: half of `ssthresh` (Linux 3.2 `tcp_reno_min_cwnd`) if
    /// true, else `ssthresh`.
    pub halves_to_half_ssthresh: bool,
    /// Window that an undo restores.
    pub undo: UndoWindow,
}

impl Law for RenoConfig {
    type Controller = Reno;

    fn start(self, rules: GrowthRules) -> Reno {
        Reno::new(self, rules)
    }
}

/// The preset without ECN.
pub(crate) const PRESETS: &[Preset] = &[Preset::new(CcConfig::Reno(RENO), RENO_DOC)];
/// The presets that ask for ECN unless the flow says otherwise.
pub(crate) const ECN_PRESETS: &[Preset] = &[
    Preset { ecn: true, ..Preset::new(CcConfig::Reno(RENO), ECN_RENO_DOC) },
    Preset { ecn: true, ..Preset::new(CcConfig::Reno(NEWRENO), ECN_NEWRENO_DOC) },
];

/// The preset `reno`. Rate halving exists only in kernels whose Reno has `tcp_reno_min_cwnd`, which sets the
/// lower bound.
pub const RENO: RenoConfig = RenoConfig { halves_to_half_ssthresh: true, undo: UndoWindow::Kernel };

/// FreeBSD's NewReno: after a spurious timeout a FreeBSD stack restores the window before it.
pub const NEWRENO: RenoConfig = RenoConfig { halves_to_half_ssthresh: false, undo: UndoWindow::AtReduction };

/// Description of `reno`.
pub const RENO_DOC: ModelDoc = ModelDoc {
    name: "reno",
    kind: ModelKind::CongestionControl,
    summary: "Slow start, linear increase, halving on loss and on the first ECN-Echo of a window.",
    follows: "RFC 5681; Linux net/ipv4/tcp_cong.c (tcp_reno)",
    differences: &[],
};

/// Description of `ecn-reno`.
pub const ECN_RENO_DOC: ModelDoc = ModelDoc {
    name: "ecn-reno",
    kind: ModelKind::CongestionControl,
    summary: "Reno with classic ECN: `reno` that asks for ECN unless the flow says ecn = \"off\".",
    follows: "RFC 3168, RFC 5681; Linux net/ipv4/tcp_cong.c (tcp_reno)",
    differences: &[],
};

/// Description of `ecn-newreno`.
pub const ECN_NEWRENO_DOC: ModelDoc = ModelDoc {
    name: "ecn-newreno",
    kind: ModelKind::CongestionControl,
    summary: "FreeBSD's NewReno with classic ECN: half the window in whole packets, at once on the first ECN-Echo of \
              a window.",
    follows: "RFC 3168, RFC 6582; FreeBSD sys/netinet/cc/cc_newreno.c",
    differences: &[Difference {
        text: "Alternative backoff with ECN (net.inet.tcp.cc.abe, off by default) is not modelled.",
        test: "newreno_halves_in_whole_packets",
    }],
};

/// A Reno controller.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    config: RenoConfig,
    rules: GrowthRules,
    cwnd_at_reduction: u32,
}

impl Reno {
    /// A controller for one connection.
    pub const fn new(config: RenoConfig, rules: GrowthRules) -> Self {
        Self { config, rules, cwnd_at_reduction: 0 }
    }

    fn halve(&mut self, window: &mut Window) {
        self.cwnd_at_reduction = window.cwnd;
        window.ssthresh = half_of(window);
        window.cwnd_cnt = 0;
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        self.rules.reno(window, ack);
    }
    fn on_ecn(&mut self, window: &mut Window, _signal: &Signal) -> Reduction {
        self.halve(window);
        Reduction::Spread
    }
    fn on_loss(&mut self, window: &mut Window, _signal: &Signal) {
        self.halve(window);
    }
    fn on_rto(&mut self, window: &mut Window, _signal: &Signal, already_reduced: bool) {
        if !already_reduced {
            self.halve(window);
        }
        window.cwnd_cnt = 0;
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        undo_window(self.config.undo, &self.rules, window, self.cwnd_at_reduction)
    }
    fn rate_halving_floor(&self, window: &Window) -> u32 {
        if self.config.halves_to_half_ssthresh { window.ssthresh / 2 } else { window.ssthresh }
    }
}

/// Half of the window in whole packets, at least two (RFC 5681 equation 4; Linux `tcp_reno_ssthresh`; FreeBSD
/// `newreno_cong_signal`).
#[inline]
pub(crate) fn half_of(window: &Window) -> u32 {
    (window.cwnd / 2 / window.quantum).max(2) * window.quantum
}

/// The window that an undo restores.
pub(crate) fn undo_window(
    rule: UndoWindow,
    rules: &GrowthRules,
    window: &Window,
    cwnd_at_reduction: u32,
) -> u32 {
    let doubles = match rule {
        UndoWindow::Kernel => rules.counting == AckCounting::PerAck,
        UndoWindow::TwiceSsthresh => true,
        UndoWindow::AtReduction => false,
    };
    window.cwnd.max(if doubles { window.ssthresh.saturating_mul(2) } else { cwnd_at_reduction })
}
