//! The main loop of the simulator.

mod cards;
mod deliveries;
mod live;
mod parts;

use crate::app::{Application, Writer};
use crate::barrier::Barrier;
use crate::cards::Cards;
use crate::events::{EventQueue, Key, Timer};
use crate::flow::{Egress, FlowState, Place, ReceiverSlot, SenderSlot};
use crate::network::{Arrival, Network, Rare, TO_RECEIVER, TO_SENDER, TO_SINK};
use crate::outcome::Outcome;
use crate::parts::{Division, Log, Role};
use crate::queued_routes::QueuedRoutes;
use crate::recorder::{PacketSink, Recorder};
pub use live::{Live, OtherPlan};
use shoal_measure::{FeedbackCounters, FinishedFlow, FlowCounters, FlowResults, metered_window};
use shoal_packet::{FlowId, Packet};
use shoal_scenario::{App, Experiment, Flow};
use shoal_tcp::{EndpointConfig, Receiver, Sender};
use shoal_trace::FlowEvent;
use shoal_units::cast::{count_u32, fit_u32};
use shoal_units::{Span, Time};
use std::ops::Deref;

/// Consumers of a run's events, beyond what the experiment records.
#[derive(Default)]
pub struct Options<'a> {
    /// Receives every packet event of the monitored links.
    pub packets: Option<Box<dyn PacketSink>>,
    /// Called at intervals with the simulated time; a return value of false ends the run.
    pub progress: Option<Progress<'a>>,
    /// A division of the experiment: each of its parts runs on a thread of its own. The outcome does not depend on it.
    pub division: Option<Division>,
}

/// Type of [`Options::progress`].
pub type Progress<'a> = &'a mut dyn FnMut(Time) -> bool;

/// Events between two calls of the progress function.
pub(crate) const PROGRESS_EVENTS: u64 = 1 << 17;

/// Runs an experiment. Returns `None` if the progress function ended it early.
///
/// # Panics
/// If the experiment has more than 4 million flows, which the scenario refuses, if [`crate::check`]
/// refuses it, or if it is divided and its packets are to be received one by one.
pub fn run(experiment: &Experiment, options: Options<'_>) -> Option<Outcome> {
    assert_possible(experiment);
    let mut progress = options.progress;
    if let Some(division) = options.division {
        assert!(options.packets.is_none(), "the parts of a division have no common order of packets");
        return crate::parts::run(experiment, division, &mut progress);
    }
    let mut simulation = Simulation::new(experiment, options.packets);
    simulation.schedule_start(|_| true);
    if !simulation.run(&mut progress) {
        return None;
    }
    Some(simulation.finish())
}

/// # Panics
/// If the simulator cannot carry out the experiment.
fn assert_possible(experiment: &Experiment) {
    let refused = crate::check(experiment);
    assert!(refused.is_ok(), "the simulator has no such experiment: {refused:?}");
    let connections = experiment.flows.len() + experiment.asking_flows().count();
    assert!(connections < Timer::CONNECTIONS_MAX as usize, "too many flows");
}

/// A run in progress. `E` says who owns the experiment: a run from start to end borrows it, and a live one owns it,
/// since it may be replaced.
pub(crate) struct Simulation<E> {
    experiment: E,
    network: Network,
    timers: EventQueue,
    /// Events that concern all links and flows: the measurement window opens, and the points of the series.
    globals: EventQueue,
    /// Starts and stops of flows, sorted so that the next one is last. Only that one is in the event queue, so the
    /// size of that queue does not depend on the number of flows that have not started.
    planned: Vec<Key>,
    /// The number of the first flow's start in the order of insertion; it is followed by that of its stop, and then by
    /// those of the next flow.
    first_planned: u64,
    /// One sender for each flow, followed by one for each connection that carries a client's requests.
    senders: Vec<SenderSlot>,
    receivers: Vec<ReceiverSlot>,
    flows: Vec<FlowState>,
    /// Flow of each connection that carries requests.
    asking: Vec<u32>,
    /// One entry for each group.
    barriers: Vec<Option<Box<Barrier>>>,
    cards: Cards,
    events: u64,
    end: Time,
    /// If the simulation is one of several parts, the events of the window.
    log: Option<Log>,
}

