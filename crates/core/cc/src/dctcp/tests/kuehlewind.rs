//! Claims A12 to A16: what Kuehlewind et al. 2014 changed in the patch, and why.

use super::{Flow, presets};
use crate::tests::drive::LINUX_3_2;
use crate::{AlphaResolution, CongestionControl, CounterOnCut, DctcpConfig, SsthreshAfterCut};
use shoal_units::Time;

/// The number of reductions among `acks` ACKs for one packet each, of which every `spacing`-th is marked; each mark
/// begins an episode of its own. The window does not grow, so that it shows the reductions alone.
fn reductions_at(config: DctcpConfig, cwnd: u32, spacing: u32, acks: u32) -> u32 {
    let mut flow = Flow::new(config, LINUX_3_2, cwnd);
    let mut reductions = 0;
    for ack in 1..=acks {
        let marked = ack % spacing == 0;
        flow.ack(1, marked);
        if marked {
            flow.window.cwnd = cwnd;
            flow.ecn();
            reductions += u32::from(flow.window.cwnd < cwnd);
            flow.cc.on_exit(&mut flow.window, Time::ZERO);
        }
    }
    reductions
}

#[test]
fn rare_marks_do_not_move_the_original_below_137_packets() {
    // Claim A12. Alpha has decayed to 15/1024 and one mark in 200 adds (1448 << 6) / (100 * 1448) = 0: the reduction is
    // (cwnd * 15) >> 11, zero below 137 packets, however rare or frequent the marks are.
    let original = DctcpConfig { initial_alpha_q10: 15, ..presets::STANFORD };
    for cwnd in [20, 50, 100, 136] {
        assert_eq!(reductions_at(original, cwnd, 200, 20_000), 0, "{cwnd}");
    }
    assert_eq!(reductions_at(original, 137, 200, 20_000), 100);
    assert_eq!(reductions_at(original, 137, 2000, 20_000), 10);
}

#[test]
fn a_finer_alpha_keeps_following_rare_marks() {
    // Claim A12. In the original one mark in 200 ACKs or in 2000 is the same alpha, 15/1024; with 2^-20 alpha follows
    // the rate.
    let alpha = |resolution, spacing: u32| {
        let config = DctcpConfig { alpha_resolution: resolution, initial_alpha_q10: 15, ..presets::STANFORD };
        let mut flow = Flow::new(config, LINUX_3_2, 100);
        let (mut sum, rounds) = (0.0, 2000);
        for ack in 1..=100 * (rounds + 1000) {
            flow.ack(1, ack % spacing == 0);
            if ack > 100_000 && ack % 100 == 0 {
                sum += flow.alpha();
            }
        }
        sum / f64::from(rounds)
    };
    assert_eq!(alpha(AlphaResolution::Bits10, 200), 15.0 / 1024.0);
    assert_eq!(alpha(AlphaResolution::Bits10, 2000), 15.0 / 1024.0);
    for (spacing, p) in [(200, 0.005), (2000, 0.0005)] {
        let mean = alpha(AlphaResolution::Bits20, spacing);
        assert!((mean / p - 1.0).abs() < 0.05, "1 in {spacing}: {mean}");
    }
}

