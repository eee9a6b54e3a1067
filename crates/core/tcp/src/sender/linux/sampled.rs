//! Connections whose controller is driven by rate samples (Linux `cong_control`). It owns `cwnd`: what the endpoint
//! does otherwise to the window, in recovery and after a pause, does not happen here.

use super::acked::Acked;
use super::rate_samples::RateSamples;
use super::{CaState, LinuxSender, Moment};
use alloc::boxed::Box;
use shoal_cc::{CongestionControl, Connection, LostPacket, RateSample, RecoveryState};
use shoal_units::Span;
use shoal_units::cast::fit_u32;

/// What is known before an ACK is processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub flight: u32,
    pub delivered: u64,
    pub losses: u64,
    /// The peer acknowledged up to data that it had SACKed.
    pub is_reneging: bool,
}

impl Before {
    /// Nothing.
    pub(super) const NOTHING: Self = Self { flight: 0, delivered: 0, losses: 0, is_reneging: false };
}

impl LinuxSender {
    /// The samples' seed: that of the run and the number of the flow.
    pub(in crate::sender) fn set_seed(&mut self, seed: u64) {
        if let Some(rates) = &mut self.rates {
            rates.seed = seed;
        }
    }

    /// Packets delivered, and the SYN (Linux `tp->delivered`).
    fn delivered_with_syn(&self) -> u64 {
        self.counters.delivered_packets + 1
    }

    /// State of the connection as a law reads it.
    fn connection_state(&self, at: &Moment<'_>, rates: &RateSamples) -> Connection {
        let flight = self.board.in_flight();
        Connection {
            now: at.now,
            delivered: self.delivered_with_syn(),
            delivered_at: rates.delivered_at,
            lost: self.board.losses,
            in_flight: flight,
            srtt: self.rtt.srtt(),
            min_rtt: rates.min_rtt(),
            mss: u32::from(at.mss),
            recovery: match self.state {
                CaState::Open => RecoveryState::Open,
                CaState::Disorder => RecoveryState::Disorder,
                CaState::Cwr => RecoveryState::Cwr,
                CaState::Recovery => RecoveryState::Recovery,
                CaState::Loss => RecoveryState::Loss,
            },
            departure: self.segmentation.as_ref().map_or(at.now, |segmentation| segmentation.departure()),
            is_app_limited: rates.is_app_limited(),
            is_cwnd_limited: self.usage.was_full(),
            has_sack: at.config.sack,
        }
    }

    /// The controller takes over. `rtt` is what the handshake has shown.
    #[cold]
    pub(super) fn start_samples(&mut self, at: &Moment<'_>, rtt: Option<Span>) {
        let Some(mut rates) = self.rates.take() else { return };
        if let Some(rtt) = rtt {
            rates.note_rtt(fit_u32(rtt.as_micros()));
        }
        rates.delivered_at = at.now;
        // The application writes into an empty socket (Linux `tcp_sendmsg`).
        if self.board.packets_out() == 0 {
            rates.limit(self.delivered_with_syn(), 0);
        }
        let connection = self.connection_state(at, &rates);
        let seed = rates.seed;
        if let Some(law) = self.cc.rate_based() {
            law.on_start(&mut self.window, &connection, seed);
        }
        self.rates = Some(rates);
    }

    /// The controller is another one from now on, which may want samples, or not.
    pub(super) fn replace_samples(&mut self, needed: bool, at: &Moment<'_>) {
        let seed = self.rates.as_ref().map_or(0, |rates| rates.seed);
        let out = self.board.segments.len();
        self.rates = needed.then(|| Box::new(RateSamples::new(seed, out)));
        self.start_samples(at, (!self.rtt.srtt().is_zero()).then(|| self.rtt.min()));
    }

    /// The application is about to write. If there is nothing to send although the window has room, it limits the rate
    /// (Linux `tcp_rate_check_app_limited`).
    #[cold]
    pub(in crate::sender) fn check_app_limited(&mut self, at: &Moment<'_>) {
        let Some(mut rates) = self.rates.take() else { return };
        let unsent = self.stream.written.saturating_sub(self.snd_nxt);
        let host_is_empty =
            self.segmentation.as_ref().is_none_or(|segmentation| segmentation.is_empty(at.now));
        let flight = self.board.in_flight();
        let all_sent_again = self.board.lost <= self.board.retransmitted;
        if unsent < at.mss.into() && host_is_empty && flight < self.window.cwnd && all_sent_again {
            rates.limit(self.delivered_with_syn(), flight);
        }
        self.rates = Some(rates);
    }

    /// A packet is about to leave with none out.
    #[cold]
    pub(super) fn restart_samples(&mut self, at: &Moment<'_>) {
        let Some(rates) = self.rates.take() else { return };
        let connection = self.connection_state(at, &rates);
        if let Some(law) = self.cc.rate_based() {
            law.on_restart(&mut self.window, &connection);
        }
        self.rates = Some(rates);
    }

