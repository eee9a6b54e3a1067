//! Records of ways that random frames pass, replayed, and with a byte changed.

use etherparse::PacketBuilder;
use proptest::prelude::*;
use shoal_aqm::QueueConfig;
use shoal_aqm::testing::{Input, Kind};
use shoal_bottleneck::LinkConfig;
use shoal_box::{Ahead, Buffer, Change, Cut, Direction, Frame, Record, Replayed, replay};
use shoal_netem::{Chance, Impairments, Loss};
use shoal_trace::pcapng::{FrameReader, LinkType};
use shoal_units::{Rate, Span, Time};
use std::path::{Path, PathBuf};

/// A frame that comes: ns since the one before, its side, codepoint, port and bytes of payload.
type Coming = (u64, bool, u8, u16, usize);

/// A link for each way, the first with a queue of this kind, whose configuration bytes choose; none if they choose
/// what is refused.
fn chosen_ways(kind: usize, chosen: &[u8], seed: u64) -> Option<[Direction; 2]> {
    let rate = Rate::from_bps(9_999_991);
    let queue = Input::new(chosen).config(Kind::ALL[kind], rate);
    let loss = Loss::Random { probability: Chance::of(0.02), correlation: Chance::NEVER };
    let impairments = Some(Box::new(Impairments { loss, ..Impairments::NONE }));
    let there = LinkConfig { impairments, ..LinkConfig::new(rate, Span::from_micros(777), queue) };
    let back = LinkConfig { name: "back".into(), ..LinkConfig::pure_delay(Span::from_millis(20)) };
    Some([Direction::new(&there, seed).ok()?, Direction::new(&back, seed).ok()?])
}

/// Ways with DualPI2 and a line that loses frames at random.
fn ways(seed: u64) -> [Direction; 2] {
    let dualpi2 = Kind::ALL.iter().position(|kind| matches!(kind, Kind::DualPi2)).unwrap();
    chosen_ways(dualpi2, &[128; 40], seed).unwrap()
}

fn frame(link_type: LinkType, ecn: u8, port: u16, bytes: usize) -> Vec<u8> {
    let mut header = etherparse::Ipv4Header::new(
        (8 + bytes) as u16,
        64,
        etherparse::IpNumber::UDP,
        [192, 0, 2, 1],
        [192, 0, 2, 2],
    )
    .unwrap();
    header.ecn = etherparse::IpEcn::try_new(ecn).unwrap();
    let headers = etherparse::IpHeaders::Ipv4(header, <_>::default());
    let builder = match link_type {
        LinkType::Ethernet => PacketBuilder::ethernet2([2; 6], [4; 6]).ip(headers),
        LinkType::Raw => PacketBuilder::ip(headers),
    };
    let mut frame = Vec::new();
    builder.udp(port, 9).write(&mut frame, &vec![0; bytes]).unwrap();
    frame
}

/// The change that words mean: a rate in kbit/s, a delay of the way back in ms, or a law.
fn change(words: &str, law: &QueueConfig) -> Result<Change, String> {
    let (what, value) = words.split_once(' ').ok_or("no change")?;
    let number = || value.parse::<u64>().map_err(|error| error.to_string());
    match what {
        "rate" => Ok(Change::Rate(Rate::from_bps(1000 * number()?))),
        "back" => Ok(Change::DelayBack(Span::from_millis(number()?))),
        "law" => Ok(Change::Law(Box::new(law.clone()))),
        _ => Err(format!("no change: {words}")),
    }
}

/// Takes what happens by now.
fn carry(ways: &mut [Direction; 2], now: Time, record: &mut Record) {
    for way in ways {
        loop {
            match way.next(now) {
                Ahead::Frame(leaving) => record.decided(&leaving.decision).unwrap(),
                Ahead::Gone(decision) => record.decided(&decision).unwrap(),
                Ahead::At(_) | Ahead::Nothing => break,
            }
        }
    }
}

/// Carries the frames as a box does, which looks at the link now and then, and writes the record. The box changes as
/// these words say before frames of these positions come.
fn recorded(
    path: &Path,
    link_type: LinkType,
    coming: &[Coming],
    mut ways: [Direction; 2],
    changes: &[(usize, String)],
    law: &QueueConfig,
) {
    let mut record = Record::create(path, link_type, ["left", "right"], "about").unwrap();
    let mut now = Time::ZERO;
    for (position, (after, is_back, ecn, port, bytes)) in coming.iter().enumerate() {
        for (_, words) in changes.iter().filter(|(at, _)| *at == position) {
            now += Span::from_nanos(after / 3);
            carry(&mut ways, now, &mut record);
            if change(words, law).unwrap().apply(now, &mut ways).is_ok() {
                record.changed(now, words).unwrap();
            }
        }
        now += Span::from_nanos(*after);
        let frame = frame(link_type, *ecn, *port, *bytes);
        let read = Frame::read(link_type, &frame).unwrap();
        let side = usize::from(*is_back);
        let number = record.came(side as u32, now, &frame, &read);
        if let Some(decision) = ways[side].arrive(now, Buffer::complete(frame), &read, number) {
            record.decided(&decision).unwrap();
        }
        if position % 3 == 0 {
            carry(&mut ways, now, &mut record);
        }
    }
    record.commit(&mut ways).unwrap();
}

/// A law that is no link's.
const NO_LAW: QueueConfig = QueueConfig::Fifo(shoal_aqm::FifoConfig { limit: shoal_aqm::Extent::Unlimited });

fn replayed(path: &Path, mut ways: [Direction; 2], law: &QueueConfig) -> Replayed {
    let reader = FrameReader::open(path).unwrap();
    assert_eq!(reader.comment(), "about");
    replay(reader, &mut ways, |words| change(words, law)).unwrap()
}

