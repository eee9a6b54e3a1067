//! FreeBSD's DCTCP to the byte (claims A49 and A51 of Kato et al. 2015).

use super::super::freebsd::{FREEBSD, FREEBSD_14};
use crate::tests::drive::{self as rules, MSS};
use crate::{AckSample, AlphaAfter, CongestionControl, Dctcp, DctcpConfig, FirstMark, Signal, Window};
use shoal_units::{Span, Time};
use std::vec::Vec;

/// A connection in mid-life: positions in bytes, one ACK after the other.
struct Flow {
    cc: Dctcp,
    window: Window,
    una: u64,
    nxt: u64,
}

impl Flow {
    fn new(config: DctcpConfig, packets: u32) -> Self {
        let mut cc = Dctcp::new(config, rules::FREEBSD);
        cc.on_established(Time::ZERO, 1);
        let window = Window { ssthresh: packets * MSS / 2, ..Window::in_bytes(packets, MSS) };
        Self { cc, window, una: 1, nxt: 1 + u64::from(packets * MSS) }
    }

    fn sample(&self, bytes: u64, ece: bool) -> AckSample {
        AckSample {
            now: Time::ZERO,
            acked_packets: bytes.div_ceil(u64::from(MSS)) as u32,
            acked_bytes: bytes,
            delivered_packets: bytes.div_ceil(u64::from(MSS)) as u32,
            marked_packets: 0,
            in_flight_before: 0,
            delivered: 0,
            delivered_ce: 0,
            snd_una: self.una,
            snd_nxt: self.nxt,
            mss: MSS,
            rtt: None,
            srtt: Span::from_millis(1),
            ece,
            duplicate: bytes == 0,
            app_limited: false,
            in_cwr: false,
        }
    }

    /// An ACK for so many segments; 0 is a duplicate. As many are sent.
    fn ack(&mut self, segments: u64, ece: bool) {
        let bytes = segments * u64::from(MSS);
        self.una += bytes;
        let sample = self.sample(bytes, ece);
        self.cc.on_ack(&mut self.window, &sample);
        self.nxt += bytes;
    }

    fn signal(&self) -> Signal {
        Signal { now: Time::ZERO, in_flight: 0, snd_una: self.una, snd_nxt: self.nxt, mss: MSS }
    }

    fn alpha(&self) -> u32 {
        (self.cc.alpha().unwrap() * 1024.0) as u32
    }
}

fn from_alpha(alpha: u16, config: DctcpConfig) -> DctcpConfig {
    DctcpConfig { initial_alpha_q10: alpha, ..config }
}

#[test]
fn alpha_starts_at_zero_in_2015_and_at_one_in_14() {
    assert_eq!((Flow::new(FREEBSD, 10).alpha(), Flow::new(FREEBSD_14, 10).alpha()), (0, 1024));
    // The first mark: nothing is cut, or half.
    for (config, left) in [(FREEBSD, 10), (FREEBSD_14, 5)] {
        let mut flow = Flow::new(config, 10);
        let signal = flow.signal();
        flow.cc.on_ecn(&mut flow.window, &signal);
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (left * MSS, left * MSS));
    }
}

#[test]
fn the_first_packet_of_a_change_counts_with_the_old_state() {
    // ACKs of two segments (2896 B) without, with, with, without, without ECN-Echo:
    // marked = 0, 2896 - 1448 (rising), 2896, 1448 (falling), 0: 5792 of 14480 B. The first ACK ends the window of the
    // handshake with nothing marked: 512 - 32 = 480. Then one more ACK ends the next:
    let mut flow = Flow::new(from_alpha(512, FREEBSD_14), 10);
    flow.ack(2, false);
    assert_eq!(flow.alpha(), 480);
    // save_sndnxt is 10 segments on, the five ACKs bring us there, the next one beyond.
    for ece in [true, true, false, false] {
        flow.ack(2, ece);
    }
    assert_eq!(flow.alpha(), 480, "at the end of the window, not beyond it");
    flow.ack(2, false);
    // Marked 1448 + 2896 + 1448 = 5792 of 5 * 2896 = 14480: (5792 << 6) / 14480 = 25; 480 - 30 + 25 = 475.
    assert_eq!(flow.alpha(), 475);
}

#[test]
fn single_segments_need_no_correction() {
    // bytes_acked > MSS is false: the whole segment counts with the new state.
    let mut flow = Flow::new(from_alpha(0, FREEBSD_14), 4);
    flow.ack(1, false);
    for ece in [true, false, true, false] {
        flow.ack(1, ece);
    }
    // The window of four segments ended with the fifth ACK: 2 of 4 marked: 64 * 2 / 4 = 32.
    assert_eq!(flow.alpha(), 32);
}

