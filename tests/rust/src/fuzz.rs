//! The bodies of the fuzz targets: functions of bytes that panic if something does not hold.

mod bottleneck;
mod conformance_script;
mod controller;
mod frame;
mod hostile_peer;
mod own_law;
mod queue;
mod receiver_packets;
mod scenario_override;
mod scenario_toml;
mod sender_acks;
mod whole_run;

pub use bottleneck::bottleneck;
pub use conformance_script::conformance_script;
pub use controller::controller;
pub use frame::frame;
pub use hostile_peer::hostile_peer;
pub use own_law::own_law;
pub use queue::queue;
pub use receiver_packets::receiver_packets;
pub use scenario_override::scenario_override;
pub use scenario_toml::scenario_toml;
pub use sender_acks::sender_acks;
pub use whole_run::whole_run;

/// A function of bytes that panics if something does not hold.
pub type Target = fn(&[u8]);

/// All targets with the names of their binaries and corpora in `fuzz/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("scenario_toml", scenario_toml),
    ("scenario_override", scenario_override),
    ("sender_acks", sender_acks),
    ("receiver_packets", receiver_packets),
    ("hostile_peer", hostile_peer),
    ("queue", queue),
    ("controller", controller),
    ("whole_run", whole_run),
    ("conformance_script", conformance_script),
    ("own_law", own_law),
    ("bottleneck", bottleneck),
    ("frame", frame),
];
