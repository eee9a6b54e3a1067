//! Any small scenario, run to its end.

use crate::{Bytes, check_conservation, monitor_all_links, random_scenario, run};
use shoal_scenario::Document;

/// Nothing panics (debug assertions are on) and no packet is lost or invented.
///
/// # Panics
/// If one of these properties does not hold.
pub fn whole_run(input: &[u8]) {
    let text = random_scenario(&mut Bytes::new(input));
    let Ok(document) = Document::parse(&text, "fuzz.toml") else { return };
    let mut experiment = document.resolve(None).expect("what was read was checked");
    monitor_all_links(&mut experiment);
    let outcome = run(&experiment);
    check_conservation(&outcome);
    for flow in outcome.groups.iter().flat_map(|group| &group.flows) {
        assert!(flow.cwnd_packets.min.is_none_or(|cwnd| cwnd >= 1.0), "{flow:?}");
        assert!(flow.goodput_bps.is_some_and(f64::is_finite), "{flow:?}");
    }
}
