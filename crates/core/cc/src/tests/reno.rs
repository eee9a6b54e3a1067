use super::drive::{LINUX_3_2, LINUX_6, Stream};
use crate::{CongestionControl, Reduction, Reno, RenoConfig, Signal, UndoWindow, Window, reno::RENO};

fn window(cwnd: u32, ssthresh: u32) -> Window {
    Window { ssthresh, cwnd_cnt: 3, ..Window::in_packets(cwnd) }
}

#[test]
fn halves_on_each_signal_but_not_below_two_packets() {
    let signal = Stream::with_flight(10).signal();
    let signals: [fn(&mut Reno, &mut Window, &Signal); 3] = [
        |reno, window, signal| assert_eq!(reno.on_ecn(window, signal), Reduction::Spread),
        Reno::on_loss,
        |reno, window, signal| reno.on_rto(window, signal, false),
    ];
    for (cwnd, ssthresh) in [(10, 5), (11, 5), (4, 2), (3, 2), (1, 2)] {
        for answer in signals {
            let mut w = window(cwnd, 100);
            answer(&mut Reno::new(RENO, LINUX_3_2), &mut w, &signal);
            assert_eq!((w.cwnd, w.ssthresh, w.cwnd_cnt), (cwnd, ssthresh, 0));
        }
    }
}

#[test]
fn byte_windows_keep_two_segments() {
    let mut w = Window { cwnd: 3 * 1448, quantum: 1448, ..window(1, 1 << 20) };
    Reno::new(RENO, LINUX_6).on_loss(&mut w, &Stream::with_flight(3).signal());
    // Half of 4344 is 2172, less than two segments of 1448.
    assert_eq!(w.ssthresh, 2896);
}

#[test]
fn a_timeout_after_a_reduction_keeps_the_threshold() {
    let mut w = window(10, 7);
    Reno::new(RENO, LINUX_3_2).on_rto(&mut w, &Stream::with_flight(10).signal(), true);
    assert_eq!((w.ssthresh, w.cwnd_cnt), (7, 0));
}

#[test]
fn undo_restores_twice_the_threshold() {
    let signal = Stream::with_flight(11).signal();
    let mut w = window(11, 100);
    let mut reno = Reno::new(RENO, LINUX_3_2);
    reno.on_loss(&mut w, &signal);
    w.cwnd = 5;
    assert_eq!(reno.undo_cwnd(&w), 10, "max(5, 2 * 5): one less than the odd 11");
    w.cwnd = 12;
    assert_eq!(reno.undo_cwnd(&w), 12);

    // Kernels since 4.15 restore the window at the reduction, and either can be asked for.
    for (undo, rules, restored) in [
        (UndoWindow::Kernel, LINUX_6, 11),
        (UndoWindow::TwiceSsthresh, LINUX_6, 10),
        (UndoWindow::AtReduction, LINUX_3_2, 11),
    ] {
        let mut w = window(11, 100);
        let mut reno = Reno::new(RenoConfig { undo, ..RENO }, rules);
        reno.on_loss(&mut w, &signal);
        w.cwnd = 5;
        assert_eq!(reno.undo_cwnd(&w), restored, "{undo:?}");
    }
}

#[test]
fn rate_halving_goes_to_half_the_threshold_in_3_2() {
    let w = window(10, 7);
    assert_eq!(Reno::new(RENO, LINUX_3_2).rate_halving_floor(&w), 3);
    let plain = RenoConfig { halves_to_half_ssthresh: false, ..RENO };
    assert_eq!(Reno::new(plain, LINUX_3_2).rate_halving_floor(&w), 7);
}

#[test]
fn linear_growth_takes_one_ack_more_than_the_window_in_3_2() {
    // cwnd 10 beyond ssthresh: ACKs 1..=10 count up to 10, the 11th finds cnt >= cwnd and grows.
    let mut stream = Stream::with_flight(10);
    let mut w = Window { cwnd_cnt: 0, ..window(10, 5) };
    let mut reno = Reno::new(RENO, LINUX_3_2);
    for acks in 1..=10 {
        reno.on_growth(&mut w, &stream.ack(2, false));
        assert_eq!((w.cwnd, w.cwnd_cnt), (10, acks));
    }
    reno.on_growth(&mut w, &stream.ack(2, false));
    assert_eq!((w.cwnd, w.cwnd_cnt), (11, 0));
}

#[test]
fn newreno_halves_in_whole_packets() {
    // Half of 7 packets of 1448 B and 700 B is 5418 B, in whole packets 3. Loss in the same episode does not reduce it
    // further. The window is never below two packets.
    let signal = Stream::with_flight(7).signal();
    let mut w = Window { cwnd: 7 * 1448 + 700, quantum: 1448, ..window(1, 1 << 20) };
    let mut reno = Reno::new(crate::reno::NEWRENO, LINUX_6);
    reno.on_ecn(&mut w, &signal);
    assert_eq!(w.ssthresh, 3 * 1448);
    reno.on_loss_in_cwr(&mut w, &signal);
    assert_eq!(w.ssthresh, 3 * 1448);
    w.cwnd = 3 * 1448;
    reno.on_loss(&mut w, &signal);
    assert_eq!(w.ssthresh, 2 * 1448);
}
