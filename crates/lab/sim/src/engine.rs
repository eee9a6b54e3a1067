//! The main loop of the simulator.

mod cards;
mod deliveries;
mod live;
mod parts;
mod population;

use crate::app::Application;
use crate::barrier::Barrier;
use crate::cards::Cards;
use crate::events::{EventQueue, Key, Timer};
use crate::flow::{Egress, FlowState, ReceiverSlot, SenderSlot};
use crate::network::{Arrival, Network, Rare};
use crate::outcome::Outcome;
use crate::pages::Browsers;
use crate::parts::Division;
use crate::planned::{Plan, Planned};
use crate::recorder::{PacketSink, Recorder};
use crate::slots::{Slots, Whereabouts};
pub use live::{Live, OtherPlan};
pub(crate) use population::Keeping;
use population::{Occupied, Population};
use shoal_bottleneck::Observer;
use shoal_measure::{FeedbackCounters, metered_window};
use shoal_packet::{FlowId, Packet};
use shoal_scenario::{Experiment, Flow};
use shoal_tcp::{EndpointConfig, Receiver, Sender};
use shoal_trace::FlowEvent;
use shoal_units::LawFailure;
use shoal_units::cast::count_u32;
use shoal_units::{Span, Time};
use std::any::Any;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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
/// With a [`LawFailure`] if a law from outside fails, which names the flow or the link.
/// If the experiment has more than 4 million flows that live at the same time, if [`crate::check`] refuses it, or if it
/// is divided and its packets are to be received one by one.
pub fn run(experiment: &Experiment, options: Options<'_>) -> Option<Outcome> {
    assert_possible(experiment);
    let mut progress = options.progress;
    if let Some(division) = options.division {
        assert!(options.packets.is_none(), "the parts of a division have no common order of packets");
        return crate::parts::run(experiment, division, &mut progress);
    }
    let mut simulation = Simulation::new(experiment, options.packets, Keeping::Living);
    simulation.schedule_start(|_| true);
    let ended = catch_unwind(AssertUnwindSafe(|| simulation.run(&mut progress)));
    match ended {
        Ok(true) => Some(simulation.finish()),
        Ok(false) => None,
        Err(panic) => resume_unwind(simulation.blame(panic)),
    }
}

/// # Panics
/// If the simulator cannot carry out the experiment.
fn assert_possible(experiment: &Experiment) {
    let refused = crate::check(experiment);
    assert!(refused.is_ok(), "the simulator has no such experiment: {refused:?}");
}

/// A run in progress. `E` says who owns the experiment: a run from start to end borrows it, and a live one owns it,
/// since it may be replaced.
pub(crate) struct Simulation<E> {
    experiment: E,
    network: Network,
    timers: EventQueue,
    /// Events that concern all links and flows: the measurement window opens, and the points of the series.
    globals: EventQueue,
    /// Starts and stops of flows. Only the next one is in the event queue, so the size of that queue does not depend on
    /// the number of flows that have not started.
    planned: Planned,
    /// Slot of each connection that has one: of the flows, followed by those that carry a client's requests.
    slots: Slots,
    /// What is in the slots: the two ends, and everything else.
    senders: Vec<SenderSlot>,
    receivers: Vec<ReceiverSlot>,
    flows: Vec<FlowState>,
    /// How flows come into slots, and what remains of those that have ended.
    population: Population,
    /// One entry for each group.
    barriers: Vec<Option<Box<Barrier>>>,
    browsers: Browsers,
    cards: Cards,
    events: u64,
    end: Time,
}

impl<E: Deref<Target = Experiment>> Simulation<E> {
    pub(crate) fn new(owner: E, sink: Option<Box<dyn PacketSink>>, keeping: Keeping) -> Self {
        let experiment = &*owner;
        let mut network = Network::new(experiment, Recorder::new(experiment, sink));
        let cards = Cards::of(experiment);
        assert!(cards.slots.len() <= Timer::CARDS_MAX as usize, "too many cards");
        let population = Population::new(experiment, &mut network, &cards, keeping);
        let barriers =
            (0..count_u32(experiment.groups.len())).map(|group| Barrier::of(experiment, group)).collect();
        let browsers = Browsers::of(experiment);
        let end = Time::ZERO + experiment.duration;
        let connections = experiment.flows.len() + experiment.asking_flows().count();
        let mut simulation = Self {
            experiment: owner,
            network,
            timers: EventQueue::default(),
            globals: EventQueue::default(),
            planned: Planned::default(),
            slots: Slots::new(connections),
            senders: Vec::new(),
            receivers: Vec::new(),
            flows: Vec::new(),
            population,
            cards,
            barriers,
            browsers,
            events: 0,
            end,
        };
        simulation.settle_residents();
        simulation
    }

