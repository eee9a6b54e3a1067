//! Marks and drops with a given probability, whatever waits: the open loop in which laws of congestion control are stated.

use crate::store::{Store, mark};
use crate::{Backlog, Class, Dequeued, OpenLoopConfig, OpenLoopSpacing, Queue, Reason, Verdict};
use shoal_packet::Packet;
use shoal_units::{Probability, Rate, Span, Stream, Time};

/// First in, first out; ECT packets are marked and others dropped on arrival at a fixed rate.
#[derive(Clone, Debug)]
pub struct OpenLoop {
    store: Store,
    marks: Law,
    drops: Law,
}

/// The decisions about one class.
#[derive(Clone, Debug)]
enum Law {
    Independent(Probability),
    /// `sum`, a fraction of 2^32, is below 1; each packet adds the probability, and an overflow is a hit.
    Even {
        probability: Probability,
        sum: u64,
    },
    /// Everything in the first `on` of each `period`; a period of zero: nothing.
    Bursts {
        on: Span,
        period: Span,
    },
}

impl OpenLoop {
    /// An empty queue at a line of `line_rate`.
    pub fn new(config: &OpenLoopConfig, line_rate: Rate) -> Self {
        let law = |probability| Law::new(probability, config.spacing);
        Self { store: Store::new(config.limit, line_rate), marks: law(config.mark), drops: law(config.drop) }
    }
}

impl Law {
    fn new(probability: Probability, spacing: OpenLoopSpacing) -> Self {
        match spacing {
            OpenLoopSpacing::Independent => Self::Independent(probability),
            OpenLoopSpacing::Even => Self::Even { probability, sum: 0 },
            OpenLoopSpacing::Bursts { on } => {
                let period = u128::from(on.as_picos()) << 32;
                let period = period.checked_div(probability.as_q32().into()).unwrap_or(0);
                Self::Bursts { on, period: Span::from_picos(u64::try_from(period).unwrap_or(0)) }
            }
        }
    }

    #[inline]
    fn hits(&mut self, now: Time, random: &mut Stream) -> bool {
        match self {
            Self::Independent(probability) => probability.happens(random.uniform_u32()),
            Self::Even { probability, sum } => {
                *sum += probability.as_q32();
                let hit = *sum >= Probability::ONE.as_q32();
                *sum &= Probability::ONE.as_q32() - 1;
                hit
            }
            Self::Bursts { on, period } => {
                !period.is_zero() && now.as_picos() % period.as_picos() < on.as_picos()
            }
        }
    }
}

impl Queue for OpenLoop {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        if !self.store.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        let law = if packet.ecn.is_capable() { &mut self.marks } else { &mut self.drops };
        let hit = law.hits(now, random);
        if hit && !mark(&mut packet) {
            return Verdict::Dropped(Reason::Early);
        }
        self.store.push(packet, now);
        Verdict::Queued { mark: hit.then_some(Reason::Early) }
    }

    #[inline]
    fn dequeue(&mut self, _: Time, _: &mut Stream) -> Dequeued {
        match self.store.pop() {
            Some(packet) => Dequeued::Packet { packet, mark: None },
            None => Dequeued::Empty,
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.store.class_backlog(class)
    }
}
