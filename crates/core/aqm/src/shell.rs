//! The parts that every queue needs in addition to its law: waiting packets, limits, marks, and counts of
//! waiting packets.
//!
//! A queue is a law in a shell. The shell holds the packets, refuses what does not fit, sets marks and says what became
//! of a packet; a law says what is to become of it. [`Single`] is the shell of one FIFO, and [`Closed`] another one for
//! laws that decide on arrival, which knows at once when a packet leaves; [`Dual`] is that of a low-latency and a
//! classic FIFO behind one scheduler, with queue protection between them if it is asked for. Fair queueing
//! ([`FqCodel`](crate::FqCodel)) has a shell of its own, because its packets lie in thousands of chains and an
//! arrival makes room by dropping others: no law of one or two queues needs either. Traffic classes
//! ([`Classes`](crate::Classes)) are whole queues behind a scheduler.

mod closed;
mod delay_ramp;
mod dual;
mod protection;
mod single;
mod store;
mod threshold;
mod transmitter;

pub use closed::{Closed, Start, Watch};
pub use dual::{Dual, DualLaw, Lanes, Passage};
pub use protection::{DelayRampConfig, ProtectionConfig};
pub use single::{Law, Single};
pub use store::{Bound, Store, Waiting};
pub use transmitter::Transmitter;

pub(crate) use delay_ramp::DelayRamp;
pub(crate) use protection::PROTECTION;
pub(crate) use store::mark;
pub(crate) use threshold::Threshold;

use crate::Reason;
use shoal_packet::Packet;

/// A law's decision on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Decision {
    /// The packet continues unchanged.
    Pass,
    /// The packet is marked. Only for ECN-capable packets.
    Mark(Reason),
    /// The packet is dropped.
    Drop(Reason),
}

impl Decision {
    /// A signal of congestion to the sender of `packet`: a mark if the packet is ECN-capable, otherwise a drop (RFC
    /// 3168 section 5, <https://www.rfc-editor.org/rfc/rfc3168#section-5>).
    #[inline]
    pub const fn signal(packet: &Packet, reason: Reason) -> Self {
        if packet.ecn.is_capable() { Self::Mark(reason) } else { Self::Drop(reason) }
    }
}