fn changes() -> impl Strategy<Value = Vec<(usize, String)>> {
    let words = prop_oneof![
        (1_000u64..20_000).prop_map(|kbps| format!("rate {kbps}")),
        (0u64..40).prop_map(|ms| format!("back {ms}")),
        Just("law other".to_owned()),
    ];
    prop::collection::vec((0usize..200, words), 0..6)
}

fn coming() -> impl Strategy<Value = Vec<Coming>> {
    let frame = (0u64..3_000_000, prop::bool::weighted(0.2), 0u8..4, 1u16..4, 18usize..1400);
    prop::collection::vec(frame, 1..200)
}

/// A file that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("shoal-box-{name}-{}.pcapng", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

proptest! {
    #[test]
    fn a_record_is_replayed_and_a_changed_byte_is_seen(
        coming in coming(),
        kind in 0..Kind::ALL.len(),
        chosen in prop::collection::vec(any::<u8>(), 40),
        others in prop::collection::vec(any::<u8>(), 40),
        seed in any::<u64>(),
        changes in changes(),
        link_type in prop::sample::select(vec![LinkType::Ethernet, LinkType::Raw]),
        at in any::<prop::sample::Index>(),
    ) {
        let ways = || chosen_ways(kind, &chosen, seed);
        prop_assume!(ways().is_some());
        let law = &Input::new(&others).config(Kind::ALL[kind], Rate::from_bps(9_999_991));
        let file = Scratch::new("random");
        recorded(&file.0, link_type, &coming, ways().unwrap(), &changes, law);
        let same = Replayed { frames: coming.len() as u64, difference: None, cut: None };
        prop_assert_eq!(replayed(&file.0, ways().unwrap(), law), same);

        let mut bytes = std::fs::read(&file.0).unwrap();
        let comments = bytes.windows(8).enumerate().filter(|(_, word)| word == b"came at ");
        let comments: Vec<usize> = comments.map(|(at, _)| at).collect();
        prop_assert_eq!(comments.len(), coming.len());
        // A digit of the time of arrival, behind its point.
        let digit = &mut bytes[*at.get(&comments) + 10];
        *digit = if *digit == b'0' { b'1' } else { b'0' };
        std::fs::write(&file.0, &bytes).unwrap();
        let difference = replayed(&file.0, ways().unwrap(), law).difference.expect("the change is seen");
        let before = bytes[..*at.get(&comments)].windows(11).filter(|word| word == b"changed at ").count();
        prop_assert_eq!(difference.number as usize, at.index(comments.len()) + before + 1);
    }
}

/// Frames of classic and scalable senders that come 20 % faster than they leave.
fn overload() -> Vec<Coming> {
    (0..2000u16).map(|number| (960_000, false, (number % 2 + 1) as u8, 1, 1400)).collect()
}

/// Another seed draws other losses: a replay that decided nothing by itself would not see that.
#[test]
fn another_seed_is_seen() {
    let file = Scratch::new("seed");
    recorded(&file.0, LinkType::Ethernet, &overload(), ways(1), &[], &NO_LAW);
    assert_eq!(replayed(&file.0, ways(1), &NO_LAW).difference, None);
    let first = replayed(&file.0, ways(2), &NO_LAW).difference.unwrap();
    assert_ne!(first.recorded, first.decided);
}

/// A replay that passed changes over would not see this.
#[test]
fn another_change_is_seen() {
    let file = Scratch::new("change");
    recorded(&file.0, LinkType::Ethernet, &overload(), ways(1), &[(1000, "rate 5000".to_owned())], &NO_LAW);
    assert_eq!(replayed(&file.0, ways(1), &NO_LAW).difference, None);
    let bytes = std::fs::read(&file.0).unwrap();
    for (changed, decided) in
        [("rate 5001", "leaves at"), ("rate fast", "invalid digit"), ("rain 5000", "no change")]
    {
        let at = bytes.windows(9).position(|word| word == b"rate 5000").unwrap();
        let mut bytes = bytes.clone();
        bytes[at..at + 9].copy_from_slice(changed.as_bytes());
        std::fs::write(&file.0, &bytes).unwrap();
        let first = replayed(&file.0, ways(1), &NO_LAW).difference.unwrap();
        assert!(first.decided.contains(decided), "{first:?}");
    }
}

#[test]
fn a_record_that_breaks_off_is_compared_up_to_there() {
    let file = Scratch::new("cut");
    recorded(&file.0, LinkType::Ethernet, &overload(), ways(1), &[(100, "back 3".to_owned())], &NO_LAW);
    let bytes = std::fs::read(&file.0).unwrap();
    for part in [2, 3, 4] {
        // The length need not be that of whole blocks.
        std::fs::write(&file.0, &bytes[..=bytes.len() * part / 5]).unwrap();
        let Replayed { frames, difference, cut } = replayed(&file.0, ways(1), &NO_LAW);
        let Some(Cut { at, inside }) = cut else { panic!("{difference:?}") };
        let whole = frames + inside;
        assert!(frames > 0 && inside > 0, "{frames} frames, {inside} inside");
        assert!(whole.abs_diff(2000 * part as u64 / 5) < 40, "{whole} frames of {part} fifths of 2000");
        // They come each 960 us; the change takes a third of that.
        assert_eq!(at, Time::ZERO + Span::from_micros(960 * whole + 320));
    }
    // A difference before it is seen all the same.
    assert!(replayed(&file.0, ways(2), &NO_LAW).difference.is_some());
}

#[test]
fn a_file_that_is_no_record_is_refused() {
    let file = Scratch::new("none");
    std::fs::write(&file.0, b"nothing").unwrap();
    assert!(FrameReader::open(&file.0).is_err());
}
