//! All links, the routes over them, and their pending events.

mod parts;
mod queues;

use crate::card_queue::{CardQueue, segmenting_cards};
use crate::events::{EventQueue, Key};
use crate::host_queues::HostQueue;
use crate::outcome::Conservation;
use crate::parts::Crossings;
use crate::pool::Pools;
use crate::port::{ALONE, Port, new_port};
use crate::recorder::Recorder;
use shoal_bottleneck::{Observer, UNMONITORED};
use shoal_measure::PathResult;
use shoal_netem::Counts;
use shoal_packet::Packet;
use shoal_scenario::{Experiment, LinkId};
use shoal_trace::{FlowEnd, SegmentEvent};
use shoal_units::Time;
use shoal_units::cast::count_u32;

/// Ends of routes: entries of the route table that are not links.
pub(crate) const TO_RECEIVER: u32 = u32::MAX;
pub(crate) const TO_SENDER: u32 = u32::MAX - 1;

/// The route ends at a receiver whose host also sends on the same connection: data carry acknowledgements.
pub(crate) const TO_PEER: u32 = u32::MAX - 2;

/// The route ends at a host that is not a TCP endpoint.
pub(crate) const TO_SINK: u32 = u32::MAX - 3;

/// The route ends at the card of a host; its number follows in the route table, and behind it one of the ends above.
pub(crate) const TO_CARD: u32 = u32::MAX - 4;

/// Where a packet is that has left the last link of its route. The packet itself is not part of it: returned by value,
/// in one of several variants, it costs every packet up to a quarter of its time.
#[derive(Clone, Copy)]
pub(crate) enum Arrival {
    Receiver,
    Sender,
    Rare(Rare),
}

/// An arrival that few packets have.
#[derive(Clone, Copy)]
pub(crate) enum Rare {
    /// At a receiver whose host also sends on the same connection.
    Peer,
    /// At a host that is not a TCP endpoint.
    Sink,
    /// At the card of a host.
    Card,
    /// A segment of the packet's connection has left the host whose queue discipline had kept it. The packet is empty.
    Departure,
}

/// Links, routes and the events of links.
pub(crate) struct Network {
    ports: Vec<Port>,
    /// Monitored links, in the order of their numbers.
    monitored: Vec<u32>,
    /// Links with impairments.
    impaired: Vec<u32>,
    pools: Pools,
    /// Queue disciplines of hosts. Their places in the list of ports follow those of the links, of which there are
    /// `links`.
    host_queues: Vec<HostQueue>,
    links: u32,
    /// Packets that leave one of them: room that all use in turn.
    leaving: Vec<Packet>,
    /// Routes one after the other: links, followed by the kind of endpoint. `Packet::route` points into it.
    routes: Vec<u32>,
    event_queue: EventQueue,
    /// If the network is one of several parts.
    crossings: Option<Box<Crossings>>,
    pub(crate) recorder: Recorder,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    /// Events that a run on one thread has not.
    pub(crate) uncounted: u64,
}

impl Network {
    pub(crate) fn new(experiment: &Experiment, recorder: Recorder) -> Self {
        let pools = Pools::new(experiment);
        let segmenting = segmenting_cards(experiment);
        let tunnels = experiment.tunnels();
        let ports = (0u32..)
            .zip(&experiment.links)
            .zip(shoal_measure::link_numbers(experiment))
            .map(|((index, link), number)| {
                let probe = number.unwrap_or(UNMONITORED);
                let card_queue = CardQueue::of(experiment, &segmenting, LinkId(index)).map(Box::new);
                let mut port = match card_queue {
                    Some(_) => new_port(&CardQueue::without_limit(link), experiment.seed, probe),
                    None => new_port(link, experiment.seed, probe),
                };
                port.far.card_queue = card_queue;
                port.far.member = pools.member(index);
                port.near_mut().is_special |= port.far.member != ALONE;
                if let Some(tunnels) = &tunnels {
                    port.set_tunnels(tunnels);
                }
                if experiment.is_card(link) {
                    port.near_mut().is_card = true;
                    port.count_waiting_span();
                }
                port
            })
            .collect();
        let impaired = (0u32..).zip(&experiment.links).filter(|(_, link)| link.impairments.is_some());
        Self {
            ports,
            monitored: experiment.monitored().map(|(LinkId(link), _)| link).collect(),
            impaired: impaired.map(|(link, _)| link).collect(),
            pools,
            host_queues: Vec::new(),
            links: count_u32(experiment.links.len()),
            leaving: Vec::new(),
            routes: Vec::new(),
            event_queue: EventQueue::default(),
            crossings: None,
            recorder,
            sent: 0,
            delivered: 0,
            uncounted: 0,
        }
    }

