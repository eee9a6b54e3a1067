use super::*;
use crate::cubic::presets::CUBIC;
use crate::tests::drive::{self, LINUX_3_2, LINUX_3_18, LINUX_6, Stream};

const PLAIN: CubicConfig = CubicConfig { hystart: false, ..CUBIC };
const RTT: Span = Span::from_millis(100);

type Flow = drive::Flow<LinuxCubic>;

impl Flow {
    fn new(config: CubicConfig, rules: GrowthRules, cwnd: u32, rtt: Span) -> Self {
        Self::in_avoidance(LinuxCubic::new(config, rules), cwnd, rtt)
    }

    /// A flow in slow start.
    fn in_slow_start(config: CubicConfig, rules: GrowthRules, cwnd: u32) -> Self {
        Self { window: Window::in_packets(cwnd), ..Self::new(config, rules, cwnd, RTT) }
    }

    /// A hundred ACKs 1 ms apart, which do not make the window grow.
    fn train(&mut self) {
        for _ in 0..100 {
            self.stream.now += Span::from_millis(1);
            self.ack(1, false);
        }
    }
}

#[test]
fn constants_are_the_modules() {
    // 8 * 1741 / 3 / 307 = 13928 / 3 = 4642, / 307 = 15; 2^40 / 410 = 2,681,735,677.
    assert_eq!(RENO_EIGHTHS, 15);
    assert_eq!(CUBE_FACTOR, 2_681_735_677);
}

#[test]
fn reduces_to_717_of_1024_but_not_below_two() {
    for (cwnd, ssthresh) in [(1000, 700), (100, 70), (10, 7), (3, 2), (2, 2), (1, 2)] {
        let mut cc = LinuxCubic::new(CUBIC, LINUX_6);
        let mut window = Window { cwnd_cnt: 1, ..Window::in_packets(cwnd) };
        assert_eq!(cc.on_ecn(&mut window, &Stream::with_flight(cwnd).signal()), Reduction::Spread);
        // floor(1000 * 717 / 1024) = floor(700.2); 100: 70.02; 10: 7.002; 3: 2.1.
        assert_eq!((window.cwnd, window.ssthresh, window.cwnd_cnt), (cwnd, ssthresh, 0));
    }
}

#[test]
fn fast_convergence_remembers_less() {
    let mut flow = Flow::new(PLAIN, LINUX_6, 1000, RTT);
    flow.cut();
    assert_eq!(flow.cc.last_max_cwnd, 1000);
    flow.window.cwnd = 1000;
    flow.cut();
    assert_eq!(flow.cc.last_max_cwnd, 1000, "a window that was reached again is not below it");
    flow.window.cwnd = 800;
    flow.cut();
    // floor(800 * 1741 / 2048) = floor(680.08).
    assert_eq!(flow.cc.last_max_cwnd, 680);
    assert_eq!(flow.window.ssthresh, 560, "the reduction itself is unchanged");

    let mut flow = Flow::new(CubicConfig { fast_convergence: false, ..PLAIN }, LINUX_6, 1000, RTT);
    flow.cut();
    flow.window.cwnd = 800;
    flow.cut();
    assert_eq!(flow.cc.last_max_cwnd, 800);
}

