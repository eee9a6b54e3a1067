//! Classic ECN feedback: ECE from a CE mark until CWR
//! ([RFC 3168, section 6.1.3](https://www.rfc-editor.org/rfc/rfc3168#section-6.1.3)).

use super::script::{linux, receiver_with, with_ecn};
use crate::EndpointConfig;

fn receiver(stack: &str) -> EndpointConfig {
    // Two quick ACKs at the start.
    EndpointConfig { receive_window_bytes: 4 * 1448, ..with_ecn(stack) }
}

const OPEN: &str = "
    0ms   < syn ece cwr
    0ms   > synack ece
    1ms   < 0 ect0
    1ms   > ack 1
    2ms   < 1 ect0
    2ms   > ack 2
";

#[test]
fn ece_stays_until_cwr() {
    receiver_with(receiver("linux-3.2"), OPEN).run(
        "
        3ms   < 2 ce
        4ms   < 3 ect0
        4ms   > ack 4 ece
        5ms   < 4 ect0
        6ms   < 5 ect0
        6ms   > ack 6 ece              # unmarked data does not end it
        7ms   < 6 ect0 cwr
        8ms   < 7 ect0
        8ms   > ack 8
        9ms   < 8 ce cwr               # CWR, and a new mark
        10ms  < 9 ect0
        10ms  > ack 10 ece
        ",
    );
}

#[test]
fn the_first_mark_is_acknowledged_at_once_since_3_18() {
    // tcp_ecn_check_ce: "better not delay ACKs". 3.18: as many as at the start (here 2), 6: two.
    let script = "
        3ms   < 2 ce
        3ms   > ack 3 ece
        4ms   < 3 ect0
        4ms   > ack 4 ece
        5ms   < 4 ect0
        45ms  > ack 5 ece
    ";
    receiver_with(receiver("linux-3.18"), OPEN).run(script);
    receiver_with(receiver("linux-6"), OPEN).run(script);
    let mut wide = receiver("linux-6");
    linux(&mut wide).quick_acks = 2;
    wide.receive_window_bytes = 1 << 20;
    receiver_with(wide, OPEN).run(script);
}

#[test]
fn data_with_cwr_is_acknowledged_at_once_in_6() {
    receiver_with(receiver("linux-6"), OPEN).run("3ms < 2 ect0 cwr\n3ms > ack 3");
    receiver_with(receiver("linux-3.18"), OPEN).run("3ms < 2 ect0 cwr\n43ms > ack 3");
}

#[test]
fn marks_on_old_data_do_not_count() {
    receiver_with(receiver("linux-3.2"), OPEN)
        .run("3ms < 0 ce\n3ms > ack 2 sack 0-1\n4ms < 2 ect0\n4ms > ack 3");
}

/// Quick ACKs come with the mark that sets the latch; two later ones find it set and bring no further ones. So of the
/// marks at 3, 4 and 5 ms the third waits for the timer: 5 + 40 ms.
#[test]
fn a_mark_while_ece_is_echoed_brings_no_quick_acks() {
    receiver_with(receiver("linux-6"), OPEN).run(
        "
        3ms   < 2 ce
        3ms   > ack 3 ece
        4ms   < 3 ce
        4ms   > ack 4 ece
        5ms   < 4 ce
        45ms  > ack 5 ece
        ",
    );
}

/// A connection with a wide window begins with 16 quick ACKs. A mark asks for two, and leaves the 14 that remain.
#[test]
fn a_mark_takes_no_quick_acks_away() {
    let quick: String = (2..16).map(|n| format!("{n}ms < {n} ect0\n{n}ms > ack {} ece\n", n + 1)).collect();
    let open =
        "0ms < syn ece cwr\n0ms > synack ece\n1ms < 0 ect0\n1ms > ack 1\n1.5ms < 1 ce\n1.5ms > ack 2 ece\n";
    receiver_with(with_ecn("linux-6"), &format!("{open}{quick}17ms < 16 ect0\n57ms > ack 17 ece"));
}
