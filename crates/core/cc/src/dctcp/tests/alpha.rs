//! Claim A2: alpha to the integer.

use super::{Flow, presets};
use crate::tests::drive::{LINUX_3_2, MSS};
use crate::{
    AlphaAfter, AlphaResolution, AlphaUpdate, CongestionControl, DctcpConfig, Gain, MarkCounting,
    tests::drive::LINUX_6,
};
use proptest::prelude::*;
use shoal_units::{Probability, Stream as Random};
use std::vec::Vec;

const EXACT: DctcpConfig = DctcpConfig { alpha_resolution: AlphaResolution::Exact, ..presets::DCTCP };

#[test]
fn the_law_holds_to_1e_12() {
    // alpha(n) = F + (a0 - F) (15/16)^n.
    for (marked, of) in [(0, 10), (1, 10), (3, 7), (10, 10)] {
        let mut flow = Flow::new(EXACT, LINUX_6, of);
        let f = f64::from(marked) / f64::from(of);
        let mut expected = 1.0;
        for n in 0..200 {
            flow.round(marked, of);
            expected = (1.0 - 1.0 / 16.0) * expected + f / 16.0;
            let closed = f + (1.0 - f) * (15.0f64 / 16.0).powi(n + 1);
            assert!((expected - closed).abs() < 1e-12);
            assert!((flow.alpha() - closed).abs() < 1e-12, "{n}: {} {closed}", flow.alpha());
        }
    }
}

#[test]
fn ten_bits_stay_within_16_of_1024() {
    for config in [presets::DCTCP, DctcpConfig { initial_alpha_q10: 1024, ..presets::STANFORD }] {
        // 1/64 and more: below that ten bits add nothing (see the fixed points).
        for marked in [2, 5, 30, 99] {
            let mut flow = Flow::new(config, LINUX_6, 100);
            let f = f64::from(marked) / 100.0;
            for n in 0..300 {
                flow.round(marked, 100);
                let law = f + (1.0 - f) * (15.0f64 / 16.0).powi(n + 1);
                let error = law - flow.alpha();
                // Two truncations an update, each below 1/1024, sum to less than 2/1024 * 16 = 32/1024 at worst; one of
                // them (the decay's) raises alpha, so the error stays within 16/1024 either way.
                assert!(error.abs() <= 16.0 / 1024.0, "{marked} % after {n}: {error}");
            }
        }
    }
}

#[test]
fn without_marks_ten_bits_need_74_windows_to_the_floor() {
    // 1024 - 64 = 960; - 60 = 900; - 56 = 844; ... ; 15 >> 4 = 0.
    let expected_start = [960, 900, 844, 792];
    let floors = [(presets::DCTCP, 0), (DctcpConfig { initial_alpha_q10: 1024, ..presets::STANFORD }, 15)];
    for (config, after) in floors {
        let mut flow = Flow::new(config, LINUX_6, 10);
        let seen: Vec<_> = (0..74)
            .map(|_| {
                flow.round(0, 10);
                flow.alpha_q10()
            })
            .collect();
        assert_eq!(seen[..4], expected_start);
        assert_eq!(seen[72], 16, "one above the floor");
        assert_eq!(seen[73], 15, "the floor after 74 windows");
        // min_not_zero(15, 15 >> 4) = 15 takes all of alpha; plain truncation takes nothing.
        for _ in 0..3 {
            flow.round(0, 10);
            assert_eq!(flow.alpha_q10(), after);
        }
    }
}

proptest! {
    #[test]
    fn fixed_points_of_constant_marking(marked in 0u32..=640, from in 0u16..=1024) {
        // F = marked/640: the increment is floor(64 F), and a - (a >> 4) + i = a for a in 16 i ..= 16 i + 15.
        let low = 16 * (64 * marked / 640);
        let truncating = DctcpConfig { initial_alpha_q10: from, ..presets::STANFORD };
        let mut flow = Flow::new(truncating, LINUX_6, 640);
        for _ in 0..150 {
            flow.round(marked, 640);
        }
        let alpha = flow.alpha_q10();
        if low > 0 {
            prop_assert!((low..=low + 15).contains(&alpha) || alpha == 1024 && low == 1024, "{alpha} not in {low}..");
        } else {
            prop_assert!(alpha <= 15, "{alpha}");
        }
        let before = alpha;
        flow.round(marked, 640);
        prop_assert_eq!(flow.alpha_q10(), before, "a fixed point");
    }
}

#[test]
fn the_ack_that_ends_a_window_counts_in_it() {
    // The connection is established when 10 packets are sent, so that the ACK of packet 10 ends the window. With nine
    // unmarked packets and that one marked F is 1/10.
    let mut flow = Flow::new(DctcpConfig { initial_alpha_q10: 0, ..presets::DCTCP }, LINUX_6, 10);
    for _ in 0..9 {
        flow.ack(1, false);
    }
    assert_eq!(flow.alpha_q10(), 0);
    flow.ack(1, true);
    // (1 << 6) / 10 = 6.
    assert_eq!(flow.alpha_q10(), 6);
}