#[test]
fn the_finer_alpha_reduces_from_the_window_where_a_whole_packet_is_due() {
    // Claim A12 as far as it holds: windows are whole packets, so that W alpha / 2 >= 1 is needed in every variant. Per
    // ACK with g = 1/256 and one mark in 200, alpha at the mark is (1/256) / (1 - (255/256)^200) = 0.00720 (7545 of
    // 2^20): the first window that reacts is 2 / 0.00720 = 278. With one in 20 alpha is 0.0519: 39.
    let first =
        |spacing| (2..1000).find(|cwnd| reductions_at(presets::IKR, *cwnd, spacing, 6000) > 0).unwrap();
    let expected = |spacing: i32| {
        let alpha = 1.0 / 256.0 / (1.0 - (255.0f64 / 256.0).powi(spacing));
        2.0 / alpha
    };
    for (spacing, window) in [(200, 278.0), (20, 39.0)] {
        assert!((expected(spacing) - window).abs() < 1.0, "{}", expected(spacing));
        let found = f64::from(first(spacing as u32));
        // The truncated decay leaves alpha up to 255/2^20 higher.
        assert!((window * 0.95..=window + 1.0).contains(&found), "{spacing}: {found}");
    }
    // At 100 packets: one mark in 50 is F = 0.02, the original's alpha rests at 16/1024 (15 + 1, then 16 - 1 + 1) and
    // takes (100 * 16) >> 11 = 0; the finer one is at 0.0220 and takes one packet at each mark.
    let original = DctcpConfig { initial_alpha_q10: 15, ..presets::STANFORD };
    assert_eq!(reductions_at(original, 100, 50, 20_000), 0);
    assert!(reductions_at(presets::IKR, 100, 50, 20_000) > 380);
}

#[test]
fn the_original_gains_one_segment_an_episode_by_slow_start() {
    // Claim A13. After the cut ssthresh = cwnd, and cwnd <= ssthresh is slow start: the first ACK adds one packet at
    // once.
    let extra = |ssthresh_after_cut| {
        let config = DctcpConfig { initial_alpha_q10: 512, ssthresh_after_cut, ..presets::STANFORD };
        let mut flow = Flow::new(config, LINUX_3_2, 100);
        let mut extra = 0;
        for _ in 0..20 {
            flow.window.cwnd = 100;
            flow.ecn();
            let cut = flow.window.cwnd;
            flow.cc.on_exit(&mut flow.window, Time::ZERO);
            for _ in 0..10 {
                let sample = flow.stream.ack(1, false);
                flow.cc.on_growth(&mut flow.window, &sample);
            }
            extra += flow.window.cwnd - cut;
        }
        extra
    };
    assert_eq!(extra(SsthreshAfterCut::Cwnd), 20);
    assert_eq!(extra(SsthreshAfterCut::CwndMinusOne), 0);
}

#[test]
fn growth_in_cwr_and_the_counter() {
    // Claim A14. With cwnd 100, the counter at 40 and alpha 0 a mark cuts nothing.
    let state = |config| {
        let mut flow = Flow::new(config, LINUX_3_2, 100);
        flow.window.cwnd_cnt = 40;
        flow.ecn();
        (flow.window.cwnd, flow.window.cwnd_cnt)
    };
    let quiet = DctcpConfig { initial_alpha_q10: 0, ..presets::IKR };
    assert_eq!(state(quiet), (100, 40), "kept: nothing was cut");
    assert_eq!(state(DctcpConfig { counter_on_cut: CounterOnCut::Clear, ..quiet }), (100, 0));
    // alpha = 1/32 takes (100 * 32) >> 11 = 1.
    assert_eq!(state(DctcpConfig { initial_alpha_q10: 32, ..presets::IKR }), (99, 0), "cleared: it was cut");
    let grows = |config| Flow::new(config, LINUX_3_2, 100).cc.grows_in_cwr();
    assert_eq!((grows(presets::IKR), grows(presets::STANFORD)), (true, false));

    // In CWR without a cut, 60 more marked ACKs raise the counter from 40 to 100, and with the next ACK the window
    // grows. A mark after that takes the growth back: cwnd_max (1 - alpha/2) = 100 is lower.
    let slow = DctcpConfig { gain: crate::Gain::Shift(20), ..quiet };
    let mut flow = Flow::new(slow, LINUX_3_2, 100);
    flow.window.cwnd_cnt = 40;
    flow.ecn();
    for ack in 1..=60 {
        flow.ece();
        assert_eq!((flow.window.cwnd, flow.window.cwnd_cnt), (100, 40 + ack));
    }
    let unmarked = flow.stream.ack(1, false);
    flow.cc.on_growth(&mut flow.window, &unmarked);
    assert_eq!((flow.window.cwnd, flow.window.cwnd_cnt), (101, 0));
    flow.ece();
    assert_eq!((flow.window.cwnd, flow.window.cwnd_cnt), (100, 0));
}

