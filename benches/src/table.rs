//! The benchmark table.

use shoal_scenario::Experiment;
use shoal_sim::Outcome;

/// One measured case.
pub struct Row {
    name: String,
    flows: usize,
    /// Packets that left the monitored links.
    packets: u64,
    /// CPU seconds of the run alone.
    pub cpu_s: f64,
    setup_s: f64,
    events: u64,
    /// Of the bottleneck; a fabric has many.
    utilisation: Option<f64>,
    dropped: u64,
    flow_bytes: u64,
    target: Option<f64>,
}

impl Row {
    pub fn new(
        name: &str,
        experiment: &Experiment,
        outcome: &Outcome,
        cpu_s: f64,
        setup_s: f64,
        target: Option<f64>,
    ) -> Self {
        let links = &outcome.bottlenecks;
        Self {
            name: name.to_owned(),
            flows: experiment.flows.len(),
            packets: links.iter().map(|link| link.departed).sum(),
            cpu_s,
            setup_s,
            events: outcome.events,
            utilisation: links[0].utilisation.filter(|_| links.len() == 1),
            dropped: links.iter().map(|link| link.dropped).sum(),
            flow_bytes: outcome.flow_bytes,
            target,
        }
    }
    fn million_per_s(&self) -> f64 {
        self.packets as f64 / self.cpu_s / 1e6
    }
    fn ns_per_packet(&self) -> f64 {
        self.cpu_s * 1e9 / self.packets as f64
    }
    pub fn progress(&self) -> String {
        format!("{} ({} flows): {:.2} M packets/s", self.name, self.flows, self.million_per_s())
    }
}

/// The table as Markdown.
pub fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "| case | flows | packets | CPU s | M packets/s | ns/packet | target | events/packet | M events/s | utilisation | drops | B/flow | set-up s |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let target = row.target.map_or(String::new(), |t| {
            format!("{t:.0} M/s {}", if row.million_per_s() >= t { "met" } else { "missed" })
        });
        text += &format!(
            "| {} | {} | {} | {:.3} | {:.2} | {:.0} | {} | {:.1} | {:.1} | {} | {} | {} | {:.3} |\n",
            row.name,
            row.flows,
            row.packets,
            row.cpu_s,
            row.million_per_s(),
            row.ns_per_packet(),
            target,
            row.events as f64 / row.packets as f64,
            row.events as f64 / row.cpu_s / 1e6,
            row.utilisation.map_or(String::new(), |utilisation| format!("{utilisation:.3}")),
            row.dropped,
            row.flow_bytes,
            row.setup_s,
        );
    }
    text
}
