//! Measures one monitored link.

use crate::class_meter::ClassMeter;
use crate::fields::described;
use crate::laws::BrokenLaw;
use crate::metrics::finite;
use crate::recent::Recent;
use crate::sampler::Sampler;
use crate::windows::WindowedHistograms;
use crate::{
    AboveTarget, ClassCounts, Distribution, Histogram, LinkDistributions, LinkHistory, TrafficClass,
};
use serde::{Deserialize, Serialize};
use shoal_packet::{Class, Reason};
use shoal_trace::QueueClass;
use shoal_units::{Rate, RateChange, Span, Time, Transmission};
use std::sync::Arc;

described! {

/// A monitored link. Everything covers the measurement window only.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bottleneck {
    /// Name of the link.
    pub name: String,
    /// Line rate in bit/s; of a link that changes, the rate at the start of the run.
    pub rate_bps: f64,
    /// How the link changes during the run; only if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<LinkHistory>,
    /// Fraction of the time the link transmitted, at whatever rate it had; while it is down it does not. Of
    /// opportunities to send, the fraction of their bytes that was used.
    pub utilisation: Option<f64>,
    /// Waiting bytes, weighted by time. The packet in transmission does not wait.
    pub queue_bytes: Distribution,
    /// Waiting packets, weighted by time.
    pub queue_packets: Distribution,
    /// `queue_packets` of each class.
    pub class_queue_packets: ClassQueues,
    /// Fraction of the time nothing waited.
    pub queue_empty: Option<f64>,
    /// Fraction of the instants at which nothing waited, sampled every `trace.sample` from the start of the window on.
    pub queue_empty_sampled: Option<f64>,
    /// Time in the queue in seconds, one value a packet, at its departure.
    pub delay_s: ClassDelays,
    /// What waited longer than the target for the delay; only if there is a target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above_target: Option<AboveTarget>,
    /// Packets that arrived at the queue.
    pub arrived: u64,
    /// Packets the queue marked.
    pub marked: u64,
    /// Packets that arrived with CE, which a queue before this one had set, and which are not among `marked`; only if
    /// there are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub arrived_marked: u64,
    /// Packets that queue protection sent from the low-latency queue to the classic one, dropped there or not; only if
    /// there are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redirected: u64,
    /// Packets the queue dropped.
    pub dropped: u64,
    /// Packets whose transmission began.
    pub departed: u64,
    /// Bytes on the wire of those, framing included.
    pub departed_bytes: u64,
    /// `dropped` by cause.
    pub dropped_by: DroppedBy,
    /// `marked` by cause.
    pub marked_by: MarkedBy,
    /// The part of the ECN-capable packets.
    pub ect: ClassCounts,
    /// The part of the others.
    pub not_ect: ClassCounts,
    /// Its queues for traffic classes, in the order of the scenario; only if it has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<TrafficClass>,
}

/// Queueing delay per class.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassDelays {
    /// All packets.
    pub all: Distribution,
    /// ECN-capable packets.
    pub ect: Distribution,
    /// Packets that are not ECN-capable.
    pub not_ect: Distribution,
}

/// Waiting packets per class.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ClassQueues {
    /// ECN-capable packets.
    pub ect: Distribution,
    /// Packets that are not ECN-capable.
    pub not_ect: Distribution,
}

/// Drops by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DroppedBy {
    /// By the marking law: the sum of threshold, early, forced, coupled and sojourn.
    pub aqm: u64,
    /// The buffer was full.
    pub buffer: u64,
    /// Above a fixed threshold.
    pub threshold: u64,
    /// Random early decision.
    pub early: u64,
    /// Average above its upper limit.
    pub forced: u64,
    /// Sojourn time above its target for too long.
    #[serde(default)]
    pub sojourn: u64,
    /// The memory that the port shares with others had no room.
    #[serde(default)]
    pub shared_buffer: u64,
    /// Random decision coupled to that about classic traffic, about a packet that could not be marked; only if there
    /// are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub coupled: u64,
}