#[test]
fn per_ack_updates_match_at_16_acks_an_rtt_and_scale_otherwise() {
    // Claim A15. Step from F = 0 to 1: RTTs until alpha passes 1 - 1/e.
    let rtts = |config: DctcpConfig, acks_per_rtt: u32| {
        let mut flow = Flow::new(DctcpConfig { initial_alpha_q10: 0, ..config }, LINUX_3_2, acks_per_rtt);
        let mut acks = 0;
        while flow.alpha() < 1.0 - 1.0 / core::f64::consts::E {
            flow.ack(1, true);
            acks += 1;
        }
        f64::from(acks) / f64::from(acks_per_rtt)
    };
    for acks in [4, 8, 16, 32, 64] {
        let window = rtts(presets::STANFORD, acks);
        let per_ack = rtts(presets::IKR, acks);
        // 1/16 an RTT against 1/256 an ACK: the ratio of time constants is 16 / (ACKs an RTT).
        let ratio = per_ack / window * f64::from(acks) / 16.0;
        assert!((ratio - 1.0).abs() < 0.15, "{acks}: {window} against {per_ack}");
    }
}

#[test]
fn progressive_reduction_follows_alpha_from_the_latched_window() {
    // Claim A16. With cwnd 100 and alpha 0, each ACK with ECE first updates alpha: a' = a - (a >> 8) + 4096 in 2^-20.
    // The new window 100 - (100 a >> 21) is applied if it is lower; the counter is too low for growth.
    let mut flow = Flow::new(presets::IKR, LINUX_3_2, 100);
    flow.ack(1, true);
    flow.ecn();
    assert_eq!(flow.window.cwnd, 100, "(100 * 4096) >> 21 = 0");
    let (mut alpha, mut lowest) = (4096u64, 100u64);
    let mut trace = std::vec![];
    for _ in 0..60 {
        flow.ece();
        alpha = alpha - (alpha >> 8) + 4096;
        lowest = lowest.min(100 - ((100 * alpha) >> 21));
        assert_eq!(u64::from(flow.window.cwnd), lowest);
        trace.push(flow.window.cwnd);
    }
    // In closed form: a_n = 2^20 (1 - (255/256)^n); 1 % cut needs alpha = 0.02: n = 5.2, so the 6th ECE (5th in CWR).
    assert_eq!(trace[..6], [100, 100, 100, 100, 99, 99]);
    // n = 61: alpha = 0.2124, cut floor(10.6) = 10.
    assert_eq!(trace[59], 90);
    assert_eq!(flow.window.ssthresh, 89);

    // Cuts start from the window at the begin of CWR: growth in CWR does not raise it, and only lower values are
    // applied.
    let mut flow = Flow::new(DctcpConfig { initial_alpha_q10: 512, ..presets::IKR }, LINUX_3_2, 100);
    flow.ecn();
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (75, 74));
    flow.window.cwnd = 70;
    // alpha after one more ECE: 524288 - 2048 + 4096 = 526336; 100 - (52,633,600 >> 21) = 75, more than 70 and the
    // packet of slow start (70 <= 74) that the ACK gives.
    flow.ece();
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (71, 74));
    // After the episode that window is forgotten: another ECE changes nothing.
    flow.cc.on_exit(&mut flow.window, Time::ZERO);
    flow.window.cwnd = 90;
    flow.ece();
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (90, 74));
}

#[test]
fn entering_cwr_ends_slow_start_even_without_a_cut() {
    let mut flow = Flow::new(presets::IKR, LINUX_3_2, 20);
    flow.window.ssthresh = crate::INFINITE_SSTHRESH;
    flow.ecn();
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (20, 19));
    // At two packets the threshold stays two, and the first ACK is slow start.
    flow.window.cwnd = 2;
    flow.ecn();
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (2, 2));
}
