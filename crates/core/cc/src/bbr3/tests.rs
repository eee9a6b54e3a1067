//! Traces of the state machine, with the arithmetic in comments.

use super::{BBR3, Bbr3, Phase, State, UNBOUNDED};
use crate::tests::connection::after_handshake;
use crate::tests::drive::MSS;
use crate::{
    Bbr3Config, Burst, CongestionControl, Connection, LostPacket, RateBased, RateSample, RecoveryState,
    Reduction, Signal, Window,
};
use shoal_units::Span;

/// A law, its window and the connection.
struct Path {
    law: Bbr3,
    window: Window,
    connection: Connection,
}

/// A sample of `delivered` packets in 10 ms.
fn sample(delivered: u32) -> RateSample {
    RateSample {
        delivered: Some(delivered),
        interval_us: 10_000,
        rtt_us: Some(40_000),
        newly_delivered: delivered,
        prior_in_flight: 50,
        sent_in_flight: 50,
        ..RateSample::default()
    }
}

impl Path {
    /// A connection whose handshake took 40 ms.
    fn new(config: Bbr3Config) -> Self {
        let mut path = Self {
            law: Bbr3::new(config),
            window: Window::in_packets(10),
            connection: after_handshake(Span::from_millis(40)),
        };
        path.law.on_start(&mut path.window, &path.connection, 1);
        path
    }

    fn state(&self) -> &State {
        &self.law.0
    }

    /// `ms` later an ACK brings `sample`, which ends a round.
    fn round(&mut self, ms: u64, mut sample: RateSample) -> bool {
        self.connection.now += Span::from_millis(ms);
        self.connection.delivered_at = self.connection.now;
        sample.prior_delivered = self.connection.delivered;
        self.connection.delivered += u64::from(sample.newly_delivered);
        self.law.on_sample(&mut self.window, &self.connection, &sample)
    }

    fn lose(&mut self, packet: LostPacket) {
        self.connection.lost += 1;
        self.law.on_packet_lost(&mut self.window, &self.connection, &packet);
    }

    /// A path of one packet a millisecond, in ProbeBW_CRUISE.
    fn in_probe_bandwidth() -> Self {
        let mut path = Self::new(BBR3);
        path.connection.in_flight = 200;
        for _ in 0..4 {
            path.round(40, sample(10));
        }
        assert_eq!(path.state().phase, Phase::Drain);
        path.connection.in_flight = 40;
        // Drain ends, and the flight is small enough for cruising.
        path.round(40, sample(10));
        assert_eq!(path.state().phase, Phase::Cruise);
        path
    }

    /// A path of one packet a millisecond, in ProbeBW_UP.
    fn in_up() -> Self {
        let mut path = Self::in_probe_bandwidth();
        path.round(3000, sample(10));
        assert_eq!(path.state().phase, Phase::Refill);
        path.round(40, sample(10));
        assert_eq!(path.state().phase, Phase::Up);
        path
    }
}

const HIGH_LOSS: LostPacket =
    LostPacket { sent_in_flight: 60, lost_since_sent: 3, is_app_limited: false, begins_range: true };

#[test]
fn the_first_rate_is_the_initial_window_with_the_gain_of_startup() {
    // 10 packets in 40 ms: 10 x 2^24 / 40,000 = 4194; x 1448 B x 277 x 10,000 / 2^24 = 1,002,5xx B/s.
    let path = Path::new(BBR3);
    assert_eq!(path.state().pacing_rate, 4194 * 1448 * 2_770_000 / (1 << 24));
    // A millisecond of it is less than a packet: two leave at once.
    let pace = path.law.pacing(&path.window, Span::ZERO, 0, MSS).unwrap();
    assert_eq!(pace.burst, Burst::Packets(2));
}

#[test]
fn startup_ends_after_three_rounds_and_drain_by_its_flight_or_after_three_more() {
    let mut path = Path::new(BBR3);
    path.connection.in_flight = 200;
    for (delivered, phase) in [
        (10, Phase::Startup),
        (20, Phase::Startup),
        (24, Phase::Startup),
        (24, Phase::Startup),
        (24, Phase::Drain),
        (24, Phase::Drain),
        (24, Phase::Drain),
        (24, Phase::Drain),
        (24, Phase::Down),
    ] {
        path.round(40, sample(delivered));
        assert_eq!(path.state().phase, phase, "{}", path.state().signals.round_count);
    }
    assert!(path.state().full.is_reached);
    // 0.9 x 2.4 packets a millisecond less 1 %.
    let rate = path.state().signals.bandwidth();
    assert_eq!(path.state().pacing_rate, ((rate * 1448 * (90 * 99) * 10_000) >> 24) / 100);
}