#[test]
fn the_window_follows_the_curve() {
    // W(t) = 0.4 (t - K)^3 + 1000 from 700: K = (300 / 0.4)^(1/3) = 9.09 s.
    let k_s = libm::cbrt(300.0 / 0.4);
    for rules in [LINUX_3_2, LINUX_3_18, LINUX_6] {
        let mut flow = Flow::new(PLAIN, rules, 1000, RTT);
        flow.run(Span::from_secs(2));
        flow.window.cwnd = 1000;
        flow.cut();
        let start = flow.stream.now;
        let mut error_max = 0.0f64;
        for _ in 0..150 {
            flow.run(RTT);
            let t_s = flow.stream.now.since(start).as_secs_f64();
            let distance = t_s - k_s;
            let curve = 0.4 * distance * distance * distance + 1000.0;
            error_max = error_max.max((f64::from(flow.window.cwnd) - curve).abs());
        }
        // The kernel computes the curve for one RTT later and reaches that value after one RTT; where it is steepest (t
        // = 0 and 15 s: 3 * 0.4 * 9^2 = 99 packets/s) 100 ms are 10 packets. Besides, `cnt` is rounded down.
        assert!(error_max < 15.0, "{rules:?}: {error_max}");
        assert!(flow.window.cwnd > 1080, "beyond the plateau: {}", flow.window.cwnd);
    }
}

#[test]
fn reno_friendly_region_follows_reno_with_beta_0_7() {
    // From 28 packets to 19, with an RTT of 10 ms: the cubic needs K = (9 / 0.4)^(1/3) = 2.8 s, Reno gains 8/15 packets
    // an RTT: 53 in 1 s.
    let window_after = |reno_friendly| {
        let mut flow = Flow::new(CubicConfig { reno_friendly, ..PLAIN }, LINUX_6, 28, Span::from_millis(10));
        flow.cut();
        assert_eq!(flow.window.cwnd, 19);
        flow.run(Span::from_secs(1));
        f64::from(flow.window.cwnd)
    };
    let reno = 19.0 + 100.0 * 8.0 / 15.0;
    // The estimate is rounded down to packets, and the window follows it by one RTT or two.
    assert!((reno - 3.0..=reno).contains(&window_after(true)), "{} against {reno}", window_after(true));
    assert!(window_after(false) <= 28.0, "{}", window_after(false));
}

#[test]
fn before_the_first_reduction_growth_is_at_least_5_percent_an_rtt() {
    // With last_max_cwnd = 0 the count is at most 20, so that 100 packets grow by 5 in the first RTT.
    let mut flow = Flow::new(CubicConfig { reno_friendly: false, ..PLAIN }, LINUX_6, 100, RTT);
    flow.next_ack();
    assert_eq!(flow.cc.cnt, 20);
    flow.run(RTT);
    assert!((104..=106).contains(&flow.window.cwnd), "{}", flow.window.cwnd);
}

#[test]
fn growth_is_limited_to_half_the_acks_since_4_0() {
    // Far below the curve the count would be 0; before 4.0 it is at least 1, since then at least 2.
    let count = |rules| {
        let mut flow = Flow::new(PLAIN, rules, 100, RTT);
        flow.cc.last_max_cwnd = 100_000;
        flow.next_ack();
        flow.cc.cnt
    };
    assert_eq!(count(LINUX_6), 2);
    assert_eq!(count(LINUX_3_18), 1);
}

