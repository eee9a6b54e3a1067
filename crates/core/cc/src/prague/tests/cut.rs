use super::{Flow, PRAGUE_0_6, PRAGUE_0_7, PRAGUE_0_7_EARLY, PRAGUE_2020, VERSIONS, at_once};
use crate::{CcConfig, CongestionControl, LossResponse, PragueConfig, UndoWindow};
use shoal_units::Span;

/// Up to 0.6 alpha is one at the first CE, so that its cut is half; in 0.7 the window is halved, and alpha starts from
/// zero. The ACK has no packet without CE, so nothing is added.
#[test]
fn the_first_ce_halves_the_window_in_every_version() {
    for (config, alpha) in VERSIONS.into_iter().zip([1.0, 1.0, 0.0, 0.0]) {
        let mut flow = Flow::prague(config, 100, 30);
        flow.stream.snd_nxt += 1448;
        flow.cc.on_established(flow.stream.now, flow.stream.snd_nxt);
        flow.enter_cwr();
        assert_eq!(flow.exact(), 50.0, "{config:?}");
        assert_eq!(flow.alpha(), alpha, "{config:?}");
        assert_eq!(flow.window.cwnd, 99, "the first step");
    }
}

/// With 0.7's option of an alpha that starts from one, too.
#[test]
fn the_first_ce_of_0_7_sets_alpha_to_zero() {
    let mut flow = Flow::prague(PragueConfig { initial_alpha_q10: 1024, ..PRAGUE_0_7 }, 100, 30);
    assert_eq!(flow.alpha(), 1.0);
    flow.cc.on_established(flow.stream.now, flow.stream.snd_nxt);
    flow.enter_cwr();
    assert_eq!(flow.alpha(), 0.0);
}

#[test]
fn in_0_7_the_second_ce_is_answered_in_proportion() {
    let mut flow = Flow::prague(PRAGUE_0_7, 100, 30);
    flow.enter_cwr();
    // Two rounds in which all packets had CE: the first ended with the ACK that brought the first CE.
    flow.round(100, 100);
    let (alpha, before) = (flow.alpha(), flow.exact());
    assert_eq!(alpha, 1.0 / 16.0 + 15.0 / 256.0);
    flow.enter_cwr();
    let cut = (before - flow.exact()) / before;
    assert!((cut - alpha / 2.0).abs() < 1e-3, "{cut} {alpha}");
}

#[test]
fn cwnd_follows_a_cut_by_one_packet_an_ack_and_ends_slow_start() {
    let mut flow = Flow::prague(PRAGUE_2020, 40, 10);
    flow.window.ssthresh = crate::INFINITE_SSTHRESH;
    flow.enter_cwr();
    for acks in 1..20 {
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (40 - acks, 40 - acks));
        // All with CE: nothing is added.
        flow.process(1, 1);
    }
    assert_eq!(flow.window.cwnd, 20);
    flow.process(1, 1);
    assert_eq!(flow.window.cwnd, 20);
}

/// The endpoint calls once an episode, and an episode lasts an RTT: every call is a cut where the law depends on the
/// RTT.
#[test]
fn there_is_one_cut_in_an_rtt_or_in_25_ms() {
    let cuts = |config: PragueConfig, rtt_ms, waits: &[u64]| {
        let mut flow = Flow::prague(config, 1000, rtt_ms);
        flow.enter_cwr();
        flow.cc.estimator.set_to_half(&config);
        let mut cuts = 0;
        for wait in waits {
            flow.stream.now += Span::from_micros(*wait);
            let before = flow.exact();
            flow.enter_cwr();
            cuts += u32::from(flow.exact() < before - 1.0);
        }
        cuts
    };
    let every_5_ms = [5000; 10];
    assert_eq!(cuts(PRAGUE_2020, 5, &every_5_ms), 10);
    assert_eq!(cuts(at_once(PRAGUE_0_6), 5, &every_5_ms), 2);
    assert_eq!(cuts(at_once(PRAGUE_0_7), 5, &every_5_ms), 2);
    let per_rtt = PragueConfig { cut_waits_for_target: false, ..at_once(PRAGUE_0_7) };
    assert_eq!(cuts(per_rtt, 5, &every_5_ms), 10);
    // To the microsecond, also for RTTs above 25 ms, where the endpoint waits for longer.
    assert_eq!(cuts(at_once(PRAGUE_0_7), 5, &[24_999]), 0);
    assert_eq!(cuts(at_once(PRAGUE_0_7), 5, &[25_000]), 1);
    assert_eq!(cuts(at_once(PRAGUE_0_7), 50, &[50_000; 10]), 10);
}

