//! What the network cards of hosts did.

use crate::fields::described;
use serde::{Deserialize, Serialize};

described! {

/// What the receiving side of a host's network card did inside the measurement window. Only hosts whose cards make
/// packets wait for an interrupt have one; all connections of the host share it, and it takes data and ACKs alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CardResult {
    /// Name of the host.
    pub host: String,
    /// Packets that the host took from the ring of the card.
    pub packets: u64,
    /// Interrupts, each for all packets that wait in the ring then.
    pub interrupts: u64,
    /// Segments that TCP got of these packets; null where it is not counted, as on the Linux plane.
    pub segments: Option<u64>,
    /// Packets that were dropped because the ring had no place. None of them counts as a drop of a queue.
    pub ring_drops: u64,
}
}