#[test]
fn the_first_window_ends_with_the_first_byte() {
    let mut flow = Flow::new(presets::STANFORD, LINUX_3_2, 10);
    flow.cc = super::Dctcp::new(presets::STANFORD, LINUX_3_2);
    flow.cc.on_established(shoal_units::Time::ZERO, 0);
    flow.ack(1, true);
    // F = 1 of the first packet alone: 0 + (1448 << 6) / 1448 = 64.
    assert_eq!(flow.alpha_q10(), 64);
}

#[test]
fn bytes_count_a_duplicate_as_536_and_packets_count_deliveries() {
    // Linux takes rcv_mss, 536 B while no data comes in. Nine full packets and one marked duplicate, then the end:
    // (536 << 6) / (10 * 1448 + 536) = 34,304 / 15,016 = 2.
    let stanford = DctcpConfig { initial_alpha_q10: 0, ..presets::STANFORD };
    // A duplicate as a full MSS: (1448 << 6) / (11 * 1448) = 5; or not counted at all.
    let full = DctcpConfig { duplicate_bytes_max: u32::MAX, ..stanford };
    let ignored = DctcpConfig { counts_duplicates: false, ..stanford };
    for (config, alpha) in [(stanford, 2), (full, 5), (ignored, 0)] {
        let mut flow = Flow::new(config, LINUX_3_2, 10);
        flow.ack(0, true);
        flow.round(0, 10);
        assert_eq!(flow.alpha_q10(), alpha);
    }
    // Where packets are counted, a duplicate that SACKs one packet delivers it: (1 << 6) / 11 = 5.
    let mut flow = Flow::new(DctcpConfig { counting: MarkCounting::Packets, ..stanford }, LINUX_3_2, 10);
    let mut sacking = flow.stream.ack(0, true);
    (sacking.delivered_packets, sacking.marked_packets) = (1, 1);
    flow.cc.on_ack(&mut flow.window, &sacking);
    flow.round(0, 10);
    assert_eq!(flow.alpha_q10(), 5);
}

#[test]
fn a_window_of_more_than_2_to_26_marked_bytes_does_not_overflow() {
    // 50,000 packets of 1448 B are 72.4 MB > 2^26; all marked, alpha stays one (in 32 bits it would fall to 965).
    let mut flow = Flow::new(presets::LINUX_3_18, LINUX_3_2, 50_000);
    flow.round(50_000, 50_000);
    assert!(50_000u64 * u64::from(MSS) > 1 << 26);
    assert_eq!(flow.alpha_q10(), 1024);
}

#[test]
fn an_ack_weighs_by_what_is_counted() {
    // One marked ACK for two packets, with alpha from 0, g = 2^-8 and a resolution of 2^-20, adds 4096 once or twice.
    let per_ack = |counting| {
        let mut flow = Flow::new(DctcpConfig { counting, ..presets::IKR }, LINUX_3_2, 10);
        flow.ack(2, true);
        flow.alpha() * 1_048_576.0
    };
    assert_eq!(per_ack(MarkCounting::Acks), 4096.0);
    assert_eq!(per_ack(MarkCounting::Packets), 8192.0);
    assert_eq!(per_ack(MarkCounting::Bytes), 8192.0);
}

#[test]
fn gain_normalised_by_the_flight_is_a_sixteenth_a_window() {
    // Each of n packets has a gain of 1/16/n: a fully marked window gives 1 - (1 - 1/(16 n))^n, for 32 packets 0.0607
    // (one update: 1/16).
    let config = DctcpConfig {
        alpha_resolution: AlphaResolution::Exact,
        alpha_update: AlphaUpdate::PerAck,
        gain: Gain::PerWindowInFlight(4),
        ..presets::IKR
    };
    for flight in [8u32, 32, 100] {
        let mut flow = Flow::new(config, LINUX_3_2, flight);
        flow.round(flight, flight);
        // The flight before each ACK is one packet more than the window.
        let expected = 1.0 - (1.0 - 1.0 / (16.0 * f64::from(flight + 1))).powi(flight as i32);
        assert!((flow.alpha() - expected).abs() < 1e-12, "{} {expected}", flow.alpha());
    }
}

#[test]
fn events_do_to_alpha_what_the_policy_says() {
    let after = |action: AlphaAfter| {
        let config = DctcpConfig { alpha_on_timeout: action, initial_alpha_q10: 512, ..presets::STANFORD };
        let mut flow = Flow::new(config, LINUX_3_2, 10);
        // Five of ten packets, all marked: the counters are 5/5, and the window has not ended.
        flow.round(5, 5);
        flow.time_out(false);
        flow.alpha_q10()
    };
    assert_eq!(after(AlphaAfter::Keep), 512);
    assert_eq!(after(AlphaAfter::Reinitialise), 512);
    assert_eq!(after(AlphaAfter::One), 1024);
    // 512 - 32 + 64.
    assert_eq!(after(AlphaAfter::Update), 544);

    let config = DctcpConfig { initial_alpha_q10: 512, ..presets::STANFORD };
    let config = DctcpConfig { alpha_after_idle: AlphaAfter::Reinitialise, ..config };
    let mut flow = Flow::new(config, LINUX_3_2, 10);
    flow.round(10, 10);
    assert_eq!(flow.alpha_q10(), 544);
    flow.idle_beyond_rto();
    assert_eq!(flow.alpha_q10(), 512);
}

