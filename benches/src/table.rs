//! The benchmark table.

use crate::line::Line;
use shoal_scenario::Experiment;
use shoal_sim::Outcome;

/// One measured case.
pub(crate) struct Row {
    pub line: Line,
    flows: usize,
    events: u64,
    /// Utilisation of the bottleneck; `None` for a fabric, which has many, and without a meter.
    utilisation: Option<f64>,
    dropped: u64,
    flow_bytes: u64,
}

impl Row {
    pub(crate) fn new(
        case: &str,
        experiment: &Experiment,
        outcome: &Outcome,
        cpu_s: f64,
        setup_s: f64,
    ) -> Self {
        let links = &outcome.bottlenecks;
        // Ports of hosts in a fabric also carry acknowledgements, of which another simulator may need more or fewer.
        let received = outcome.groups.iter().filter_map(|group| group.totals.data_packets).sum();
        let packets = if let [link] = links.as_slice() { link.departed } else { received };
        Self {
            line: Line {
                case: case.to_owned(),
                packets,
                cpu_s,
                setup_s,
                rss_kb: crate::usage::peak_kb(),
                events: Some(outcome.events),
            },
            flows: experiment.flows.len(),
            events: outcome.events,
            utilisation: if let [link] = links.as_slice() { link.utilisation } else { None },
            dropped: links.iter().map(|link| link.dropped).sum(),
            flow_bytes: outcome.flow_bytes,
        }
    }
    pub(crate) fn progress(&self) -> String {
        format!("{}: {:.2} M packets/s", self.line.case, self.line.million_per_s())
    }
}

/// The table as Markdown.
pub(crate) fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "| case | flows | packets | CPU s | M packets/s | ns/packet | events/packet | M events/s | utilisation | \
         drops | B/flow | set-up s |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let Line { case, packets, cpu_s, setup_s, .. } = &row.line;
        text += &format!(
            "| {case} | {} | {packets} | {cpu_s:.3} | {:.2} | {:.0} | {:.1} | {:.1} | {} | {} | {} | {setup_s:.3} |\n",
            row.flows,
            row.line.million_per_s(),
            cpu_s * 1e9 / *packets as f64,
            row.events as f64 / *packets as f64,
            row.events as f64 / cpu_s / 1e6,
            row.utilisation.map_or(String::new(), |utilisation| format!("{utilisation:.3}")),
            row.dropped,
            row.flow_bytes,
        );
    }
    text
}
