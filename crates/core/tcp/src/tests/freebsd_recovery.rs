//! FreeBSD: fast recovery with and without SACK, limited transmit, timeouts and their undo.
//!
//! With an RTT of 100 ms, which is 101 ticks, and a deviation of 50.5 ticks the timeout is 503 ms.

use super::script::{OPEN, sender_with};
use crate::testing::config;
use crate::{EcnSetting, EndpointConfig};

/// A window that needs no scaling, so that the first ACK does not change it and may count as a duplicate.
fn reno(stack: &str) -> EndpointConfig {
    EndpointConfig { ecn: EcnSetting::Off, receive_window_bytes: 65_535, ..config("ecn-newreno", stack) }
}

#[test]
fn sack_recovery_of_2015_starts_from_one_segment() {
    sender_with(reno("freebsd-2015"), OPEN).run(
        "
        200ms < ack 0 sack 1-2
        200ms > 10                     # limited transmit (RFC 3042)
        200ms < ack 0 sack 1-3
        200ms > 11
        200ms ? cwnd 14480 state disorder
        200ms < ack 0 sack 1-4         # the third duplicate
        200ms > 0
        200ms ? cwnd 1448 ssthresh 7240 state recovery
        200ms < ack 0 sack 1-5         # awnd = 12 - 5 + 1 = 8 segments, not below 5
        200ms < ack 0 sack 1-6
        200ms < ack 0 sack 1-7
        200ms < ack 0 sack 1-8         # 5
        200ms ? cwnd 1448
        200ms < ack 0 sack 1-9         # 4: one more
        200ms > 12
        200ms ? cwnd 2896
        200ms < ack 0 sack 1-10        # 13 - 10 + 1 = 4
        200ms > 13
        200ms ? cwnd 4344
        300ms < ack 10 ts 200ms        # partial: nothing repeated is out, 14 - 12 new, and two: 4
        300ms ? cwnd 5792 state recovery
        300ms < ack 12 ts 200ms        # over: 2 out, and one
        300ms > 14
        300ms ? cwnd 4344 state open recoveries 1
        ",
    );
}

#[test]
fn sack_retransmissions_are_ect_in_2015() {
    // In 2015 snd_nxt is snd_max, so that they look like new data; this was changed later. CWR is sent with the
    // retransmission or with new data.
    let with_ecn = |stack| EndpointConfig { ecn: EcnSetting::On, ..reno(stack) };
    let open =
        OPEN.replace("> syn", "> syn ece cwr").replace("synack", "synack ece").replace("0..10", "0..10 ect0");
    let dups = "
        200ms < ack 0 sack 1-2
        200ms > 10 ect0
        200ms < ack 0 sack 1-3
        200ms > 11 ect0
        200ms < ack 0 sack 1-4
    ";
    sender_with(with_ecn("freebsd-2015"), &open).run(dups).run("200ms > 0 cwr ect0");
    // 14 enters recovery with the third SACKed segment, too (2 * 1448 < 3 * 1448).
    sender_with(with_ecn("freebsd-14"), &open).run(dups).run("200ms > 0");
}

#[test]
fn prr_paces_the_recovery_of_14() {
    sender_with(reno("freebsd-14"), OPEN).run(
        "
        200ms < ack 0 sack 1-2
        200ms > 10
        200ms < ack 0 sack 1-3
        200ms > 11
        200ms < ack 0 sack 1-4         # ssthresh 5; flight 12, 3 delivered
        200ms > 0
        200ms ? cwnd 1448 ssthresh 7240 state recovery
        200ms < ack 0 sack 1-5         # pipe 12 + 1 - 4 = 9; ceil(4 * 5 / 12 segments) = 1.67 - 1 sent: nothing whole
        200ms < ack 0 sack 1-6         # 2.08 - 1 = 1: cwnd = resent 1 + 1
        200ms > 12
        200ms ? cwnd 2896
        ",
    );
}

#[test]
fn newreno_without_sack_inflates_and_deflates() {
    let without = EndpointConfig { sack: false, ..reno("freebsd-2015") };
    sender_with(without, OPEN).run(
        "
        200ms < ack 0
        200ms > 10
        200ms < ack 0
        200ms > 11
        200ms < ack 0                  # ssthresh 5; 5 + (3 - 2 sent) = 6 segments
        200ms > 0
        200ms ? cwnd 8688 ssthresh 7240 state recovery
        200ms < ack 0                  # + 1 each
        200ms < ack 0
        200ms < ack 0
        200ms < ack 0
        200ms < ack 0
        200ms < ack 0                  # 12
        200ms ? cwnd 17376
        200ms < ack 0
        200ms > 12
        300ms < ack 5 ts 200ms         # partial: 5 again; 13 - 5 + 1 = 9: 5 + 9 = 14
        300ms > 5, 13
        300ms ? cwnd 13032 state recovery
        400ms < ack 14 ts 300ms        # all: nothing out, one segment
        400ms > 14
        400ms ? cwnd 1448 state open
        ",
    );
}

#[test]
fn a_timeout_goes_back_to_the_first_byte() {
    // The first timeout is at 100 + 503 ms, the next one after 2 * 303 + 200 = 806 ms.
    sender_with(reno("freebsd-2015"), OPEN).run(
        "
        603ms  > 0
        603ms  ? cwnd 1448 ssthresh 7240 state loss timeouts 1
        1409ms > 0
        1409ms ? ssthresh 2896 timeouts 2
        1500ms < ack 1                 # slow start, one segment an ACK until all is repeated
        1500ms > 1, 2
        1600ms < ack 3
        1600ms > 3..6
        1600ms ? cwnd 4344 state loss losses 7
        1700ms < ack 10                # the rest had arrived; above ssthresh two segments count
        1700ms > 10..13
        1700ms ? cwnd 4344 cnt 2896 state open
        ",
    );
}

#[test]
fn a_spurious_timeout_is_undone() {
    // 2015 requires that the ACK comes within half an SRTT (50.5 ms) of the timeout, 14 that it echoes an older
    // timestamp, at any time.
    let restored = "? cwnd 17376 undos 1 timeouts 1 state open"; // 10 segments, and 2 by slow start.
    for (stack, at) in [("freebsd-2015", 650), ("freebsd-14", 700)] {
        sender_with(reno(stack), OPEN)
            .run("603ms > 0")
            .run(&format!("{at}ms < ack 10 ts 100ms\n{at}ms > 10..22\n{at}ms {restored}"));
    }
    sender_with(reno("freebsd-2015"), OPEN)
        .run("603ms > 0\n660ms < ack 10 ts 100ms\n660ms > 10, 11\n660ms ? undos 0 cwnd 2896");
    sender_with(reno("freebsd-14"), OPEN)
        .run("603ms > 0\n700ms < ack 10 ts 603ms\n700ms > 10, 11\n700ms ? undos 0 cwnd 2896");
}