/// Marks by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MarkedBy {
    /// Above a fixed threshold.
    pub threshold: u64,
    /// Random early decision.
    pub early: u64,
    /// Average above its upper limit.
    pub forced: u64,
    /// Random decision coupled to that about classic traffic.
    #[serde(default)]
    pub coupled: u64,
    /// Sojourn time above its target for too long.
    #[serde(default)]
    pub sojourn: u64,
    /// The buffer was full; only if there are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub buffer: u64,
    /// The memory that the port shares with others had no room; only if there are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_buffer: u64,
}
}

/// How often a [`QueueMeter`] looks up from counting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeterPace {
    /// Time between samples of whether something waits.
    pub sample: Span,
    /// Length of the windows that get distributions of their own; zero: none.
    pub windows: Span,
}

impl Default for MeterPace {
    /// Samples every 10 ms, no windows.
    fn default() -> Self {
        Self { sample: Span::from_millis(10), windows: Span::ZERO }
    }
}

/// Queue statistics, delays and counts of a link inside the measurement window, which ends where [`Self::finish`] says.
///
/// Calls of one kind come with times that never decrease; calls of different kinds may be interleaved freely, so the
/// caller may report the changes of the backlog later than the packets that caused them.
#[derive(Clone, Debug)]
pub struct QueueMeter {
    window_start: Time,
    rate: Rate,
    transmission: Transmission,
    /// What waits since `since`, which is never before the start of the window.
    waiting: Waiting,
    since: Time,
    /// What waited in the window before, weighted by picoseconds, as far as the histograms do not have it yet.
    recent: Recent<Waiting>,
    /// Weighted by picoseconds.
    queue_bytes: Histogram,
    queue_packets: Histogram,
    /// Transmission time since the start of the window, including what the last packet still needs.
    busy: Span,
    busy_until: Time,
    /// Packets that arrived in the window with CE.
    arrived_marked: u64,
    /// Packets that were redirected in the window.
    redirected: u64,
    /// What transmissions carried in the window beyond falls of the rate and into outages.
    excess_bits: u64,
    classes: [ClassMeter; 2],
    sampler: Sampler,
    backlog_windows: WindowedHistograms<3>,
    delay_windows: WindowedHistograms<2>,
    /// The next sample or end of a window of the backlog.
    next_stop: Time,
    delay_window_end: Time,
    /// By [`Reason`].
    marks: [u64; Reason::NAMES.len()],
    drops: [u64; Reason::NAMES.len()],
    /// Packets that arrived, and those that left or were dropped, since the queue was empty at the beginning.
    entered: u64,
    gone: u64,
    /// Target for the delay, the longest time if there is none, and what waited longer.
    target: Span,
    above_packets: u64,
    above_bytes: u64,
}

/// What waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Waiting {
    bytes: u64,
    packets: u32,
    /// By [`Class`].
    of_class: [u32; 2],
}

impl QueueMeter {
    /// A meter of an empty queue at a link of `rate` whose window opens at `window_start`.
    ///
    /// # Panics
    /// If the rate or the time between samples is zero.
    pub fn new(window_start: Time, rate: Rate, pace: MeterPace) -> Self {
        assert!(!pace.sample.is_zero(), "no time between samples");
        let backlog_windows = WindowedHistograms::new(
            window_start,
            pace.windows,
            [QueueClass::All, QueueClass::Ect, QueueClass::NotEct],
        );
        let delay_windows =
            WindowedHistograms::new(window_start, pace.windows, [QueueClass::Ect, QueueClass::NotEct]);
        Self {
            window_start,
            rate,
            transmission: Transmission::new(rate, [].into()),
            waiting: Waiting::default(),
            since: window_start,
            recent: Recent::new(),
            queue_bytes: Histogram::new(),
            queue_packets: Histogram::new(),
            busy: Span::ZERO,
            busy_until: Time::ZERO,
            arrived_marked: 0,
            redirected: 0,
            excess_bits: 0,
            classes: [ClassMeter::new(), ClassMeter::new()],
            sampler: Sampler::new(window_start, pace.sample),
            next_stop: window_start,
            delay_window_end: delay_windows.end(),
            backlog_windows,
            delay_windows,
            marks: Default::default(),
            drops: Default::default(),
            entered: 0,
            gone: 0,
            target: NO_TARGET,
            above_packets: 0,
            above_bytes: 0,
        }
    }

    /// The rate of the link changes; to be called before any event.
    #[must_use]
    pub fn with_rate_changes(mut self, changes: Arc<[RateChange]>) -> Self {
        self.transmission = Transmission::new(self.rate, changes);
        self
    }