impl<E: Deref<Target = Experiment>> Simulation<E> {
    pub(crate) fn new(owner: E, sink: Option<Box<dyn PacketSink>>) -> Self {
        let experiment = &*owner;
        let mut network = Network::new(experiment, Recorder::new(experiment, sink));
        // Flows share paths, so there is one route for each path and direction.
        let cards = Cards::of(experiment);
        assert!(cards.slots.len() <= Timer::CARDS_MAX as usize, "too many cards");
        let lay = |network: &mut Network, end: u32| -> Vec<u32> {
            let paths = experiment.paths.iter().enumerate();
            paths
                .map(|(number, path)| {
                    let card = cards.at_end(experiment, number);
                    network.add_route(path.iter().map(|link| link.0), card, end)
                })
                .collect()
        };
        let forward = lay(&mut network, TO_RECEIVER);
        let backward = lay(&mut network, TO_SENDER);
        let connectionless = |flow: &Flow| matches!(flow.app, App::Unresponsive { .. });
        let to_sink =
            if experiment.flows.iter().any(connectionless) { lay(&mut network, TO_SINK) } else { Vec::new() };
        let window_start = Time::ZERO + experiment.warmup;
        let config = |flow: &Flow| &experiment.endpoints[flow.endpoint as usize];
        let mut queued = QueuedRoutes::default();
        let mut place = |network: &mut Network, flow: &Flow, path: u32, routes: &[u32], end: u32| {
            let route = queued.route(network, (experiment, &cards), flow, path, end);
            Place { route: route.unwrap_or(routes[path as usize]), endpoint: flow.endpoint }
        };
        let sender = |number: u32, flow: &Flow, place: Place| {
            SenderSlot::new(config(flow), FlowId(number), place, window_start)
        };
        let receiver =
            |number: u32, flow: &Flow, place: Place| ReceiverSlot::new(config(flow), FlowId(number), place);
        let numbered = || (0u32..).zip(&experiment.flows);
        let asking: Vec<u32> = experiment.asking_flows().collect();
        let mut senders: Vec<SenderSlot> = numbered()
            .map(|(number, flow)| {
                let (routes, end) =
                    if connectionless(flow) { (&to_sink, TO_SINK) } else { (&forward, TO_RECEIVER) };
                sender(number, flow, place(&mut network, flow, flow.forward, routes, end))
            })
            .collect();
        let mut receivers: Vec<ReceiverSlot> = numbered()
            .map(|(number, flow)| {
                receiver(number, flow, place(&mut network, flow, flow.backward, &backward, TO_SENDER))
            })
            .collect();
        if !asking.is_empty() {
            // The same paths in the opposite direction.
            let (forward, backward) = (lay(&mut network, TO_SENDER), lay(&mut network, TO_RECEIVER));
            for (number, flow) in (count_u32(experiment.flows.len())..).zip(&asking) {
                let flow = &experiment.flows[*flow as usize];
                let there = place(&mut network, flow, flow.backward, &backward, TO_RECEIVER);
                senders.push(sender(number, flow, there));
                let back = place(&mut network, flow, flow.forward, &forward, TO_SENDER);
                receivers.push(receiver(number, flow, back));
            }
        }
        let mut requests = count_u32(experiment.flows.len())..;
        let flows = numbered()
            .map(|(number, plan)| FlowState {
                application: Application::of(experiment, number, plan, &mut requests),
                writer: Writer::default(),
                finished: None,
                feedback_at_start: FeedbackCounters::default(),
            })
            .collect();
        let barriers =
            (0..count_u32(experiment.groups.len())).map(|group| Barrier::of(experiment, group)).collect();
        let end = Time::ZERO + experiment.duration;
        Self {
            experiment: owner,
            network,
            timers: EventQueue::default(),
            globals: EventQueue::default(),
            planned: Vec::new(),
            first_planned: 0,
            senders,
            receivers,
            flows,
            asking,
            cards,
            barriers,
            events: 0,
            end,
            log: None,
        }
    }

