//! Links with impairments: netem behind the transmitter, with the seed of the link.

use crate::attributes::{Attributes, hex};
use crate::device::{DELAY, ROOT, line};
use crate::disciplines::handle;
use shoal_netem::{Chance, Impairments, Loss};
use shoal_scenario::{Experiment, LinkId};
use shoal_units::Span;

/// Packets that netem may hold: more than any link here does.
pub(super) const LIMIT: u32 = 1_000_000;
/// Rate in bytes/s at which netem keeps the order of packets: at 10^15 B/s the largest packet takes less than 1 ns,
/// which it rounds down to nothing.
const IN_ORDER: u64 = 1_000_000_000_000_000;

/// Attributes of netem (`TCA_NETEM_*`,
/// [include/uapi/linux/pkt_sched.h](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h)).
pub(super) mod attribute {
    pub(crate) const CORRELATION: u16 = 1;
    pub(crate) const DELAY_TABLE: u16 = 2;
    pub(crate) const REORDER: u16 = 3;
    pub(crate) const CORRUPT: u16 = 4;
    pub(crate) const LOSS: u16 = 5;
    pub(crate) const RATE64: u16 = 8;
    pub(crate) const LATENCY64: u16 = 10;
    pub(crate) const JITTER64: u16 = 11;
    pub(crate) const SLOT: u16 = 12;
    pub(crate) const SEED: u16 = 14;
    /// Within `LOSS`: the chain with four states, and Gilbert and Elliott's.
    pub(crate) const FOUR_STATES: u16 = 1;
    pub(crate) const GILBERT_ELLIOTT: u16 = 2;
}

/// A link with impairments.
#[derive(Debug)]
pub(crate) struct Impaired {
    pub host: String,
    pub device: String,
    pub delay: Span,
    pub impairments: Impairments,
    pub seed: u64,
    /// Number and name of the link in the scenario.
    pub number: u32,
    pub link: String,
}

impl Impaired {
    pub(super) fn new((host, device): (&str, &str), id: LinkId, experiment: &Experiment) -> Option<Self> {
        let link = &experiment.links[id.0 as usize];
        Some(Self {
            host: host.to_owned(),
            device: device.to_owned(),
            delay: link.delay,
            impairments: *link.impairments.as_deref()?,
            seed: link.impairment_seed(experiment.seed).0,
            number: id.0,
            link: link.name.clone(),
        })
    }

    /// Writes the discipline, and that its counters belong to the result.
    pub(super) fn write(&self, text: &mut String) {
        let (host, device) = (&self.host, &self.device);
        line!(text, "qdisc {host} {device} {ROOT} {} netem {}", handle(DELAY), hex(&self.options()));
        line!(text, "path {host} {device} {}", self.number);
    }

    /// Options of netem: `struct tc_netem_qopt` (latency in ticks, limit, loss, gap, duplicate, jitter) and attributes.
    fn options(&self) -> Vec<u8> {
        let Impairments { jitter, keep_order, loss, duplicate, corrupt, reorder, slot, clears_ecn: _ } =
            self.impairments;
        let random = match loss {
            Loss::Random { probability, correlation } => (probability, correlation),
            Loss::FourState { .. } | Loss::GilbertElliott { .. } => (Chance::NEVER, Chance::NEVER),
        };
        let gap = reorder.map_or(0, |reorder| reorder.gap);
        let mut options = numbers(&[0, LIMIT, random.0.0, gap, duplicate.0, 0]);
        let correlations = numbers(&[jitter.correlation.0, random.1.0, 0]);
        let mut attributes = Attributes::default()
            .u64(attribute::LATENCY64, self.delay.as_nanos())
            .u64(attribute::JITTER64, jitter.ns.into())
            .bytes(attribute::CORRELATION, &correlations);
        if let Some(table) = jitter.distribution.table().filter(|_| jitter.ns > 0) {
            let table: Vec<u8> = table.iter().flat_map(|entry| entry.to_ne_bytes()).collect();
            attributes = attributes.bytes(attribute::DELAY_TABLE, &table);
        }
        if let Some(reorder) = reorder {
            attributes = attributes.bytes(attribute::REORDER, &numbers(&[reorder.probability.0, 0]));
        }
        if corrupt.is_possible() {
            attributes = attributes.bytes(attribute::CORRUPT, &numbers(&[corrupt.0, 0]));
        }
        attributes = match loss {
            Loss::Random { .. } => attributes,
            Loss::FourState { p13, p31, p32, p23, p14 } => {
                let model = numbers(&[p13, p31, p32, p14, p23].map(|chance| chance.0));
                let model = Attributes::default().bytes(attribute::FOUR_STATES, &model);
                attributes.nest(attribute::LOSS, model)
            }
            Loss::GilbertElliott { p, r, loss_in_bad, loss_in_good } => {
                let model = numbers(&[p.0, r.0, u32::MAX - loss_in_bad.0, loss_in_good.0]);
                let model = Attributes::default().bytes(attribute::GILBERT_ELLIOTT, &model);
                attributes.nest(attribute::LOSS, model)
            }
        };
        if keep_order && jitter.ns > 0 {
            attributes = attributes.u64(attribute::RATE64, IN_ORDER);
        }
        if let Some(slot) = slot {
            // `struct tc_netem_slot`: two times in ns, two limits, and a distribution that is not used.
            let times = [slot.min, slot.max].map(|span| span.as_nanos().to_ne_bytes());
            let mut bytes = times.concat();
            bytes.extend(numbers(&[slot.packets, slot.bytes]));
            bytes.extend([0; 16]);
            attributes = attributes.bytes(attribute::SLOT, &bytes);
        }
        options.extend(attributes.u64(attribute::SEED, self.seed).into_bytes());
        options
    }