    /// The rate changes as `changes` say, which differ from those before only later than any event so far.
    pub fn replan(&mut self, changes: Arc<[RateChange]>) {
        self.transmission.replan(changes);
    }

    /// Gives the histograms what they do not have yet, up to `now`; to be called before they are read.
    pub fn settle(&mut self, now: Time) {
        self.advance_to(now);
        self.drain();
    }

    fn drain(&mut self) {
        let Self { recent, queue_bytes, queue_packets, classes, .. } = self;
        recent.drain(|waiting, weight| record(waiting, weight, queue_bytes, queue_packets, classes));
    }

    /// Queueing delay in picoseconds of the packets of a class that have left the queue in the window so far.
    pub const fn delay(&self, class: Class) -> &Histogram {
        &self.classes[class as usize].delay
    }

    /// Waiting packets of a class over time in the window up to [`Self::settle`], with picoseconds as weights.
    pub const fn class_queue(&self, class: Class) -> &Histogram {
        &self.classes[class as usize].queue_packets
    }

    /// Waiting packets of a class now.
    pub const fn class_packets(&self, class: Class) -> u32 {
        self.waiting.of_class[class as usize]
    }

    /// What waits longer than `target` is counted; to be called before any event.
    #[must_use]
    pub const fn with_delay_target(mut self, target: Span) -> Self {
        self.target = target;
        self
    }

    /// Whether every packet that arrived was sent, was dropped, or waits. To be asked when all that happened was
    /// reported.
    ///
    /// # Errors
    /// The numbers, if not.
    pub fn balance(&self, name: &str) -> Result<(), BrokenLaw> {
        if self.entered == self.gone + u64::from(self.waiting.packets) {
            return Ok(());
        }
        Err(BrokenLaw {
            place: format!("link `{name}`"),
            what: format!(
                "{} packets arrived since the start, {} were sent or dropped, and {} wait",
                self.entered, self.gone, self.waiting.packets
            ),
        })
    }

