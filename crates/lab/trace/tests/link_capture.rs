//! Captures of links: the order of packets that leave and of those that are dropped behind them.

use shoal_packet::Reason;
use shoal_trace::pcapng::{Capture, Frame, Interface, LinkCapture, PacketNote, Passage};
use shoal_units::{Span, Time};

const DROPPED: Option<PacketNote> = Some(PacketNote::Dropped(Reason::Buffer));

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A packet of `connection` that arrived at `queued` (ms) with `sequence`, and how many others wait.
fn passage(connection: u64, queued: u64, sequence: u32, waiting: u32, note: Option<PacketNote>) -> Passage {
    Passage { link: 0, connection, queued: at(queued), sequence, waiting, note }
}

/// Interface, milliseconds and first letter of each packet of a capture, and its text.
fn written(name: &str, events: &[(u64, Passage, u8)]) -> (Vec<(u32, u64, char)>, String) {
    let path = std::env::temp_dir().join(format!("shoal-links-{name}-{}.pcapng", std::process::id()));
    let links = [Interface { name: "left".into(), rate: None }];
    let mut capture = LinkCapture::create(&path, &links, Capture::Whole).unwrap();
    for (now, passage, letter) in events {
        capture.at_link(at(*now), *passage, Frame::Captured(&[*letter; 4])).unwrap();
    }
    capture.commit().unwrap();
    let file = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (mut packets, mut start) = (Vec::new(), 0);
    while start < file.len() {
        if word(start) == 6 {
            let nanoseconds = u64::from(word(start + 12)) << 32 | u64::from(word(start + 16));
            packets.push((word(start + 8), nanoseconds / 1_000_000, char::from(file[start + 28])));
        }
        start += word(start + 4) as usize;
    }
    (packets, String::from_utf8_lossy(&file).into_owned())
}

#[test]
fn what_is_dropped_on_arrival_stands_behind_what_waited_then() {
    // At 5 ms, a and b wait; c is dropped, and d arrives later.
    let (packets, text) = written(
        "behind",
        &[
            (5, passage(1, 5, 30, 2, DROPPED), b'c'),
            (6, passage(1, 1, 10, 2, None), b'a'),
            (8, passage(1, 2, 20, 1, None), b'b'),
            (9, passage(1, 7, 40, 0, None), b'd'),
        ],
    );
    assert_eq!(packets, [(0, 6, 'a'), (0, 8, 'b'), (2, 8, 'c'), (0, 9, 'd')]);
    assert!(text.contains("dropped: buffer at 0.005000000 s"), "{text}");
    assert!(text.contains("left dropped") && text.contains("senders"));
}

#[test]
fn packets_that_overtake_the_waiting_ones_do_not_count() {
    // Two queues behind one link: x and y of another connection arrive after the drop and leave before b.
    let (packets, _) = written(
        "overtaken",
        &[
            (5, passage(1, 5, 30, 2, DROPPED), b'c'),
            (6, passage(1, 1, 10, 3, None), b'a'),
            (7, passage(2, 6, 10, 2, None), b'x'),
            (8, passage(2, 6, 20, 1, None), b'y'),
            (9, passage(1, 2, 20, 0, None), b'b'),
        ],
    );
    assert_eq!(packets, [(0, 6, 'a'), (0, 7, 'x'), (0, 8, 'y'), (0, 9, 'b'), (2, 9, 'c')]);
}

#[test]
fn packets_of_one_instant_keep_the_order_of_their_sequence_numbers() {
    // A burst at 5 ms: a waits, b is dropped, c waits in spite of it; another queue holds o until later.
    let (packets, _) = written(
        "instant",
        &[
            (5, passage(1, 5, u32::MAX - 9, 2, DROPPED), b'b'),
            (6, passage(1, 5, u32::MAX - 19, 2, None), b'a'),
            (7, passage(1, 5, 5, 1, None), b'c'),
            (8, passage(2, 1, 1, 0, None), b'o'),
        ],
    );
    assert_eq!(packets, [(0, 6, 'a'), (2, 7, 'b'), (0, 7, 'c'), (0, 8, 'o')]);
}

#[test]
fn what_is_dropped_from_the_head_or_an_empty_queue_stands_at_its_time() {
    let (packets, text) = written(
        "head",
        &[
            (5, passage(1, 5, 10, 0, DROPPED), b'a'),
            (9, passage(1, 6, 20, 3, DROPPED), b'b'),
            (9, passage(1, 7, 30, 2, None), b'c'),
        ],
    );
    assert_eq!(packets, [(2, 5, 'a'), (2, 9, 'b'), (0, 9, 'c')]);
    assert!(!text.contains(" at 0."));
}

#[test]
fn what_waits_at_the_end_hides_no_drop() {
    let (packets, _) =
        written("end", &[(5, passage(1, 5, 30, 2, DROPPED), b'c'), (6, passage(1, 1, 10, 1, None), b'a')]);
    assert_eq!(packets, [(0, 6, 'a'), (2, 6, 'c')]);
}