#[test]
fn the_delayed_ack_ratio_scales_growth_before_4_0() {
    // The ratio starts at 2 packets an ACK (32/16). ACKs for one packet lower it: 32 - 2 + 1 = 31.
    let mut flow = Flow::new(PLAIN, LINUX_3_2, 100, RTT);
    assert_eq!(flow.cc.ack_ratio, 32);
    flow.next_ack();
    assert_eq!(flow.cc.ack_ratio, 31);
    (0..200).for_each(|_| flow.next_ack());
    // r - (r >> 4) + 1 = r for 16..=31: coming from above, the ratio stays at 31.
    assert_eq!(flow.cc.ack_ratio, 31);
    flow.per_ack = 2;
    (0..200).for_each(|_| flow.next_ack());
    assert_eq!(flow.cc.ack_ratio, 32);
    // An ACK for 700 packets gives 32 - 2 + 700, limited to 512. In CWR and Recovery the ratio does not change.
    let mut sample = flow.stream.ack(700, false);
    flow.cc.on_ack(&mut flow.window, &sample);
    assert_eq!(flow.cc.ack_ratio, 512);
    sample.acked_packets = 1;
    flow.cc.on_ack(&mut flow.window, &AckSample { in_cwr: true, ..sample });
    assert_eq!(flow.cc.ack_ratio, 512);
    flow.lose_in_cwr();
    flow.cc.on_ack(&mut flow.window, &sample);
    assert_eq!(flow.cc.ack_ratio, 512);
    flow.cc.on_exit(&mut flow.window, flow.stream.now);
    flow.cc.on_ack(&mut flow.window, &sample);
    assert_eq!(flow.cc.ack_ratio, 512 - 32 + 1);
    // Since 4.0 packets are counted, so that the ratio is not used.
    let mut newer = Flow::new(PLAIN, LINUX_6, 100, RTT);
    newer.next_ack();
    assert_eq!(newer.cc.ack_ratio, 32);

    // With cnt = 20 (before the first reduction) and two packets an ACK: (20 << 4) / 32 = 10 ACKs.
    let mut flow = Flow::new(CubicConfig { reno_friendly: false, ..PLAIN }, LINUX_3_2, 100, RTT);
    flow.per_ack = 2;
    flow.next_ack();
    assert_eq!(flow.cc.cnt, 10);
}

#[test]
fn a_timeout_forgets_the_curve_after_cutting() {
    let mut flow = Flow::new(PLAIN, LINUX_6, 1000, RTT);
    flow.cut();
    flow.run(Span::from_secs(3));
    let cwnd = flow.window.cwnd;
    flow.time_out(false);
    assert_eq!(flow.window.ssthresh, cwnd * 717 / 1024);
    assert_eq!((flow.cc.last_max_cwnd, flow.cc.delay_min, flow.cc.epoch_start), (0, 0, None));
    assert_eq!(flow.cc.undo_cwnd(&Window::in_packets(1)), cwnd);
}

/// `bictcp_acked` of 3.x counts in Open and Disorder only, so not after a timeout, until Loss has ended.
#[test]
fn the_delayed_ack_ratio_rests_until_loss_has_passed() {
    let mut flow = Flow::new(PLAIN, LINUX_3_18, 40, Span::from_millis(10));
    flow.time_out(false);
    flow.per_ack = 5;
    flow.next_ack();
    assert_eq!(flow.cc.ack_ratio, 2 << RATIO_SHIFT);
    flow.cc.on_exit(&mut flow.window, flow.stream.now);
    flow.next_ack();
    // 32 - 32/16 + 5 = 35.
    assert_eq!(flow.cc.ack_ratio, 35);
}

#[test]
fn idle_time_moves_the_epoch_since_4_3() {
    let start_after_idle = |rules| {
        let mut flow = Flow::new(PLAIN, rules, 1000, RTT);
        flow.cut();
        // In 3.18 the first ACK still belongs to slow start: cwnd <= ssthresh.
        flow.next_ack();
        flow.next_ack();
        let start = flow.cc.epoch_start.unwrap();
        let sent = flow.stream.now + Span::from_millis(300);
        flow.cc.on_sent(sent, 1, flow.stream.snd_nxt);
        let later = sent + Span::from_millis(700);
        flow.cc.on_idle_restart(&mut flow.window, later, Span::from_millis(600));
        flow.cc.epoch_start.unwrap() - start
    };
    assert_eq!(start_after_idle(LINUX_6), 700, "since the last packet sent");
    assert_eq!(start_after_idle(LINUX_3_18), 0);
}

#[test]
fn the_epoch_never_starts_in_the_future() {
    let mut flow = Flow::new(PLAIN, LINUX_6, 1000, RTT);
    flow.cc.on_sent(flow.stream.now, 1, flow.stream.snd_nxt);
    flow.stream.now += Span::from_millis(500);
    flow.cut();
    flow.next_ack();
    // The epoch began after the last packet was sent: it moves to the present, and not by 700 ms.
    let now = flow.stream.now + Span::from_millis(200);
    flow.cc.on_idle_restart(&mut flow.window, now, Span::from_millis(200));
    assert_eq!(flow.cc.epoch_start, Some(jiffies(now)));
}

