//! Laws that the kernel's records must obey. Records that violate one contradict themselves, and no result is
//! made from them.

use crate::measure::flow_of;
use crate::records::{FlowKind, FlowRecord, LineEvent, LineRecord, RecordError};
use shoal_measure::laws::BrokenLaw;
use shoal_scenario::{App, Experiment, Link};
use shoal_units::{Span, Time, Transmission};

/// A line may record a transmission up to a microsecond after it began (linux/testbed/line.c), the time of a
/// failed system call.
const LATE_NS: i64 = 2_000;
/// The ends of transmissions are truncated to whole nanoseconds.
const ROUNDING_NS: u64 = 1;

/// Reasons why no result is made from records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unlawful {
    /// The records cannot be read.
    Records(RecordError),
    /// The records contradict each other.
    Law(BrokenLaw),
}

/// Checks the raw records of lines and flows:
///
/// - times of a line never run back further than a late timer explains, and those of a flow's samples never;
/// - whenever a transmission begins, the backlog that the kernel reports equals the arrivals less the
///   departures since the start;
/// - a line begins no transmission before the previous one has taken the time that its rate requires, nor at any time
///   but at an opportunity to send if it has those;
/// - the counters of a sender never decrease, and no receiver has more of its stream than any line carried
///   for it.
///
/// # Errors
/// The first law that is violated.
pub fn check(experiment: &Experiment, lines: &[u8], flows: &[u8]) -> Result<(), Unlawful> {
    let lines = LineRecord::read_all(lines).map_err(Unlawful::Records)?;
    let flows = FlowRecord::read_all(flows).map_err(Unlawful::Records)?;
    let carried = of_lines(experiment, &lines).map_err(Unlawful::Law)?;
    of_flows(experiment, &flows, &carried).map_err(Unlawful::Law)
}

/// State of a line, in the order of its records.
struct Line<'a> {
    link: &'a Link,
    latest_ns: i64,
    packets: i64,
    bytes: i64,
    /// Earliest time at which the next transmission may begin.
    free_ns: Option<i64>,
    /// Follows the changes of the link's rate.
    transmission: Option<Transmission>,
    /// Payload of each flow that the line carried, in bytes.
    carried: Vec<u64>,
}

impl Line<'_> {
    fn broken(&self, what: String) -> BrokenLaw {
        BrokenLaw { place: format!("link `{}`", self.link.name), what }
    }

    fn take(&mut self, record: &LineRecord) -> Result<(), BrokenLaw> {
        if record.time_ns + LATE_NS < self.latest_ns {
            return Err(self.broken(format!(
                "time runs backwards, from {} ns to {} ns",
                self.latest_ns, record.time_ns
            )));
        }
        self.latest_ns = self.latest_ns.max(record.time_ns);
        let sign = match record.event {
            LineEvent::Queued => 1,
            LineEvent::Started | LineEvent::Dropped | LineEvent::Evicted => -1,
            LineEvent::Refused | LineEvent::Overflow | LineEvent::Arrived => 0,
        };
        self.packets += sign;
        self.bytes += sign * i64::from(record.size);
        if record.event == LineEvent::Started { self.start(record) } else { Ok(()) }
    }

    fn start(&mut self, record: &LineRecord) -> Result<(), BrokenLaw> {
        let kernel = (i64::from(record.backlog_packets), i64::from(record.backlog_bytes));
        if kernel != (self.packets, self.bytes) {
            return Err(self.broken(format!(
                "at {} ns the kernel has {} packets ({} B) in the queue; by what came, left and was dropped there are \
                 {} ({} B)",
                record.time_ns, kernel.0, kernel.1, self.packets, self.bytes
            )));
        }
        if record.queued_ns > record.time_ns + LATE_NS {
            return Err(self.broken(format!(
                "a packet left at {} ns, before it came at {} ns",
                record.time_ns, record.queued_ns
            )));
        }
        if let Some(free_ns) = self.free_ns
            && record.time_ns < free_ns
        {
            return Err(self.broken(format!(
                "a transmission began at {} ns, before the one before it could end at {free_ns} ns",
                record.time_ns
            )));
        }
        let wire_bytes = u32::from(record.size) + u32::from(self.link.overhead_bytes);
        if let Some(own) = &self.link.schedule.opportunities {
            let start = Time::ZERO + Span::from_nanos(record.time_ns.max(0) as u64);
            if !own.opportunities.is_instant(start) {
                return Err(self.broken(format!(
                    "a transmission began at {} ns, when there was no opportunity to send",
                    record.time_ns
                )));
            }
        } else if let Some(transmission) = &mut self.transmission {
            let start = Time::ZERO + Span::from_nanos(record.time_ns.max(0) as u64);
            if transmission.ready(start) > start {
                return Err(
                    self.broken(format!("a transmission began at {} ns, during an outage", record.time_ns))
                );
            }
            let takes = transmission.span(wire_bytes, start).as_nanos();
            self.free_ns = Some(record.time_ns + takes.saturating_sub(ROUNDING_NS) as i64);
        }
        if let Some(carried) = flow_of(record).and_then(|flow| self.carried.get_mut(flow)) {
            *carried += u64::from(record.payload);
        }
        Ok(())
    }
}