    /// The last time for which the rate and the delay of a link have been asked.
    pub(crate) fn asked_until(&self, link: usize) -> Time {
        self.ports[link].asked_until()
    }

    /// The rates and delays change as `experiment` says, for each link other than before only later than
    /// [`Self::asked_until`].
    pub(crate) fn replan(&mut self, experiment: &Experiment) {
        for (port, link) in self.ports.iter_mut().zip(&experiment.links) {
            port.replan(link.schedule.rate.clone(), link.schedule.delay.clone());
        }
        self.recorder.collector.replan(experiment);
    }

    /// Adds a route over `links`; returns its position in the route table.
    pub(crate) fn add_route(&mut self, links: impl Iterator<Item = u32>, card: Option<u32>, end: u32) -> u32 {
        let start = count_u32(self.routes.len());
        self.routes.extend(links);
        self.routes.extend(card.into_iter().flat_map(|card| [TO_CARD, card]));
        self.routes.push(end);
        start
    }

    /// Card that a packet has reached.
    pub(crate) fn card_at(&self, packet: &Packet) -> u32 {
        self.routes[packet.route as usize + 1]
    }

    /// End of the route of a packet that a card hands over.
    pub(crate) fn behind_card(&self, packet: &Packet) -> u32 {
        self.routes[packet.route as usize + 2]
    }

    /// Time at which the card of the host at which a route begins will have sent everything that waits for it;
    /// [`Time::ZERO`] if the host is not a node of its own, and therefore has no card.
    pub(crate) fn card_free(&self, route: u32) -> Time {
        let port = &self.ports[self.routes[route as usize] as usize];
        if port.near().is_card { port.idle_from() } else { Time::ZERO }
    }

    /// Whether the card of the host at which a route begins takes a whole segment, which follows at once if it does.
    pub(crate) fn takes(&mut self, route: u32, bytes: u64, now: Time) -> bool {
        let port = &mut self.ports[self.routes[route as usize] as usize];
        let begins = port.idle_from();
        port.far.card_queue.as_mut().is_none_or(|queue| queue.takes(bytes, begins, now))
    }

    /// Time and link of the earliest event of any link.
    #[inline]
    pub(crate) fn next(&self) -> Option<Key> {
        self.event_queue.next()
    }

    /// Sends a packet of a host; its `route` is set. A route has at least one link, which the scenario
    /// guarantees.
    #[inline]
    pub(crate) fn send(&mut self, packet: Packet, now: Time) {
        self.sent += 1;
        if self.recorder.collector.traces_segments(packet.flow.0) {
            self.on_segment(&packet, SegmentEvent::Send, now);
        }
        self.enter_hop(&packet, self.routes[packet.route as usize], now);
    }

    /// Carries out the earliest event, which is due at `now`. If a packet reaches the end of its route, it is written
    /// to `arrived`.
    #[inline]
    pub(crate) fn step(&mut self, key: Key, now: Time, arrived: &mut Packet) -> Option<Arrival> {
        let link = key.subject();
        let port = &mut self.ports[link as usize];
        if port.near().steps_apart {
            return self.step_special(key, now, arrived);
        }
        port.catch_up(now, &mut self.recorder);
        let has_arrived = port.deliver(now, arrived);
        let next = port.next_event();
        port.near_mut().pending = next.is_some();
        self.event_queue.replace_next(next.map(|time| Key::link(time, link)));
        if has_arrived { self.forward(arrived, now) } else { None }
    }