#[test]
fn startup_ends_when_a_round_of_recovery_has_lost_much() {
    for (ranges, ends) in [(5, false), (6, true)] {
        let mut path = Path::new(BBR3);
        path.round(40, sample(10));
        path.connection.recovery = RecoveryState::Recovery;
        for _ in 0..ranges {
            path.lose(LostPacket { lost_since_sent: 1, sent_in_flight: 50, ..HIGH_LOSS });
        }
        // More than 2 % of 50 packets are lost, and the application was the limit.
        let lossy = RateSample { lost_since_sent: 6, is_app_limited: true, ..sample(10) };
        path.round(40, lossy);
        let state = path.state();
        assert_eq!((state.full.is_now, state.full.is_reached), (ends, ends), "{ranges}");
        assert_eq!(state.phase == Phase::Startup, !ends, "{ranges}");
        if ends {
            // The larger of the product, 1 packet a millisecond for 40 ms, and what the round delivered.
            assert_eq!(state.inflight_longterm, 40);
        }
    }
}

#[test]
fn the_probe_goes_up_until_the_rate_does_not_grow() {
    let mut path = Path::in_up();
    assert_eq!(path.state().signals.max_bandwidth(), (10 << 24) / 10_000);
    for _ in 0..2 {
        path.round(40, sample(10));
        assert_eq!(path.state().phase, Phase::Up);
    }
    path.round(40, sample(10));
    assert_eq!(path.state().phase, Phase::Down);
    path.connection.in_flight = 41;
    path.round(20, sample(10));
    // Room for three quanta of two packets is less than the product.
    assert_eq!(path.state().phase, Phase::Down);
    path.connection.in_flight = 40;
    path.round(20, sample(10));
    assert_eq!(path.state().phase, Phase::Cruise);
}

#[test]
fn the_bandwidth_is_that_of_this_cycle_and_the_one_before() {
    let mut path = Path::in_probe_bandwidth();
    let first = path.state().signals.max_bandwidth();
    // The round after the probe ends its cycle: what Startup had measured is the cycle before.
    path.round(40, sample(5));
    assert_eq!(path.state().signals.max_bandwidth(), first);
    // Without a sample that counts, nothing is pushed out.
    let mut signals = path.state().signals;
    signals.advance_cycle();
    let kept = signals.max_bandwidth();
    assert_eq!(kept, first / 2);
    signals.advance_cycle();
    assert_eq!(signals.max_bandwidth(), kept);
}

#[test]
fn a_probe_that_loses_too_much_sets_the_bound_and_ends() {
    let mut path = Path::in_up();
    path.window.cwnd = 80;
    path.connection.in_flight = 60;
    path.lose(LostPacket { lost_since_sent: 1, ..HIGH_LOSS });
    assert_eq!(path.state().phase, Phase::Up, "1 of 60 is less than 2 %");
    path.lose(LostPacket { lost_since_sent: 2, ..HIGH_LOSS });
    // 2 of 60 are more. Before the packet 1 of 59 was lost: (0.02 x 59 - 1) / 0.98 = 0.18 of a packet more: 59.
    assert_eq!(path.state().inflight_longterm, 59);
    assert_eq!(path.state().phase, Phase::Down);
    assert!(path.state().probe.was_too_high);
    path.lose(HIGH_LOSS);
    assert_eq!(path.state().inflight_longterm, 59, "once a probe");
    // Headroom: 15 % of 59 are 8 packets.
    assert_eq!(path.state().inflight_with_headroom(), 51);
    // Not less than 0.7 of the product.
    let mut small = Path::in_up();
    small.lose(LostPacket { sent_in_flight: 10, ..HIGH_LOSS });
    assert_eq!(small.state().inflight_longterm, 28);
    // What the application limited sets no bound.
    let mut limited = Path::in_up();
    limited.lose(LostPacket { is_app_limited: true, ..HIGH_LOSS });
    assert_eq!((limited.state().phase, limited.state().inflight_longterm), (Phase::Down, UNBOUNDED));
}

#[test]
fn after_a_probe_that_went_too_high_the_next_one_is_cautious() {
    let mut path = Path::in_up();
    path.lose(HIGH_LOSS);
    let bound = path.state().inflight_longterm;
    // A smaller RTT puts off ProbeRTT.
    path.round(40, RateSample { rtt_us: Some(39_999), ..sample(10) });
    path.round(3000, sample(10));
    path.round(40, sample(10));
    assert_eq!(path.state().phase, Phase::Up);
    path.connection.in_flight = bound;
    path.round(10, sample(10));
    assert_eq!(path.state().phase, Phase::Down, "the bound is reached");
    // No loss was seen in the round after it: on without a pause.
    path.round(40, sample(10));
    assert_eq!(path.state().phase, Phase::Refill);
}

#[test]
fn the_bound_grows_by_one_two_four_packets_a_round() {
    let mut path = Path::in_up();
    path.law.0.start_refill(&path.connection);
    path.law.0.inflight_longterm = 60;
    path.window.cwnd = 60;
    path.round(40, sample(10));
    assert_eq!(path.state().phase, Phase::Up);
    let mut grown = std::vec::Vec::new();
    for _ in 0..4 {
        let before = path.state().inflight_longterm;
        path.window.cwnd = before;
        // A window of packets in a round.
        let mut ack = sample(10);
        ack.newly_delivered = before;
        path.round(40, ack);
        grown.push(path.state().inflight_longterm - before);
    }
    // A packet for 60 that are delivered, then for 30 (61 / 30 = 2), then for 15 (1 + 63 of them).
    assert_eq!(grown[..3], [1, 2, 4], "{grown:?}");
    // An unused window raises nothing.
    path.connection.is_cwnd_limited = false;
    let before = path.state().inflight_longterm;
    path.round(40, sample(10));
    assert_eq!(path.state().inflight_longterm, before);
}

