//! Assigns the packets of a flow to a queue.

use crate::FlowQueues;
use crate::flow_hash::FlowHash;
use shoal_packet::FlowId;
use shoal_units::Stream;

/// Maps flows to queues.
#[derive(Clone, Copy, Debug)]
pub(super) enum Classifier {
    /// Each flow is mapped by a hash.
    Hashed {
        /// Number of queues.
        queues: u32,
        hash: FlowHash,
    },
    /// Each flow has the queue with its own number.
    PerFlow,
}

impl Classifier {
    pub(super) fn new(flows: FlowQueues) -> Self {
        match flows {
            FlowQueues::Hashed(queues) => {
                Self::Hashed { queues: queues.clamp(1, 65_536), hash: FlowHash::default() }
            }
            FlowQueues::PerFlow => Self::PerFlow,
        }
    }

    /// Number of queues at the beginning.
    pub(super) fn queues(&self) -> usize {
        match *self {
            Self::Hashed { queues, .. } => queues as usize,
            Self::PerFlow => 0,
        }
    }

    /// The queue of a flow.
    #[inline]
    pub(super) fn queue_of(&mut self, flow: FlowId, random: &mut Stream) -> u32 {
        match self {
            Self::PerFlow => flow.0,
            Self::Hashed { queues, hash } => {
                // `reciprocal_scale`.
                ((u64::from(hash.of(flow, random)) * u64::from(*queues)) >> 32) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(queues: u32, seed: u64) -> impl FnMut(u32) -> u32 {
        let mut classifier = Classifier::new(FlowQueues::Hashed(queues));
        let mut random = Stream::new(seed, "queue");
        move |flow| classifier.queue_of(FlowId(flow), &mut random)
    }

    #[test]
    fn a_flow_keeps_its_queue_and_another_seed_mixes_anew() {
        let (mut one, mut other) = (hashed(1024, 1), hashed(1024, 2));
        let first: Vec<u32> = (0..100).map(&mut one).collect();
        assert_eq!((0..100).map(&mut one).collect::<Vec<_>>(), first);
        assert_ne!((0..100).map(&mut other).collect::<Vec<_>>(), first);
    }

    /// Among 100 flows in 1024 queues 100 * 99 / 2 / 1024 = 4.83 pairs collide on average; over 1000 seeds the standard
    /// deviation of the mean is sqrt(4.83 / 1000) = 0.07.
    #[test]
    fn flows_collide_as_often_as_chance_has_it() {
        let mut pairs = 0u32;
        for seed in 0..1000 {
            let mut queue_of = hashed(1024, seed);
            let mut counts = vec![0u32; 1024];
            for flow in 0..100 {
                counts[queue_of(flow) as usize] += 1;
            }
            pairs += counts.iter().map(|count| count * count.saturating_sub(1) / 2).sum::<u32>();
        }
        let mean = f64::from(pairs) / 1000.0;
        assert!((mean - 4950.0 / 1024.0).abs() < 4.0 * 0.07, "{mean}");
    }

    #[test]
    fn every_queue_is_reached() {
        let mut queue_of = hashed(7, 3);
        let mut reached = [false; 7];
        (0..200).for_each(|flow| reached[queue_of(flow) as usize] = true);
        assert_eq!(reached, [true; 7]);
    }
}