    /// Sends a packet that has left a link on its way.
    #[inline]
    fn forward(&mut self, packet: &Packet, now: Time) -> Option<Arrival> {
        let hop = self.routes[packet.route as usize];
        if hop >= TO_CARD && self.recorder.collector.traces_segments(packet.flow.0) {
            self.on_segment(packet, SegmentEvent::Receive, now);
        }
        if hop < TO_CARD {
            self.enter_hop(packet, hop, now);
            return None;
        }
        self.delivered += 1;
        Some(match hop {
            TO_RECEIVER => Arrival::Receiver,
            TO_SENDER => Arrival::Sender,
            TO_PEER => Arrival::Rare(Rare::Peer),
            TO_CARD => Arrival::Rare(Rare::Card),
            _ => Arrival::Rare(Rare::Sink),
        })
    }

    /// Handles the arrival of a packet at a link, which its route names.
    #[inline]
    fn enter_hop(&mut self, packet: &Packet, link: u32, now: Time) {
        let port = &mut self.ports[link as usize];
        if port.near().is_special {
            return self.enter_special(packet, link, now);
        }
        if let Some((left, is_marked)) = port.pass(packet, now, &mut self.recorder) {
            if port.near().has_chained {
                return self.send_on(packet, link, left, is_marked);
            }
            port.put(packet, left, is_marked);
        }
        self.expect(link);
    }

