//! Links between parts, as one part sees them.

use super::division::{Crossing, Division};
use shoal_packet::{FlowId, Packet};
use shoal_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Route of a packet on a shadow that goes elsewhere.
const ELSEWHERE: u32 = u32::MAX;

/// The crossings of a network in one of its parts.
pub(crate) struct Crossings {
    pub(crate) division: Arc<Division>,
    part: u32,
    states: Vec<State>,
    /// Own crossings that may have packets for other parts when the window ends.
    busy: Vec<u32>,
    /// For each part what it must be told.
    outboxes: Vec<Message>,
}

/// One crossing.
struct State {
    /// Whether this part has its queue.
    is_own: bool,
    /// Part of the host at the end of the link.
    end: u32,
    /// In the part of its queue: number of packets in propagation that the other parts have been told of.
    told: usize,
    is_busy: bool,
    /// In a part that it reaches: what is in propagation, with the times of arrival as `Packet::enqueued`.
    shadow: VecDeque<Packet>,
    is_pending: bool,
}

impl State {
    fn new(crossing: &Crossing, division: &Division, part: u32) -> Self {
        Self {
            is_own: division.of_link(crossing.link) == part,
            end: crossing.end,
            told: 0,
            is_busy: false,
            shadow: VecDeque::new(),
            is_pending: false,
        }
    }
}

/// What one part tells another at the end of a window.
#[derive(Default)]
pub(crate) struct Message {
    /// Packets that were sent on a crossing, in the order of arrival for each crossing.
    packets: Vec<(u32, Packet)>,
}

impl Crossings {
    pub(crate) fn new(division: Arc<Division>, part: u32) -> Self {
        Self {
            states: division.crossings.iter().map(|crossing| State::new(crossing, &division, part)).collect(),
            busy: Vec::new(),
            outboxes: (0..division.parts).map(|_| Message::default()).collect(),
            division,
            part,
        }
    }

    /// Whether the part has the queue of this crossing.
    #[inline]
    pub(crate) fn is_own(&self, crossing: u32) -> bool {
        self.states[crossing as usize].is_own
    }

    /// A packet or an event at one of the part's own crossings.
    #[inline]
    pub(crate) fn touch(&mut self, crossing: u32) {
        let state = &mut self.states[crossing as usize];
        if !std::mem::replace(&mut state.is_busy, true) {
            self.busy.push(crossing);
        }
    }

    /// A packet has arrived at the end of one of the part's own crossings. Returns whether it stays in this part; `hop`
    /// is the next entry of its route, `None` if that is a host.
    #[inline]
    pub(crate) fn leave(&mut self, crossing: u32, hop: Option<u32>) -> bool {
        let state = &mut self.states[crossing as usize];
        state.told = state.told.saturating_sub(1);
        self.destination(crossing, hop) == self.part
    }

    #[inline]
    fn destination(&self, crossing: u32, hop: Option<u32>) -> u32 {
        hop.map_or(self.states[crossing as usize].end, |link| self.division.of_link(link))
    }

    /// Takes the packet that arrives from a shadow, and returns it with the time of the next arrival, if that is known.
    /// The packet is `None` if it goes elsewhere.
    #[inline]
    pub(crate) fn arrive(&mut self, crossing: u32) -> (Option<Packet>, Option<Time>) {
        let state = &mut self.states[crossing as usize];
        let packet = state.shadow.pop_front().filter(|packet| packet.route != ELSEWHERE);
        let next = state.shadow.front().map(|packet| packet.enqueued);
        state.is_pending = next.is_some();
        (packet, next)
    }

    /// The crossings to be looked at when a window ends; [`Self::keep`] those that must be looked at again.
    pub(crate) fn take_busy(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.busy)
    }

    /// Returns the list, of which those remain that are still busy.
    pub(crate) fn keep(&mut self, mut busy: Vec<u32>, still: impl Fn(u32) -> bool) {
        busy.retain(|crossing| {
            let stays = still(*crossing);
            self.states[*crossing as usize].is_busy = stays;
            stays
        });
        self.busy = busy;
    }

    /// Tells the other parts of what is in propagation on an own crossing and new. `wire` gives the packets with their
    /// times of arrival, and `hop` the entry of the route table at a place, `None` for a host.
    pub(crate) fn tell(
        &mut self,
        crossing: u32,
        wire: impl ExactSizeIterator<Item = Packet>,
        hop: impl Fn(u32) -> Option<u32>,
    ) {
        let (length, told) = (wire.len(), self.states[crossing as usize].told);
        if length == told {
            return;
        }
        let division = Arc::clone(&self.division);
        let into = &division.crossings[crossing as usize].into;
        for packet in wire.skip(told) {
            let destination = self.destination(crossing, hop(packet.route));
            for part in into {
                let packet = if *part == destination { packet } else { elsewhere(packet.enqueued) };
                self.outboxes[*part as usize].packets.push((crossing, packet));
            }
        }
        self.states[crossing as usize].told = length;
    }

    /// What another part must be told, if there is anything.
    pub(crate) fn take_message(&mut self, part: usize) -> Option<Message> {
        let message = &mut self.outboxes[part];
        (!message.packets.is_empty()).then(|| std::mem::take(message))
    }

    /// Hears what another part tells. Calls `expect` with the time and the link of each event that is new.
    pub(crate) fn hear(&mut self, message: &mut Message, mut expect: impl FnMut(Time, u32)) {
        for (crossing, packet) in message.packets.drain(..) {
            let state = &mut self.states[crossing as usize];
            state.shadow.push_back(packet);
            if !std::mem::replace(&mut state.is_pending, true) {
                expect(packet.enqueued, self.division.crossings[crossing as usize].link);
            }
        }
    }
}

fn elsewhere(at: Time) -> Packet {
    let mut packet = Packet::empty(FlowId(u32::MAX), 0);
    (packet.enqueued, packet.route) = (at, ELSEWHERE);
    packet
}