#[test]
fn an_unchanged_window_is_computed_again_after_more_than_31_jiffies() {
    let mut cc = LinuxCubic::new(PLAIN, LINUX_6);
    cc.update(1000, 100, 1);
    for (now, computed_at) in [(1031, 1000), (1032, 1032), (1063, 1032), (1064, 1064)] {
        cc.update(now, 100, 1);
        assert_eq!(cc.last_time, computed_at, "at {now}");
    }
}

#[test]
fn the_curve_is_computed_once_a_jiffy_since_4_0() {
    for (rules, computed_for) in [(LINUX_6, 100), (LINUX_3_18, 101)] {
        let mut cc = LinuxCubic::new(PLAIN, rules);
        cc.update(1000, 100, 1);
        cc.update(1000, 101, 1);
        assert_eq!(cc.last_cwnd, computed_for);
    }
}

#[test]
fn the_reno_estimate_grows_past_15_eighths_of_a_window() {
    // With a window of 8 packets more than 15 acknowledged packets are one packet of growth, more than 30 are two; the
    // rest is kept.
    for (acked, steps, left) in [(15, 0, 15), (16, 1, 1), (30, 1, 15), (31, 2, 1)] {
        let mut cc = LinuxCubic::new(PLAIN, LINUX_6);
        (cc.ack_cnt, cc.reno_cwnd) = (acked, 8);
        cc.follow_reno(8);
        assert_eq!((cc.reno_cwnd - 8, cc.ack_cnt), (steps, left), "{acked}");
    }
}

#[test]
fn the_smallest_delay_is_rounded_up_to_jiffies_in_6_x() {
    assert_eq!(Era::V6.delay_in_jiffies(1500), 2);
    assert_eq!(Era::V6.delay_in_jiffies(2000), 2);
    assert_eq!(Era::V3_18.delay_in_jiffies(12), 1);
}

#[test]
fn an_epoch_may_start_at_clock_zero() {
    let mut flow = Flow::new(PLAIN, LINUX_6, 1000, RTT);
    flow.cut();
    flow.stream.now = Time::ZERO;
    flow.grow(1);
    assert_eq!(flow.cc.epoch_start, Some(0));
    let origin = flow.cc.origin;
    flow.window.cwnd += 1;
    flow.run(Span::from_secs(1));
    assert_eq!((flow.cc.epoch_start, flow.cc.origin), (Some(0), origin), "it has not begun again");
}

#[test]
fn delays_right_after_a_reduction_are_not_trusted() {
    let mut flow = Flow::new(PLAIN, LINUX_6, 100, RTT);
    flow.run(Span::from_millis(200));
    flow.cut();
    flow.next_ack();
    flow.stream.rtt = Span::from_millis(50);
    flow.run(Span::from_millis(900));
    assert_eq!(flow.cc.delay_min, 100_000);
    flow.run(Span::from_millis(200));
    assert_eq!(flow.cc.delay_min, 50_000);
}

/// `(s32)(tcp_jiffies32 - epoch_start) < HZ`: once the second is over, samples count again.
#[test]
fn delays_count_again_after_a_whole_second() {
    for (after_ms, trusted) in [(999, false), (1000, true)] {
        let mut flow = Flow::new(PLAIN, LINUX_6, 100, RTT);
        flow.cc.delay_min = 100_000;
        flow.cc.epoch_start = Some(jiffies(flow.stream.now));
        flow.stream.now += Span::from_millis(after_ms);
        flow.stream.rtt = Span::from_millis(50);
        flow.ack(1, false);
        assert_eq!(flow.cc.delay_min == 50_000, trusted, "{after_ms} ms");
    }
}

