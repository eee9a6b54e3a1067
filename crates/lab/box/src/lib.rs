//! A bottleneck between two network interfaces: frames that come in at one leave at the other through the same queues,
//! at the same rates and delays, as in the simulator.

mod carrier;
mod change;
mod direction;
mod frame;
mod journal;
mod port;
mod record;

pub use carrier::{Carrier, Lateness, Stop};
pub use change::Change;
pub use direction::{Ahead, Decision, Direction, FlowCount, Leaving};
pub use frame::{FlowKey, Frame, Payload, set_ce};
pub use journal::{Fate, Journal};
pub use port::{Buffer, Port, PortError, Taken};
pub use record::{Cut, Difference, Record, Replayed, replay};