#[test]
fn a_round_with_losses_lowers_the_short_term_bounds_outside_of_probes() {
    let mut path = Path::in_probe_bandwidth();
    path.round(40, sample(10));
    path.window.cwnd = 80;
    path.lose(HIGH_LOSS);
    let bandwidth = path.state().signals.max_bandwidth();
    // The round in which the loss is ends; the rate was half.
    let mut half = sample(5);
    half.newly_delivered = 1;
    path.round(40, half);
    path.lose(HIGH_LOSS);
    path.round(40, half);
    let signals = &path.state().signals;
    assert!(signals.bw_shortterm < bandwidth && signals.bw_shortterm >= bandwidth * 49 / 100);
    assert!(signals.inflight_shortterm <= 56, "{}", signals.inflight_shortterm);
    assert_eq!(path.state().signals.bandwidth(), signals.bw_shortterm);
    assert!(path.window.cwnd <= signals.inflight_shortterm);
    // Refill forgets them.
    path.round(3000, sample(10));
    assert_eq!(path.state().phase, Phase::Refill);
    assert_eq!(path.state().signals.inflight_shortterm, UNBOUNDED);
    // In a probe nothing is lowered.
    let mut up = Path::in_up();
    up.lose(LostPacket { lost_since_sent: 1, ..HIGH_LOSS });
    up.round(40, half);
    assert_eq!(up.state().signals.inflight_shortterm, UNBOUNDED);
}

#[test]
fn a_mark_counts_as_a_loss_of_its_round() {
    let mut path = Path::in_probe_bandwidth();
    path.round(40, sample(10));
    let signal = Signal { now: path.connection.now, in_flight: 40, snd_una: 0, snd_nxt: 0, mss: MSS };
    assert_eq!(path.law.on_ecn(&mut path.window, &signal), Reduction::Done);
    path.round(40, sample(10));
    assert_ne!(path.state().signals.inflight_shortterm, UNBOUNDED);
}

#[test]
fn probe_rtt_halves_the_flight_and_returns_to_cruising() {
    let mut path = Path::in_probe_bandwidth();
    path.connection.in_flight = 30;
    // The smallest RTT was not undercut for five seconds.
    assert!(path.round(5001, sample(10)), "held back");
    assert_eq!((path.state().phase, path.window.cwnd), (Phase::ProbeRtt, 20));
    path.connection.in_flight = 20;
    path.round(40, sample(10));
    path.round(200, sample(10));
    assert_eq!(path.state().phase, Phase::ProbeRtt, "not more than 200 ms");
    path.round(1, sample(10));
    assert_eq!(path.state().phase, Phase::Cruise);
    // In Startup it returns there.
    let mut early = Path::new(BBR3);
    early.round(5001, sample(10));
    early.round(1, sample(10));
    early.round(201, sample(10));
    assert_eq!(early.state().phase, Phase::Startup);
    // After an idle time there is none.
    let mut idle = Path::in_probe_bandwidth();
    idle.connection.is_app_limited = true;
    idle.law.on_restart(&mut idle.window, &idle.connection);
    idle.round(6000, sample(10));
    assert_ne!(idle.state().phase, Phase::ProbeRtt);
}

#[test]
fn what_losses_did_is_taken_back_if_they_were_none() {
    let mut path = Path::in_up();
    path.window.cwnd = 80;
    path.lose(HIGH_LOSS);
    assert_eq!(path.state().phase, Phase::Down);
    path.lose(HIGH_LOSS);
    path.window.cwnd = 30;
    path.law.on_undo(&mut path.window, &path.connection);
    assert_eq!((path.state().phase, path.window.cwnd), (Phase::Refill, 80));
    assert_eq!(path.state().inflight_longterm, UNBOUNDED);
    // A second time nothing is to be taken back.
    path.law.on_undo(&mut path.window, &path.connection);
    assert_eq!(path.state().phase, Phase::Refill);
}

#[test]
fn the_probe_waits_two_to_three_seconds_and_at_most_63_rounds() {
    let mut path = Path::in_probe_bandwidth();
    path.round(40, sample(10));
    path.round(1900, sample(10));
    assert_eq!(path.state().phase, Phase::Cruise);
    let mut rounds = Path::in_probe_bandwidth();
    let mut count = 0;
    while rounds.state().phase != Phase::Refill {
        rounds.round(1, sample(10));
        count += 1;
    }
    // The product is 40 packets; the count begins at 0 or 1.
    assert!((39..=40).contains(&count), "{count}");
}
