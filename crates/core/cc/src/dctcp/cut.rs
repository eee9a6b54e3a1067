//! Reductions: when the window is reduced, and by how much.

use super::alpha::Estimator;
use crate::{
    AckSample, CounterOnCut, CutRounding, CutStyle, DctcpConfig, FirstMark, LossBase, LossResponse,
    Reduction, Signal, SsthreshAfterCut, Window,
};

/// State of the reductions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cut {
    /// `cwnd` at the start of CWR; zero outside (Kuehlewind et al. 2014 `cwnd_max`).
    cwnd_max: u32,
    /// `cwnd` before the last reduction (Linux `loss_cwnd`).
    pub(super) cwnd_before: u32,
    /// [`CutStyle::PerMark`]: half window units still to be subtracted. An odd half is kept for the next
    /// mark.
    owed_halves: u64,
    /// Whether the sender is in Recovery or Loss, where marks cause no reduction.
    in_loss: bool,
    /// Number of signals so far: marks that began an episode, losses, timeouts (FreeBSD `num_cong_events`).
    events: u32,
}

impl Cut {
    /// Counts marks for [`CutStyle::PerMark`].
    #[inline]
    pub(super) fn on_ack(&mut self, config: &DctcpConfig, window: &Window, ack: &AckSample) {
        if config.cut == CutStyle::PerMark && !self.in_loss {
            self.owed_halves += u64::from(ack.marked_packets) * u64::from(window.quantum);
        }
    }

    /// Handles the first ECN-Echo of an episode.
    pub(super) fn on_ecn(
        &mut self,
        config: &DctcpConfig,
        alpha: &mut Estimator,
        window: &mut Window,
        signal: &Signal,
    ) -> Reduction {
        self.cwnd_before = window.cwnd;
        if config.first_mark == FirstMark::Halve {
            self.events = self.events.saturating_add(1);
            if self.events == 1 {
                let target = half(config, window, window.cwnd);
                alpha.restart_at_one(config, signal.snd_nxt);
                set(config, window, target);
                return Reduction::Done;
            }
        }
        match config.cut {
            CutStyle::OnceSpread => {
                window.ssthresh = scaled(config, alpha, window, window.cwnd);
                clear_counter(config, window, window.ssthresh < window.cwnd);
                return Reduction::Spread;
            }
            CutStyle::OnceAtOnce => {
                let target = scaled(config, alpha, window, window.cwnd);
                set(config, window, target);
            }
            CutStyle::Progressive => {
                self.cwnd_max = window.cwnd;
                let target = scaled(config, alpha, window, window.cwnd);
                set(config, window, target.min(window.cwnd));
            }
            CutStyle::PerMark => {
                let target = self.pay(config, window);
                set(config, window, target);
            }
        }
        Reduction::Done
    }

    /// Handles a further ACK with ECN-Echo in the same episode.
    #[inline]
    pub(super) fn on_ece_in_cwr(&mut self, config: &DctcpConfig, alpha: &Estimator, window: &mut Window) {
        if config.loss_base == LossBase::AtLastMark {
            self.cwnd_before = window.cwnd;
        }
        let target = match config.cut {
            CutStyle::OnceAtOnce | CutStyle::OnceSpread => return,
            CutStyle::Progressive if self.cwnd_max == 0 => return,
            CutStyle::Progressive => scaled(config, alpha, window, self.cwnd_max),
            CutStyle::PerMark => self.pay(config, window),
        };
        if target < window.cwnd {
            set(config, window, target);
        }
    }

    /// Handles a packet loss or a timeout: sets `ssthresh`.
    pub(super) fn on_loss(&mut self, config: &DctcpConfig, alpha: &Estimator, window: &mut Window) {
        self.cwnd_before = window.cwnd;
        self.set_ssthresh(config, alpha, window, window.cwnd);
    }

