//! Files that grow during a run: the packet trace and the capture.

use crate::recorder::PacketSink;
use shoal_packet::{FlowId, Packet, Reason};
use shoal_scenario::{Experiment, Link, LinkId};
use shoal_trace::parquet_out::PacketTraceWriter;
use shoal_trace::pcapng::{
    Capture, Direction, Endpoints, Frame, Interface, LinkCapture, PacketNote, Passage,
};
use shoal_trace::{PacketEvent, PacketRow, WriteError};
use shoal_units::Time;
use shoal_units::cast::count_u32;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The open files of a run. If they are dropped before [`Self::finish`], nothing is left of them.
pub struct Files {
    packets: Option<PacketTraceWriter>,
    capture: Option<CaptureFile>,
    /// The first failure, which ends the run.
    failure: Option<WriteError>,
}

struct CaptureFile {
    writer: LinkCapture,
    /// What the headers of each connection show, the path of its data, and whether a monitored link sees its
    /// acknowledgements, which are not captured at the sender a second time then.
    connections: Vec<(Endpoints, u32, bool)>,
    /// For each path and monitored link, whether the link is on the path.
    on_path: Vec<Vec<bool>>,
    /// Number of packets that wait, by link.
    waiting: Vec<u32>,
    /// Reason of the mark of each waiting packet, by link, flow, position and time of arrival: a queue may
    /// mark a packet long before it sends it.
    marked: BTreeMap<(u32, u32, u32, u64), Reason>,
}

/// The simulator's end of [`Files`], which outlives the run.
pub struct FileSink(pub Arc<Mutex<Files>>);

impl PacketSink for FileSink {
    fn on_event(&mut self, row: PacketRow, packet: &Packet, reason: Option<Reason>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.failure.is_none()
            && let Err(error) = files.write(row, packet, reason)
        {
            files.failure = Some(error);
        }
    }

    fn on_sender(&mut self, now: Time, packet: &Packet) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.failure.is_some() {
            return;
        }
        let written = files.capture.as_mut().map_or(Ok(()), |capture| capture.write_at_sender(now, packet));
        files.failure = written.err();
    }
}

impl Files {
    /// Opens the files that are asked for: a table of all packet events, and a capture of the packets that leave the
    /// monitored links and of those that senders receive.
    ///
    /// # Errors
    /// A file cannot be created.
    pub fn open(
        experiment: &Experiment,
        packets: Option<&Path>,
        capture: Option<(&Path, Capture)>,
    ) -> Result<Self, WriteError> {
        let names = shoal_measure::names(experiment);
        let capture = capture.map(|(path, kept)| CaptureFile::create(path, kept, experiment));
        Ok(Self {
            packets: packets.map(|path| PacketTraceWriter::create(path, &names)).transpose()?,
            capture: capture.transpose()?,
            failure: None,
        })
    }
    /// Whether a write has failed, so that the run need not continue.
    pub const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }
    /// Gives the files their names.
    ///
    /// # Errors
    /// The first write that failed, in the run or now; nothing is left of that file then.
    pub fn finish(self) -> Result<(), WriteError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if let Some(packets) = self.packets {
            packets.finish()?;
        }
        if let Some(capture) = self.capture {
            capture.writer.commit()?;
        }
        Ok(())
    }

    fn write(&mut self, row: PacketRow, packet: &Packet, reason: Option<Reason>) -> Result<(), WriteError> {
        if let Some(capture) = &mut self.capture {
            capture.write(&row, packet, reason)?;
        }
        match &mut self.packets {
            Some(packets) => packets.push(row),
            None => Ok(()),
        }
    }
}

impl CaptureFile {
    fn create(path: &Path, kept: Capture, experiment: &Experiment) -> Result<Self, WriteError> {
        let monitored: Vec<(LinkId, &Link)> = experiment.monitored().collect();
        let links = monitored.iter().map(|(_, link)| Interface { name: link.name.clone(), rate: link.rate });
        let links: Vec<Interface> = links.collect();
        let codepoints = experiment.codepoints();
        let is_monitored: Vec<bool> =
            (0..experiment.paths.len()).map(|path| experiment.is_monitored(count_u32(path))).collect();
        let responses = experiment.flows.iter().map(|flow| (flow.endpoint, flow.forward, flow.backward));
        let requests = experiment.asking_flows().map(|number| {
            let flow = experiment.flows.of(number);
            (flow.endpoint, flow.backward, flow.forward)
        });
        let connections = responses.chain(requests).zip(&*codepoints).map(
            |((endpoint, forward, backward), &code_point)| {
                let endpoint = &experiment.endpoints[endpoint as usize];
                let endpoints = Endpoints {
                    mss: endpoint.announced_mss(),
                    forward_window_scale: endpoint.window_scale(),
                    backward_window_scale: endpoint.window_scale(),
                    sack: endpoint.sack,
                    code_point,
                };
                (endpoints, forward, is_monitored[backward as usize])
            },
        );
        let on_path = |path: &Vec<LinkId>| monitored.iter().map(|(link, _)| path.contains(link)).collect();
        Ok(Self {
            writer: LinkCapture::create(path, &links, kept)?,
            connections: connections.collect(),
            on_path: experiment.paths.iter().map(on_path).collect(),
            waiting: vec![0; links.len()],
            marked: BTreeMap::new(),
        })
    }

    /// Captures what the senders receive, so that a capture shows both directions even if acknowledgements
    /// pass no queue.
    fn write_at_sender(&mut self, now: Time, packet: &Packet) -> Result<(), WriteError> {
        let FlowId(flow) = packet.flow;
        let (endpoints, _, is_monitored) = &self.connections[flow as usize];
        if *is_monitored {
            return Ok(());
        }
        self.writer.at_sender(now, Frame::Modelled(packet, Direction::Backward, endpoints))
    }

    /// A capture holds the packets that leave the queue and those that the queue drops.
    fn write(&mut self, row: &PacketRow, packet: &Packet, reason: Option<Reason>) -> Result<(), WriteError> {
        let FlowId(flow) = packet.flow;
        let which = (row.link.0, flow, packet.seq.0, row.time_ps - row.sojourn_ps);
        let waiting = &mut self.waiting[row.link.0 as usize];
        let note = match row.event {
            PacketEvent::Arrive => {
                *waiting += 1;
                return Ok(());
            }
            PacketEvent::Mark => {
                self.marked.extend(reason.map(|reason| (which, reason)));
                return Ok(());
            }
            PacketEvent::Depart => self.marked.remove(&which).map(PacketNote::Marked),
            PacketEvent::Drop => {
                self.marked.remove(&which);
                reason.map(PacketNote::Dropped)
            }
        };
        *waiting -= 1;
        let passage = Passage {
            link: row.link.0,
            connection: u64::from(flow),
            queued: Time::from_picos(row.time_ps - row.sojourn_ps),
            sequence: packet.seq.0,
            waiting: *waiting,
            note,
        };
        let (endpoints, forward, _) = &self.connections[flow as usize];
        let on_path = self.on_path[*forward as usize][row.link.0 as usize];
        let direction = if on_path { Direction::Forward } else { Direction::Backward };
        let frame = Frame::Modelled(packet, direction, endpoints);
        self.writer.at_link(Time::from_picos(row.time_ps), passage, frame)
    }
}