    /// The equivalent `tc` command.
    pub(crate) fn command(&self) -> String {
        let Impairments { jitter, keep_order, loss, duplicate, corrupt, reorder, slot, clears_ecn: _ } =
            self.impairments;
        let percent = |chance: Chance| format!("{}%", (1e6 * chance.as_f64()).round() / 1e4);
        let correlated = |chance: Chance| {
            if chance.is_possible() { format!(" {}", percent(chance)) } else { String::new() }
        };
        let mut words =
            vec![format!("{}: tc qdisc add dev {} root netem limit {LIMIT}", self.host, self.device)];
        if !self.delay.is_zero() || jitter.ns > 0 {
            words.push(format!("delay {}", unspaced(self.delay)));
        }
        if jitter.ns > 0 {
            words.push(unspaced(Span::from_nanos(jitter.ns.into())) + &correlated(jitter.correlation));
            if jitter.distribution.table().is_some() {
                words.push(format!("distribution {}", jitter.distribution.name()));
            }
        }
        match loss {
            Loss::Random { probability, correlation } if probability.is_possible() => {
                words.push(format!("loss random {}{}", percent(probability), correlated(correlation)));
            }
            Loss::Random { .. } => {}
            Loss::FourState { p13, p31, p32, p23, p14 } => {
                let chances = [p13, p31, p32, p23, p14].map(percent).join(" ");
                words.push(format!("loss state {chances}"));
            }
            Loss::GilbertElliott { p, r, loss_in_bad, loss_in_good } => {
                let chances = [p, r, loss_in_bad, loss_in_good].map(percent).join(" ");
                words.push(format!("loss gemodel {chances}"));
            }
        }
        for (word, chance) in [("duplicate", duplicate), ("corrupt", corrupt)] {
            if chance.is_possible() {
                words.push(format!("{word} {}", percent(chance)));
            }
        }
        if let Some(reorder) = reorder {
            words.push(format!("reorder {} gap {}", percent(reorder.probability), reorder.gap));
        }
        if keep_order && jitter.ns > 0 {
            words.push(format!("rate {}tbit", 8 * IN_ORDER / 1_000_000_000_000));
        }
        if let Some(slot) = slot {
            words.push(format!("slot {} {}", unspaced(slot.min), unspaced(slot.max)));
            for (word, limit) in [("packets", slot.packets), ("bytes", slot.bytes)] {
                if limit > 0 {
                    words.push(format!("{word} {limit}"));
                }
            }
        }
        words.push(format!("seed {}", self.seed));
        words.join(" ")
    }
}

fn numbers(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// A time as `tc` reads it.
fn unspaced(span: Span) -> String {
    span.to_string().replace(' ', "")
}

/// Options of netem for a pure delay.
pub(super) fn pure_delay(delay: Span) -> Vec<u8> {
    let mut options = numbers(&[0, LIMIT, 0, 0, 0, 0]);
    options.extend(Attributes::default().u64(attribute::LATENCY64, delay.as_nanos()).into_bytes());
    options
}