    /// Handles a packet loss within an ECN episode: sets `ssthresh` once more.
    pub(super) fn on_loss_again(&mut self, config: &DctcpConfig, alpha: &Estimator, window: &mut Window) {
        match config.loss_base {
            LossBase::Window => self.on_loss(config, alpha, window),
            LossBase::AtLastMark => self.set_ssthresh(config, alpha, window, self.cwnd_before),
        }
    }

    fn set_ssthresh(&mut self, config: &DctcpConfig, alpha: &Estimator, window: &mut Window, cwnd: u32) {
        window.ssthresh = match config.loss {
            LossResponse::Halve => half(config, window, cwnd),
            LossResponse::Alpha => scaled(config, alpha, window, cwnd),
        };
        window.cwnd_cnt = 0;
        self.events = self.events.saturating_add(1);
    }

    /// Restarts the count of signals, so that the next mark after an idle period is treated as the first one.
    pub(super) fn forget_events(&mut self) {
        self.events = 0;
    }

    /// Enters Recovery or Loss, which ends the ECN episode: marks cause no reduction until [`Self::on_exit`].
    pub(super) fn enter_loss(&mut self) {
        self.cwnd_max = 0;
        self.owed_halves = 0;
        self.in_loss = true;
    }

    pub(super) fn on_exit(&mut self) {
        self.cwnd_max = 0;
        self.in_loss = false;
    }

    /// The window less the half units that are still to be subtracted, in whole units.
    #[inline]
    fn pay(&mut self, config: &DctcpConfig, window: &Window) -> u32 {
        let units = u32::try_from(self.owed_halves / 2).unwrap_or(u32::MAX);
        self.owed_halves %= 2;
        window.cwnd.saturating_sub(units).max(floor(config, window))
    }
}

/// `cwnd (1 - alpha/2)`, with the reduction rounded down and the floor applied (Linux `dctcp_ssthresh`;
/// Kuehlewind et al. 2014, equation 1).
#[inline]
fn scaled(config: &DctcpConfig, alpha: &Estimator, window: &Window, cwnd: u32) -> u32 {
    rounded(config, window, cwnd - alpha.cut_of(cwnd)).max(floor(config, window))
}

/// Half of `cwnd`, at least two packets.
fn half(config: &DctcpConfig, window: &Window, cwnd: u32) -> u32 {
    rounded(config, window, cwnd / 2).max(2 * window.quantum)
}

#[inline]
fn rounded(config: &DctcpConfig, window: &Window, cwnd: u32) -> u32 {
    match config.cut_rounding {
        CutRounding::Exact => cwnd,
        CutRounding::WholePackets => cwnd / window.quantum * window.quantum,
    }
}

#[inline]
fn floor(config: &DctcpConfig, window: &Window) -> u32 {
    config.floor_packets.saturating_mul(window.quantum)
}

/// Sets `cwnd` and `ssthresh` at once.
#[inline]
fn set(config: &DctcpConfig, window: &mut Window, cwnd: u32) {
    clear_counter(config, window, cwnd < window.cwnd);
    window.cwnd = cwnd;
    window.ssthresh = match config.ssthresh_after_cut {
        SsthreshAfterCut::Cwnd => cwnd,
        // RFC 5681 (https://www.rfc-editor.org/rfc/rfc5681) equation 4 keeps ssthresh at two packets or more;
        // Kuehlewind et al. 2014 does not define this case.
        SsthreshAfterCut::CwndMinusOne => {
            cwnd.saturating_sub(window.quantum).max(2u32.saturating_mul(window.quantum))
        }
    };
}

#[inline]
fn clear_counter(config: &DctcpConfig, window: &mut Window, cut: bool) {
    let clears = match config.counter_on_cut {
        CounterOnCut::Clear => true,
        CounterOnCut::KeepUnlessCut => cut,
        CounterOnCut::Keep => false,
    };
    if config.cut != CutStyle::PerMark && clears {
        window.cwnd_cnt = 0;
    }
}
