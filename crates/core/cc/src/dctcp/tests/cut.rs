//! Claim A1: reductions to the integer.

use super::{Flow, presets};
use crate::tests::drive::LINUX_3_2;
use crate::{
    AlphaResolution, CongestionControl, CounterOnCut, CutStyle, DctcpConfig, LossResponse, Reduction,
    SsthreshAfterCut, Window,
    tests::drive::{LINUX_3_18, LINUX_6},
};

fn with_alpha(config: DctcpConfig, alpha_q10: u16, cwnd: u32) -> Flow {
    Flow::new(DctcpConfig { initial_alpha_q10: alpha_q10, ..config }, LINUX_6, cwnd)
}

#[test]
fn ssthresh_is_the_kernels_integer() {
    // cwnd - ((cwnd alpha) >> 11), at least 2: the reduction is rounded down, so 5 at alpha = 1 gives 3.
    let table = [
        (10, 1024, 5),
        (5, 1024, 3),
        (3, 1024, 2),
        (2, 1024, 2),
        (10, 0, 10),
        (100, 15, 100),
        (137, 15, 136),
        (100, 512, 75),
        (101, 100, 97),
    ];
    for resolution in [AlphaResolution::Bits10, AlphaResolution::Bits20, AlphaResolution::Exact] {
        let config = DctcpConfig { alpha_resolution: resolution, ..presets::DCTCP };
        for (cwnd, alpha, expected) in table {
            let mut flow = with_alpha(config, alpha, cwnd);
            flow.window.cwnd_cnt = 1;
            assert_eq!(flow.cc.on_ecn(&mut flow.window, &flow.stream.signal()), Reduction::Spread);
            assert_eq!((flow.window.cwnd, flow.window.ssthresh, flow.window.cwnd_cnt), (cwnd, expected, 0));
        }
    }
}

/// Where a reduction by zero packets keeps the counter of linear growth, one by more still clears it.
#[test]
fn the_counter_outlives_only_a_reduction_by_nothing() {
    let config = DctcpConfig { counter_on_cut: CounterOnCut::KeepUnlessCut, ..presets::DCTCP };
    // 10 - 0; 10 - 5; the floor of two packets takes nothing from two.
    for (cwnd, alpha, left) in [(10, 0, 7), (10, 1024, 0), (2, 1024, 7)] {
        let mut flow = with_alpha(config, alpha, cwnd);
        flow.window.cwnd_cnt = 7;
        flow.cc.on_ecn(&mut flow.window, &flow.stream.signal());
        assert_eq!(flow.window.cwnd_cnt, left, "cwnd {cwnd}, alpha {alpha}");
    }
}

#[test]
fn the_patch_sets_the_window_at_once() {
    for (cwnd, alpha, expected) in [(10, 1024, 5), (100, 512, 75), (3, 1024, 2), (100, 0, 100)] {
        let mut flow = with_alpha(presets::STANFORD, alpha, cwnd);
        flow.window.cwnd_cnt = 1;
        assert_eq!(flow.cc.on_ecn(&mut flow.window, &flow.stream.signal()), Reduction::Done);
        assert_eq!((flow.window.cwnd, flow.window.ssthresh, flow.window.cwnd_cnt), (expected, expected, 0));
    }
}

#[test]
fn a_mark_on_one_packet_raises_the_window_to_two_only_in_the_patch() {
    // max(cwnd - .., 2) of the patch; Kuehlewind et al. 2014 applies a value only if it is lower.
    for (config, cwnd) in [(presets::STANFORD, 2), (presets::IKR, 1)] {
        let mut flow = with_alpha(config, 1024, 1);
        flow.ecn();
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (cwnd, 2));
    }
}

#[test]
fn further_marks_of_an_episode_change_nothing_unless_progressive() {
    for config in [presets::DCTCP, presets::LINUX_3_18, presets::STANFORD] {
        let mut flow = with_alpha(config, 512, 100);
        flow.ecn();
        let cut = flow.window;
        for _ in 0..50 {
            flow.ece();
            assert_eq!(flow.window, cut);
        }
    }
}