    /// Schedules the starts and stops of those flows whose sender is here, and what else is known beforehand.
    pub(crate) fn schedule_start(&mut self, is_here: impl Fn(&Flow) -> bool) {
        self.network.close_ports(&self.experiment);
        self.plan(Time::ZERO, is_here);
        self.schedule_global(Time::ZERO + self.experiment.warmup, Timer::OpenWindow);
        if let Some(interval) = self.experiment.trace.series_interval {
            self.schedule_global(Time::ZERO + interval, Timer::Sample);
        }
    }

    /// Plans the starts and stops that come at `from` or later, of those flows whose sender is here.
    fn plan(&mut self, from: Time, is_here: impl Fn(&Flow) -> bool) {
        self.planned = Planned::new(&self.experiment, from, is_here);
        self.timers.extend(self.planned.next().as_ref());
    }

    fn schedule_global(&mut self, time: Time, timer: Timer) {
        self.globals.push(Key::global(time, timer));
    }

    /// Schedules a timer of the flow in a slot.
    #[inline]
    fn schedule(&mut self, time: Time, slot: usize, timer: impl FnOnce(u32) -> Timer) {
        self.timers.push(Key::timer(time, timer(count_u32(slot)), self.flows[slot].number));
    }

    /// Returns false if the progress function ended the run.
    fn run(&mut self, progress: &mut Option<Progress<'_>>) -> bool {
        self.run_before(self.behind_end(), progress)
    }

    /// Names the flow or the link whose law has failed, if that is what ended the run.
    #[cold]
    pub(crate) fn blame(&self, mut panic: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
        if let Some(failure) = panic.downcast_mut::<LawFailure>() {
            let mut senders = self.senders.iter().zip(&self.flows);
            if let Some((_, flow)) = senders.find(|(slot, _)| slot.sender.law_has_failed()) {
                let group = &self.experiment.groups[flow.group as usize].name;
                failure.place = format!("flow {} (`{group}`)", flow.number);
            } else if let Some(link) = self.network.link_of_failed_law() {
                failure.place = format!("link `{}`", self.experiment.links[link].name);
            }
        }
        panic
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

    /// Number of events so far.
    pub(crate) fn events(&self) -> u64 {
        self.events - self.network.uncounted
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
            if from_timers {
                self.timers.replace_next(None);
                self.on_timer(key);
            } else {
                let mut arrival = self.network.step(key, key.time(), &mut packet);
                if let Some(Arrival::Rare(kind)) = arrival {
                    arrival = self.on_rare(kind, &packet, key.time());
                }
                match arrival {
                    Some(Arrival::Receiver) => self.at_receiver(&packet, key.time()),
                    Some(Arrival::Sender) => self.at_sender(&packet, key.time()),
                    _ => {}
                }
            }
            if self.events.is_multiple_of(PROGRESS_EVENTS)
                && let Some(watch) = progress
                && !watch(key.time())
            {
                return false;
            }
        }
    }

    /// Handles what happens to few packets, away from the path of all others. Returns where the packet arrives
    /// thereafter.
    #[cold]
    #[inline(never)]
    fn on_rare(&mut self, kind: Rare, packet: &Packet, now: Time) -> Option<Arrival> {
        match kind {
            Rare::Peer => {
                self.read_ack(self.slots.of(packet.flow.0), packet, now);
                return Some(Arrival::Receiver);
            }
            Rare::Sink => self.at_sink(packet, now),
            Rare::Card => self.at_card(*packet, now),
            Rare::Departure => self.on_departure(packet.flow.0, now),
        }
        None
    }

    #[inline]
    fn at_receiver(&mut self, packet: &Packet, now: Time) {
        self.with_receiver(self.slots.of(packet.flow.0), now, |receiver, config, out| {
            *out.packets = out.packets.wrapping_sub(1);
            receiver.on_packet(config, packet, now, out);
        });
    }

    /// Gives the acknowledgement that comes with data to the sender at the same end of the connection.
    fn read_ack(&mut self, number: usize, packet: &Packet, now: Time) {
        let partner = self.receivers[number].partner as usize;
        if packet.payload > 0 && partner < self.senders.len() {
            self.acknowledge(partner, packet, 0, now);
        }
    }

