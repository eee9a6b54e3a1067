//! One way through the box: frames wait in a bottleneck of the library, and leave when its packets do.

use crate::{Buffer, Fate, FlowKey, Frame, Payload, set_ce};
use shoal_aqm::Verdict;
use shoal_bottleneck::{Bottleneck, Counters, LinkConfig, LinkError, Next};
use shoal_measure::Histogram;
use shoal_packet::{Backlog, Class};
use shoal_units::Time;
use slab::Slab;
use std::collections::BTreeMap;

/// Most flows that are told apart; what comes after shares a queue of its own.
const MOST_FLOWS: usize = 4096;

/// One way through the box.
pub struct Direction {
    link: Bottleneck,
    /// Frames that the link holds, by the handles of their packets.
    held: Slab<Held>,
    flows: BTreeMap<FlowKey, u32>,
    counts: Vec<FlowCount>,
    arrived: u64,
    /// How long packets waited whose transmission has begun, in ps: by class.
    waits: [Histogram; 2],
}

/// A frame that the link holds.
struct Held {
    buffer: Buffer,
    payload: Payload,
    number: u64,
    flow: u32,
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
    /// What was decided about it.
    pub decision: Decision,
}

/// What a link has decided about a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// What the caller calls the frame.
    pub number: u64,
    /// The number of its flow, by which queues tell it from others.
    pub flow: u32,
    /// What becomes of it.
    pub fate: Fate,
}

/// What happens next in a direction.
#[derive(Debug)]
pub enum Ahead {
    /// A frame leaves now.
    Frame(Leaving),
    /// A frame that had been accepted is gone.
    Gone(Decision),
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
        let mut link = Bottleneck::new(link, seed)?;
        link.watch_waits();
        Ok(Self {
            link,
            held: Slab::new(),
            flows: BTreeMap::from([(FlowKey::default(), 0)]),
            counts: vec![unknown],
            arrived: 0,
            waits: Default::default(),
        })
    }

    /// A frame comes in which this was read, and which the caller calls by a number. If it does not get in, the
    /// decision is known at once.
    pub fn arrive(&mut self, now: Time, buffer: Buffer, read: &Frame, number: u64) -> Option<Decision> {
        self.arrived += 1;
        let flow = self.flow(read.flow);
        let handle = self.held.insert(Held { buffer, payload: read.payload, number, flow });
        let Verdict::Dropped(reason) = self.link.enqueue(now, read.bytes, read.ecn, flow, handle as u64)
        else {
            return None;
        };
        self.held.remove(handle);
        self.counts[flow as usize].dropped += 1;
        Some(Decision { number, flow, fate: Fate::Dropped { at: now, reason } })
    }

    /// What happens by `now`, one thing for each question.
    pub fn next(&mut self, now: Time) -> Ahead {
        let next = self.link.next(now);
        for (ecn, waited) in self.link.waits() {
            let class = if ecn.is_capable() { Class::Ect } else { Class::NotEct };
            self.waits[class as usize].record(waited.as_picos());
        }
        match next {
            Next::Packet(packet) => {
                // A link of the box sends no packet twice, so that a handle comes once.
                let Held { mut buffer, payload, number, .. } = self.held.remove(packet.handle as usize);
                let count = &mut self.counts[packet.flow as usize];
                count.left += 1;
                count.left_bytes += u64::from(packet.bytes);
                if packet.is_marked {
                    count.marked += 1;
                    set_ce(&mut buffer.frame, payload);
                }
                let fate = Fate::Left { at: packet.at, is_marked: packet.is_marked };
                let decision = Decision { number, flow: packet.flow, fate };
                Ahead::Frame(Leaving { buffer, at: packet.at, decision })
            }
            Next::Lost(lost) => {
                let Held { number, flow, .. } = self.held.remove(lost.handle as usize);
                self.counts[flow as usize].dropped += 1;
                let fate = match lost.reason {
                    Some(reason) => Fate::Dropped { at: lost.at, reason },
                    None => Fate::LostOnLine { at: lost.at },
                };
                Ahead::Gone(Decision { number, flow, fate })
            }
            Next::At(at) => Ahead::At(at),
            Next::Nothing => Ahead::Nothing,
        }
    }

    /// Frames that came; the link's own count has only those that come to a queue.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Frames that came and about which nothing is decided yet, or that have not left.
    pub fn inside(&self) -> u64 {
        self.held.len() as u64
    }

    /// The link itself, whose rate and delay may change.
    pub fn link_mut(&mut self) -> &mut Bottleneck {
        &mut self.link
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    /// How long packets waited in the queue whose transmission has begun, in ps.
    pub fn waits(&self, class: Class) -> &Histogram {
        &self.waits[class as usize]
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