#[test]
fn byte_windows_have_a_floor_of_two_segments() {
    for (config, ssthresh) in [(presets::STANFORD, 2896), (presets::IKR, 2896)] {
        let mut flow = with_alpha(config, 1024, 3);
        // 3000 - 1500 = 1500 B is below two segments of 1448 B.
        flow.window = Window { cwnd: 3000, quantum: 1448, ssthresh: 1 << 20, ..flow.window };
        flow.ecn();
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (2896, ssthresh));
    }
}

#[test]
fn loss_halves_today_and_scaled_by_alpha_before_5_1() {
    // Claim A36. alpha = 1/4: the mark's reduction of 100 is 12.
    for (config, ssthresh) in [(presets::DCTCP, 50), (presets::STANFORD, 50), (presets::LINUX_3_18, 88)] {
        let mut flow = with_alpha(config, 256, 100);
        flow.lose();
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (100, ssthresh));
        let mut flow = with_alpha(config, 256, 100);
        flow.time_out(false);
        assert_eq!(flow.window.ssthresh, ssthresh);
        let mut flow = with_alpha(config, 256, 100);
        flow.window.ssthresh = 70;
        flow.time_out(true);
        assert_eq!(flow.window.ssthresh, 70, "already reduced");
    }
    assert_eq!(presets::LINUX_3_18.loss, LossResponse::Alpha);
}

#[test]
fn loss_in_cwr_cuts_again_since_5_1_only() {
    // alpha = 1/4 at 100: ssthresh 88. PRR has brought cwnd to 94 when loss is found: 47.
    for (config, ssthresh) in [(presets::DCTCP, 47), (presets::LINUX_3_18, 88)] {
        let mut flow = with_alpha(config, 256, 100);
        flow.ecn();
        flow.window.cwnd = 94;
        flow.lose_in_cwr();
        assert_eq!(flow.window.ssthresh, ssthresh);
    }
}

#[test]
fn undo_restores_the_window_before_the_reduction() {
    for (config, restored) in [(presets::DCTCP, 101), (presets::LINUX_3_18, 178)] {
        // 101 - ((101 * 256) >> 11) = 101 - 12 = 89; twice that is 178.
        let mut flow = Flow::new(DctcpConfig { initial_alpha_q10: 256, ..config }, LINUX_3_18, 101);
        flow.ecn();
        flow.window.cwnd = 89;
        assert_eq!(flow.cc.undo_cwnd(&flow.window), restored);
    }
}

#[test]
fn per_mark_takes_half_a_packet_for_each_mark_exactly() {
    let config = DctcpConfig {
        cut: CutStyle::PerMark,
        ssthresh_after_cut: SsthreshAfterCut::Cwnd,
        ..presets::STANFORD
    };
    // With one packet an ACK, marks 1, 2, 3, 4 .. take 0, 1, 1, 2 .. packets in all.
    let mut flow = Flow::new(config, LINUX_3_2, 100);
    flow.ack(1, true);
    flow.ecn();
    assert_eq!(flow.window.cwnd, 100);
    for marks in 2u32..=41 {
        flow.ece();
        assert_eq!(flow.window.cwnd, 100 - marks / 2);
    }
    // The half packet of an odd mark is kept beyond the end of the episode: 41 marks have taken 20 packets, the 42nd
    // takes the 21st.
    flow.cc.on_exit(&mut flow.window, flow.stream.now);
    flow.ack(1, true);
    flow.ecn();
    assert_eq!(flow.window.cwnd, 79);
    // Where windows count bytes, three marks of 1448 B take 3 * 724 B.
    let mut flow = Flow::new(config, LINUX_3_2, 10);
    flow.window = Window { cwnd: 14_480, quantum: 1448, ..flow.window };
    flow.ack(3, true);
    flow.ecn();
    assert_eq!(flow.window.cwnd, 14_480 - 3 * 724);
}

#[test]
fn marks_during_recovery_are_not_owed_afterwards() {
    let config = DctcpConfig { cut: CutStyle::PerMark, ..presets::STANFORD };
    let mut flow = Flow::new(config, LINUX_3_2, 100);
    flow.lose();
    flow.ack(30, true);
    flow.cc.on_exit(&mut flow.window, flow.stream.now);
    flow.ack(2, true);
    flow.ecn();
    assert_eq!(flow.window.cwnd, 99);
}