    /// From `now` on, `packets` with `bytes` in total wait. To be called before [`Self::on_join`] and
    /// [`Self::on_leave`].
    // Inlined in its callers: as a call of its own it saves and restores six registers twice a packet.
    #[allow(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    pub fn on_backlog(&mut self, now: Time, packets: u32, bytes: u64) {
        self.advance_to(now);
        self.waiting.packets = packets;
        self.waiting.bytes = bytes;
    }

    /// A packet of `bytes` waits from `now` on: [`Self::on_backlog`] and [`Self::on_join`] for callers that do not know
    /// the backlog.
    pub fn on_enter(&mut self, now: Time, class: Class, bytes: u32) {
        self.on_backlog(now, self.waiting.packets + 1, self.waiting.bytes + u64::from(bytes));
        self.on_join(now, class);
    }

    /// A packet of `bytes` waits no more: [`Self::on_backlog`] and [`Self::on_leave`] for callers that do not know the
    /// backlog.
    pub fn on_exit(&mut self, now: Time, class: Class, bytes: u32) {
        self.on_backlog(now, self.waiting.packets - 1, self.waiting.bytes - u64::from(bytes));
        self.on_leave(now, class);
    }

    /// One of the waiting packets, of which [`Self::on_backlog`] has told at this time, is new.
    #[inline]
    pub fn on_join(&mut self, now: Time, class: Class) {
        debug_assert!(now <= self.since, "the backlog comes first");
        self.waiting.of_class[class as usize] += 1;
    }

    /// A packet waits no more, of which [`Self::on_backlog`] has told at this time.
    #[inline]
    pub fn on_leave(&mut self, now: Time, class: Class) {
        debug_assert!(now <= self.since, "the backlog comes first");
        self.waiting.of_class[class as usize] -= 1;
    }

    /// What waits did not change until `now`.
    // Inlined in its callers: calls cost 1.5 % of a run over a single link.
    #[allow(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    fn advance_to(&mut self, now: Time) {
        if now > self.since {
            if now > self.next_stop {
                self.stop(now);
            }
            self.advance(now);
        } else {
            debug_assert!(now == self.since || now < self.window_start, "the backlog changed in the past");
        }
    }

    /// Records what waits up to `now`, after `since`.
    #[inline]
    fn advance(&mut self, now: Time) {
        let span = (now - self.since).as_picos();
        self.since = now;
        let Self { recent, queue_bytes, queue_packets, classes, waiting, .. } = self;
        recent.add(*waiting, waiting.bytes, span, |waiting, weight| {
            record(waiting, weight, queue_bytes, queue_packets, classes);
        });
    }

    /// Takes the samples before `now` and ends the windows that end before it.
    #[cold]
    fn stop(&mut self, now: Time) {
        self.sampler.advance(now, self.waiting.packets == 0);
        while self.backlog_windows.end() < now {
            let end = self.backlog_windows.end();
            if end > self.since {
                self.advance(end);
            }
            self.drain();
            let [ect, not_ect] = &self.classes;
            self.backlog_windows.cut(end, [&self.queue_packets, &ect.queue_packets, &not_ect.queue_packets]);
        }
        self.next_stop = self.sampler.next().min(self.backlog_windows.end());
    }

    /// A packet arrived at the queue, whatever becomes of it.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, class: Class) {
        self.entered += 1;
        self.classes[class as usize].arrived += u64::from(now >= self.window_start);
    }

    /// The packet that arrived carries a mark, which a queue before this one has set.
    pub fn on_marked_arrival(&mut self, now: Time) {
        self.arrived_marked += u64::from(now >= self.window_start);
    }

    /// Queue protection sent the packet that arrived to the classic queue.
    pub fn on_redirection(&mut self, now: Time) {
        self.redirected += u64::from(now >= self.window_start);
    }

    /// The queue marked a packet, on arrival or departure.
    #[inline]
    pub fn on_mark(&mut self, now: Time, class: Class, reason: Reason) {
        let counts = u64::from(now >= self.window_start);
        self.classes[class as usize].marked += counts;
        self.marks[reason as usize] += counts;
    }

    /// The queue dropped a packet, on arrival or departure.
    #[inline]
    pub fn on_drop(&mut self, now: Time, class: Class, reason: Reason) {
        self.gone += 1;
        let counts = u64::from(now >= self.window_start);
        self.classes[class as usize].dropped += counts;
        self.drops[reason as usize] += counts;
    }

    /// Transmission of a packet begins after it waited for `sojourn`; `wire_bytes` is what the link serialises, with
    /// framing.
    // Inlined in its callers, of which the one for links without traffic classes is on the path of every packet.
    #[allow(clippy::inline_always, reason = "see above")]
    #[inline(always)]
    pub fn on_departure(&mut self, now: Time, class: Class, sojourn: Span, wire_bytes: u32) {
        self.gone += 1;
        let span = self.transmission.span(wire_bytes, now);
        self.busy_until = now + span;
        // A packet in transmission when the window opens keeps the link busy for its rest.
        self.busy += self.busy_until.since(now.max(self.window_start));
        if now >= self.window_start {
            while now >= self.delay_window_end {
                self.cut_delays();
            }
            let class = &mut self.classes[class as usize];
            class.delay.record(sojourn.as_picos());
            class.departed += 1;
            class.departed_bytes += u64::from(wire_bytes);
            if self.transmission.may_exceed(self.busy_until) {
                self.excess_bits += self.transmission.excess_bits(wire_bytes, now, span);
            }
            if sojourn > self.target {
                self.above_packets += 1;
                self.above_bytes += u64::from(wire_bytes);
            }
        }
    }

    #[cold]
    fn cut_delays(&mut self) {
        let [ect, not_ect] = &self.classes;
        self.delay_windows.cut(self.delay_window_end, [&ect.delay, &not_ect.delay]);
        self.delay_window_end = self.delay_windows.end();
    }

    /// Bits that transmissions carried in the window beyond what the rates of the link allow in their time.
    pub const fn excess_bits(&self) -> u64 {
        self.excess_bits
    }

    /// Closes the window at `end`, not before the last reported time. Gives the result and the distributions behind it.
    pub fn finish(mut self, name: &str, end: Time) -> (Bottleneck, LinkDistributions) {
        self.settle(end);
        let window = end.since(self.window_start);
        let seconds = window.as_picos() as f64;
        let busy = self.busy.saturating_sub(self.busy_until.since(end.max(self.window_start)));
        let empty = self
            .queue_packets
            .buckets()
            .next()
            .filter(|bucket| bucket.high == 0)
            .map_or(0, |bucket| bucket.weight);
        let [ect, not_ect] = &self.classes;
        let mut all = ect.delay.clone();
        all.merge(&not_ect.delay);
        let result = Bottleneck {
            name: name.to_owned(),
            rate_bps: self.rate.as_bps() as f64,
            history: None,
            utilisation: finite(busy.as_picos() as f64 / seconds),
            queue_bytes: self.queue_bytes.distribution(1.0),
            queue_packets: self.queue_packets.distribution(1.0),
            class_queue_packets: ClassQueues {
                ect: ect.queue_packets.distribution(1.0),
                not_ect: not_ect.queue_packets.distribution(1.0),
            },
            queue_empty: finite(empty as f64 / seconds),
            queue_empty_sampled: self.sampler.empty_fraction(),
            delay_s: ClassDelays {
                all: all.distribution(PICOS_PER_SECOND),
                ect: ect.delay.distribution(PICOS_PER_SECOND),
                not_ect: not_ect.delay.distribution(PICOS_PER_SECOND),
            },
            above_target: (self.target < NO_TARGET).then(|| AboveTarget {
                target_s: self.target.as_secs_f64(),
                packets: self.above_packets,
                bytes: self.above_bytes,
            }),
            arrived: ect.arrived + not_ect.arrived,
            marked: ect.marked + not_ect.marked,
            arrived_marked: self.arrived_marked,
            redirected: self.redirected,
            dropped: ect.dropped + not_ect.dropped,
            departed: ect.departed + not_ect.departed,
            departed_bytes: ect.departed_bytes + not_ect.departed_bytes,
            dropped_by: DroppedBy::of(self.drops),
            marked_by: MarkedBy::of(self.marks),
            ect: ect.counts(),
            not_ect: not_ect.counts(),
            classes: Vec::new(),
        };
        let packets = [&self.queue_packets, &ect.queue_packets, &not_ect.queue_packets];
        let backlog_windows = self.backlog_windows.finish(end, packets);
        let delay_windows = self.delay_windows.finish(end, [&ect.delay, &not_ect.delay]);
        let [ect, not_ect] = self.classes;
        let distributions = LinkDistributions {
            queue_bytes: self.queue_bytes,
            queue_packets: self.queue_packets,
            ect_packets: ect.queue_packets,
            not_ect_packets: not_ect.queue_packets,
            ect_delay: ect.delay,
            not_ect_delay: not_ect.delay,
            backlog_windows,
            delay_windows,
        };
        (result, distributions)
    }
}

