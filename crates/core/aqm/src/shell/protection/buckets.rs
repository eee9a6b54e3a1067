//! The scores of flows, in a few buckets that belong to one flow until they have faded.

use crate::flow_hash::FlowHash;
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::FlowId;
use shoal_units::Stream;

/// Buckets that flows own, and behind them one for the rest ("dregs"), which they share.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    all: Vec<Bucket>,
    hash: FlowHash,
    /// `BI_SIZE`: bits of the hash that name a bucket.
    bits: u8,
    attempts: u8,
}

/// A score.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    owner: Option<FlowId>,
    /// When the score will have faded, in nanoseconds.
    expires_ns: u64,
}

impl Buckets {
    pub(super) fn new(bits: u8, attempts: u8) -> Self {
        let bits = bits.min(16);
        Self {
            all: vec![Bucket { owner: None, expires_ns: 0 }; (1 << bits) + 1],
            hash: FlowHash::default(),
            bits,
            attempts,
        }
    }

    /// The bucket of a flow (`pick_bucket`): the one that it owns; else the first that has faded, which it owns from
    /// now on; else the one for the rest.
    pub(super) fn of(&mut self, flow: FlowId, now_ns: u64, random: &mut Stream) -> &mut Bucket {
        let number = self.number_of(flow, now_ns, random);
        let bucket = &mut self.all[number];
        bucket.owner = Some(flow);
        bucket.expires_ns = bucket.expires_ns.max(now_ns);
        bucket
    }

    pub(super) fn number_of(&mut self, flow: FlowId, now_ns: u64, random: &mut Stream) -> usize {
        let mut hash = self.hash.of(flow, random);
        let rest = self.all.len() - 1;
        let mut free = rest;
        for _ in 0..self.attempts {
            let number = (hash & ((1 << self.bits) - 1)) as usize;
            let bucket = self.all[number];
            if bucket.owner == Some(flow) {
                return number;
            }
            if free == rest && bucket.expires_ns <= now_ns {
                free = number;
            }
            hash >>= self.bits;
        }
        free
    }
}

#[cfg(test)]
impl Buckets {
    /// The score in a bucket.
    pub(super) fn score_ns(&self, number: usize, now_ns: u64) -> u64 {
        self.all[number].expires_ns.saturating_sub(now_ns)
    }
}

impl Bucket {
    /// Adds to the score, which is not below zero; returns it (`fill_bucket`).
    pub(super) const fn fill(&mut self, more_ns: u64, ceiling_ns: u64, now_ns: u64) -> u64 {
        let score_ns = self.expires_ns.saturating_sub(now_ns).saturating_add(more_ns);
        let score_ns = if score_ns > ceiling_ns { ceiling_ns } else { score_ns };
        self.expires_ns = now_ns.saturating_add(score_ns);
        score_ns
    }
}
