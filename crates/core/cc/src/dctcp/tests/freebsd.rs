//! FreeBSD's DCTCP to the byte (claims A49 and A51 of Kato et al. 2015).

use super::super::freebsd::{FREEBSD, FREEBSD_14};
use super::Flow;
use crate::tests::drive::{self as rules, MSS, Stream};
use crate::{AlphaAfter, CongestionControl, Dctcp, DctcpConfig, FirstMark, Signal, Window};
use shoal_units::Time;
use std::vec::Vec;

/// A connection of FreeBSD with `packets` segments in flight, whose window and positions are in bytes.
fn connection(config: DctcpConfig, packets: u32) -> Flow {
    let mut cc = Dctcp::new(config, rules::FREEBSD);
    cc.on_established(Time::ZERO, 1);
    let window = Window { ssthresh: packets * MSS / 2, ..Window::in_bytes(packets, MSS) };
    let stream = Stream { snd_una: 1, snd_nxt: 1 + u64::from(packets * MSS), ..Stream::with_flight(0) };
    Flow { cc, window, stream, per_ack: 1 }
}

fn from_alpha(alpha: u16, config: DctcpConfig) -> DctcpConfig {
    DctcpConfig { initial_alpha_q10: alpha, ..config }
}

#[test]
fn alpha_starts_at_zero_in_2015_and_at_one_in_14() {
    assert_eq!((connection(FREEBSD, 10).alpha_q10(), connection(FREEBSD_14, 10).alpha_q10()), (0, 1024));
    // The first mark takes nothing off the window, or half of it.
    for (config, left) in [(FREEBSD, 10), (FREEBSD_14, 5)] {
        let mut flow = connection(config, 10);
        flow.ecn();
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (left * MSS, left * MSS));
    }
}

#[test]
fn the_first_packet_of_a_change_counts_with_the_old_state() {
    // ACKs of two segments (2896 B) without, with, with, without, without ECN-Echo:
    // marked = 0, 2896 - 1448 (rising), 2896, 1448 (falling), 0: 5792 of 14480 B. The first ACK ends the window of the
    // handshake with nothing marked: 512 - 32 = 480. One more ACK ends the next window.
    let mut flow = connection(from_alpha(512, FREEBSD_14), 10);
    flow.ack(2, false);
    assert_eq!(flow.alpha_q10(), 480);
    // save_sndnxt is 10 segments further; the five ACKs reach it, and the next one goes beyond.
    for ece in [true, true, false, false] {
        flow.ack(2, ece);
    }
    assert_eq!(flow.alpha_q10(), 480, "at the end of the window, not beyond it");
    flow.ack(2, false);
    // Marked 1448 + 2896 + 1448 = 5792 of 5 * 2896 = 14480: (5792 << 6) / 14480 = 25; 480 - 30 + 25 = 475.
    assert_eq!(flow.alpha_q10(), 475);
}

#[test]
fn single_segments_need_no_correction() {
    // bytes_acked > MSS is false: the whole segment counts with the new state.
    let mut flow = connection(from_alpha(0, FREEBSD_14), 4);
    flow.ack(1, false);
    for ece in [true, false, true, false] {
        flow.ack(1, ece);
    }
    // The window of four segments ended with the fifth ACK: 2 of 4 marked: 64 * 2 / 4 = 32.
    assert_eq!(flow.alpha_q10(), 32);
}

#[test]
fn cuts_are_whole_segments_in_2015_and_bytes_in_14() {
    // Claim A49: cwnd (1 - alpha/2) with alpha = 100/1024 and 20 segments + 700 B = 29660 B: 29660 * 100 >> 11 = 1448;
    // 28212 B = 19 segments and 700 B.
    for (config, left) in [(FREEBSD, 19 * MSS), (FREEBSD_14, 19 * MSS + 700)] {
        let mut flow = connection(from_alpha(100, config), 20);
        flow.window.cwnd += 700;
        flow.ecn();
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (left, left));
    }
    // Never below two segments: 3 at alpha = 1 would be 1.5.
    for config in [FREEBSD, FREEBSD_14] {
        let mut flow = connection(from_alpha(1024, config), 3);
        flow.ecn();
        assert_eq!(flow.window.cwnd, 2 * MSS);
    }
}

#[test]
fn duplicates_count_one_segment_and_update_alpha() {
    // Claim A51. Ten segments out, alpha 512; the first ACK ends the handshake's window: 480. Two duplicates with
    // ECN-Echo.
    let after = |config: DctcpConfig| {
        let mut flow = connection(from_alpha(512, config), 10);
        flow.ack(1, false);
        flow.ack(0, true);
        flow.ack(0, true);
        let counted = flow.alpha_q10();
        flow.lose();
        (counted, flow.alpha_q10())
    };
    // 2015: 2 * 1448 of 2 * 1448 B marked: 480 - 30 + 64 = 514 on entering recovery.
    assert_eq!(after(FREEBSD), (480, 514));
    // In the imported module they are counted, but alpha is not updated yet.
    assert_eq!(after(DctcpConfig { alpha_on_loss: AlphaAfter::Keep, ..FREEBSD }), (480, 480));
    // In 14 they count min(0 B acknowledged, MSS) = 0.
    assert_eq!(after(FREEBSD_14), (480, 480));
}