#[test]
fn duplicates_do_not_count_in_the_delayed_ack_ratio() {
    let mut flow = Flow::new(PLAIN, LINUX_3_18, 40, Span::from_millis(10));
    flow.ack(0, false);
    assert_eq!(flow.cc.ack_ratio, 2 << RATIO_SHIFT);
}

/// An estimate that is two packets ahead of a window of 100 makes it grow by one packet for 50 acknowledged ones.
#[test]
fn the_reno_estimate_sets_the_pace_by_its_lead() {
    let mut cc = LinuxCubic::new(PLAIN, LINUX_6);
    (cc.cnt, cc.reno_cwnd) = (1000, 102);
    cc.follow_reno(100);
    assert_eq!(cc.cnt, 50);
    cc.reno_cwnd = 105;
    cc.follow_reno(100);
    assert_eq!(cc.cnt, 20);
}

/// The packets of an ACK that slow start does not use count for the curve: in 3.x as one ACK, in 6.x by their number.
#[test]
fn an_ack_counts_by_packets_since_4_0() {
    let counted = |rules, cwnd, ssthresh, packets| {
        let mut flow = Flow::new(PLAIN, rules, cwnd, RTT);
        flow.window.ssthresh = ssthresh;
        flow.grow(packets);
        flow.cc.ack_cnt
    };
    assert_eq!(counted(LINUX_6, 20, 10, 3), 3);
    assert_eq!(counted(LINUX_3_18, 20, 10, 3), 1);
    // 9 + 1 is the threshold of 10: of five packets four are left, of one packet none.
    assert_eq!(counted(LINUX_6, 9, 10, 5), 4);
    assert_eq!(counted(LINUX_6, 9, 10, 1), 0);
}

#[test]
fn rtt_has_the_resolution_of_the_kernels_clock() {
    let delay_min = |rules| {
        let mut flow = Flow::new(PLAIN, rules, 100, Span::from_micros(10_700));
        // Sent at 989.9 ms (jiffy 989), acknowledged at 1000.6 ms (jiffy 1000).
        flow.stream.now = Time::ZERO + Span::from_micros(1_000_600);
        flow.ack(1, false);
        flow.cc.delay_min
    };
    assert_eq!(delay_min(LINUX_3_2), 11 << 3);
    assert_eq!(delay_min(LINUX_3_18), 10_700 * 8 / 1000);
    assert_eq!(delay_min(LINUX_6), 10_700);
}

/// An RTT that exceeds 32 bits of microseconds is 2^29 - 1 us, so that it does not overflow in eighths of a millisecond
/// either.
#[test]
fn rtt_saturates() {
    let endless = Span::from_secs(5000);
    let now = Time::ZERO + Span::from_secs(6000);
    assert_eq!(Era::V6.delay(now, endless), (1 << 29) - 1);
    assert_eq!(Era::V3_18.delay(now, endless), ((1_u64 << 32) / 1000) as u32);
}

mod hystart {
    use super::*;

    /// Slow start with `cwnd` packets: one round of `acks` ACKs, `gap` apart, for each of `rtts_ms`. Returns the number
    /// of the ACK that ended slow start, if that was in the last round.
    fn exit(rules: GrowthRules, cwnd: u32, gap: Span, acks: u32, rtts_ms: &[u64]) -> Option<u32> {
        let mut flow = Flow::in_slow_start(CUBIC, rules, cwnd);
        for (round, rtt_ms) in rtts_ms.iter().enumerate() {
            // The first ACK of a round acknowledges past its end and starts the next.
            flow.stream.rtt = Span::from_millis(*rtt_ms);
            flow.stream.snd_una = flow.stream.snd_nxt;
            flow.stream.snd_nxt += 1_000_000_000;
            flow.stream.now += Span::from_millis(50);
            for ack in 1..=acks {
                let sample = flow.stream.ack(1, false);
                if rules.counting == crate::AckCounting::PerAck {
                    flow.cc.hystart.on_slow_start(flow.cc.era, &sample);
                }
                flow.cc.on_ack(&mut flow.window, &sample);
                if flow.window.ssthresh == flow.window.cwnd {
                    return (round + 1 == rtts_ms.len()).then_some(ack);
                }
                flow.stream.now += gap;
            }
        }
        None
    }