    /// Schedules the starts and stops of those flows whose sender is here, and what else is known beforehand.
    pub(crate) fn schedule_start(&mut self, is_here: impl Fn(&Flow) -> bool) {
        self.first_planned = self.network.numbers.reserve(2 * self.flows.len() as u64);
        self.plan(Time::ZERO, is_here);
        self.schedule_global(Time::ZERO + self.experiment.warmup, Timer::OpenWindow);
        if let Some(interval) = self.experiment.trace.series_interval {
            self.schedule_global(Time::ZERO + interval, Timer::Sample);
        }
    }

    /// Plans the starts and stops that come at `from` or later, of those flows whose sender is here. Each has a number
    /// of its own, whether it comes or not: what is planned does not change the order of any other events.
    fn plan(&mut self, from: Time, is_here: impl Fn(&Flow) -> bool) {
        for (number, flow) in (0..).zip(&self.experiment.flows) {
            if !is_here(flow) {
                continue;
            }
            let place = self.first_planned + 2 * u64::from(number);
            let start = (flow.start, place, Timer::Application(number));
            let stop = flow.stop.map(|stop| (stop, place + 1, Timer::Stop(number)));
            let both =
                std::iter::once(start).chain(stop).filter(|(time, ..)| (from..Time::NEVER).contains(time));
            self.planned.extend(both.map(|(time, place, timer)| Key::at(time, place, timer.subject())));
        }
        self.planned.sort_unstable_by(|a, b| b.cmp(a));
        self.timers.extend(self.planned.last());
    }

    fn schedule_global(&mut self, time: Time, timer: Timer) {
        let key = self.network.numbers.key(time, timer.subject());
        self.globals.push(key);
    }

    #[inline]
    fn schedule(&mut self, time: Time, timer: Timer) {
        let key = self.network.numbers.key(time, timer.subject());
        self.timers.push(key);
    }

    /// Returns false if the progress function ended the run.
    fn run(&mut self, progress: &mut Option<Progress<'_>>) -> bool {
        self.run_before(self.behind_end(), progress)
    }

    /// Carries out all events before `bound`. Returns false if the progress function ended it.
    fn run_before(&mut self, bound: Key, progress: &mut Option<Progress<'_>>) -> bool {
        loop {
            let global = self.globals.next().filter(|key| *key < bound);
            if !self.run_until(global.unwrap_or(bound), progress) {
                return false;
            }
            let Some(key) = global else { return true };
            self.on_global(key);
        }
    }

    /// A key behind those of all events of the run.
    pub(crate) fn behind_end(&self) -> Key {
        Key::first_at(self.end + Span::from_picos(1))
    }

    /// The next event that concerns all links and flows.
    pub(crate) fn on_global(&mut self, key: Key) {
        self.globals.replace_next(None);
        self.events += 1;
        match Timer::of(key.subject()) {
            Timer::OpenWindow => self.open_window(key.time()),
            _ => self.sample(key.time()),
        }
    }