/// With an RTT of 24 ms an episode that begins just after the last one brings no cut, and there is none before it has
/// ended: cuts come every 48 ms.
#[test]
fn an_episode_without_a_cut_delays_the_next_one() {
    let mut flow = Flow::prague(at_once(PRAGUE_0_7), 1000, 24);
    flow.enter_cwr();
    flow.cc.estimator.set_to_half(&PRAGUE_0_7);
    let mut cuts = [false; 6];
    for cut in &mut cuts {
        flow.stream.now += Span::from_millis(24);
        let before = flow.exact();
        flow.enter_cwr();
        *cut = flow.exact() < before - 1.0;
    }
    assert_eq!(cuts, [false, true, false, true, false, true]);
}

#[test]
fn a_cut_after_hours_without_one_is_made() {
    // Clocks wrap around after 71 min 35 s: 10 ms after that, no more than 10 ms seem to have passed.
    let mut flow = Flow::prague(at_once(PRAGUE_0_7), 1000, 10);
    flow.enter_cwr();
    flow.cc.estimator.set_to_half(&PRAGUE_0_7);
    for _ in 0..(1u64 << 32) / 100_000_000 {
        let flight = flow.stream.flight();
        flow.after(100_000_000, flight, 0);
        flow.cc.estimator.set_to_half(&PRAGUE_0_7);
    }
    // The last round ends 10 ms before the cut.
    let flight = flow.stream.flight();
    flow.after((1u64 << 32) % 100_000_000, flight, 0);
    flow.cc.estimator.set_to_half(&PRAGUE_0_7);
    flow.stream.now += Span::from_millis(10);
    let before = flow.exact();
    flow.enter_cwr();
    assert!(flow.exact() < before - 1.0);
}

#[test]
fn a_round_after_half_an_hour_makes_the_last_cut_no_younger() {
    let mut flow = Flow::prague(at_once(PRAGUE_0_7), 1000, 10);
    flow.enter_cwr();
    let flight = flow.stream.flight();
    flow.after(2_000_000_000, flight, 0);
    flow.cc.estimator.set_to_half(&PRAGUE_0_7);
    flow.stream.now += Span::from_millis(10);
    let before = flow.exact();
    flow.enter_cwr();
    assert!(flow.exact() < before - 1.0);
}

/// Half of 100.5 packets, rounded up where `cwnd` is the window rounded up; the endpoint brings `cwnd` there.
#[test]
fn a_loss_halves_the_window_and_leaves_the_rest_to_the_endpoint() {
    for (config, ssthresh) in [(PRAGUE_2020, 50), (PRAGUE_0_6, 51)] {
        let mut flow = Flow::prague(config, 100, 30);
        flow.cc.level.value = 1 << 19;
        flow.lose();
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (100, ssthresh));
        flow.window.cwnd = ssthresh;
        assert_eq!(flow.exact(), 50.25);
        // Nothing is added before recovery ends, whoever asks.
        flow.process(10, 0);
        assert_eq!(flow.exact(), 50.25);
        flow.cc.on_exit(&mut flow.window, flow.stream.now);
        flow.process(10, 0);
        assert!(flow.exact() > 50.25);
    }
}

