//! What losses bring, and how it is taken back (sections 5.5.10 and 5.5.11 of the draft).

use super::{Phase, Rate, State, share};
use crate::{Connection, LostPacket, RecoveryState, Window};
use shoal_units::cast::fit_u32;

/// What an episode of losses may be found to have been spurious for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The phase that losses have ended.
    pub(super) phase: Option<Phase>,
    bw_shortterm: Rate,
    inflight_shortterm: u32,
    inflight_longterm: u32,
}

impl State {
    /// SaveCwnd.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let is_cut = self.recovery >= RecoveryState::Recovery || self.phase == Phase::ProbeRtt;
        self.prior_cwnd = if is_cut { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }
    /// RestoreCwnd.
    pub(super) fn restore_cwnd(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_cwnd).min(window.clamp);
    }

    /// SaveStateUponLoss.
    pub(super) fn save_upon_loss(&mut self, window: &Window) {
        self.save_cwnd(window);
        self.undo = Undo {
            phase: None,
            bw_shortterm: self.signals.bw_shortterm,
            inflight_shortterm: self.signals.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// The end of recovery brings the window back.
    pub(super) fn end_recovery(&mut self, window: &mut Window, connection: &Connection) {
        if self.recovery >= RecoveryState::Recovery && connection.recovery < RecoveryState::Recovery {
            self.restore_cwnd(window);
        }
        self.recovery = connection.recovery;
    }

    /// NoteLoss. `connection` is unknown if a mark stands for a loss.
    pub(super) fn note_loss(&mut self, window: &Window, connection: Option<&Connection>) {
        if !self.signals.is_loss_in_round {
            if let Some(connection) = connection {
                self.signals.loss_round_delivered = connection.delivered;
            }
            // What recovery has saved stays until it is over.
            if self.recovery < RecoveryState::Recovery && self.undo.phase.is_none() {
                self.save_upon_loss(window);
            }
        }
        self.signals.is_loss_in_round = true;
    }

    /// Whether so many losses of a flight are too many (IsInflightTooHigh).
    pub(super) fn is_too_high(&self, lost: u64, in_flight: u32, connection: &Connection) -> bool {
        let threshold = u64::from(in_flight) * u64::from(self.config.loss_threshold_permille);
        lost * 1000 > threshold || lost > 0 && !connection.has_sack
    }

    /// HandleLostPacket.
    pub(super) fn handle_lost_packet(
        &mut self,
        window: &Window,
        connection: &Connection,
        packet: &LostPacket,
    ) {
        self.note_loss(window, Some(connection));
        self.signals.losses_in_round += u32::from(packet.begins_range);
        if !self.probe.is_sample {
            return;
        }
        if self.is_too_high(packet.lost_since_sent, packet.sent_in_flight, connection) {
            self.handle_too_high(window, connection, packet);
        }
    }

    /// HandleInflightTooHigh.
    fn handle_too_high(&mut self, window: &Window, connection: &Connection, packet: &LostPacket) {
        self.probe.was_too_high = true;
        self.probe.is_sample = false;
        if !packet.is_app_limited {
            let target = share(self.target_inflight(window), self.config.beta_percent);
            self.inflight_longterm = self.inflight_at_loss(packet).max(target);
        }
        if self.phase == Phase::Up {
            self.undo.phase = Some(Phase::Up);
            self.start_down(window, connection);
        }
    }

    /// The flight at which losses went beyond the threshold, within the packet (InflightAtLoss).
    fn inflight_at_loss(&self, packet: &LostPacket) -> u32 {
        let threshold = i64::from(self.config.loss_threshold_permille);
        let before = i64::from(packet.sent_in_flight) - 1;
        let lost_before = i64::try_from(packet.lost_since_sent).unwrap_or(i64::MAX / 1000) - 1;
        let prefix = (threshold * before - 1000 * lost_before) / (1000 - threshold).max(1);
        fit_u32((before + prefix).max(0).unsigned_abs())
    }

    /// HandleSpuriousLossDetection.
    pub(super) fn handle_spurious_recovery(&mut self, window: &mut Window, connection: &Connection) {
        self.restore_cwnd(window);
        self.signals.is_loss_in_round = false;
        self.full.restart(0);
        let (signals, undo) = (&mut self.signals, &self.undo);
        signals.bw_shortterm = signals.bw_shortterm.max(undo.bw_shortterm);
        signals.inflight_shortterm = signals.inflight_shortterm.max(undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
        match self.undo.phase.take() {
            Some(Phase::Startup) if self.phase != Phase::Startup => {
                self.full.is_reached = false;
                if self.phase != Phase::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(Phase::Up) if self.phase != Phase::Up && self.phase != Phase::ProbeRtt => {
                self.start_refill(connection);
            }
            _ => {}
        }
    }
}
