//! Reports to the collector what the queues of monitored links did, and to a writer of files each packet.

use shoal_aqm::{Start, Verdict};
use shoal_bottleneck::Observer;
use shoal_measure::{Collector, Departure, QueueMeter};
use shoal_packet::{Backlog, Class, Packet, Reason};
use shoal_scenario::Experiment;
use shoal_trace::{LinkIndex, PacketEvent, PacketRow};
use shoal_units::Time;

/// Receives every packet event of the monitored links, in order of time for each link.
pub trait PacketSink: Send {
    /// One event. `packet` is its state after the event, and `reason` the cause if it was marked or dropped.
    fn on_event(&mut self, row: PacketRow, packet: &Packet, reason: Option<Reason>);
    /// A packet reaches the sender of its flow. What was reported at links before happened before.
    fn on_sender(&mut self, now: Time, packet: &Packet) {
        let _ = (now, packet);
    }
}

/// The collector of a run, and whoever gets its packets one by one. Links are numbered as the monitored ones are.
pub(crate) struct Recorder {
    pub(crate) collector: Collector,
    sink: Option<Box<dyn PacketSink>>,
    /// Whether any monitored link has queues for traffic classes.
    has_classes: bool,
}

impl Recorder {
    pub(crate) fn new(experiment: &Experiment, sink: Option<Box<dyn PacketSink>>) -> Self {
        let has_classes = experiment.monitored().any(|(_, link)| link.traffic_classes().is_some());
        Self { collector: Collector::new(experiment), sink, has_classes }
    }

    pub(crate) fn on_sender(&mut self, now: Time, packet: &Packet) {
        if let Some(sink) = &mut self.sink {
            sink.on_sender(now, packet);
        }
    }

    /// The part of an arrival that few runs record.
    #[cold]
    #[inline(never)]
    fn on_arrival_in_detail(&mut self, link: u32, packet: &Packet, found: Backlog, now: Time) {
        if self.has_classes {
            self.of_class(link, packet, |meter, class| meter.on_arrival(now, class));
        }
        if self.sink.is_some() {
            self.emit(link, PacketEvent::Arrive, packet, found, now, now, None);
        }
    }

    /// Tells the meter of the packet's queue for traffic classes what the link was told. Few links have such queues, so
    /// all others keep a short path.
    #[cold]
    #[inline(never)]
    fn of_class(&mut self, link: u32, packet: &Packet, tell: impl FnOnce(&mut QueueMeter, Class)) {
        if let Some(meter) = self.collector.class_meter(link, packet.flow.0) {
            tell(meter, Class::of(packet));
        }
    }

    /// An arrival is dropped.
    #[inline(never)]
    fn on_drop(&mut self, link: u32, packet: &Packet, reason: Reason, backlog: Backlog, now: Time) {
        self.collector.on_drop(link, packet.flow.0, Class::of(packet), reason, now);
        if self.has_classes {
            self.of_class(link, packet, |meter, class| meter.on_drop(now, class, reason));
        }
        if self.sink.is_some() {
            self.emit(link, PacketEvent::Drop, packet, backlog, now, now, Some(reason));
        }
    }

