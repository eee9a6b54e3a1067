//! One run on several threads, with the same bytes as on one.
//!
//! The network is divided into parts ([`Division`]), each with the events of its own links, endpoints and timers. A
//! packet that leaves a part is on a link whose propagation takes at least the lookahead, so all parts can go on by
//! that time without hearing of each other (Chandy and Misra, "Distributed simulation", IEEE TSE 5(5), 1979; windows as
//! in Lubachevsky, "Efficient distributed event-driven simulations of multiple-loop networks", CACM 32(1), 1989).
//!
//! Ties are what makes this more than a textbook case: events at equal times come in the order of insertion, which is
//! an order over all parts. Inside of a window each part numbers what it inserts for itself; behind the window the
//! executed events of all parts are merged in their order, and what they inserted gets its final number ([`order`]). A
//! link between parts has its events in both: in the part that sends, with all that happens to its queue, and as a
//! shadow in the part that receives, which so knows the place of each arrival among its own events ([`Crossings`]).

mod crossings;
mod division;
mod meeting;
mod order;
mod threads;

pub(crate) use crossings::{Crossings, Message};
pub use division::Division;
pub(crate) use order::{Log, Role};
pub(crate) use threads::run;
