//! Packets that the guest captured, as a pcapng file with the same interfaces as captures of the simulator.

use crate::disciplines::{drop_reason, mark_reason};
use crate::plan::Plan;
use crate::records::{LineEvent, LineRecord, RecordError};
use shoal_scenario::{Experiment, Link};
use shoal_trace::WriteError;
use shoal_trace::pcapng::{Capture, Frame, Interface, LinkCapture, PacketNote, Passage};
use shoal_units::Time;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::path::Path;

/// A busy line starts the next packet on time, but records it up to a microsecond later.
const LATE_NS: i64 = 2_000;
/// Byte range of the destination address in the IP header.
const DESTINATION: std::ops::Range<usize> = 16..20;

/// Reasons why a capture was not written.
#[derive(Debug)]
pub enum CaptureError {
    /// The guest's file is not valid.
    Records(RecordError),
    /// The guest's file could not be read.
    Read(io::Error),
    /// The output file could not be written.
    Write(WriteError),
}

/// Writes what the guest captured to `path` as pcapng: packets that the monitored links send and drop, and
/// packets that senders receive. The guest's file holds whole packets; `kept` determines how much of them is
/// written.
///
/// # Errors
/// The guest's file is truncated, or the output cannot be written; no part of the output is left then.
pub fn write_capture(
    experiment: &Experiment,
    plan: &Plan,
    packets: impl Read,
    path: &Path,
    kept: Capture,
) -> Result<(), CaptureError> {
    let links: Vec<&Link> = experiment.monitored().map(|(_, link)| link).collect();
    let interfaces = links.iter().map(|link| Interface { name: link.name.clone(), rate: link.rate });
    let mut writer = Writer {
        file: LinkCapture::create(path, &interfaces.collect::<Vec<_>>(), kept)
            .map_err(CaptureError::Write)?,
        links,
        waiting: BTreeMap::new(),
        count: 0,
    };
    let mut packets = Packets::open(packets)?;
    while let Some((record, bytes)) = packets.next()? {
        if record.time_ns < 0 || (record.event == LineEvent::Arrived && !is_captured(plan, &bytes)) {
            continue;
        }
        writer.add(record, bytes)?;
    }
    writer.finish()
}

/// Whether a packet is for a sender that is captured. In a graph a host may both send and receive, but each flow has
/// its own address.
fn is_captured(plan: &Plan, bytes: &[u8]) -> bool {
    let Some(address) = bytes.get(DESTINATION) else { return false };
    let address = Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|at| address[at]));
    plan.captured.contains(&address)
}

/// The guest's file: the origin of times, followed by records with their packets.
struct Packets<R> {
    from: R,
    origin_ns: i64,
}

impl<R: Read> Packets<R> {
    fn open(mut from: R) -> Result<Self, CaptureError> {
        let mut origin = [0; 8];
        fill(&mut from, &mut origin)?;
        Ok(Self { from, origin_ns: i64::from_ne_bytes(origin) })
    }

    fn next(&mut self) -> Result<Option<(LineRecord, Vec<u8>)>, CaptureError> {
        let mut record = [0; LineRecord::SIZE];
        match self.from.read(&mut record[..1]).map_err(CaptureError::Read)? {
            0 => return Ok(None),
            _ => fill(&mut self.from, &mut record[1..])?,
        }
        let mut record = LineRecord::read(&record).map_err(CaptureError::Records)?;
        record.time_ns -= self.origin_ns;
        record.queued_ns -= self.origin_ns;
        let mut bytes = vec![0; usize::from(record.size).next_multiple_of(8)];
        fill(&mut self.from, &mut bytes)?;
        bytes.truncate(record.size.into());
        Ok(Some((record, bytes)))
    }
}

fn fill(from: &mut impl Read, into: &mut [u8]) -> Result<(), CaptureError> {
    from.read_exact(into).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => CaptureError::Records(RecordError::Torn),
        _ => CaptureError::Read(error),
    })
}

/// Sorts packets by time and writes them.
struct Writer<'a> {
    file: LinkCapture,
    links: Vec<&'a Link>,
    /// By time in nanoseconds; packets with equal times keep their order in the file.
    waiting: BTreeMap<(i64, u64), Waiting>,
    count: u64,
}

struct Waiting {
    /// `None` at a sender.
    passage: Option<Passage>,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn add(&mut self, record: LineRecord, bytes: Vec<u8>) -> Result<(), CaptureError> {
        let interface = u32::from(record.link);
        let senders = self.links.len() as u32;
        if (record.event == LineEvent::Arrived) != (interface == senders) || interface > senders {
            return Err(CaptureError::Records(RecordError::Unknown));
        }
        let passage = self.links.get(interface as usize).map(|link| passage(link, &record));
        self.waiting.insert((record.time_ns, self.count), Waiting { passage, bytes });
        self.count += 1;
        self.write_until(record.time_ns - LATE_NS)
    }

    fn write_until(&mut self, time_ns: i64) -> Result<(), CaptureError> {
        while let Some(first) = self.waiting.first_entry()
            && first.key().0 <= time_ns
        {
            let ((time_ns, _), packet) = first.remove_entry();
            let (at, frame) = (time(time_ns), Frame::Captured(&packet.bytes));
            let written = match packet.passage {
                Some(passage) => self.file.at_link(at, passage, frame),
                None => self.file.at_sender(at, frame),
            };
            written.map_err(CaptureError::Write)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), CaptureError> {
        self.write_until(i64::MAX)?;
        self.file.commit().map_err(CaptureError::Write)
    }
}

const fn time(time_ns: i64) -> Time {
    Time::from_picos(time_ns as u64 * 1000)
}

fn passage(link: &Link, record: &LineRecord) -> Passage {
    let has_waited = !record.event.is_arrival() && record.queued_ns > 0;
    Passage {
        link: u32::from(record.link),
        connection: u64::from(record.source) << 16 | u64::from(record.destination),
        queued: time(if has_waited { record.queued_ns } else { record.time_ns }),
        sequence: record.sequence,
        waiting: record.backlog_packets,
        note: note(link, record),
    }
}

fn note(link: &Link, record: &LineRecord) -> Option<PacketNote> {
    if record.event.is_drop() {
        return Some(PacketNote::Dropped(drop_reason(link, record, None)));
    }
    let marked = record.after.is_ce() && !record.arrived.is_ce();
    marked.then(|| PacketNote::Marked(mark_reason(link, record)))
}
