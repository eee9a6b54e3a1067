//! A bottleneck between two network interfaces: frames that come in at one leave at the other through the same queues,
//! at the same rates and delays, as in the simulator.

mod carrier;
mod direction;
mod frame;
mod port;

pub use carrier::{Carrier, Lateness, Stop};
pub use direction::{Ahead, Direction, FlowCount, Leaving};
pub use frame::{FlowKey, Frame, Payload, set_ce};
pub use port::{Buffer, Port, PortError, Taken};