    #[test]
    fn a_train_of_half_the_rtt_ends_slow_start() {
        let table = [
            // 6.x: the threshold is (100 ms + cushion) / 2. The cushion: 262,144 B at 2 * 1448 * 20 B / 100 ms = 0.58
            // MB/s is 453 ms, limited to 1 ms: 50.5 ms. ACKs 1 ms apart: ACK n comes n - 1 ms after the first: the 52nd
            // is at 51 ms.
            (LINUX_6, 20, 1000, 60, Some(52)),
            // 3.x: the threshold is delay_min >> 4 in eighths of a ms, 50 ms, which the 52nd ACK exceeds, too.
            (LINUX_3_18, 20, 1000, 60, Some(52)),
            (LINUX_6, 20, 1000, 51, None),
            // ACKs more than 2 ms apart are not a train.
            (LINUX_6, 20, 2001, 60, None),
            (LINUX_3_18, 20, 3000, 60, None),
            // ACKs that are 2 ms apart still are one: the 27th comes at 52 ms.
            (LINUX_6, 20, 2000, 60, Some(27)),
            (LINUX_3_18, 20, 2000, 60, Some(27)),
            // Below 16 packets HyStart does not end slow start.
            (LINUX_6, 15, 1000, 60, None),
            (LINUX_6, 16, 1000, 60, Some(52)),
            // A host that paces spreads ACKs over half of the RTT itself: the whole 101 ms count, the 52nd comes at 102
            // ms.
            (GrowthRules { is_paced: true, ..LINUX_6 }, 20, 2000, 60, Some(52)),
            (GrowthRules { is_paced: true, ..LINUX_6 }, 20, 2000, 51, None),
        ];
        for (rules, cwnd, gap_us, acks, expected) in table {
            let ended = exit(rules, cwnd, Span::from_micros(gap_us), acks, &[100]);
            assert_eq!(ended, expected, "{rules:?}, {cwnd} packets, {acks} ACKs {gap_us} us apart");
        }
    }

    /// Rounds are counted from the first window on, although HyStart only acts from 16 packets on.
    #[test]
    fn rounds_begin_below_the_smallest_window() {
        let mut flow = Flow::in_slow_start(CUBIC, LINUX_6, 10);
        flow.cc.hystart.start_round(flow.cc.era, flow.stream.now, 1);
        let first = AckSample { snd_una: 2897, snd_nxt: 14_481, ..flow.stream.ack(2, false) };
        flow.cc.on_ack(&mut flow.window, &first);
        assert_eq!(flow.cc.hystart.round_end(), 14_481);
        // The window reaches 16 packets in the middle of the round, which goes on.
        flow.window = Window::in_packets(16);
        let middle = AckSample { snd_una: 8689, snd_nxt: 31_857, ..flow.stream.ack(2, false) };
        flow.cc.on_ack(&mut flow.window, &middle);
        assert_eq!(flow.cc.hystart.round_end(), 14_481);
    }

    /// `after(ack, end_seq)`: data up to the end of the round belongs to it.
    #[test]
    fn a_round_ends_past_its_last_byte() {
        for rules in [LINUX_3_18, LINUX_6] {
            for (beyond, next_round) in [(0, false), (1, true)] {
                let mut flow = Flow::in_slow_start(CUBIC, rules, 20);
                flow.cc.hystart.start_round(flow.cc.era, flow.stream.now, flow.stream.snd_nxt);
                let end = flow.cc.hystart.round_end();
                let ack = AckSample { snd_una: end + beyond, snd_nxt: end + 9, ..flow.stream.ack(1, false) };
                flow.cc.on_ack(&mut flow.window, &ack);
                flow.cc.on_growth(&mut flow.window, &ack);
                assert_eq!(flow.cc.hystart.round_end() == end + 9, next_round, "{rules:?}");
            }
        }
    }