    /// Sends a packet that leaves the transmitter of `link` at `left` through all ports in which it is known at once
    /// what happens to it, and no other packet comes in between: they need no events. If one drops it, the packet is
    /// counted as lost before its time, which only those hear who ask whether a flow still has packets on their way.
    // Inlined in its only caller, as what is on the path of each packet there: calls took 45 of 2,060 instructions a
    // packet (benchmark lean).
    #[allow(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    fn send_on(&mut self, packet: &Packet, mut link: u32, mut left: Time, mut is_marked: bool) {
        let mut place = packet.route + 1;
        loop {
            let (port, next) = (&self.ports[link as usize], self.routes[place as usize]);
            if !port.near().has_chained || next >= TO_CARD {
                break;
            }
            let arrival = left + port.delay();
            let port = &mut self.ports[next as usize];
            if !port.near().is_chained {
                break;
            }
            let passed = port.pass_unseen(packet, &mut is_marked, arrival);
            let Some(passed) = passed else { return self.recorder.on_lost(packet) };
            (link, place, left) = (next, place + 1, passed);
        }
        self.ports[link as usize].put(packet, left, is_marked).route = place;
        match self.crossing(link) {
            Some(crossing) => self.expect_at_crossing(link, crossing),
            None => self.expect(link),
        }
    }

    /// Records that a host sends or receives a packet; its route tells which host.
    #[cold]
    #[inline(never)]
    fn on_segment(&mut self, packet: &Packet, event: SegmentEvent, now: Time) {
        let hops = &self.routes[packet.route as usize..];
        let end = hops.iter().position(|hop| *hop >= TO_CARD).unwrap_or_default();
        let to_sender = hops[if hops[end] == TO_CARD { end + 2 } else { end }] == TO_SENDER;
        let end =
            if to_sender == (event == SegmentEvent::Receive) { FlowEnd::Sender } else { FlowEnd::Receiver };
        self.recorder.collector.on_segment(packet, end, event, now);
    }

    /// Puts the next event of a port in the event queue, unless the port has none or it is there already.
    #[inline]
    fn expect(&mut self, link: u32) {
        if !self.ports[link as usize].near().pending {
            self.expect_first(link);
        }
    }

    /// As [`Self::expect`], for a port that has no event in the queue.
    #[inline(never)]
    fn expect_first(&mut self, link: u32) {
        let port = &mut self.ports[link as usize];
        if let Some(time) = port.next_event() {
            port.near_mut().pending = true;
            self.event_queue.push(Key::link(time, link));
        }
    }

    /// Handles the arrival of a packet at a port that shares its memory or has an impaired wire, or at a host's queue.
    /// A separate function keeps the path of all other packets short.
    #[cold]
    #[inline(never)]
    fn enter_special(&mut self, packet: &Packet, link: u32, now: Time) {
        if link >= self.links {
            return self.enter_host_queue(packet, link, now);
        }
        let port = &mut self.ports[link as usize];
        if port.far.member == ALONE {
            port.arrive(packet, now, &mut self.recorder);
        } else {
            self.arrive_at_shared(packet, link, now);
        }
        if let Some(crossing) = self.crossing(link) {
            return self.expect_at_crossing(link, crossing);
        }
        if self.ports[link as usize].far.impaired.is_none() {
            return self.expect(link);
        }
        let port = &mut self.ports[link as usize];
        let (next, pending) = (port.next_event_of_impaired(), port.near().pending);
        let (Some(time), Some(impaired)) = (next, &mut port.far.impaired) else { return };
        // What comes may happen before all that was expected. The event in the queue is then out of date.
        if !pending || time < impaired.expected {
            impaired.expected = time;
            port.near_mut().pending = true;
            self.event_queue.push(Key::link(time, link));
        }
    }

    /// Carries out the earliest event, which is that of a port that shares its memory or has an impaired wire, or of a
    /// host's queue.
    #[cold]
    #[inline(never)]
    fn step_special(&mut self, key: Key, now: Time, arrived: &mut Packet) -> Option<Arrival> {
        let link = key.subject();
        if link >= self.links {
            return self.step_host_queue(link, now, arrived);
        }
        if let Some(crossing) = self.crossing(link) {
            return self.step_crossing(link, crossing, now, arrived);
        }
        let port = &mut self.ports[link as usize];
        if port.far.impaired.as_ref().is_some_and(|impaired| impaired.expected != key.time()) {
            self.event_queue.replace_next(None);
            return None;
        }
        port.catch_up(now, &mut self.recorder);
        port.advance(now, &mut self.recorder);
        let has_arrived = port.deliver(now, arrived);
        if port.far.member != ALONE {
            self.pools.settle(port.far.member, port);
        }
        let next =
            if port.far.impaired.is_some() { port.next_event_of_impaired() } else { port.next_event() };
        port.near_mut().pending = next.is_some();
        if let Some(impaired) = &mut port.far.impaired {
            impaired.expected = next.unwrap_or(Time::NEVER);
        }
        self.event_queue.replace_next(next.map(|time| Key::link(time, link)));
        if has_arrived { self.forward(arrived, now) } else { None }
    }

    fn arrive_at_shared(&mut self, packet: &Packet, link: u32, now: Time) {
        let member = self.ports[link as usize].far.member;
        // Events that are due at the port itself come first, too.
        self.ports[link as usize].report(now, &mut self.recorder);
        self.pools.settle(member, &self.ports[link as usize]);
        let admitted = self.pools.admits(member, packet, now, &mut self.ports, &mut self.recorder);
        let port = &mut self.ports[link as usize];
        if admitted {
            port.arrive(packet, now, &mut self.recorder);
            self.pools.settle(member, port);
        } else {
            port.refuse(packet, now, &mut self.recorder);
        }
    }

    /// Brings the monitored links up to date before their state is read.
    pub(crate) fn catch_up_monitored(&mut self, now: Time) {
        for number in 0..self.monitored.len() {
            self.catch_up(self.monitored[number], now);
        }
    }

    /// Brings a link up to date, and with it the memory that it shares.
    fn catch_up(&mut self, link: u32, now: Time) {
        let port = &mut self.ports[link as usize];
        port.report(now, &mut self.recorder);
        if port.far.member != ALONE {
            self.pools.settle(port.far.member, port);
        }
    }

    /// The link in whose queue a law has failed.
    #[cold]
    pub(crate) fn link_of_failed_law(&self) -> Option<usize> {
        self.ports.iter().position(Port::law_has_failed)
    }

    /// Closes the ports that can be, and chains them, before anything has come through them.
    pub(crate) fn close_ports(&mut self, experiment: &Experiment) {
        for link in 0..self.links {
            let is_crossing = self.crossing(link).is_some();
            let port = &mut self.ports[link as usize];
            port.close(port.far.member != ALONE, &self.recorder);
            port.near_mut().steps_apart = port.near().is_special && (is_crossing || !port.is_closed());
        }
        for (link, source) in (0u32..).zip(single_sources(experiment)) {
            let Some(source) = source else { continue };
            let is_apart = |network: &Self, link: u32| {
                let port = &network.ports[link as usize];
                port.far.member != ALONE || port.near().is_special && network.crossing(link).is_none()
            };
            if is_apart(self, link) || is_apart(self, source) {
                continue;
            }
            if self.ports[link as usize].is_unseen() && self.ports[source as usize].knows_departures() {
                self.ports[link as usize].near_mut().is_chained = true;
                // What comes to a link between parts has its event in each of them.
                self.ports[source as usize].near_mut().has_chained |= self.crossing(source).is_none();
            }
        }
    }

    /// The measurement begins.
    pub(crate) fn open_window(&mut self) {
        for link in &self.impaired {
            let port = &mut self.ports[*link as usize];
            let counts = port.impairment_counts().unwrap_or_default();
            if let Some(impaired) = &mut port.far.impaired {
                impaired.before_window = counts;
            }
        }
    }

    /// The links with impairments, and what has happened there since the start of the run.
    fn impaired(&self) -> impl Iterator<Item = (u32, Counts)> {
        self.impaired.iter().filter_map(|link| Some((*link, self.ports[*link as usize].impairment_counts()?)))
    }

    /// What the links with impairments did inside the measurement window.
    pub(crate) fn paths(&self, experiment: &Experiment) -> Vec<PathResult> {
        let result = |(link, counts): (u32, Counts)| {
            let impaired = self.ports[link as usize].far.impaired.as_ref()?;
            Some(impaired.result(&experiment.links[link as usize], counts))
        };
        self.impaired().filter_map(result).collect()
    }

    /// The balance of packets since the start of the run.
    pub(crate) fn conservation(&self) -> Conservation {
        let counts = || self.impaired().map(|(_, counts)| counts);
        Conservation {
            sent: self.sent,
            delivered: self.delivered,
            inside: self.held(),
            lost: counts().map(|counts| counts.lost + counts.corrupted).sum(),
            duplicated: counts().map(|counts| counts.duplicated).sum(),
        }
    }

    /// Ends a bin of the queue series.
    pub(crate) fn close_bins(&mut self, now: Time) {
        let law = |number: u32| self.ports[self.monitored[number as usize] as usize].law_state();
        self.recorder.collector.close_queue_bins(now, law);
    }

    /// Number of packets inside the network.
    fn held(&self) -> u64 {
        let queues = self.host_queues.iter().map(HostQueue::held);
        self.ports.iter().map(Port::held).chain(queues).sum()
    }
}

/// For each link the one from which all of its packets come, unless they come from several or from a host.
fn single_sources(experiment: &Experiment) -> Vec<Option<u32>> {
    let mut sources = vec![None; experiment.links.len()];
    let mut is_known = vec![false; experiment.links.len()];
    for path in &experiment.paths {
        let before = std::iter::once(None).chain(path.iter().map(|link| Some(link.0)));
        for (link, source) in path.iter().map(|link| link.0 as usize).zip(before) {
            if !std::mem::replace(&mut is_known[link], true) {
                sources[link] = source;
            } else if sources[link] != source {
                sources[link] = None;
            }
        }
    }
    sources
}
