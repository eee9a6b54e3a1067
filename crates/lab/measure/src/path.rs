//! What a link with impairments did to packets.

use crate::fields::described;
use serde::{Deserialize, Serialize};

described! {

/// What a link with impairments did to the packets that left its transmitter, inside the measurement window. None of it
/// counts as a drop of a queue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathResult {
    /// Name of the link.
    pub link: String,
    /// Packets lost. One that was to arrive twice and is lost once arrives, and counts as lost and as duplicated. Null
    /// if the kernel does not count it.
    pub lost: Option<u64>,
    /// Packets that were to arrive twice; null if the kernel does not count it.
    pub duplicated: Option<u64>,
    /// Packets that arrive with a wrong bit, so that their receiver drops them; null if the kernel does not count it.
    pub corrupted: Option<u64>,
    /// Packets that were sent ahead of those that are delayed. Those that jitter lets overtake others are not counted.
    /// Null if the kernel does not count it.
    pub reordered: Option<u64>,
}
}