    #[test]
    fn a_delay_above_the_threshold_ends_slow_start_at_the_ninth_sample() {
        // 6.x: 100 ms + clamp(100/8 = 12.5, 4, 16) ms. 3.x: 100/16 = 6.25 ms. The margin is at least 4 ms, as at 10 ms,
        // and at most 16 ms, as at 200 ms in 6.x; in 3.x a sixteenth reaches that at 256 ms.
        for (rules, base_ms, margin_ms) in [
            (LINUX_6, 100, 12),
            (LINUX_3_18, 100, 6),
            (LINUX_6, 10, 4),
            (LINUX_6, 200, 16),
            (LINUX_3_18, 10, 4),
            (LINUX_3_18, 400, 16),
        ] {
            for (late_ms, expected) in [(margin_ms + 1, Some(9)), (margin_ms, None)] {
                let ended = exit(rules, 20, Span::from_millis(3), 20, &[base_ms, base_ms + late_ms]);
                assert_eq!(ended, expected, "{rules:?}: {late_ms} ms above {base_ms} ms");
            }
        }
    }

    #[test]
    fn switched_off_it_does_nothing() {
        let mut flow = Flow::in_slow_start(PLAIN, LINUX_6, 20);
        for rtt_ms in [100, 300] {
            flow.stream.rtt = Span::from_millis(rtt_ms);
            (0..50).for_each(|_| flow.ack(1, false));
        }
        assert_eq!(flow.window.ssthresh, crate::INFINITE_SSTHRESH);
    }

    #[test]
    fn a_timeout_allows_another_exit() {
        let mut flow = Flow::in_slow_start(CUBIC, LINUX_6, 20);
        let mut exits = 0;
        for rtt_ms in [100, 300] {
            flow.stream.rtt = Span::from_millis(rtt_ms);
            flow.cc.hystart.start_round(flow.cc.era, flow.stream.now, 1 << 30);
            flow.window.ssthresh = crate::INFINITE_SSTHRESH;
            flow.train();
            exits += u32::from(flow.window.ssthresh == 20);
        }
        assert_eq!(exits, 1, "once a slow start");
        flow.time_out(true);
        assert_eq!(flow.cc.hystart.round_end(), flow.stream.snd_nxt, "a round ends with the data in flight");
        flow.window = Window::in_packets(20);
        flow.stream.rtt = Span::from_millis(100);
        flow.stream.snd_una = flow.stream.snd_nxt;
        flow.stream.snd_nxt += 1 << 30;
        flow.train();
        assert_eq!(flow.window.ssthresh, 20);
    }

    #[test]
    fn later_samples_of_a_round_count_since_6_x_only() {
        // Eight samples of 130 ms, then one of 101 ms: the minimum is 101 ms since 6.x and stays 130 ms before.
        for (rules, exits) in [(LINUX_6, false), (LINUX_3_18, true)] {
            let mut flow = Flow::in_slow_start(CUBIC, rules, 20);
            flow.cc.delay_min = flow.cc.era.delay(flow.stream.now, flow.stream.rtt);
            flow.cc.hystart.start_round(flow.cc.era, flow.stream.now, 1 << 30);
            for sample in 1..=9 {
                flow.stream.now += Span::from_millis(3);
                flow.stream.rtt = Span::from_millis(if sample <= 8 { 130 } else { 101 });
                let ack = flow.stream.ack(1, false);
                flow.cc.on_ack(&mut flow.window, &ack);
            }
            assert_eq!(flow.window.ssthresh == 20, exits, "{rules:?}");
        }
    }
}
