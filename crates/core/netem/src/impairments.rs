//! Everything that may be set.

use crate::{Chance, Distribution, Loss, Slot};

/// What a path does to packets, beyond a delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Impairments {
    /// Variation of the delay.
    pub jitter: Jitter,
    /// Whether no packet overtakes another: one that would is sent together with it. On the kernel, a `rate` so high
    /// that no packet takes any time.
    pub keep_order: bool,
    /// Loss.
    pub loss: Loss,
    /// Probability that a packet is sent twice.
    pub duplicate: Chance,
    /// Probability that a bit of a packet is flipped.
    pub corrupt: Chance,
    /// Packets that are sent ahead of those that are delayed.
    pub reorder: Option<Reorder>,
    /// Delivery in bursts.
    pub slot: Option<Slot>,
    /// Whether the ECN field of every packet is cleared.
    pub clears_ecn: bool,
}

impl Impairments {
    /// Nothing happens to packets.
    pub const NONE: Self = Self {
        jitter: Jitter { ns: 0, distribution: Distribution::Uniform, correlation: Chance::NEVER },
        keep_order: true,
        loss: Loss::NONE,
        duplicate: Chance::NEVER,
        corrupt: Chance::NEVER,
        reorder: None,
        slot: None,
        clears_ecn: false,
    };
}

/// Variation of the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jitter {
    /// Width of the variation in ns, at most 2^31 - 1; 0 for none.
    pub ns: u32,
    /// Its form.
    pub distribution: Distribution,
    /// Correlation of the draws.
    pub correlation: Chance,
}

/// Packets that are sent ahead of those that are delayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reorder {
    /// Probability for each packet that may be chosen.
    pub probability: Chance,
    /// One packet in `gap` may be chosen: after a packet that was sent ahead, `gap` - 1 are delayed. At least 1.
    pub gap: u32,
}
