//! One way through the box: frames wait in a bottleneck of the library, and leave when its packets do.

use crate::{Buffer, FlowKey, Frame, Payload, set_ce};
use shoal_aqm::Verdict;
use shoal_bottleneck::{Bottleneck, Counters, LinkConfig, LinkError, Next};
use shoal_packet::Backlog;
use shoal_units::Time;
use slab::Slab;
use std::collections::BTreeMap;

/// Most flows that are told apart; what comes after shares a queue of its own.
const MOST_FLOWS: usize = 4096;

/// One way through the box.
pub struct Direction {
    link: Bottleneck,
    /// Frames that the link holds, by the handles of their packets.
    held: Slab<(Buffer, Payload)>,
    flows: BTreeMap<FlowKey, u32>,
    counts: Vec<FlowCount>,
}

/// What came and went of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowCount {
    /// Its addresses and ports; the default value counts what has none, or came when there were too many flows.
    pub flow: FlowKey,
    /// Bytes of packets that have left, as queues count them.
    pub left_bytes: u64,
    /// Packets that have left.
    pub left: u64,
    /// Packets of these that the queue has marked.
    pub marked: u64,
    /// Packets that were dropped, or lost on the line.
    pub dropped: u64,
}

/// A frame that leaves.
#[derive(Debug)]
pub struct Leaving {
    /// The frame, with CE if the queue has marked it.
    pub buffer: Buffer,
    /// When it should leave.
    pub at: Time,
}

/// What happens next in a direction.
#[derive(Debug)]
pub enum Ahead {
    /// A frame leaves now.
    Frame(Leaving),
    /// Nothing before this time, unless frames come.
    At(Time),
    /// Nothing, unless frames come.
    Nothing,
}

impl Direction {
    /// A direction with this link, whose random numbers come from this seed.
    ///
    /// # Errors
    /// As [`Bottleneck::new`].
    pub fn new(link: &LinkConfig, seed: u64) -> Result<Self, LinkError> {
        let unknown = FlowCount { flow: FlowKey::default(), left_bytes: 0, left: 0, marked: 0, dropped: 0 };
        Ok(Self {
            link: Bottleneck::new(link, seed)?,
            held: Slab::new(),
            flows: BTreeMap::from([(FlowKey::default(), 0)]),
            counts: vec![unknown],
        })
    }

    /// A frame comes; false if it is too short to be one, or too long for a queue, and is thrown away.
    pub fn arrive(&mut self, now: Time, buffer: Buffer) -> bool {
        let Some(read) = Frame::read(&buffer.frame) else { return false };
        let Ok(bytes) = u16::try_from(read.bytes) else { return false };
        let flow = self.flow(read.flow);
        let handle = self.held.insert((buffer, read.payload));
        if let Verdict::Dropped(_) = self.link.enqueue(now, bytes, read.ecn, flow, handle as u64) {
            self.held.remove(handle);
            self.counts[flow as usize].dropped += 1;
        }
        true
    }

    /// What happens by `now`, one thing for each question.
    pub fn next(&mut self, now: Time) -> Ahead {
        loop {
            match self.link.next(now) {
                Next::Packet(packet) => {
                    // A link of the box sends no packet twice, so that a handle comes once.
                    let (mut buffer, payload) = self.held.remove(packet.handle as usize);
                    let count = &mut self.counts[packet.flow as usize];
                    count.left += 1;
                    count.left_bytes += u64::from(packet.bytes);
                    if packet.is_marked {
                        count.marked += 1;
                        set_ce(&mut buffer.frame, payload);
                    }
                    return Ahead::Frame(Leaving { buffer, at: packet.at });
                }
                Next::Lost(lost) => {
                    let (buffer, _) = self.held.remove(lost.handle as usize);
                    if let Some(read) = Frame::read(&buffer.frame) {
                        let flow = self.flow(read.flow);
                        self.counts[flow as usize].dropped += 1;
                    }
                }
                Next::At(at) => return Ahead::At(at),
                Next::Nothing => return Ahead::Nothing,
            }
        }
    }

    /// The link itself, whose rate and delay may change.
    pub fn link_mut(&mut self) -> &mut Bottleneck {
        &mut self.link
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    /// What became of all packets.
    pub fn counters(&self) -> Counters {
        self.link.counters()
    }

    /// What became of each flow, in the order in which they came.
    pub fn flows(&self) -> &[FlowCount] {
        &self.counts
    }

    /// The number of a flow, by which queues tell it from others.
    fn flow(&mut self, flow: FlowKey) -> u32 {
        if let Some(number) = self.flows.get(&flow) {
            return *number;
        }
        if self.counts.len() >= MOST_FLOWS {
            return 0;
        }
        let number = self.counts.len() as u32;
        self.flows.insert(flow, number);
        self.counts.push(FlowCount { flow, left_bytes: 0, left: 0, marked: 0, dropped: 0 });
        number
    }
}