#[test]
fn an_ack_that_delivers_nothing_does_not_update_alpha() {
    // min_not_zero: an update with a weight of 0 would take all of 15/1024.
    let config = DctcpConfig { alpha_update: AlphaUpdate::PerAck, initial_alpha_q10: 15, ..presets::DCTCP };
    assert_eq!(config.alpha_resolution, AlphaResolution::Bits10MinNotZero);
    let mut flow = Flow::new(config, LINUX_6, 10);
    flow.ack(0, false);
    assert_eq!(flow.alpha_q10(), 15);
    flow.ack(1, false);
    assert_eq!(flow.alpha_q10(), 0);
}

#[test]
fn an_ack_counts_where_acks_are_counted_if_it_acknowledges_something() {
    let config = DctcpConfig {
        alpha_update: AlphaUpdate::PerAck,
        counting: MarkCounting::Acks,
        counts_duplicates: false,
        initial_alpha_q10: 0,
        ..presets::DCTCP
    };
    let mut flow = Flow::new(config, LINUX_6, 10);
    flow.ack(0, true);
    assert_eq!(flow.alpha_q10(), 0);
    // One ACK, whatever it covers: 1024 / 16.
    flow.ack(2, true);
    assert_eq!(flow.alpha_q10(), 64);
}

/// Three marks in each window of 100 packets add 3 * 64 / 100 = 1 to an alpha in 1024ths. From above, 31 - (31 >> 4) +
/// 1 = 31 is a fixed point, 3.0 %. Without a mark 31 falls by one a window to 15, and then to 0 at once. With the same
/// marks again it is 0 + 1, and from then on 1 - 1 + 1: 0.1 %. Only an addition of 16, a window marked to a quarter,
/// leads out.
#[test]
fn an_alpha_that_fell_below_16_of_1024_stays_there() {
    let windows = |flow: &mut Flow, marked, count| (0..count).for_each(|_| flow.round(marked, 100));
    let mut flow = Flow::new(presets::DCTCP, LINUX_6, 100);
    windows(&mut flow, 3, 300);
    assert_eq!(flow.alpha_q10(), 31);
    windows(&mut flow, 0, 16);
    assert_eq!(flow.alpha_q10(), 15);
    windows(&mut flow, 0, 1);
    assert_eq!(flow.alpha_q10(), 0);
    windows(&mut flow, 3, 300);
    assert_eq!(flow.alpha_q10(), 1);
    // 24 * 64 / 100 = 15: the highest value from which nothing leads up; 25 add 16, and the average rises.
    windows(&mut flow, 24, 300);
    assert_eq!(flow.alpha_q10(), 15);
    windows(&mut flow, 25, 1);
    assert_eq!(flow.alpha_q10(), 16);
    windows(&mut flow, 25, 1);
    assert_eq!(flow.alpha_q10(), 31);
    // The law without rounding returns to 3 %.
    let mut exact = Flow::new(EXACT, LINUX_6, 100);
    windows(&mut exact, 0, 300);
    windows(&mut exact, 3, 300);
    assert!((exact.alpha() - 0.03).abs() < 1e-6, "{}", exact.alpha());
}

/// Mean alpha of the last 2000 of 6000 windows of so many packets, of which each is marked with this probability.
fn behind_a_ramp(config: DctcpConfig, packets: u32, marked: f64) -> f64 {
    let (ramp, mut random) = (Probability::from_f64(marked), Random::new(7, "ramp"));
    let mut flow = Flow::new(config, LINUX_6, packets);
    let mut sum = 0.0;
    for window in 0..6000 {
        let marks = (0..packets).filter(|_| ramp.happens(random.uniform_u32())).count();
        flow.round(u32::try_from(marks).unwrap(), packets);
        if window >= 4000 {
            sum += flow.alpha();
        }
    }
    sum / 2000.0
}

/// A ramp that marks each packet with 3 %: an alpha that comes from above stays near it, one that is below 16/1024
/// stays at a thirtieth to a fifteenth of it. With 2 % the one from above falls, too: the average of whole 1024ths that
/// windows add is then below the one that an alpha of 16 to 31 loses.
#[test]
fn behind_a_ramp_alpha_depends_on_where_it_comes_from() {
    let low = DctcpConfig { initial_alpha_q10: 0, ..presets::DCTCP };
    for packets in [40, 100, 200] {
        let (from_above, from_below) =
            (behind_a_ramp(presets::DCTCP, packets, 0.03), behind_a_ramp(low, packets, 0.03));
        assert!((0.028..0.036).contains(&from_above), "{packets}: {from_above}");
        assert!((0.001..0.002).contains(&from_below), "{packets}: {from_below}");
        let rare = behind_a_ramp(presets::DCTCP, packets, 0.02);
        assert!((0.0005..0.0015).contains(&rare), "{packets}: {rare}");
    }
}
