//! Traces of the state machine, with the arithmetic in comments. A [`Path`] is a law with the connection that it reads;
//! each ACK is written out.

use super::cycle::Cycle;
use super::{BBR, Bbr, Mode, State};
use crate::tests::connection::after_handshake;
use crate::tests::drive::MSS;
use crate::{
    BbrConfig, Burst, CongestionControl, Connection, RateBased, RateSample, RecoveryState, Signal, Window,
};
use shoal_units::{Span, Stream, Time};
use std::collections::BTreeSet;
use std::vec::Vec;

/// A law, its window and the connection.
struct Path {
    law: Bbr,
    window: Window,
    connection: Connection,
}

impl Path {
    /// A connection whose handshake took `rtt_ms`.
    fn new(config: BbrConfig, rtt_ms: u64) -> Self {
        let mut path = Self {
            law: Bbr::new(config),
            window: Window::in_packets(10),
            connection: after_handshake(Span::from_millis(rtt_ms)),
        };
        path.law.on_start(&mut path.window, &path.connection, 1);
        path
    }

    fn state(&self) -> &State {
        &self.law.0
    }

    /// Time passes.
    fn wait(&mut self, ms: u64) {
        self.connection.now += Span::from_millis(ms);
        self.connection.departure = self.connection.now;
    }

    /// An ACK that delivers `packets`; those that left since the last one arrived at `packets_per_ms`. It ends a round
    /// if `is_round`. Returns whether the law holds the flow back.
    fn ack(&mut self, packets: u32, packets_per_ms: u32, is_round: bool) -> bool {
        let end = self.connection.delivered;
        self.connection.delivered += u64::from(packets);
        self.connection.delivered_at = self.connection.now;
        let sample = RateSample {
            prior_delivered: if is_round { end } else { 0 },
            delivered: Some(packets_per_ms * 10),
            interval_us: 10_000,
            rtt_us: Some(40_000),
            newly_delivered: packets,
            prior_in_flight: self.connection.in_flight + packets,
            ..RateSample::default()
        };
        self.give(sample)
    }

    fn give(&mut self, sample: RateSample) -> bool {
        self.law.on_sample(&mut self.window, &self.connection, &sample)
    }

    /// A path of one packet a millisecond with a smallest RTT of 40 ms, in ProbeBW.
    fn in_probe_bandwidth() -> Self {
        Self::in_probe_bandwidth_with(BBR)
    }
    fn in_probe_bandwidth_with(config: BbrConfig) -> Self {
        let mut path = Self::new(config, 40);
        path.connection.in_flight = 200;
        for _ in 0..4 {
            path.wait(40);
            path.ack(40, 1, true);
        }
        assert_eq!(path.state().mode, Mode::Drain);
        path.connection.in_flight = 40;
        path.wait(40);
        path.ack(40, 1, true);
        assert_eq!(path.state().mode, Mode::ProbeBandwidth);
        path
    }
}

#[test]
fn the_first_rate_is_the_initial_window_with_the_gain_of_startup() {
    // 10 packets in 40 ms: 10 x 2^24 / 40,000 us = 4194 (packets per us, times 2^24). 4194 x 1448 B x 739/256 =
    // 17,530,789; x 990,000 us / 2^24 = 1,034,467 B/s.
    let path = Path::new(BBR, 40);
    assert_eq!(path.state().pacing_rate, 1_034_467);
    // Without an RTT it is a millisecond: 10 x 2^24 / 1000 = 167,772.
    let mut early = Path::new(BBR, 40);
    early.connection.srtt = Span::ZERO;
    early.law.on_start(&mut early.window, &early.connection, 1);
    assert_eq!(early.state().pacing_rate, 167_772 * 1448 * 739 / 256 * 990_000 / (1 << 24));
    let burst = Burst::Autosized { least_packets: 2 };
    let pace = path.law.pacing(&path.window, Span::ZERO, 0, MSS).unwrap();
    assert_eq!((pace.bytes_per_s, pace.burst), (1_034_467, burst));
    // Below 1.2 Mbit/s, 150,000 B/s, segments may be single packets.
    let slow = Path::new(BBR, 400).law.pacing(&path.window, Span::ZERO, 0, MSS).unwrap();
    assert_eq!(slow.burst, Burst::Autosized { least_packets: 1 });
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    let mut path = Path::new(BBR, 40);
    path.connection.in_flight = 200;
    // 1, 2, 3, 3.7 packets a millisecond are written in tenths: 10 to 12 is less than a quarter.
    let rates = [1, 2, 4, 8, 9, 9, 9];
    let reached: Vec<bool> = rates
        .iter()
        .map(|&rate| {
            path.wait(40);
            path.ack(20, rate, true);
            path.state().full.is_reached
        })
        .collect();
    assert_eq!(reached, [false, false, false, false, false, false, true]);
    // 9 packets a millisecond in 40 ms are 360, so that with 200 in flight Drain ends at once; ssthresh has room for
    // three segments: 9 x 2^24/1000 x 1448 x 739/256 ... is 37.3 MB/s, of which 1/1024 s are 36,400 B or 25 packets.
    assert_eq!(path.state().mode, Mode::ProbeBandwidth);
    assert_eq!(path.window.ssthresh, 360 + 3 * 25 + 1);
}