    /// Reports packets that were declared lost since the last report.
    fn report_losses(&mut self, rates: &mut RateSamples, connection: &Connection) {
        let Some(law) = self.cc.rate_based().filter(|_| rates.reported_losses < self.board.losses) else {
            return;
        };
        for lost in rates.take_lost(&self.board) {
            let packet = LostPacket {
                sent_in_flight: lost.in_flight,
                lost_since_sent: self.board.losses - lost.lost_before,
                is_app_limited: lost.is_app_limited,
                begins_range: lost.begins_range,
            };
            law.on_packet_lost(&mut self.window, connection, &packet);
        }
        rates.reported_losses = self.board.losses;
    }

    /// The reordering timer has found losses.
    #[cold]
    pub(super) fn note_losses_in_samples(&mut self, at: &Moment<'_>) {
        let Some(mut rates) = self.rates.take() else { return };
        let connection = self.connection_state(at, &rates);
        self.report_losses(&mut rates, &connection);
        self.rates = Some(rates);
    }

    /// A retransmission timeout has passed.
    #[cold]
    pub(super) fn note_timeout_in_samples(&mut self, at: &Moment<'_>) {
        let Some(mut rates) = self.rates.take() else { return };
        let connection = self.connection_state(at, &rates);
        if let Some(law) = self.cc.rate_based() {
            law.on_timeout(&mut self.window, &connection);
        }
        self.report_losses(&mut rates, &connection);
        self.rates = Some(rates);
    }

    /// A reduction was spurious.
    #[cold]
    pub(super) fn note_undo_in_samples(&mut self, at: &Moment<'_>) {
        let Some(rates) = self.rates.take() else { return };
        let connection = self.connection_state(at, &rates);
        if let Some(law) = self.cc.rate_based() {
            law.on_undo(&mut self.window, &connection);
        }
        self.rates = Some(rates);
    }

    /// Takes note of what is known before an ACK is processed.
    #[cold]
    pub(super) fn note_before_ack(&mut self) {
        let before = Before {
            flight: self.board.in_flight(),
            delivered: self.delivered_with_syn(),
            losses: self.board.losses,
            is_reneging: self.board.is_reneging(),
        };
        if let Some(rates) = &mut self.rates {
            rates.before = before;
        }
    }

    /// Reads the stamps of what an ACK SACKs.
    #[cold]
    pub(super) fn read_sacked_stamps(&mut self) {
        if let Some(rates) = &mut self.rates {
            rates.read_sacked(&self.board);
        }
    }

    /// Reads the stamps of what an ACK up to `una` covers, before the queue lets it go.
    #[cold]
    pub(super) fn read_acknowledged_stamps(&mut self, una: u64) {
        if let Some(rates) = &mut self.rates {
            rates.read_acknowledged(&self.board, una);
        }
    }

    /// Whether an ACK is that for a single small packet, which a receiver may have kept back (Linux
    /// `FLAG_ACK_MAYBE_DELAYED`).
    fn may_be_delayed(&self, at: &Moment<'_>, acked: &Acked, before: &Before) -> bool {
        let delivery = &acked.delivery;
        delivery.acked_packets == 1
            && delivery.gives_rtt()
            && self.snd_una - acked.prior_una < at.mss.into()
            && before.flight == 1
            && !delivery.newly_sacked
            && !acked.ece
            && !acked.dsack
    }

    /// The end of the processing of an ACK: the controller gets its sample (Linux `tcp_rate_gen`, `tcp_cong_control`).
    #[cold]
    pub(super) fn give_sample(&mut self, at: &Moment<'_>, acked: &Acked, rtt: Option<Span>) {
        let Some(mut rates) = self.rates.take() else { return };
        let delivered = self.delivered_with_syn();
        let rtt_us = rates.take_rtt(rtt, at.now);
        let before = rates.before;
        let is_ack_delayed = self.may_be_delayed(at, acked, &before);
        if let Some(rtt_us) = rtt_us
            && !(is_ack_delayed && rates.min_rtt().is_some_and(|least| u64::from(rtt_us) > least.as_micros()))
        {
            rates.note_rtt(rtt_us);
        }
        let sample = RateSample {
            rtt_us,
            losses: fit_u32(self.board.losses - before.losses),
            newly_delivered: fit_u32(delivered - before.delivered),
            prior_in_flight: before.flight,
            is_ack_delayed,
            ..RateSample::default()
        };
        let totals = (delivered, self.board.losses);
        let is_reneging = before.is_reneging || self.board.is_reneging();
        let sample = rates.finish(sample, totals, is_reneging, at.now);
        let connection = self.connection_state(at, &rates);
        self.report_losses(&mut rates, &connection);
        if let Some(law) = self.cc.rate_based()
            && law.on_sample(&mut self.window, &connection, &sample)
        {
            rates.limit(delivered, connection.in_flight);
        }
        // What is sent again before new data has the new pace, too.
        let pace = self.cc.pacing(&self.window, connection.srtt, connection.in_flight, connection.mss);
        if let (Some(state), Some(pace)) = (&mut self.segmentation, pace) {
            state.set_pace(pace);
        }
        self.rates = Some(rates);
    }
}
