//! What the cards of hosts did, as the discipline `coalesce` in front of them counts it.

use crate::records::FlowRecord;
use shoal_measure::CardResult;
use shoal_scenario::Experiment;
use shoal_units::Time;
use std::collections::BTreeMap;

/// Sums of the counters of each host's cards when the measurement window opens and at the end, by the number of the
/// host, with their times.
#[derive(Default)]
pub(super) struct Cards(BTreeMap<u32, [Sum; 2]>);

/// Counters of all cards of a host at one time; a host of the experiment may be several of the guest.
#[derive(Clone, Copy, Default)]
struct Sum {
    at: Time,
    packets: u64,
    interrupts: u64,
    drops: u64,
}

impl Sum {
    fn add(&mut self, record: &FlowRecord) {
        self.packets += record.received;
        self.interrupts += u64::from(record.data_packets);
        self.drops += u64::from(record.acks);
    }
}

impl Cards {
    /// Handles the counters of a card; those from before the window are of no interest.
    pub(super) fn on_record(&mut self, record: &FlowRecord, now: Time, experiment: &Experiment) {
        let start = Time::ZERO + experiment.warmup;
        if now < start {
            return;
        }
        let [first, last] = self.0.entry(record.flow).or_insert([Sum { at: now, ..Sum::default() }; 2]);
        if now == first.at {
            first.add(record);
        }
        if now != last.at {
            *last = Sum { at: now, ..Sum::default() };
        }
        last.add(record);
    }

    /// The hosts with cards, in the order of the hosts.
    pub(super) fn results(&self, experiment: &Experiment) -> Vec<CardResult> {
        let result = |(node, [first, last]): (&u32, &[Sum; 2])| CardResult {
            host: experiment.nodes[*node as usize].name.clone(),
            packets: last.packets - first.packets,
            interrupts: last.interrupts - first.interrupts,
            segments: None,
            ring_drops: last.drops - first.drops,
        };
        self.0.iter().map(result).collect()
    }
}
