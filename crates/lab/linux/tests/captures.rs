//! Hand-made captures, written as pcapng files.

mod common;

use shoal_linux::{CaptureError, Plan, RecordError, write_capture};
use shoal_trace::pcapng::Capture;
use std::path::PathBuf;

const SCENARIO: &str = r#"
duration = "1 s"
warmup = "0 s"
bottleneck = { rate = "12 Mbit/s", buffer = "2 packets", aqm = { kind = "step", threshold = "2 packets" } }
flows = [{ cc = "dctcp", rtt = "10 ms" }]
"#;
/// Time of the guest's clock when the experiment began.
const ORIGIN_NS: i64 = 3_000_000_000;
const OVERFLOW: u8 = 2;
const STARTED: u8 = 3;
const ARRIVED: u8 = 6;
/// Address of the sender in a dumbbell, and of its receiver.
const SENDER: [u8; 4] = [10, 1, 0, 2];
const RECEIVER: [u8; 4] = [10, 2, 0, 2];
const ECT: u8 = 2;
const CE: u8 = 3;

/// Builds a record of `sch_line.h` with its packet: 22 B that end with a letter.
fn record(at_ns: i64, event: u8, link: u8, ecn: u8, to: [u8; 4], letter: u8) -> Vec<u8> {
    let mut bytes = (ORIGIN_NS + at_ns).to_ne_bytes().to_vec();
    // Queueing time, ports, sequence number, and the backlog: 2 packets, a full buffer.
    for number in [0u32, 0, 0, 0, 3000, 2] {
        bytes.extend(number.to_ne_bytes());
    }
    bytes.extend(22u16.to_ne_bytes());
    bytes.extend(0u16.to_ne_bytes());
    bytes.extend([event, ecn, 0, link]);
    assert_eq!(bytes.len(), 40);
    bytes.extend([0x45; 16]);
    bytes.extend(to);
    bytes.extend([letter, letter, 0, 0]);
    bytes
}

fn sent(at_ns: i64, ecn: u8, letter: u8) -> Vec<u8> {
    record(at_ns, STARTED, 0, ecn, RECEIVER, letter)
}

fn arrived(at_ns: i64, to: [u8; 4], letter: u8) -> Vec<u8> {
    record(at_ns, ARRIVED, 1, 0, to, letter)
}

fn write(name: &str, records: &[Vec<u8>], cut: usize) -> Result<Vec<u8>, CaptureError> {
    let experiment = common::experiment(SCENARIO);
    let plan = Plan::new(&experiment, &common::kernel(), true).unwrap();
    let guest = [ORIGIN_NS.to_ne_bytes().to_vec(), records.concat()].concat();
    let path: PathBuf =
        std::env::temp_dir().join(format!("shoal-capture-{name}-{}.pcapng", std::process::id()));
    let written = write_capture(&experiment, &plan, &guest[..guest.len() - cut], &path, Capture::Whole);
    assert_eq!(path.exists(), written.is_ok());
    written.map(|()| {
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file
    })
}

fn place(file: &[u8], text: &[u8]) -> Option<usize> {
    file.windows(text.len()).position(|window| window == text)
}

#[test]
fn packets_come_in_the_order_of_time() {
    // A record of the set-up; the line records late that it began on time, after an acknowledgement has
    // arrived.
    let records = [
        sent(-5_000, ECT, b'o'),
        arrived(900_500, SENDER, b'a'),
        sent(900_000, ECT, b'l'),
        sent(2_000_000, ECT, b'm'),
    ];
    let file = write("order", &records, 0).unwrap();
    assert_eq!(place(&file, b"oo"), None);
    let [line, ack, last] = [b"ll", b"aa", b"mm"].map(|letters| place(&file, letters).unwrap());
    assert!(line < ack && ack < last);
    assert!(place(&file, b"senders").unwrap() < line);
}

#[test]
fn marks_and_drops_are_told() {
    // The ECN field, and its value on arrival << 2: marked here, marked before, dropped.
    let records = [
        sent(1_000, CE | ECT << 2, b'm'),
        sent(2_000, CE | CE << 2, b'b'),
        record(3_000, OVERFLOW, 0, ECT | ECT << 2, RECEIVER, b'd'),
    ];
    let file = write("notes", &records, 0).unwrap();
    let [marked, before, dropped] = [b"mm", b"bb", b"dd"].map(|letters| place(&file, letters).unwrap());
    let comments: Vec<usize> = ["marked: threshold", "dropped: buffer"]
        .iter()
        .map(|comment| place(&file, comment.as_bytes()).unwrap())
        .collect();
    assert!(marked < comments[0] && comments[0] < before);
    assert!(dropped < comments[1]);
    assert_eq!(file.windows(7).filter(|window| window == b"marked:").count(), 1);
}

#[test]
fn senders_are_told_from_receivers_of_the_same_host() {
    let file = write("senders", &[arrived(1_000, SENDER, b's'), arrived(2_000, RECEIVER, b'r')], 0).unwrap();
    assert!(place(&file, b"ss").is_some());
    assert!(place(&file, b"rr").is_none());
}

#[test]
fn torn_files_are_refused() {
    // Truncated within a packet, within a record, and within the first number.
    for cut in [1, 30, 64 + 3] {
        let error = write("torn", &[sent(1_000, ECT, b'x')], cut).unwrap_err();
        assert!(matches!(error, CaptureError::Records(RecordError::Torn)), "{error:?}");
    }
    let unknown = [record(1_000, STARTED, 7, ECT, RECEIVER, b'x')];
    assert!(matches!(
        write("unknown", &unknown, 0).unwrap_err(),
        CaptureError::Records(RecordError::Unknown)
    ));
}