#[test]
fn recovery_holds_alpha_until_it_ends() {
    let trace = |config: DctcpConfig| {
        let mut flow = connection(from_alpha(512, config), 4);
        let mut seen = Vec::new();
        flow.ack(1, false); // Ends the handshake's window: 512 - 32 = 480.
        seen.push(flow.alpha_q10());
        flow.lose();
        seen.push(flow.alpha_q10());
        (0..10).for_each(|_| flow.ack(1, true));
        seen.push(flow.alpha_q10());
        flow.cc.on_recovered(&mut flow.window, &flow.stream.signal());
        seen.push(flow.alpha_q10());
        flow.ack(2, true);
        seen.push(flow.alpha_q10());
        seen
    };
    let keep = DctcpConfig { alpha_on_loss: AlphaAfter::Keep, ..FREEBSD };
    // Alpha stays at 480; in post_recovery all 14480 B marked: 480 - 30 + 64 = 514; 2015 once more with the last ACK's
    // 2896 of 2896 B: 514 - 32 + 64 = 546.
    assert_eq!(trace(keep), [480, 480, 480, 514, 546]);
    assert_eq!(trace(FREEBSD_14), [480, 480, 480, 514, 514]);
}

#[test]
fn a_timeout_updates_alpha_and_begins_a_window_of_one_segment() {
    // Claim A51. 512 -> 480 with the first ACK; then 2 segments, both marked, no edge correction for single ones.
    let mut flow = connection(from_alpha(512, FREEBSD_14), 10);
    flow.ack(1, false);
    flow.ack(1, true);
    flow.ack(1, true);
    // tcp_timer_rexmt sets snd_nxt = snd_una first.
    let signal = Signal { snd_nxt: flow.stream.snd_una, ..flow.stream.signal() };
    flow.cc.on_rto(&mut flow.window, &signal, false);
    assert_eq!(flow.alpha_q10(), 480 - 30 + 64);
    // save_sndnxt = snd_una + MSS: the first ACK reaches it, the second is beyond.
    flow.ack(1, false);
    assert_eq!(flow.alpha_q10(), 514);
    flow.ack(1, false);
    assert_eq!(flow.alpha_q10(), 514 - 32);
}

#[test]
fn every_idle_period_renews_alpha() {
    // Claim A51: the counters are cleared, too. There are two idle periods, because the kernel of 2015 itself did it
    // only once.
    for (config, initial) in [(FREEBSD, 0), (FREEBSD_14, 1024)] {
        let mut flow = connection(config, 10);
        for _ in 0..2 {
            (0..40).for_each(|_| flow.ack(2, true));
            assert_ne!(flow.alpha_q10(), initial & 1023, "alpha has changed");
            flow.idle_beyond_rto();
            assert_eq!(flow.alpha_q10(), initial);
            flow.stream.snd_una = flow.stream.snd_nxt;
            flow.stream.snd_nxt += 10 * u64::from(MSS);
        }
        let keep = DctcpConfig { alpha_after_idle: AlphaAfter::Keep, ..config };
        let mut flow = connection(keep, 10);
        (0..40).for_each(|_| flow.ack(2, true));
        let before = flow.alpha_q10();
        flow.idle_beyond_rto();
        assert_eq!(flow.alpha_q10(), before);
    }
}

#[test]
fn loss_in_an_episode_halves_the_window_before_the_last_mark() {
    // With 20 segments and alpha 512 the mark cuts the window to 15. Another mark finds a window that has grown to 16;
    // loss then halves 16 segments to 8.
    for config in [FREEBSD, FREEBSD_14] {
        let mut flow = connection(from_alpha(512, config), 20);
        flow.ecn();
        assert_eq!(flow.window.cwnd, 15 * MSS);
        flow.lose_in_cwr();
        assert_eq!(flow.window.ssthresh, 10 * MSS, "half of the 20 before the mark");

        let mut flow = connection(from_alpha(512, config), 20);
        flow.ecn();
        flow.window.cwnd += MSS;
        let sample = flow.stream.ack(0, true);
        flow.cc.on_ece_in_cwr(&mut flow.window, &sample);
        flow.lose_in_cwr();
        assert_eq!(flow.window.ssthresh, 8 * MSS);
    }
}

#[test]
fn with_slowstart_the_first_mark_halves_and_alpha_is_one() {
    let mut flow = connection(DctcpConfig { first_mark: FirstMark::Halve, ..FREEBSD }, 21);
    flow.ack(1, true);
    flow.ecn();
    // Half of 21 segments is 10.5, in whole segments 10.
    assert_eq!((flow.window.cwnd, flow.alpha_q10()), (10 * MSS, 1024));
    // The second mark is like any other: (10 * 1024) >> 11 = 5.
    flow.cc.on_exit(&mut flow.window, Time::ZERO);
    flow.ecn();
    assert_eq!(flow.window.cwnd, 5 * MSS);
    // After an idle period the next mark is the first one again.
    flow.idle_beyond_rto();
    assert_eq!(flow.alpha_q10(), 0);
    flow.ecn();
    assert_eq!((flow.window.cwnd, flow.alpha_q10()), (2 * MSS, 1024));
}

#[test]
fn the_counter_of_the_linear_phase_survives_an_episode() {
    let mut flow = connection(from_alpha(512, FREEBSD), 20);
    flow.window.cwnd_cnt = 1000;
    flow.ecn();
    assert_eq!(flow.window.cwnd_cnt, 1000);
}

#[test]
fn a_timeout_in_recovery_lets_windows_end_again() {
    let keep = DctcpConfig { alpha_on_loss: AlphaAfter::Keep, alpha_on_timeout: AlphaAfter::Keep, ..FREEBSD };
    let trace = |times_out: bool| {
        let mut flow = connection(from_alpha(512, keep), 4);
        flow.ack(1, false);
        if times_out {
            flow.lose();
            flow.time_out(false);
        }
        (0..10).for_each(|_| flow.ack(1, true));
        flow.alpha_q10()
    };
    assert_ne!(trace(false), 480, "a window has ended since");
    assert_eq!(trace(true), trace(false));
}
