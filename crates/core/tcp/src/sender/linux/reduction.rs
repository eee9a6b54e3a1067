//! How a window comes down over a round trip: rate halving (Linux `tcp_cwnd_down`) or proportional rate
//! reduction ([RFC 6937](https://www.rfc-editor.org/rfc/rfc6937), Linux `tcp_cwnd_reduction`).

use crate::sender::prr::Prr;
use shoal_cc::Window;
use shoal_units::cast::fit_u32;

/// Effect of one ACK on a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Packets newly delivered.
    pub delivered: u32,
    /// Whether the ACK advanced without new losses.
    pub advanced_without_loss: bool,
    /// Whether a fast retransmission is to be sent whatever the flight.
    pub first_retransmission: bool,
}

/// A reduction in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateReduction {
    prr: Prr,
    /// Whether the controller carries out its own cuts in the current CWR episode.
    pub controller_cuts: bool,
}

impl RateReduction {
    pub(super) const NONE: Self = Self { prr: Prr::NONE, controller_cuts: false };

    /// Begins a reduction from `cwnd`.
    pub(super) fn begin(&mut self, cwnd: u32) {
        self.prr.begin(u64::from(cwnd), 0);
    }
    /// The reduction in progress counts from `cwnd`, if that is larger.
    pub(super) fn raise_base(&mut self, cwnd: u32) {
        self.prr.raise_prior(u64::from(cwnd));
    }
    #[inline]
    pub(super) fn note_sent(&mut self, packets: u32) {
        self.prr.note_sent(u64::from(packets));
    }

    /// Applies one ACK's share by PRR, with `flight` packets in flight. `always_one_more`: as Linux before
    /// 4.5.
    pub(super) fn reduce_proportionally(
        &mut self,
        window: &mut Window,
        flight: u32,
        progress: Progress,
        always_one_more: bool,
    ) {
        if !always_one_more && progress.delivered == 0 {
            return;
        }
        let newly = u64::from(progress.delivered);
        self.prr.note_delivered(newly);
        let send = if flight > window.ssthresh {
            self.prr.proportional(u64::from(window.ssthresh))
        } else {
            let one_more = always_one_more || progress.advanced_without_loss;
            let room = u64::from(window.ssthresh - flight);
            (self.prr.replacement(newly) + u64::from(one_more)).min(room)
        };
        // A fast retransmission goes out whatever the flight (since 4.5: until the first one has).
        let forced = if always_one_more { progress.first_retransmission } else { !self.prr.has_sent() };
        let send = send.max(u64::from(forced));
        window.cwnd = fit_u32((u64::from(flight) + send).max(1));
    }
}

/// Applies one ACK's share by rate halving: one packet less for every second ACK, not below `floor`, and
/// never more than one packet beyond the flight.
pub(super) fn halve_rate(window: &mut Window, floor: u32, flight: u32) {
    let count = window.cwnd_cnt + 1;
    window.cwnd_cnt = count & 1;
    let step = count >> 1;
    if step > 0 && window.cwnd > floor {
        window.cwnd -= step.min(window.cwnd - 1);
    }
    window.cwnd = window.cwnd.min(flight + 1).max(1);
}

/// Linux `tcp_moderate_cwnd`: at most three packets beyond the flight.
pub(super) fn moderate_cwnd(window: &mut Window, flight: u32) {
    window.cwnd = window.cwnd.min(flight + 3).max(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: u32, ssthresh: u32) -> Window {
        Window { ssthresh, ..Window::in_packets(cwnd) }
    }

    fn delivered(packets: u32) -> Progress {
        Progress { delivered: packets, advanced_without_loss: true, first_retransmission: false }
    }

    #[test]
    fn proportional_reduction_arrives_at_the_threshold_with_the_round_trip() {
        // From 10 to 5: each ACK delivers one packet, and the sender fills the window again. Every second ACK lets one
        // out, until the ninth finds a flight of 10 - 9 + 4 = 5, no more than the threshold: there is no room; with the
        // tenth there is room for one.
        let mut reduction = RateReduction::NONE;
        let mut w = window(10, 5);
        reduction.begin(10);
        let mut flight = 10;
        let mut sent = Vec::new();
        for _ in 0..10 {
            flight -= 1;
            reduction.reduce_proportionally(&mut w, flight, delivered(1), false);
            sent.push(w.cwnd - flight);
            reduction.note_sent(w.cwnd - flight);
            flight = w.cwnd;
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 0, 1]);
        assert_eq!(w.cwnd, 5);
    }

    #[test]
    fn below_the_threshold_one_more_than_delivered_may_leave() {
        // Flight 2 of ssthresh 8: replacement 1 + 1 more; an ACK with new losses has no bonus; before 4.5 it has.
        for (always, without_loss, cwnd) in [(false, true, 4), (false, false, 3), (true, false, 4)] {
            let mut reduction = RateReduction::NONE;
            let mut w = window(8, 8);
            reduction.begin(10);
            let progress = Progress { advanced_without_loss: without_loss, ..delivered(1) };
            reduction.reduce_proportionally(&mut w, 2, progress, always);
            assert_eq!(w.cwnd, cwnd, "{always} {without_loss}");
        }
    }

    #[test]
    fn the_first_retransmission_leaves_whatever_the_flight() {
        // 1 of 20 is delivered, 10 of which may be sent: 1 x 10 / 20 rounds up to 1, of which 1 was sent: 0, but
        // forced.
        for (always, first, sent_before, cwnd) in
            [(false, false, 0, 16), (true, false, 1, 15), (true, true, 1, 16), (false, true, 1, 15)]
        {
            let mut reduction = RateReduction::NONE;
            let mut w = window(20, 10);
            reduction.begin(20);
            reduction.note_sent(sent_before);
            let progress = Progress { first_retransmission: first, ..delivered(1) };
            reduction.reduce_proportionally(&mut w, 15, progress, always);
            assert_eq!(w.cwnd, cwnd, "{always} {first} {sent_before}");
        }
    }

    #[test]
    fn an_ack_that_delivers_nothing_changes_nothing_since_4_5() {
        let mut reduction = RateReduction::NONE;
        reduction.begin(20);
        let mut w = window(20, 10);
        reduction.reduce_proportionally(&mut w, 15, delivered(0), false);
        assert_eq!(w.cwnd, 20);
        reduction.reduce_proportionally(&mut w, 15, delivered(0), true);
        assert_eq!(w.cwnd, 15);
    }

    #[test]
    fn rate_halving_takes_one_packet_for_two_acks() {
        let mut w = window(10, 5);
        let windows: Vec<u32> = (0..12)
            .map(|_| {
                halve_rate(&mut w, 5, 20);
                w.cwnd
            })
            .collect();
        assert_eq!(windows, [10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 5]);
        halve_rate(&mut w, 5, 2);
        assert_eq!(w.cwnd, 3, "one packet beyond the flight");
        moderate_cwnd(&mut w, 0);
        assert_eq!(w.cwnd, 3);
        w.cwnd = 9;
        moderate_cwnd(&mut w, 1);
        assert_eq!(w.cwnd, 4);
    }
}