#[test]
fn an_undo_restores_the_window_before_the_loss() {
    for config in VERSIONS {
        let mut flow = Flow::prague(config, 100, 30);
        flow.lose();
        flow.window.cwnd = 50;
        assert_eq!(flow.cc.undo_cwnd(&flow.window), 100);
        flow.window.cwnd = 100;
        flow.cc.on_exit(&mut flow.window, flow.stream.now);
        assert_eq!(flow.exact(), 100.0);
        flow.process(1, 0);
        assert!((100.0..100.02).contains(&flow.exact()), "{}", flow.exact());
    }
    let twice = PragueConfig { undo: UndoWindow::TwiceSsthresh, ..PRAGUE_0_7 };
    let mut flow = Flow::prague(twice, 101, 30);
    flow.lose();
    flow.window.cwnd = 51;
    assert_eq!(flow.cc.undo_cwnd(&flow.window), 102);
}

#[test]
fn a_loss_can_be_answered_like_a_mark() {
    let mut flow = Flow::prague(PragueConfig { loss: LossResponse::Alpha, ..PRAGUE_0_7 }, 100, 30);
    flow.lose();
    assert_eq!(flow.window.ssthresh, 100, "alpha is zero");
}

/// A timeout in CWR makes no cut of its own, but ends the steps of the one that was made.
#[test]
fn after_a_timeout_slow_start_goes_up_to_what_the_cut_left() {
    for (in_cwr, ssthresh) in [(false, 50), (true, 50)] {
        let mut flow = Flow::prague(PRAGUE_2020, 100, 30);
        if in_cwr {
            flow.enter_cwr();
        }
        flow.time_out(in_cwr);
        assert_eq!(flow.window.ssthresh, ssthresh, "{in_cwr}");
        flow.window.cwnd = 1;
        for acks in 0..200 {
            assert_eq!(flow.window.cwnd, (1 + acks).min(50));
            flow.process(1, 0);
        }
        flow.cc.on_exit(&mut flow.window, flow.stream.now);
        flow.process(50, 0);
        assert_eq!(flow.exact(), 51.0);
    }
    let grows = PragueConfig { grows_in_loss: true, ..PRAGUE_2020 };
    let mut flow = Flow::prague(grows, 100, 30);
    flow.time_out(false);
    flow.window.cwnd = 50;
    flow.process(50, 0);
    assert_eq!(flow.exact(), 51.0);
}

#[test]
fn the_window_stays_at_two_packets_or_more() {
    for config in VERSIONS {
        let mut flow = Flow::prague(config, 3, 30);
        for _ in 0..50 {
            flow.stream.now += Span::from_millis(100);
            flow.stream.snd_nxt = flow.stream.snd_una + 1448;
            flow.enter_cwr();
            assert!(flow.window.cwnd >= 2 && flow.window.ssthresh >= 2);
        }
        // The faster half of a round needs more than two packets.
        assert_eq!(flow.window.cwnd, if config.rate_mode_packets > 0 { 3 } else { 2 }, "{config:?}");
        flow.lose();
        assert_eq!(flow.window.ssthresh, 2);
    }
    // Half of three packets is two.
    let mut flow = Flow::prague(PRAGUE_0_6, 3, 30);
    flow.enter_cwr();
    assert_eq!((flow.window.cwnd, flow.exact()), (2, 2.0));
    // After that the window grows at once: nothing below the smallest window is owed.
    let mut flow = Flow::prague(PRAGUE_2020, 2, 30);
    flow.enter_cwr();
    flow.process(2, 0);
    assert_eq!(flow.window.cwnd, 3);
}

#[test]
fn without_accurate_ecn_every_version_is_reno() {
    for config in VERSIONS {
        let CcConfig::Reno(reno) = CcConfig::Prague(config).without_ecn() else { panic!("no Reno") };
        assert_eq!(reno.undo, config.undo);
        assert!(!CcConfig::Prague(config).cuts_once_a_window());
    }
    let flow = Flow::prague(PRAGUE_0_7_EARLY, 10, 10);
    assert!(flow.cc.grows_in_cwr() && !flow.cc.sends_cwr());
}