#[test]
fn cuts_are_whole_segments_in_2015_and_bytes_in_14() {
    // A49: cwnd (1 - alpha/2) with alpha = 100/1024 and 20 segments + 700 B = 29660 B: 29660 * 100 >> 11 = 1448;
    // 28212 B = 19 segments and 700 B.
    for (config, left) in [(FREEBSD, 19 * MSS), (FREEBSD_14, 19 * MSS + 700)] {
        let mut flow = Flow::new(from_alpha(100, config), 20);
        flow.window.cwnd += 700;
        let signal = flow.signal();
        flow.cc.on_ecn(&mut flow.window, &signal);
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (left, left));
    }
    // Never below two segments: 3 at alpha = 1 would be 1.5.
    for config in [FREEBSD, FREEBSD_14] {
        let mut flow = Flow::new(from_alpha(1024, config), 3);
        let signal = flow.signal();
        flow.cc.on_ecn(&mut flow.window, &signal);
        assert_eq!(flow.window.cwnd, 2 * MSS);
    }
}

#[test]
fn duplicates_count_one_segment_and_update_alpha() {
    // A51. Ten segments out, alpha 512; the first ACK ends the handshake's window: 480. Two duplicates with ECN-Echo.
    let after = |config: DctcpConfig| {
        let mut flow = Flow::new(from_alpha(512, config), 10);
        flow.ack(1, false);
        flow.ack(0, true);
        flow.ack(0, true);
        let counted = flow.alpha();
        let signal = flow.signal();
        flow.cc.on_loss(&mut flow.window, &signal);
        (counted, flow.alpha())
    };
    // 2015: 2 * 1448 of 2 * 1448 B marked: 480 - 30 + 64 = 514 on entering recovery.
    assert_eq!(after(FREEBSD), (480, 514));
    // The imported module: counted, no update yet.
    assert_eq!(after(DctcpConfig { alpha_on_loss: AlphaAfter::Keep, ..FREEBSD }), (480, 480));
    // 14: min(0 B acknowledged, MSS) = 0.
    assert_eq!(after(FREEBSD_14), (480, 480));
}

#[test]
fn recovery_holds_alpha_until_it_ends() {
    let trace = |config: DctcpConfig| {
        let mut flow = Flow::new(from_alpha(512, config), 4);
        let mut seen = Vec::new();
        flow.ack(1, false); // Ends the handshake's window: 512 - 32 = 480.
        seen.push(flow.alpha());
        let signal = flow.signal();
        flow.cc.on_loss(&mut flow.window, &signal);
        seen.push(flow.alpha());
        for _ in 0..10 {
            flow.ack(1, true);
        }
        seen.push(flow.alpha());
        let signal = flow.signal();
        flow.cc.on_recovered(&mut flow.window, &signal);
        seen.push(flow.alpha());
        flow.ack(2, true);
        seen.push(flow.alpha());
        seen
    };
    let keep = DctcpConfig { alpha_on_loss: AlphaAfter::Keep, ..FREEBSD };
    // Held at 480; post_recovery: all 14480 B marked: 480 - 30 + 64 = 514; 2015 once more with the last ACK's 2896 of
    // 2896 B: 514 - 32 + 64 = 546.
    assert_eq!(trace(keep), [480, 480, 480, 514, 546]);
    assert_eq!(trace(FREEBSD_14), [480, 480, 480, 514, 514]);
}

#[test]
fn a_timeout_updates_alpha_and_begins_a_window_of_one_segment() {
    // A51. 512 -> 480 with the first ACK; then 2 segments, both marked, no edge correction for single ones.
    let mut flow = Flow::new(from_alpha(512, FREEBSD_14), 10);
    flow.ack(1, false);
    flow.ack(1, true);
    flow.ack(1, true);
    // tcp_timer_rexmt sets snd_nxt = snd_una first.
    let signal = Signal { snd_nxt: flow.una, ..flow.signal() };
    flow.cc.on_rto(&mut flow.window, &signal, false);
    assert_eq!(flow.alpha(), 480 - 30 + 64);
    // save_sndnxt = snd_una + MSS: the first ACK reaches it, the second is beyond.
    flow.ack(1, false);
    assert_eq!(flow.alpha(), 514);
    flow.ack(1, false);
    assert_eq!(flow.alpha(), 514 - 32);
}

