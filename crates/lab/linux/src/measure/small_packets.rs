//! Thresholds in packets, which are thresholds in bytes of full packets on the kernel.

use shoal_aqm::{Extent, QueueConfig, StepConfig};
use shoal_measure::{Finished, Notice};
use shoal_scenario::Experiment;

use crate::testbed::largest_packet_bytes;

/// Part of a full packet below which the mean packet of a link says that its threshold in packets was another one.
const FULL: f64 = 0.97;

/// Notices of links whose threshold in packets was one in bytes of full packets (see the discipline of `step`), and
/// that smaller packets passed.
pub(super) fn find(experiment: &Experiment, finished: &Finished<'_>) -> Vec<Notice> {
    let mtu = largest_packet_bytes(experiment).unwrap_or(0);
    let links = experiment.monitored().zip(finished.bottlenecks).filter_map(|((_, link), measured)| {
        let QueueConfig::Step(StepConfig { threshold: Extent::Packets(packets), .. }) = link.queue else {
            return None;
        };
        let mean = measured.departed_bytes as f64 / measured.departed as f64;
        (mean < FULL * f64::from(mtu)).then(|| Notice {
            kind: "threshold-in-bytes".to_owned(),
            text: format!(
                "the threshold of {packets} packets at {name} was one of {bytes} B, since RED of the kernel counts no \
                 packets; the mean packet had {mean:.0} B, so that more than {packets} of them waited before one was \
                 marked (write the threshold in bytes to have the same on both planes)",
                name = link.name,
                bytes = u64::from(packets) * u64::from(mtu),
            ),
            groups: Vec::new(),
            links: vec![link.name.clone()],
            mechanisms: Vec::new(),
        })
    });
    links.collect()
}