#[test]
fn rounds_that_the_application_limits_do_not_count() {
    let mut path = Path::new(BBR, 40);
    for _ in 0..10 {
        path.wait(40);
        path.connection.delivered += 20;
        let sample = RateSample {
            prior_delivered: path.connection.delivered - 20,
            delivered: Some(20),
            interval_us: 40_000,
            newly_delivered: 20,
            is_app_limited: true,
            ..RateSample::default()
        };
        path.give(sample);
    }
    assert!(!path.state().full.is_reached);
    // Their rate counts if it is as large as the largest.
    assert_eq!(path.state().bandwidth(), 20 * (1 << 24) / 40_000);
}

#[test]
fn the_gain_cycle_begins_in_a_random_phase_but_never_in_the_one_that_yields() {
    let gains = |choices: u32| -> BTreeSet<(u32, u32)> {
        (0..200)
            .map(|seed| {
                let mut cycle = Cycle::default();
                cycle.begin(choices, &mut Stream::new(seed, "bbr"), Time::ZERO);
                let first = cycle.gain(&BBR);
                cycle.advance(Time::ZERO);
                (first, cycle.gain(&BBR))
            })
            .collect()
    };
    // The phase that probes is followed by the one that yields, the last at the bandwidth by the one that probes.
    assert_eq!(gains(7), BTreeSet::from([(320, 192), (256, 256), (256, 320)]));
    assert_eq!(gains(1), BTreeSet::from([(320, 192)]));
}

#[test]
fn a_phase_lasts_a_round_trip_and_probing_until_the_flight_is_large() {
    let mut path = Path::in_probe_bandwidth();
    let config = BbrConfig { random_phases: 1, ..BBR };
    let mut probing = Path::new(config, 40);
    probing.connection.in_flight = 200;
    for _ in 0..4 {
        probing.wait(40);
        probing.ack(40, 1, true);
    }
    probing.connection.in_flight = 40;
    probing.wait(40);
    probing.ack(40, 1, true);
    assert_eq!(probing.state().pacing_gain, 320);
    // 41 ms have passed, but 5/4 of 40 packets and room for segments are not in flight: 1 packet a millisecond is
    // 1.79 MB/s, 1/1024 s of which is a single packet, at least two: 50 + 3 x 2 + 2 = 58, and two of the next segment
    // count as in flight.
    probing.wait(41);
    probing.ack(15, 1, false);
    assert_eq!(probing.state().pacing_gain, 320, "55 + 2 are not enough");
    probing.wait(1);
    probing.connection.in_flight = 41;
    probing.ack(15, 1, false);
    assert_eq!(probing.state().pacing_gain, 192, "56 + 2 are");
    // The phase that yields ends early, when no more than the product is in flight: 40 + 6.
    probing.connection.in_flight = 45;
    probing.wait(1);
    probing.ack(1, 1, false);
    assert_eq!(probing.state().pacing_gain, 256);
    // In a cruising phase time alone counts.
    while path.state().cycle.gain(&BBR) != 256 {
        path.law.0.cycle.advance(path.connection.now);
    }
    path.law.0.update_gains();
    let began = path.state().cycle.began_us;
    path.wait(40);
    path.ack(40, 1, true);
    assert_eq!(path.state().cycle.began_us, began, "not more than a round trip");
    path.wait(1);
    path.ack(1, 1, false);
    assert_eq!(path.state().cycle.began_us, began + 41_000);
}