    #[inline]
    fn on_mark(
        &mut self,
        link: u32,
        packet: &Packet,
        reason: Reason,
        backlog: Backlog,
        since: Time,
        at: Time,
    ) {
        self.collector.on_mark(link, packet.flow.0, reason, at);
        if self.has_classes {
            self.of_class(link, packet, |meter, _| meter.on_mark(at, Class::Ect, reason));
        }
        if self.sink.is_some() {
            self.emit(link, PacketEvent::Mark, packet, backlog, since, at, Some(reason));
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one row")]
    fn emit(
        &mut self,
        link: u32,
        event: PacketEvent,
        packet: &Packet,
        backlog: Backlog,
        since: Time,
        at: Time,
        reason: Option<Reason>,
    ) {
        let Some(sink) = &mut self.sink else { return };
        let row = PacketRow {
            time_ps: at.as_picos(),
            link: LinkIndex(link),
            flow: packet.flow.0,
            event,
            size: u32::from(packet.size),
            ecn: packet.ecn,
            seq: packet.seq.0,
            backlog_bytes: backlog.bytes,
            sojourn_ps: (at - since).as_picos(),
        };
        sink.on_event(row, packet, reason);
    }
}

impl Observer for Recorder {
    /// Whether packets are reported one by one.
    #[inline]
    fn sees_packets(&self) -> bool {
        self.sink.is_some()
    }

    /// A packet arrives, finds one backlog and leaves another one behind. It is as it arrived: its class is the one it
    /// had before a mark.
    #[inline]
    fn on_arrival(
        &mut self,
        link: u32,
        packet: &Packet,
        found: Backlog,
        verdict: Verdict,
        waiting: Backlog,
        now: Time,
    ) {
        self.collector.on_arrival(link, Class::of(packet), now);
        if self.has_classes || self.sink.is_some() {
            self.on_arrival_in_detail(link, packet, found, now);
        }
        if packet.ecn.is_ce() {
            self.collector.on_marked_arrival(link, now);
        }
        match verdict {
            Verdict::Queued { mark: None } | Verdict::Displaced => {}
            // A mark of a queue before this one stays what it is.
            Verdict::Queued { mark: Some(_) } if packet.ecn.is_ce() => {}
            Verdict::Queued { mark: Some(reason) } => self.on_mark(link, packet, reason, waiting, now, now),
            Verdict::Dropped(reason) => return self.on_drop(link, packet, reason, waiting, now),
        }
        self.collector.on_queued(link, Class::of(packet), waiting, now);
        if self.has_classes {
            self.of_class(link, packet, |meter, class| meter.on_enter(now, class, packet.size.into()));
        }
    }

    /// Queue protection has sent the packet that arrived to the classic queue.
    #[cold]
    fn on_redirection(&mut self, link: u32, packet: &Packet, now: Time) {
        self.collector.on_redirection(link, now);
        if self.has_classes {
            self.of_class(link, packet, |meter, _| meter.on_redirection(now));
        }
    }

    #[inline]
    fn on_departure(
        &mut self,
        link: u32,
        packet: &Packet,
        mark: Option<Reason>,
        wire_bytes: u32,
        backlog: Backlog,
        at: Time,
    ) {
        if let Some(reason) = mark {
            self.on_mark(link, packet, reason, backlog, packet.enqueued, at);
        }
        self.collector.on_departure(link, departure_of(packet, packet.enqueued, at, wire_bytes), backlog, at);
        if self.has_classes {
            self.of_class(link, packet, |meter, class| {
                meter.on_exit(at, class, packet.size.into());
                meter.on_departure(at, class, at - packet.enqueued, wire_bytes);
            });
        }
        if self.sink.is_some() {
            self.emit(link, PacketEvent::Depart, packet, backlog, packet.enqueued, at, None);
        }
    }

    /// A packet that waited was dropped, on departure or to make room.
    #[inline]
    fn on_drop_from_queue(&mut self, link: u32, packet: &Packet, reason: Reason, backlog: Backlog, at: Time) {
        let (flow, class) = (packet.flow.0, Class::of(packet));
        self.collector.on_drop_from_queue(link, flow, class, reason, backlog, at);
        if self.has_classes {
            self.of_class(link, packet, |meter, class| {
                meter.on_exit(at, class, packet.size.into());
                meter.on_drop(at, class, reason);
            });
        }
        if self.sink.is_some() {
            self.emit(link, PacketEvent::Drop, packet, backlog, packet.enqueued, at, Some(reason));
        }
    }

    #[inline]
    fn on_start(&mut self, link: u32, start: &Start, wire_bytes: u32, waiting: Backlog) {
        self.collector.on_departure(link, departure(start, wire_bytes), waiting, start.at);
    }

    /// A packet that is not dropped finds nothing before it, and its transmission begins. Returns false, without an
    /// effect, if there is more to record than that.
    #[inline]
    fn on_passing(
        &mut self,
        link: u32,
        packet: &Packet,
        verdict: Verdict,
        wire_bytes: u32,
        now: Time,
    ) -> bool {
        let is_plain = matches!(verdict, Verdict::Queued { mark: None }) && !packet.ecn.is_ce();
        is_plain
            && !self.has_classes
            && self.sink.is_none()
            && self.collector.on_passing(link, departure_of(packet, now, now, wire_bytes), now)
    }

    /// A packet is dropped at any link, monitored or not.
    fn on_lost(&mut self, packet: &Packet) {
        self.collector.on_lost(packet.flow.0);
    }
}

/// The departure at `at` of a packet that came at `since`.
#[inline]
fn departure_of(packet: &Packet, since: Time, at: Time, wire_bytes: u32) -> Departure {
    Departure {
        flow: packet.flow.0,
        class: Class::of(packet),
        has_data: packet.payload > 0,
        sojourn: at - since,
        wire_bytes,
    }
}

#[inline]
fn departure(start: &Start, wire_bytes: u32) -> Departure {
    Departure {
        flow: start.flow.0,
        class: start.class,
        has_data: start.has_data,
        sojourn: start.at - start.since,
        wire_bytes,
    }
}
