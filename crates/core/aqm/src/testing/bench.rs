//! A queue with its clock and its random stream.

use crate::{
    AnyQueue, AverageScope, Dequeued, DualRedConfig, Extent, LawConfig, LinuxRedConfig, MarkSpacing, Queue,
    QueueConfig, Reason, RedConfig, RedParameters, Verdict,
};
use shoal_packet::{Ecn, FlowId, Packet};
use shoal_units::{Rate, Span, Stream, Time};

/// 10 Mbit/s: 1500 B take 1.2 ms.
pub(crate) const LINE: Rate = Rate::from_bps(10_000_000);
pub(crate) const PACKET_TIME: Span = Span::from_micros(1200);

/// `limit 1000000 min 30000 max 90000 avpkt 1500 burst 55 probability 0.1 ecn` on [`LINE`]: 55 + 1 - 20 = 36 is at most
/// (1 - (63/64)^55) 64 = 37.1, but more than (1 - (31/32)^55) 32 = 26.4, so Wlog is 6.
pub(crate) const LINUX_RED: LinuxRedConfig = LinuxRedConfig {
    limit_bytes: 1_000_000,
    min_bytes: 30_000,
    max_bytes: 90_000,
    avpkt_bytes: 1500,
    burst_packets: 55,
    probability: 0.1,
    bandwidth: LINE,
    ecn: true,
    harddrop: false,
    nodrop: false,
    adaptive: false,
    legacy_probability: false,
};

pub(crate) struct Bench<Q> {
    pub queue: Q,
    pub now: Time,
    pub random: Stream,
    seed: u64,
}

impl Bench<AnyQueue> {
    /// The queue of any configuration on [`LINE`].
    pub(crate) fn any(config: impl Into<QueueConfig>) -> Self {
        Self::new(AnyQueue::new(&config.into(), LINE))
    }
}

impl<Q: Queue> Bench<Q> {
    pub(crate) fn new(queue: Q) -> Self {
        Self::seeded(queue, 1)
    }

    /// The law's own queue on [`LINE`].
    pub(crate) fn of(config: impl LawConfig<Queue = Q>) -> Self {
        Self::new(config.build(LINE).unwrap())
    }

    pub(crate) fn seeded(queue: Q, seed: u64) -> Self {
        Self { queue, now: Time::ZERO, random: Stream::new(seed, "queue"), seed }
    }

    pub(crate) fn arrive(&mut self, size: u16, ecn: Ecn) -> Verdict {
        self.queue.enqueue(&Packet { ecn, ..Packet::empty(FlowId(0), size) }, self.now, &mut self.random)
    }

    pub(crate) fn arrive_of(&mut self, flow: u32, size: u16, ecn: Ecn) -> Verdict {
        self.queue.enqueue(&Packet { ecn, ..Packet::empty(FlowId(flow), size) }, self.now, &mut self.random)
    }

    /// So many equal packets arrive at once, whatever the queue decides about them.
    pub(crate) fn arrivals(&mut self, count: u32, size: u16, ecn: Ecn) {
        for _ in 0..count {
            let _ = self.arrive(size, ecn);
        }
    }

    /// A 1500-byte ECT packet arrives; whether it is marked.
    pub(crate) fn is_marked(&mut self) -> bool {
        mark_of(self.arrive(1500, Ecn::Ect0)).is_some()
    }

    pub(crate) fn take(&mut self) -> Dequeued {
        self.queue.dequeue(self.now, &mut self.random)
    }

    /// The packet that leaves next, and why it is marked on departure.
    pub(crate) fn send(&mut self) -> (Packet, Option<Reason>) {
        match self.take() {
            Dequeued::Packet { packet, mark, .. } => (packet, mark),
            other => panic!("{other:?}"),
        }
    }

    /// Moves on to `now` after all timers that are due by then have expired.
    pub(crate) fn advance_to(&mut self, now: Time) {
        while self.queue.next_timer() <= now {
            let due = self.queue.next_timer();
            self.queue.on_timer(due);
        }
        self.now = now;
    }

