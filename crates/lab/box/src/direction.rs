//! One way through the box: frames wait in a bottleneck of the library, and leave when its packets do.

use crate::{Buffer, Fate, FlowKey, Frame, Payload, set_ce};
use shoal_aqm::Verdict;
use shoal_bottleneck::{Bottleneck, Counters, LinkConfig, LinkError, Next};
use shoal_measure::Histogram;
use shoal_packet::{Backlog, Class};
use shoal_units::{Span, Time};
use slab::Slab;
use std::collections::BTreeMap;

/// Most flows that are told apart. What comes after takes the number of the flow that has been silent for longest, and
/// shares a queue of its own if none has been for so long as [`FORGOTTEN_AFTER`].
const MOST_FLOWS: usize = 4096;
/// Silence after which a flow may be forgotten.
const FORGOTTEN_AFTER: Span = Span::from_secs(10);

/// One way through the box.
pub struct Direction {
    link: Bottleneck,
    /// Frames that the link holds, by the handles of their packets.
    held: Slab<Held>,
    numbers: BTreeMap<FlowKey, u32>,
    flows: Vec<Flow>,
    /// Flows that were forgotten, and what became of all of them.
    forgotten: (u64, FlowCount),
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

/// A flow that is told from others.
struct Flow {
    count: FlowCount,
    /// Frames that the link holds.
    inside: u32,
    /// When its last frame came.
    last: Time,
}

/// What came and went of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowCount {
    /// Its addresses and ports; the default value counts what has none, or came while too many flows were active.
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

impl FlowCount {
    const fn none(flow: FlowKey) -> Self {
        Self { flow, left_bytes: 0, left: 0, marked: 0, dropped: 0 }
    }

    fn add(&mut self, other: &Self) {
        self.left_bytes += other.left_bytes;
        self.left += other.left;
        self.marked += other.marked;
        self.dropped += other.dropped;
    }
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
        let unknown = FlowKey::default();
        let mut link = Bottleneck::new(link, seed)?;
        link.watch_waits();
        Ok(Self {
            link,
            held: Slab::new(),
            numbers: BTreeMap::from([(unknown, 0)]),
            flows: vec![Flow { count: FlowCount::none(unknown), inside: 0, last: Time::ZERO }],
            forgotten: (0, FlowCount::none(unknown)),
            arrived: 0,
            waits: Default::default(),
        })
    }

    /// A frame comes in which this was read, and which the caller calls by a number. If it does not get in, the
    /// decision is known at once.
    pub fn arrive(&mut self, now: Time, buffer: Buffer, read: &Frame, number: u64) -> Option<Decision> {
        self.arrived += 1;
        let flow = self.number(read.flow, now);
        let known = &mut self.flows[flow as usize];
        (known.inside, known.last) = (known.inside + 1, now);
        let handle = self.held.insert(Held { buffer, payload: read.payload, number, flow });
        let Verdict::Dropped(reason) = self.link.enqueue(now, read.bytes, read.ecn, flow, handle as u64)
        else {
            return None;
        };
        self.held.remove(handle);
        self.gone(flow).dropped += 1;
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
                let count = self.gone(packet.flow);
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
                self.gone(flow).dropped += 1;
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

    /// What became of each flow that is not forgotten.
    pub fn flows(&self) -> impl Iterator<Item = &FlowCount> {
        self.flows.iter().map(|flow| &flow.count)
    }

    /// How many flows were forgotten, and what became of all of them.
    pub fn forgotten(&self) -> (u64, &FlowCount) {
        (self.forgotten.0, &self.forgotten.1)
    }

    /// The counts of a flow of which a frame is not inside any more.
    fn gone(&mut self, flow: u32) -> &mut FlowCount {
        let flow = &mut self.flows[flow as usize];
        flow.inside -= 1;
        &mut flow.count
    }

    /// The number of a flow, by which queues tell it from others.
    fn number(&mut self, key: FlowKey, now: Time) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let fresh = Flow { count: FlowCount::none(key), inside: 0, last: now };
        let number = if self.flows.len() < MOST_FLOWS {
            self.flows.push(fresh);
            self.flows.len() - 1
        } else {
            let silent = |flow: &Flow| flow.inside == 0 && now.since(flow.last) >= FORGOTTEN_AFTER;
            let numbered = self.flows.iter().enumerate().skip(1).filter(|(_, flow)| silent(flow));
            let Some((number, _)) = numbered.min_by_key(|(_, flow)| flow.last) else { return 0 };
            let before = core::mem::replace(&mut self.flows[number], fresh).count;
            self.numbers.remove(&before.flow);
            self.forgotten.0 += 1;
            self.forgotten.1.add(&before);
            number
        };
        self.numbers.insert(key, number as u32);
        number as u32
    }
}