    /// Carries out all events before `bound`, which is one of no link and no flow. Returns false if the progress
    /// function ended the run.
    fn run_until(&mut self, bound: Key, progress: &mut Option<Progress<'_>>) -> bool {
        let mut packet = Packet::empty(FlowId(0), 0);
        loop {
            let from_timers = match (self.network.next(), self.timers.next()) {
                (Some(link), Some(timer)) => timer < link,
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (None, None) => return true,
            };
            let next = if from_timers { self.timers.next() } else { self.network.next() };
            let Some(key) = next.filter(|key| *key < bound) else { return true };
            self.events += 1;
            let inserted = self.network.numbers.last();
            if from_timers {
                self.timers.replace_next(None);
                self.on_timer(key);
            } else {
                match self.network.step(key, key.time(), &mut packet) {
                    None => {}
                    Some(Arrival::Receiver) => self.at_receiver(&packet, key.time()),
                    Some(Arrival::Sender) => self.at_sender(&packet, key.time()),
                    Some(Arrival::Rare(kind)) => self.on_rare(kind, &packet, key.time()),
                }
            }
            if let Some(log) = &mut self.log {
                let role = self.network.take_role();
                // The event counts where the packet leaves its queue.
                self.events -= u64::from(role != Role::Own);
                log.push(key, self.network.numbers.last() - inserted, role);
            }
            if self.events.is_multiple_of(PROGRESS_EVENTS)
                && let Some(watch) = progress
                && !watch(key.time())
            {
                return false;
            }
        }
    }

    /// Handles what happens to few packets, away from the path of all others.
    #[cold]
    #[inline(never)]
    fn on_rare(&mut self, kind: Rare, packet: &Packet, now: Time) {
        match kind {
            Rare::Sink => self.at_sink(packet, now),
            Rare::Card => self.at_card(*packet, now),
            Rare::Departure => self.on_departure(packet.flow.0, now),
        }
    }

    #[inline]
    fn at_receiver(&mut self, packet: &Packet, now: Time) {
        self.with_receiver(packet.flow.0, now, |receiver, config, out| {
            receiver.on_packet(config, packet, now, out);
        });
    }