#[test]
fn the_window_is_twice_the_product_with_three_segments() {
    let mut path = Path::in_probe_bandwidth_with(BbrConfig { extra_acked_gain_q8: 0, ..BBR });
    for _ in 0..20 {
        path.wait(4);
        path.ack(4, 1, false);
    }
    // 2 x 40 + 3 x 2, and two more in the phase that probes.
    let probes = u32::from(path.state().cycle.probes()) * 2;
    assert_eq!(path.window.cwnd, 86 + probes);
}

#[test]
fn probe_rtt_lasts_200_ms_and_a_round() {
    let mut path = Path::in_probe_bandwidth();
    let before = path.window.cwnd;
    path.wait(10_001);
    // The RTT has not been matched: a higher sample takes its place, as the old one has expired.
    let higher = RateSample { rtt_us: Some(55_000), ..RateSample::default() };
    assert!(path.give(RateSample { newly_delivered: 1, ..higher }), "held back");
    assert_eq!((path.state().mode, path.window.cwnd), (Mode::ProbeRtt, 4));
    assert_eq!(path.state().min_rtt.us, 55_000);
    // The time begins when no more than four packets are in flight.
    path.connection.in_flight = 5;
    path.wait(300);
    assert!(path.ack(1, 1, true));
    path.connection.in_flight = 4;
    assert!(path.ack(1, 1, false));
    path.wait(200);
    path.ack(1, 1, true);
    assert_eq!(path.state().mode, Mode::ProbeRtt, "not yet more than 200 ms");
    path.wait(1);
    path.ack(1, 1, false);
    assert_eq!(path.state().mode, Mode::ProbeBandwidth);
    assert!(path.window.cwnd >= before.min(86), "{} {before}", path.window.cwnd);
    // Without a round it goes on.
    path.connection.in_flight = 4;
    path.wait(10_001);
    path.give(RateSample { newly_delivered: 1, ..higher });
    path.ack(1, 1, false);
    path.wait(1000);
    path.ack(1, 1, false);
    assert_eq!(path.state().mode, Mode::ProbeRtt);
}

#[test]
fn a_flow_that_was_idle_does_not_probe_the_rtt() {
    let mut path = Path::in_probe_bandwidth();
    path.wait(11_000);
    path.connection.is_app_limited = true;
    path.law.on_restart(&mut path.window, &path.connection);
    path.ack(1, 1, false);
    assert_eq!(path.state().mode, Mode::ProbeBandwidth);
    // The sample has matched the RTT, so that it counts from now.
    path.wait(9_000);
    path.ack(1, 1, false);
    assert_eq!(path.state().mode, Mode::ProbeBandwidth);
}

#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let mut path = Path::in_probe_bandwidth();
    path.window.cwnd = 80;
    path.connection.in_flight = 60;
    let signal = Signal { now: path.connection.now, in_flight: 60, snd_una: 0, snd_nxt: 0, mss: MSS };
    path.law.on_loss(&mut path.window, &signal);
    path.connection.recovery = RecoveryState::Recovery;
    path.connection.delivered += 2;
    path.connection.lost += 3;
    let lossy = RateSample {
        delivered: Some(10),
        interval_us: 10_000,
        newly_delivered: 2,
        losses: 3,
        prior_in_flight: 65,
        ..RateSample::default()
    };
    path.give(lossy);
    assert_eq!(path.window.cwnd, 62, "in flight and delivered");
    path.connection.in_flight = 50;
    path.ack(1, 1, false);
    assert_eq!(path.window.cwnd, 62, "the window does not follow a smaller flight");
    // A round later it grows towards its target; losses are taken off.
    path.ack(1, 1, true);
    assert_eq!(path.window.cwnd, 63);
    path.connection.recovery = RecoveryState::Open;
    path.ack(1, 1, false);
    assert_eq!(path.window.cwnd, 81, "as before, and a packet more");
}

#[test]
fn a_timeout_makes_a_new_start_of_the_test_for_a_full_pipe() {
    let mut path = Path::new(BBR, 40);
    path.connection.in_flight = 100;
    for _ in 0..3 {
        path.wait(40);
        path.ack(40, 1, true);
    }
    assert!(!path.state().full.is_reached, "two rounds without growth");
    path.connection.recovery = RecoveryState::Loss;
    path.law.on_timeout(&mut path.window, &path.connection);
    path.wait(40);
    path.ack(40, 1, true);
    assert!(!path.state().full.is_reached, "any bandwidth is a quarter more than none");
    path.law.on_undo(&mut path.window, &path.connection);
    assert_eq!(path.law.undo_cwnd(&path.window), path.window.cwnd);
}