/// Records that something waited for a time of `weight` picoseconds.
#[cold]
#[inline(never)]
fn record(
    waiting: Waiting,
    weight: u64,
    bytes: &mut Histogram,
    packets: &mut Histogram,
    classes: &mut [ClassMeter; 2],
) {
    bytes.record_weighted(waiting.bytes, weight);
    packets.record_weighted(waiting.packets.into(), weight);
    for (class, packets) in classes.iter_mut().zip(waiting.of_class) {
        class.queue_packets.record_weighted(packets.into(), weight);
    }
}

/// No packet waits longer.
const NO_TARGET: Span = Span::from_picos(u64::MAX);

const PICOS_PER_SECOND: f64 = 1e12;

/// For counts that nearly no result has.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
pub(crate) const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl DroppedBy {
    /// Counts by [`Reason`], in the order of its codes.
    pub(crate) const fn of(counts: [u64; Reason::NAMES.len()]) -> Self {
        let [buffer, threshold, early, forced, coupled, sojourn, shared_buffer] = counts;
        let aqm = threshold + early + forced + coupled + sojourn;
        Self { aqm, buffer, threshold, early, forced, sojourn, shared_buffer, coupled }
    }
}

impl MarkedBy {
    /// Counts by [`Reason`], in the order of its codes.
    pub(crate) const fn of(counts: [u64; Reason::NAMES.len()]) -> Self {
        let [buffer, threshold, early, forced, coupled, sojourn, shared_buffer] = counts;
        Self { threshold, early, forced, coupled, sojourn, buffer, shared_buffer }
    }
}

#[cfg(test)]
mod tests;