/// Checks the lines; returns what each carried of each flow.
fn of_lines<'a>(experiment: &'a Experiment, records: &[LineRecord]) -> Result<Vec<Line<'a>>, BrokenLaw> {
    let mut lines: Vec<Line<'a>> = experiment
        .monitored()
        .map(|(_, link)| Line {
            link,
            latest_ns: i64::MIN,
            packets: 0,
            bytes: 0,
            free_ns: None,
            transmission: link.rate.map(|rate| Transmission::new(rate, link.schedule.rate.clone())),
            carried: vec![0; experiment.flows.len()],
        })
        .collect();
    for record in records {
        if let Some(line) = lines.get_mut(usize::from(record.link)) {
            line.take(record)?;
        }
    }
    Ok(lines)
}

fn of_flows(experiment: &Experiment, records: &[FlowRecord], lines: &[Line<'_>]) -> Result<(), BrokenLaw> {
    let monitored: Vec<_> = experiment.monitored().map(|(id, _)| id).collect();
    let mut last: Vec<Option<&FlowRecord>> = vec![None; experiment.flows.len()];
    let of_stream = |record: &&FlowRecord| record.kind == FlowKind::Sample;
    for record in records.iter().filter(of_stream) {
        let number = record.flow as usize;
        let Some(flow) = experiment.flows.get(number) else { continue };
        if matches!(flow.app, App::Unresponsive { .. }) {
            continue;
        }
        let broken = |what: String| BrokenLaw { place: format!("flow {number}"), what };
        if let Some(before) = last[number].replace(record) {
            let counts = [
                ("time, ns", before.time_ns, record.time_ns),
                ("retransmissions", before.retransmissions.into(), record.retransmissions.into()),
                ("timeouts", before.timeouts.into(), record.timeouts.into()),
                ("delivered bytes", before.received, record.received),
            ];
            if let Some((name, before, now)) = counts.into_iter().find(|(_, before, now)| now < before) {
                return Err(broken(format!("{name} fell from {before} to {now}")));
            }
        }
    }
    for (number, record) in last.iter().enumerate() {
        let (Some(record), Some(flow)) = (record, experiment.flows.get(number)) else { continue };
        let path = &experiment.paths[flow.forward as usize];
        let on_path = path.iter().filter_map(|id| monitored.iter().position(|other| other == id));
        for line in on_path.filter_map(|index| lines.get(index)) {
            if record.received > line.carried[number] {
                return Err(line.broken(format!(
                    "the receiver of flow {number} has {} bytes of its stream, of which the line carried {}",
                    record.received, line.carried[number]
                )));
            }
        }
    }
    Ok(())
}