/// An ACK of a round in which `lost` of 100 packets are lost.
fn lossy_round(path: &mut Path, lost: u32, delivered: u32) {
    path.wait(100);
    let end = path.connection.delivered;
    path.connection.delivered += u64::from(delivered);
    path.connection.delivered_at = path.connection.now;
    path.connection.lost += u64::from(lost);
    let sample = RateSample {
        prior_delivered: end,
        delivered: Some(delivered),
        interval_us: 100_000,
        rtt_us: Some(40_000),
        newly_delivered: delivered,
        losses: lost,
        prior_in_flight: 100,
        ..RateSample::default()
    };
    path.give(sample);
}

#[test]
fn two_lossy_intervals_of_the_same_rate_are_a_policer() {
    let mut path = Path::in_probe_bandwidth();
    // The first loss begins an interval in its own round; the loss in the fourth round ends it: 20 of 80 are lost, more
    // than 50/256. The second has the same rate.
    for _ in 0..3 {
        lossy_round(&mut path, 20, 80);
    }
    assert_eq!(path.state().policer.rate(), None);
    for _ in 0..4 {
        lossy_round(&mut path, 20, 80);
    }
    assert_eq!(path.state().policer.rate(), None, "one interval");
    lossy_round(&mut path, 20, 80);
    // 320 packets in 400 ms; the first interval has no delivery of its first round: 240 in 300 ms. Both are 0.8 packets
    // a millisecond: 800 x 2^24 / 10^6 = 13,421.
    assert_eq!(path.state().policer.rate(), Some(13_421));
    assert_eq!(path.state().pacing_gain, 256);
    // 48 rounds of ProbeBW later it is forgotten.
    for round in 0..48 {
        assert!(path.state().policer.rate().is_some(), "{round}");
        lossy_round(&mut path, 0, 80);
    }
    assert_eq!(path.state().policer.rate(), None);
}

#[test]
fn losses_below_a_fifth_or_other_rates_are_none() {
    let mut path = Path::in_probe_bandwidth();
    for _ in 0..30 {
        lossy_round(&mut path, 15, 80);
    }
    assert_eq!(path.state().policer.rate(), None, "15 of 80 are 48/256");
    let mut path = Path::in_probe_bandwidth();
    for round in 0..30 {
        // Every four rounds the rate halves or doubles.
        lossy_round(&mut path, 40, if round / 4 % 2 == 0 { 80 } else { 40 });
    }
    assert_eq!(path.state().policer.rate(), None);
}

#[test]
fn the_window_allows_for_aggregated_acks() {
    let mut path = Path::in_probe_bandwidth();
    let plain = path.state().product(path.state().bandwidth(), 512);
    for _ in 0..40 {
        path.wait(40);
        path.ack(40, 1, false);
    }
    // 40 packets at once, of which none was expected when the epoch began. The bandwidth is rounded down: 39 are
    // expected with the next 40: 80 - 39.
    assert_eq!(path.state().aggregation.packets(&BBR, path.state().bandwidth()), 41);
    let probes = u32::from(path.state().cycle.probes()) * 2;
    assert_eq!(path.window.cwnd, (plain + 41 + 6).next_multiple_of(2) + probes);
    let without = BbrConfig { extra_acked_gain_q8: 0, ..BBR };
    assert_eq!(path.state().aggregation.packets(&without, path.state().bandwidth()), 0);
    // At most what the path delivers in 100 ms: 1 of 10 packets a second.
    assert_eq!(path.state().aggregation.packets(&BBR, 10 * (1 << 24) / 1_000_000), 0);
}

#[test]
fn ecn_and_losses_leave_the_window_to_samples() {
    let mut path = Path::in_probe_bandwidth();
    path.window.cwnd = 70;
    let signal = Signal { now: path.connection.now, in_flight: 60, snd_una: 0, snd_nxt: 0, mss: MSS };
    let threshold = path.window.ssthresh;
    assert_eq!(path.law.on_ecn(&mut path.window, &signal), crate::Reduction::Done);
    path.law.on_loss(&mut path.window, &signal);
    path.law.on_rto(&mut path.window, &signal, false);
    assert_eq!((path.window.cwnd, path.window.ssthresh), (70, threshold));
    assert_eq!(path.state().prior_cwnd, 70);
}