    pub(crate) fn wait(&mut self, span: Span) {
        self.now += span;
    }

    /// The line takes everything that waits, one packet after the other; ends when the last one is sent.
    pub(crate) fn transmit_all(&mut self) {
        while let Dequeued::Packet { packet, .. } = self.take() {
            self.now += LINE.time_for(packet.size.into());
        }
    }

    /// ECT packets arrive until `bytes` wait. Marks do not matter.
    pub(crate) fn fill(&mut self, size: u16, bytes: u64) {
        while self.queue.backlog().bytes < bytes {
            assert_eq!(dropped(self.arrive(size, Ecn::Ect0)), None);
        }
    }

    /// Packets arrive and leave in turn, so that every arrival finds the same backlog.
    pub(crate) fn cycle(&mut self, size: u16, ecn: Ecn) -> Verdict {
        let verdict = self.arrive(size, ecn);
        if let Verdict::Queued { .. } = verdict {
            assert!(matches!(self.take(), Dequeued::Packet { .. }));
        }
        verdict
    }

    /// How many 64-bit numbers were drawn.
    pub(crate) fn draws(&self) -> usize {
        let target = self.random.clone().uniform_u64();
        let mut fresh = Stream::new(self.seed, "queue");
        (0..10_000_000).find(|_| fresh.uniform_u64() == target).expect("the stream is further on")
    }
}

pub(crate) fn mark_of(verdict: Verdict) -> Option<Reason> {
    match verdict {
        Verdict::Queued { mark } => mark,
        Verdict::Dropped(reason) => panic!("dropped: {reason:?}"),
        Verdict::Displaced => panic!("others were dropped"),
    }
}

pub(crate) fn dropped(verdict: Verdict) -> Option<Reason> {
    match verdict {
        Verdict::Queued { .. } | Verdict::Displaced => None,
        Verdict::Dropped(reason) => Some(reason),
    }
}

/// No weighting: the average is the backlog that the packet finds.
pub(crate) fn unweighted(
    min_bytes: f64,
    max_bytes: f64,
    max_probability: f64,
    spacing: MarkSpacing,
) -> RedParameters {
    RedParameters { min_bytes, max_bytes, max_probability, weight: 1.0, gentle: false, spacing }
}

/// RED with an unlimited buffer on [`LINE`].
pub(crate) fn red_of(parameters: RedParameters, ecn: bool) -> RedConfig {
    RedConfig { parameters, ecn, limit: Extent::Unlimited, rate: LINE, mean_packet_bytes: 1500 }
}

/// Dual RED with an unlimited buffer on [`LINE`].
pub(crate) fn dual_red_of(
    not_ect: RedParameters,
    ect: RedParameters,
    average: AverageScope,
) -> DualRedConfig {
    let (limit, mean_packet_bytes) = (Extent::Unlimited, 1500);
    DualRedConfig { not_ect, ect, average, limit, rate: LINE, mean_packet_bytes }
}

/// Whether `count` of `n` independent trials is within four standard deviations of the probability `p`.
pub(crate) fn is_likely(count: usize, n: u32, p: f64) -> bool {
    let n = f64::from(n);
    (count as f64 - n * p).abs() <= 4.0 * (n * p * (1.0 - p)).sqrt()
}

/// Pearson's statistic of `counts` against equal probabilities.
pub(crate) fn chi_square(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|&count| (f64::from(count) - expected) * (f64::from(count) - expected) / expected).sum()
}

/// 99.99 % quantile of the chi-square distribution, Wilson and Hilferty's approximation (z = 3.719).
pub(crate) fn chi_square_limit(degrees: usize) -> f64 {
    let k = degrees as f64;
    let root = 1.0 - 2.0 / (9.0 * k) + 3.719 * (2.0 / (9.0 * k)).sqrt();
    k * root * root * root
}
