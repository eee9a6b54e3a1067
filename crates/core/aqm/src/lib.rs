//! Queues and their markers: pure control laws. No clock and no randomness of their own: both are arguments.
//!
//! A queue holds the packets that wait; the packet being transmitted has left it. Marks and drops carry their reason.
#![cfg_attr(not(any(test, feature = "testing")), no_std)]
#![cfg_attr(
    not(any(test, feature = "testing")),
    deny(
        clippy::unwrap_used,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap
    )
)]

extern crate alloc;

mod any;
mod config;
mod external;
mod flow_hash;
mod laws;
mod queue;
mod sched;
mod shell;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tunnels;

pub use any::{AnyClosed, AnyQueue, DOCS, QueueConfig};
pub use config::{DecideAt, Extent};
pub use external::{ExternalQueue, ExternalQueueConfig, ExternalQueueLaw};
pub use laws::*;
pub use queue::{Dequeued, Queue, Verdict};
pub use sched::{Lane, MemoryShare, SchedulerConfig, ShaperConfig};
pub use shell::{
    Bound, Closed, Decision, DelayRampConfig, Dual, DualLaw, Lanes, Law, Passage, ProtectionConfig, Single,
    Start, Store, Transmitter, Waiting, Watch,
};
pub use shoal_packet::{Backlog, Class, Ecn, Reason};
pub use tunnels::Tunnels;