#[test]
fn every_idle_period_renews_alpha() {
    // A51: the counters go, too. Twice, because the kernel of 2015 would do it only once.
    for (config, initial) in [(FREEBSD, 0), (FREEBSD_14, 1024)] {
        let mut flow = Flow::new(config, 10);
        for _ in 0..2 {
            for _ in 0..40 {
                flow.ack(2, true);
            }
            assert_ne!(flow.alpha(), initial & 1023, "something has happened");
            let nxt = flow.nxt;
            flow.cc.on_idle_beyond_rto(&mut flow.window, nxt);
            assert_eq!(flow.alpha(), initial);
            flow.una = flow.nxt;
            flow.nxt += 10 * u64::from(MSS);
        }
        let keep = DctcpConfig { alpha_after_idle: AlphaAfter::Keep, ..config };
        let mut flow = Flow::new(keep, 10);
        for _ in 0..40 {
            flow.ack(2, true);
        }
        let before = flow.alpha();
        let nxt = flow.nxt;
        flow.cc.on_idle_beyond_rto(&mut flow.window, nxt);
        assert_eq!(flow.alpha(), before);
    }
}

#[test]
fn loss_in_an_episode_halves_the_window_before_the_last_mark() {
    // 20 segments, alpha 512: the mark cuts to 15. Another mark finds 15 + 1 grown; loss then halves 16 segments to 8.
    for config in [FREEBSD, FREEBSD_14] {
        let mut flow = Flow::new(from_alpha(512, config), 20);
        let signal = flow.signal();
        flow.cc.on_ecn(&mut flow.window, &signal);
        assert_eq!(flow.window.cwnd, 15 * MSS);
        flow.cc.on_loss_in_cwr(&mut flow.window, &signal);
        assert_eq!(flow.window.ssthresh, 10 * MSS, "half of the 20 before the mark");

        let mut flow = Flow::new(from_alpha(512, config), 20);
        flow.cc.on_ecn(&mut flow.window, &signal);
        flow.window.cwnd += MSS;
        let sample = flow.sample(0, true);
        flow.cc.on_ece_in_cwr(&mut flow.window, &sample);
        flow.cc.on_loss_in_cwr(&mut flow.window, &signal);
        assert_eq!(flow.window.ssthresh, 8 * MSS);
    }
}

#[test]
fn with_slowstart_the_first_mark_halves_and_alpha_is_one() {
    let mut flow = Flow::new(DctcpConfig { first_mark: FirstMark::Halve, ..FREEBSD }, 21);
    flow.ack(1, true);
    let signal = flow.signal();
    flow.cc.on_ecn(&mut flow.window, &signal);
    // 21 segments: 10.5, in whole ones 10.
    assert_eq!((flow.window.cwnd, flow.alpha()), (10 * MSS, 1024));
    // The second mark is like any other: (10 * 1024) >> 11 = 5.
    flow.cc.on_exit(&mut flow.window, Time::ZERO);
    flow.cc.on_ecn(&mut flow.window, &signal);
    assert_eq!(flow.window.cwnd, 5 * MSS);
    // After an idle period the next one is the first again.
    flow.cc.on_idle_beyond_rto(&mut flow.window, flow.nxt);
    assert_eq!(flow.alpha(), 0);
    flow.cc.on_ecn(&mut flow.window, &signal);
    assert_eq!((flow.window.cwnd, flow.alpha()), (2 * MSS, 1024));
}

#[test]
fn the_counter_of_the_linear_phase_survives_an_episode() {
    let mut flow = Flow::new(from_alpha(512, FREEBSD), 20);
    flow.window.cwnd_cnt = 1000;
    let signal = flow.signal();
    flow.cc.on_ecn(&mut flow.window, &signal);
    assert_eq!(flow.window.cwnd_cnt, 1000);
}

#[test]
fn a_timeout_in_recovery_lets_windows_end_again() {
    let keep = DctcpConfig { alpha_on_loss: AlphaAfter::Keep, alpha_on_timeout: AlphaAfter::Keep, ..FREEBSD };
    let trace = |times_out: bool| {
        let mut flow = Flow::new(from_alpha(512, keep), 4);
        flow.ack(1, false);
        if times_out {
            let signal = flow.signal();
            flow.cc.on_loss(&mut flow.window, &signal);
            flow.cc.on_rto(&mut flow.window, &signal, false);
        }
        for _ in 0..10 {
            flow.ack(1, true);
        }
        flow.alpha()
    };
    assert_ne!(trace(false), 480, "a window has ended since");
    assert_eq!(trace(true), trace(false));
}
