//! One run on several threads, with the same bytes as on one.
//!
//! The network is divided into parts ([`Division`]), each with the events of its own links, endpoints and timers. A
//! packet that leaves a part is on a link whose propagation takes at least the lookahead, so all parts can go on by
//! that time without hearing of each other (Chandy and Misra, "Distributed simulation", IEEE TSE 5(5), 1979; windows as
//! in Lubachevsky, "Efficient distributed event-driven simulations of multiple-loop networks", CACM 32(1), 1989).
//!
//! The place of an event among those at equal times depends on what it is about alone ([`crate::events`]), so each part
//! has its events in the order that they have on one thread. A link between parts has its events in both: in the part
//! that sends, with all that happens to its queue, and as a shadow in the part that receives ([`Crossings`]).

mod crossings;
mod division;
mod meeting;
mod threads;

pub(crate) use crossings::{Crossings, Message};
pub use division::Division;
pub(crate) use threads::run;
