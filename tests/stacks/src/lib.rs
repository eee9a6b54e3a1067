//! Stacks without a clock or sockets as hosts of a `shoal_bottleneck::Path`, whatever is tested with them.

pub mod quic;
pub mod tcp;

use shoal_scenario::Document;
use shoal_sim::Options;

/// The goodput in bit/s that the simulator says of the first flow of a scenario.
///
/// # Panics
/// If the scenario does not run.
pub fn simulated_goodput(scenario: &str) -> f64 {
    let experiment = Document::parse(scenario, "stacks").unwrap().resolve(None).unwrap();
    let outcome = shoal_sim::run(&experiment, Options::default()).expect("it runs to its end");
    outcome.measured.groups[0].flows[0].goodput_bps.expect("it ran")
}