    /// Gives a packet to a receiver and handles the effects of the change.
    #[inline]
    fn with_receiver(
        &mut self,
        number: usize,
        now: Time,
        call: impl FnOnce(&mut Receiver, &EndpointConfig, &mut Egress<'_>),
    ) {
        let slot = &mut self.receivers[number];
        let config = &self.experiment.endpoints[slot.endpoint as usize];
        let packets = &mut slot.packets;
        let mut out = Egress { network: &mut self.network, route: slot.route, now, packets, partner: None };
        call(&mut slot.receiver, config, &mut out);
        let reached = slot.receiver.delivered_bytes() >= slot.milestone;
        let deadline = slot.receiver.deadline();
        if deadline < slot.armed {
            slot.armed = deadline;
            self.schedule(deadline, number, Timer::Receiver);
        }
        if reached {
            self.on_delivered(number, now);
        }
    }

    #[inline]
    fn at_sender(&mut self, packet: &Packet, now: Time) {
        if self.network.recorder.sees_packets() {
            // Departures are computed lazily: bring them up to date, so that the rows of the file are in
            // order of time.
            self.network.catch_up_monitored(now);
            self.network.recorder.on_sender(now, packet);
        }
        self.acknowledge(self.slots.of(packet.flow.0), packet, 1, now);
    }

    /// Gives a packet to the sender `number`, of whose packets on their way `packets` have arrived with it.
    // One function for both callers, into which the sender's whole code is inlined: with two copies of the call neither
    // was, and a run took 1.5 % more instructions (benchmarks S4 and lean).
    #[inline(never)]
    fn acknowledge(&mut self, number: usize, packet: &Packet, packets: u32, now: Time) {
        self.with_sender(number, now, |sender, config, out| {
            *out.packets = out.packets.wrapping_sub(packets);
            sender.on_packet(config, packet, now, out);
        });
    }

    /// Calls a sender and handles the effects of the change.
    #[inline]
    fn with_sender(
        &mut self,
        number: usize,
        now: Time,
        call: impl FnOnce(&mut Sender, &EndpointConfig, &mut Egress<'_>),
    ) {
        let slot = &mut self.senders[number];
        let config = &self.experiment.endpoints[slot.endpoint as usize];
        // The counters fill more than a cache line, so they are copied only for flows whose events are
        // recorded.
        let counters = slot.meter.is_traced.then(|| *slot.sender.counters());
        let srtt = slot.sender.srtt();
        let packets = &mut slot.packets;
        let partner =
            self.receivers.get_mut(slot.partner as usize).map(|there| (&mut there.receiver, config));
        let mut out = Egress { network: &mut self.network, route: slot.route, now, packets, partner };
        call(&mut slot.sender, config, &mut out);
        let report = slot.sender.report();
        slot.meter.on_window(now, metered_window(report.window.cwnd, report.window.quantum), report.alpha);
        if report.srtt != srtt {
            slot.meter.on_srtt(now, report.srtt);
        }
        let deadline = report.deadline;
        let rearm = deadline < slot.armed;
        if rearm {
            slot.armed = deadline;
        }
        let reached = report.snd_una >= slot.milestone;
        if let Some(before) = counters {
            self.note_events(number, before, now);
        }
        if rearm {
            self.schedule(deadline, number, Timer::Sender);
        }
        if reached {
            self.on_milestone(number, now);
        }
    }

    /// A segment has left the host whose queue discipline had kept it.
    #[cold]
    #[inline(never)]
    fn on_departure(&mut self, flow: u32, now: Time) {
        let slot = self.slots.of(flow);
        self.with_sender(slot, now, |sender, config, out| sender.on_segment_left(config, now, out));
    }

    /// Notes what has changed at the sender of a traced flow, whose counters were these before.
    #[cold]
    #[inline(never)]
    fn note_events(&mut self, slot: usize, before: shoal_tcp::Counters, now: Time) {
        let (sender, flow) = (&self.senders[slot], self.flows[slot].number);
        let after = *sender.sender.counters();
        let collector = &mut self.network.recorder.collector;
        collector.on_sender(flow, sender.sample(), now);
        for (count, kind) in [
            (after.retransmissions - before.retransmissions, FlowEvent::Retransmit),
            (after.timeouts - before.timeouts, FlowEvent::Timeout),
            (after.cwr_reductions - before.cwr_reductions, FlowEvent::Reduction),
            (after.fast_recoveries - before.fast_recoveries, FlowEvent::Reduction),
        ] {
            for _ in 0..count {
                collector.on_flow_event(flow, kind, now);
            }
        }
    }

    #[cold]
    fn on_milestone(&mut self, slot: usize, now: Time) {
        let state = &mut self.flows[slot];
        let (next, finished) = state.writer.on_progress(&state.app, &self.senders[slot].sender, now);
        if finished && state.finished.is_none() {
            state.finished = Some(now);
            self.on_finished(slot);
        }
        self.update_milestone(slot);
        if let Some(time) = next {
            self.schedule(time, slot, Timer::Application);
        }
    }

    /// Must be called when an application's state has changed.
    fn update_milestone(&mut self, slot: usize) {
        let state = &self.flows[slot];
        self.senders[slot].milestone = state.writer.milestone(&state.app);
    }

    fn on_timer(&mut self, key: Key) {
        let now = key.time();
        match Timer::of(key.subject()) {
            Timer::Sender(slot) => self.on_sender_timer(slot as usize, key),
            Timer::Receiver(slot) => self.on_receiver_timer(slot as usize, key),
            Timer::Application(slot) => self.wake_application(slot as usize, now),
            Timer::Planned => self.on_planned(now),
            Timer::Card(card) => self.on_card_timer(card, now),
            // They are in a queue of their own.
            Timer::Sample | Timer::OpenWindow => {}
        }
    }

    /// A flow starts or stops, or has another controller.
    fn on_planned(&mut self, now: Time) {
        let Some((flow, plan)) = self.planned.take(&self.experiment) else { return };
        self.timers.extend(self.planned.next().as_ref());
        match plan {
            Plan::Start => {
                let slot = self.slot_for(flow);
                self.wake_application(slot, now);
            }
            Plan::Stop => {
                let slot = self.slot_for(flow);
                self.stop_flow(slot, now);
            }
            Plan::Replace => self.replace_controller(flow, now),
        }
    }

    /// Timers are re-armed lazily: an entry may be obsolete (an earlier one replaced it, or it is about the flow that
    /// had the slot before) or early (its timer was postponed).
    fn on_sender_timer(&mut self, number: usize, key: Key) {
        let (now, slot) = (key.time(), &mut self.senders[number]);
        if slot.armed != now || !key.is_of_flow(self.flows[number].number) {
            return;
        }
        slot.armed = Time::NEVER;
        if slot.sender.deadline() <= now {
            self.with_sender(number, now, |sender, config, out| sender.on_timer(config, now, out));
            return;
        }
        let deadline = slot.sender.deadline();
        if deadline < Time::NEVER {
            slot.armed = deadline;
            self.schedule(deadline, number, Timer::Sender);
        }
    }

    fn on_receiver_timer(&mut self, number: usize, key: Key) {
        let (now, slot) = (key.time(), &mut self.receivers[number]);
        if slot.armed != now || !key.is_of_flow(self.flows[number].number) {
            return;
        }
        slot.armed = Time::NEVER;
        if slot.receiver.deadline() <= now {
            let config = &self.experiment.endpoints[slot.endpoint as usize];
            let packets = &mut slot.packets;
            let mut out =
                Egress { network: &mut self.network, route: slot.route, now, packets, partner: None };
            slot.receiver.on_timer(config, now, &mut out);
        }
        let deadline = slot.receiver.deadline();
        if deadline < slot.armed {
            slot.armed = deadline;
            self.schedule(deadline, number, Timer::Receiver);
        }
    }

    #[cold]
    #[inline(never)]
    fn at_sink(&mut self, packet: &Packet, now: Time) {
        let slot = self.slots.of(packet.flow.0);
        if let Application::Datagrams(datagrams) = &mut self.flows[slot].application {
            datagrams.receive(packet, now);
        }
    }

    #[inline(never)]
    fn send_datagram(&mut self, slot: usize, now: Time) {
        let state = &mut self.flows[slot];
        let Application::Datagrams(datagrams) = &mut state.application else { return };
        if now == self.experiment.flows.of(state.number).start
            && let Some(first) = datagrams.first(now).filter(|first| *first > now)
        {
            self.schedule(first, slot, Timer::Application);
            return;
        }
        let Some((mut packet, next)) = datagrams.send(state.number, now) else { return };
        packet.route = self.senders[slot].route;
        self.network.send(packet, now);
        self.schedule(next, slot, Timer::Application);
    }

    fn wake_application(&mut self, slot: usize, now: Time) {
        let state = &mut self.flows[slot];
        match state.application {
            Application::Datagrams(_) => return self.send_datagram(slot, now),
            Application::Exchanges(_) => return self.ask(slot, now),
            Application::Stream | Application::Frames(_) | Application::Asking(_) => {}
        }
        let (app, mut writer) = (state.app, std::mem::take(&mut state.writer));
        self.senders[slot].milestone = u64::MAX;
        let mut next = None;
        self.with_sender(slot, now, |sender, config, out| {
            let begins = sender.snd_nxt() == 0;
            next = if begins {
                writer.start(&app, config, sender, now, out)
            } else {
                writer.wake(&app, config, sender, now, out)
            };
        });
        self.flows[slot].writer = writer;
        self.update_milestone(slot);
        self.await_delivery(slot, now);
        if let Some(time) = next {
            self.schedule(time, slot, Timer::Application);
        }
    }

    fn stop_flow(&mut self, slot: usize, now: Time) {
        let state = &mut self.flows[slot];
        let writes_no_more = match &mut state.application {
            Application::Datagrams(datagrams) => {
                datagrams.stop();
                state.finished = Some(now);
                false
            }
            Application::Exchanges(exchanges) => exchanges.stop(),
            Application::Stream | Application::Frames(_) | Application::Asking(_) => true,
        };
        if writes_no_more {
            self.close_flow(slot, now);
        }
    }

    /// Gives a flow that has not ended the controller that takes over.
    fn replace_controller(&mut self, flow: u32, now: Time) {
        let Whereabouts::Slot(slot) = self.slots.whereabouts(flow) else { return };
        let group = self.flows[slot as usize].group;
        let Some(replacement) = &self.experiment.groups[group as usize].replacement else { return };
        let cc = replacement.config;
        self.with_sender(slot as usize, now, |sender, config, _| sender.replace_controller(config, &cc, now));
    }

    /// Closes a flow whose application writes no more.
    fn close_flow(&mut self, slot: usize, now: Time) {
        let state = &mut self.flows[slot];
        let (app, mut writer) = (state.app, std::mem::take(&mut state.writer));
        self.senders[slot].milestone = u64::MAX;
        self.with_sender(slot, now, |sender, config, out| writer.stop(&app, config, sender, now, out));
        self.flows[slot].writer = writer;
        self.update_milestone(slot);
    }

    fn open_window(&mut self, now: Time) {
        // A packet that leaves at this very instant belongs to the window, as in the meters of links.
        self.network.catch_up_monitored(Time::from_picos(now.as_picos().saturating_sub(1)));
        self.network.open_window();
        self.population.is_measuring = true;
        self.cards.open_window();
        for slot in 0..self.flows.len() {
            let state = &self.flows[slot];
            // Before its start a flow has counted nothing, and its meter expects no call.
            if state.is_in_use
                && self.experiment.flows.get(state.number as usize).is_some_and(|flow| flow.start < now)
            {
                self.begin_window(slot);
            }
        }
    }

    /// What a flow has counted before is no part of its measurement.
    fn begin_window(&mut self, slot: usize) {
        let counters = self.counters(slot);
        self.senders[slot].meter.on_window_start(&counters);
        self.flows[slot].feedback_at_start = feedback(&self.receivers[slot].receiver);
    }

    fn sample(&mut self, now: Time) {
        self.network.catch_up_monitored(now);
        self.network.close_bins(now);
        // With a series all flows are kept, in slots of their numbers.
        for flow in 0..self.experiment.flows.len() {
            let (counters, sample) = (self.counters(flow), self.senders[flow].sample());
            self.network.recorder.collector.close_flow_bin(count_u32(flow), &counters, &sample, now);
        }
        if let Some(interval) = self.experiment.trace.series_interval {
            self.schedule_global(now + interval, Timer::Sample);
        }
    }

    pub(crate) fn finish(mut self) -> Outcome {
        self.network.catch_up_monitored(self.end);
        let (flow_bytes, events) = (self.flow_bytes(), self.events());
        let Self {
            experiment: owner,
            network,
            slots,
            senders,
            receivers,
            flows,
            population,
            barriers,
            browsers,
            ..
        } = self;
        let experiment = &*owner;
        let (conservation, paths) = (network.conservation(), network.paths(experiment));
        let cards = self.cards.results(experiment);
        let collector = network.recorder.collector;
        let occupied = Occupied { slots: &slots, senders: &senders, receivers: &receivers, flows: &flows };
        let mut results = population::results(experiment, &occupied, population, &collector);
        for (group, barrier) in barriers.iter().enumerate() {
            if let Some(barrier) = barrier {
                results.rounds(group, &barrier.meter);
            }
        }
        for group in 0..experiment.groups.len() {
            results.pages(group, browsers.meters(group));
        }
        let unbalanced = collector.balance().err();
        let mut measured = collector.finish(experiment, results, shoal_notices::of_run);
        measured.broken = unbalanced.or(measured.broken);
        measured.paths = paths;
        measured.cards = cards;
        Outcome { measured, events, conservation, flow_bytes }
    }
}

fn feedback(receiver: &Receiver) -> FeedbackCounters {
    FeedbackCounters { data_packets: receiver.data_packets(), acks_sent: receiver.acks_sent() }
}
