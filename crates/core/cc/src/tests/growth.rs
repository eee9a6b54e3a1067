//! Slow start across the threshold, to the packet.

use super::drive::{FREEBSD, LINUX_3_2, LINUX_3_18, LINUX_6, Stream};
use crate::Window;

/// `(cwnd, cwnd_cnt)` after one ACK for `acked` packets.
fn after(rules: crate::GrowthRules, window: Window, acked: u32) -> (u32, u32) {
    let mut window = window;
    rules.reno(&mut window, &Stream::with_flight(20).ack(acked, false));
    (window.cwnd, window.cwnd_cnt)
}

fn window(cwnd: u32, ssthresh: u32) -> Window {
    Window { ssthresh, ..Window::in_packets(cwnd) }
}

#[test]
fn in_current_linux_the_rest_of_an_ack_counts_for_linear_growth() {
    // 9 + 5 exceeds 10: one packet counts in slow start, the other four count towards 10.
    assert_eq!(after(LINUX_6, window(9, 10), 5), (10, 4));
    // 9 + 1 is the threshold, so that no packet is left.
    assert_eq!(after(LINUX_6, window(9, 10), 1), (10, 0));
    // Six more packets fill the counter of 10: the window grows by one.
    assert_eq!(after(LINUX_6, Window { cwnd_cnt: 4, ..window(10, 10) }, 6), (11, 0));
    // 25 packets at a window of 10 are two packets of growth, and five are left.
    assert_eq!(after(LINUX_6, window(10, 10), 25), (12, 5));
    // A counter that is full already makes the window grow first.
    assert_eq!(after(LINUX_6, Window { cwnd_cnt: 10, ..window(10, 10) }, 3), (11, 3));
}

#[test]
fn kernels_with_the_old_test_stop_one_above_and_drop_the_rest() {
    assert_eq!(after(LINUX_3_18, window(9, 10), 5), (11, 0));
    assert_eq!(after(LINUX_3_18, window(10, 10), 5), (11, 0));
    // Above the threshold ACKs are counted.
    assert_eq!(after(LINUX_3_18, window(11, 10), 5), (11, 1));
    assert_eq!(after(LINUX_3_18, Window { cwnd_cnt: 11, ..window(11, 10) }, 5), (12, 0));
}

#[test]
fn linux_3_2_counts_acks_and_keeps_the_remainder() {
    assert_eq!(after(LINUX_3_2, window(9, 10), 5), (10, 0));
    // The counter that linear growth left is added: 9 + 8 = 17 is one window of 9, and 8 are left.
    assert_eq!(after(LINUX_3_2, Window { cwnd_cnt: 8, ..window(9, 10) }, 5), (10, 8));
    // 9 + 18 is two full windows, of 9 and then of 10 packets, and 8 are left.
    assert_eq!(after(LINUX_3_2, Window { cwnd_cnt: 18, ..window(9, 20) }, 1), (11, 8));
}

#[test]
fn the_clamp_holds_in_every_phase() {
    for rules in [LINUX_3_2, LINUX_3_18, LINUX_6] {
        let clamped = |cwnd, ssthresh, cwnd_cnt| Window { clamp: 10, cwnd_cnt, ..window(cwnd, ssthresh) };
        assert_eq!(after(rules, clamped(10, 100, 0), 5).0, 10, "slow start");
        assert_eq!(after(rules, clamped(10, 5, 10), 5).0, 10, "linear growth");
    }
}

#[test]
fn nothing_grows_while_the_application_limits() {
    for rules in [LINUX_3_2, LINUX_3_18, LINUX_6] {
        for ssthresh in [5, 100] {
            let mut window = window(10, ssthresh);
            let ack = crate::AckSample { app_limited: true, ..Stream::with_flight(20).ack(5, false) };
            rules.reno(&mut window, &ack);
            assert_eq!((window.cwnd, window.cwnd_cnt), (10, 0));
        }
    }
}

#[test]
fn bytes_grow_the_window_by_a_packet_for_a_window_of_bytes() {
    // RFC 3465 (https://www.rfc-editor.org/rfc/rfc3465) as FreeBSD has it: cwnd <= ssthresh adds what is
    // acknowledged and clears the counter; above, 10 packets of 1448 B need 14480 B acknowledged: the fifth
    // ACK of 2896 B; what is left over stays counted.
    let mut stream = Stream::with_flight(20);
    let mut w = Window { ssthresh: 8 * 1448, cwnd_cnt: 77, ..Window::in_bytes(8, 1448) };
    FREEBSD.reno(&mut w, &stream.ack(2, false));
    assert_eq!((w.cwnd, w.cwnd_cnt), (10 * 1448, 0), "slow start goes past the threshold");
    w.cwnd_cnt = 100;
    for n in 1..=5 {
        FREEBSD.reno(&mut w, &stream.ack(2, false));
        assert_eq!(w.cwnd, if n < 5 { 10 } else { 11 } * 1448, "{n}");
    }
    assert_eq!(w.cwnd_cnt, 100);
    w.clamp = 11 * 1448 + 5;
    for _ in 0..10 {
        FREEBSD.reno(&mut w, &stream.ack(2, false));
    }
    assert_eq!(w.cwnd, 11 * 1448 + 5);
}