    /// Gives a packet to a receiver and handles the effects of the change.
    #[inline]
    fn with_receiver(
        &mut self,
        flow: u32,
        now: Time,
        call: impl FnOnce(&mut Receiver, &EndpointConfig, &mut Egress<'_>),
    ) {
        let slot = &mut self.receivers[flow as usize];
        let config = &self.experiment.endpoints[slot.endpoint as usize];
        let mut out = Egress { network: &mut self.network, route: slot.route, now };
        call(&mut slot.receiver, config, &mut out);
        let reached = slot.receiver.delivered_bytes() >= slot.milestone;
        self.rearm_receiver(flow);
        if reached {
            self.on_delivered(flow, now);
        }
    }

    #[inline]
    fn rearm_receiver(&mut self, flow: u32) {
        let slot = &mut self.receivers[flow as usize];
        let deadline = slot.receiver.deadline();
        if deadline < slot.armed {
            slot.armed = deadline;
            self.schedule(deadline, Timer::Receiver(flow));
        }
    }

    #[inline]
    fn at_sender(&mut self, packet: &Packet, now: Time) {
        if self.network.recorder.has_sink() {
            // Departures are computed lazily: bring them up to date, so that the rows of the file are in
            // order of time.
            self.network.catch_up_monitored(now);
            self.network.recorder.on_sender(now, packet);
        }
        self.with_sender(packet.flow.0, now, |sender, config, out| {
            sender.on_packet(config, packet, now, out);
        });
    }

    /// Calls a sender and handles the effects of the change.
    #[inline]
    fn with_sender(
        &mut self,
        flow: u32,
        now: Time,
        call: impl FnOnce(&mut Sender, &EndpointConfig, &mut Egress<'_>),
    ) {
        let slot = &mut self.senders[flow as usize];
        let config = &self.experiment.endpoints[slot.endpoint as usize];
        // The counters fill more than a cache line, so they are copied only for flows whose events are
        // recorded.
        let counters = self.network.recorder.collector.traces(flow).then(|| *slot.sender.counters());
        let srtt = slot.sender.srtt();
        let mut out = Egress { network: &mut self.network, route: slot.route, now };
        call(&mut slot.sender, config, &mut out);
        self.after_sender(flow, srtt, counters, now);
    }

    /// Handles the effects of a call of a sender; `srtt` and `counters` are the values before the call, the latter for
    /// traced flows only.
    #[inline]
    fn after_sender(&mut self, flow: u32, srtt: Span, counters: Option<shoal_tcp::Counters>, now: Time) {
        let slot = &mut self.senders[flow as usize];
        let window = slot.sender.window();
        slot.meter.on_window(now, metered_window(window.cwnd, window.quantum), slot.sender.alpha());
        if slot.sender.srtt() != srtt {
            slot.meter.on_srtt(now, slot.sender.srtt());
        }
        let deadline = slot.sender.deadline();
        let rearm = deadline < slot.armed;
        if rearm {
            slot.armed = deadline;
        }
        let reached = slot.sender.snd_una() >= slot.milestone;
        if let Some(before) = counters {
            self.network.recorder.collector.on_sender(flow, slot.sample(), now);
            self.note_events(flow, before, now);
        }
        if rearm {
            self.schedule(deadline, Timer::Sender(flow));
        }
        if reached {
            self.on_milestone(flow, now);
        }
    }

    /// A segment has left the host whose queue discipline had kept it.
    #[cold]
    #[inline(never)]
    fn on_departure(&mut self, flow: u32, now: Time) {
        self.with_sender(flow, now, |sender, config, out| sender.on_segment_left(config, now, out));
    }

    fn note_events(&mut self, flow: u32, before: shoal_tcp::Counters, now: Time) {
        let after = *self.senders[flow as usize].sender.counters();
        let collector = &mut self.network.recorder.collector;
        for (count, kind) in [
            (after.retransmissions - before.retransmissions, FlowEvent::Retransmit),
            (after.timeouts - before.timeouts, FlowEvent::Timeout),
            (after.ecn_reductions - before.ecn_reductions, FlowEvent::Reduction),
            (after.fast_recoveries - before.fast_recoveries, FlowEvent::Reduction),
        ] {
            for _ in 0..count {
                collector.on_flow_event(flow, kind, now);
            }
        }
    }

    #[cold]
    fn on_milestone(&mut self, flow: u32, now: Time) {
        let state = &mut self.flows[flow as usize];
        let sender = &self.senders[flow as usize].sender;
        let app = &self.experiment.flows[flow as usize].app;
        let (next, finished) = state.writer.on_progress(app, sender, now);
        if finished && state.finished.is_none() {
            state.finished = Some(now);
        }
        self.update_milestone(flow);
        if let Some(time) = next {
            self.schedule(time, Timer::Application(flow));
        }
    }

    /// Must be called when an application's state has changed.
    fn update_milestone(&mut self, flow: u32) {
        let app = &self.experiment.flows[flow as usize].app;
        self.senders[flow as usize].milestone = self.flows[flow as usize].writer.milestone(app);
    }

    fn on_timer(&mut self, key: Key) {
        let now = key.time();
        if self.planned.last() == Some(&key) {
            self.planned.pop();
            self.timers.extend(self.planned.last());
        }
        match Timer::of(key.subject()) {
            Timer::Sender(connection) => self.on_sender_timer(connection, now),
            Timer::Receiver(connection) => self.on_receiver_timer(connection, now),
            Timer::Application(flow) => self.wake_application(flow, now),
            Timer::Stop(flow) => self.stop_flow(flow, now),
            Timer::Card(card) => self.on_card_timer(card, now),
            // They are in a queue of their own.
            Timer::Sample | Timer::OpenWindow => {}
        }
    }

    /// Timers are re-armed lazily: an entry may be obsolete (an earlier one replaced it) or early (its timer
    /// was postponed).
    fn on_sender_timer(&mut self, flow: u32, now: Time) {
        let slot = &mut self.senders[flow as usize];
        if slot.armed != now {
            return;
        }
        slot.armed = Time::NEVER;
        if slot.sender.deadline() <= now {
            self.with_sender(flow, now, |sender, config, out| sender.on_timer(config, now, out));
            return;
        }
        let deadline = slot.sender.deadline();
        if deadline < Time::NEVER {
            slot.armed = deadline;
            self.schedule(deadline, Timer::Sender(flow));
        }
    }

    fn on_receiver_timer(&mut self, flow: u32, now: Time) {
        let slot = &mut self.receivers[flow as usize];
        if slot.armed != now {
            return;
        }
        slot.armed = Time::NEVER;
        if slot.receiver.deadline() <= now {
            let config = &self.experiment.endpoints[slot.endpoint as usize];
            let mut out = Egress { network: &mut self.network, route: slot.route, now };
            slot.receiver.on_timer(config, now, &mut out);
        }
        self.rearm_receiver(flow);
    }

    #[cold]
    #[inline(never)]
    fn at_sink(&mut self, packet: &Packet, now: Time) {
        if let Application::Datagrams(datagrams) = &mut self.flows[packet.flow.0 as usize].application {
            datagrams.receive(packet, now);
        }
    }

    #[inline(never)]
    fn send_datagram(&mut self, flow: u32, now: Time) {
        let state = &mut self.flows[flow as usize];
        let Application::Datagrams(datagrams) = &mut state.application else { return };
        if now == self.experiment.flows[flow as usize].start
            && let Some(first) = datagrams.first(now).filter(|first| *first > now)
        {
            self.schedule(first, Timer::Application(flow));
            return;
        }
        let Some((mut packet, next)) = datagrams.send(flow, now) else { return };
        packet.route = self.senders[flow as usize].route;
        self.network.send(packet, now);
        self.schedule(next, Timer::Application(flow));
    }

    fn wake_application(&mut self, flow: u32, now: Time) {
        let state = &mut self.flows[flow as usize];
        match state.application {
            Application::Datagrams(_) => return self.send_datagram(flow, now),
            Application::Exchanges(_) => return self.ask(flow, now),
            Application::Stream | Application::Frames(_) => {}
        }
        let (app, mut writer) = (self.experiment.flows[flow as usize].app, std::mem::take(&mut state.writer));
        self.senders[flow as usize].milestone = u64::MAX;
        let mut next = None;
        self.with_sender(flow, now, |sender, config, out| {
            let begins = sender.snd_nxt() == 0;
            next = if begins {
                writer.start(&app, config, sender, now, out)
            } else {
                writer.wake(&app, config, sender, now, out)
            };
        });
        self.flows[flow as usize].writer = writer;
        self.update_milestone(flow);
        self.await_delivery(flow, now);
        if let Some(time) = next {
            self.schedule(time, Timer::Application(flow));
        }
    }

    fn stop_flow(&mut self, flow: u32, now: Time) {
        let state = &mut self.flows[flow as usize];
        let writes_no_more = match &mut state.application {
            Application::Datagrams(datagrams) => {
                datagrams.stop();
                state.finished = Some(now);
                false
            }
            Application::Exchanges(exchanges) => exchanges.stop(),
            Application::Stream | Application::Frames(_) => true,
        };
        if writes_no_more {
            self.close_flow(flow, now);
        }
    }

    /// Closes a flow whose application writes no more.
    fn close_flow(&mut self, flow: u32, now: Time) {
        let state = &mut self.flows[flow as usize];
        let (app, mut writer) = (self.experiment.flows[flow as usize].app, std::mem::take(&mut state.writer));
        self.senders[flow as usize].milestone = u64::MAX;
        self.with_sender(flow, now, |sender, config, out| writer.stop(&app, config, sender, now, out));
        self.flows[flow as usize].writer = writer;
        self.update_milestone(flow);
    }

    fn open_window(&mut self, now: Time) {
        // A packet that leaves at this very instant belongs to the window, as in the meters of links.
        self.network.catch_up_monitored(Time::from_picos(now.as_picos().saturating_sub(1)));
        self.network.open_window();
        self.cards.open_window();
        for flow in 0..self.flows.len() {
            // Before its start a flow has counted nothing, and its meter expects no call.
            if self.experiment.flows[flow].start < now {
                let counters = self.counters(flow);
                self.senders[flow].meter.on_window_start(&counters);
                self.flows[flow].feedback_at_start = feedback(&self.receivers[flow].receiver);
            }
        }
    }

    fn counters(&self, flow: usize) -> FlowCounters {
        if let Application::Datagrams(datagrams) = &self.flows[flow].application {
            return FlowCounters {
                delivered_bytes: datagrams.meter.delivered_bytes(),
                wire_bytes: self.network.recorder.collector.wire_bytes(flow),
                marks_seen: fit_u32(datagrams.meter.marks_seen()),
                ..FlowCounters::default()
            };
        }
        let (sender, receiver) = (&self.senders[flow].sender, &self.receivers[flow].receiver);
        let counters = sender.counters();
        FlowCounters {
            delivered_bytes: receiver.delivered_bytes(),
            wire_bytes: self.network.recorder.collector.wire_bytes(flow),
            marks_seen: fit_u32(receiver.marks_seen()),
            losses: fit_u32(sender.losses()),
            retransmissions: counters.retransmissions,
            timeouts: counters.timeouts,
            reductions: counters.ecn_reductions + counters.fast_recoveries + counters.timeouts,
        }
    }

    fn sample(&mut self, now: Time) {
        self.network.catch_up_monitored(now);
        self.network.close_bins(now);
        for flow in 0..self.flows.len() {
            let (counters, sample) = (self.counters(flow), self.senders[flow].sample());
            self.network.recorder.collector.close_flow_bin(count_u32(flow), &counters, &sample, now);
        }
        if let Some(interval) = self.experiment.trace.series_interval {
            self.schedule_global(now + interval, Timer::Sample);
        }
    }

    pub(crate) fn finish(mut self) -> Outcome {
        self.network.catch_up_monitored(self.end);
        let experiment = &*self.experiment;
        let mut results = FlowResults::new(experiment);
        let mut heap = 0;
        // One pass over the endpoints: with many flows, each access to them misses the caches.
        for (number, (sender, receiver)) in self.senders.iter().zip(&self.receivers).enumerate() {
            heap += sender.sender.heap_bytes() + receiver.receiver.heap_bytes();
            // Connections that carry requests follow those of the flows.
            if let Some(state) = self.flows.get(number) {
                results.push(number, finished(sender, &receiver.receiver, state, self.counters(number)));
            }
        }
        for (group, barrier) in self.barriers.iter().enumerate() {
            if let Some(barrier) = barrier {
                results.rounds(group, &barrier.meter);
            }
        }
        let fixed = size_of::<SenderSlot>() + size_of::<ReceiverSlot>() + size_of::<FlowState>();
        let flow_bytes = fixed as u64 + heap as u64 / self.flows.len().max(1) as u64;
        let cards = self.cards.results(experiment);
        let network = self.network;
        let (conservation, paths) = (network.conservation(), network.paths(experiment));
        let collector = network.recorder.collector;
        let unbalanced = collector.balance().err();
        let mut measured = collector.finish(experiment, results, shoal_notices::of_run);
        measured.broken = unbalanced.or(measured.broken);
        measured.paths = paths;
        measured.cards = cards;
        Outcome { measured, events: self.events, conservation, flow_bytes }
    }
}

/// The results of a flow.
fn finished<'a>(
    sender: &SenderSlot,
    receiver: &Receiver,
    state: &'a FlowState,
    counters: FlowCounters,
) -> FinishedFlow<'a> {
    FinishedFlow {
        meter: sender.meter.clone(),
        counters,
        feedback: feedback(receiver),
        feedback_at_start: state.feedback_at_start,
        finished: state.finished,
        quantum: sender.sender.window().quantum,
        fct_s: state.writer.completions.iter().map(|fct| fct.as_secs_f64()).collect(),
        transfers_begun: state.writer.transfers_begun(),
        app: state.application.meter(),
    }
}

fn feedback(receiver: &Receiver) -> FeedbackCounters {
    FeedbackCounters { data_packets: receiver.data_packets(), acks_sent: receiver.acks_sent() }
}
