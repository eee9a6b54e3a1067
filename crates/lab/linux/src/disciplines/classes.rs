//! `classes`: queues for traffic classes are bands of `ets`
//! ([`net/sched/sch_ets.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_ets.c)), each with a discipline
//! of its own; the line tells the band by the packet's code point.

use super::{Discipline, Express, PLACE, QueueMapping, Site, below, express, handle};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{ClassConfig, ClassesConfig, Service};
use shoal_packet::Reason;
use std::fmt::Write;

/// Attributes of `ets`
/// ([`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h)).
mod attribute {
    pub(super) const BANDS: u16 = 1;
    pub(super) const STRICT: u16 = 2;
    pub(super) const QUANTA: u16 = 3;
    pub(super) const QUANTUM: u16 = 4;
}

/// Major number of `ets`; the disciplines of its bands have the numbers from 20 on, ten for each.
const ETS: u32 = 10;

impl Express for ClassesConfig {
    // Never asked for: the law of the packet's own queue has reasons.
    const MARKS: Reason = Reason::Threshold;
    const DROPS: Reason = Reason::Early;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        if self.memory_bytes.is_some() {
            refusals.add(
                format!("{PLACE}.memory"),
                "no discipline has thresholds that depend on what other queues hold",
                "leave memory out and give each queue a buffer, or run this on the simulator",
            );
            return None;
        }
        // Strict bands come first in `ets`.
        let strict = |queue: &&(usize, &ClassConfig)| queue.1.service == Service::Strict;
        let queues: Vec<(usize, &ClassConfig)> = self.queues.iter().enumerate().collect();
        let bands: Vec<(usize, &ClassConfig)> = queues
            .iter()
            .filter(strict)
            .chain(queues.iter().filter(|queue| !strict(queue)))
            .copied()
            .collect();
        let mut mapping = QueueMapping { classes: handle(ETS), ..ets(&bands) };
        let mut is_whole = true;
        for (band, (index, queue)) in (0u32..).zip(&bands) {
            match of_band(band, *index, queue, site, refusals) {
                Some(own) => is_whole &= mapping.take(own, band, queue, refusals),
                None => is_whole = false,
            }
        }
        let mut band_of = vec![0u8; bands.len()];
        for (band, (index, _)) in (1u8..).zip(&bands) {
            band_of[*index] = band;
        }
        mapping.class_of_code_point =
            self.queue_of.iter().map(|queue| band_of[usize::from(*queue)]).collect();
        mapping.rules.push(filters(self, &band_of, site.device));
        is_whole.then_some(mapping)
    }
}

impl QueueMapping {
    /// Puts the disciplines of a band below `ets`.
    fn take(&mut self, own: Self, band: u32, queue: &ClassConfig, refusals: &mut Refusals) -> bool {
        if own.classes != 0 {
            refusals.add(
                format!("{PLACE}.queues"),
                format!(
                    "queue \"{}\": a packet has one class, that of its band, and not that of its flow as well",
                    queue.name
                ),
                "write classifier = \"hash\" for it",
            );
            return false;
        }
        if own.tc_index != 0 && self.tc_index != 0 && own.tc_index != self.tc_index {
            refusals.add(
                format!("{PLACE}.queues"),
                format!(
                    "queue \"{}\": virtual queues of gred by ECN field other than in another queue",
                    queue.name
                ),
                "give the queues with gred the same queues by ECN field, or run this on the simulator",
            );
            return false;
        }
        self.tc_index |= own.tc_index;
        self.disciplines.extend(own.disciplines.into_iter().map(|discipline| moved(discipline, band)));
        self.rules.extend(own.rules.into_iter().map(|rule| format!("queue \"{}\": {rule}", queue.name)));
        true
    }
}

/// `ets` itself.
fn ets(bands: &[(usize, &ClassConfig)]) -> QueueMapping {
    let quanta: Vec<u32> = bands
        .iter()
        .filter_map(|(_, queue)| match queue.service {
            Service::Strict => None,
            Service::Weighted { quantum_bytes } => Some(quantum_bytes),
        })
        .collect();
    let strict = bands.len() - quanta.len();
    let mut options = Attributes::default().u8(attribute::BANDS, bands.len() as u8);
    let mut tc = format!("ets bands {}", bands.len());
    if strict > 0 {
        options = options.u8(attribute::STRICT, strict as u8);
        let _ = write!(tc, " strict {strict}");
    }
    if !quanta.is_empty() {
        let list =
            quanta.iter().fold(Attributes::default(), |list, quantum| list.u32(attribute::QUANTUM, *quantum));
        options = options.nest(attribute::QUANTA, list);
        let words: Vec<String> = quanta.iter().map(ToString::to_string).collect();
        let _ = write!(tc, " quanta {}", words.join(" "));
    }
    QueueMapping::of(Discipline::new("ets", options, tc), Vec::new())
}

/// The disciplines of a band as they would be directly below the line.
fn of_band(
    band: u32,
    index: usize,
    queue: &ClassConfig,
    site: &Site<'_>,
    refusals: &mut Refusals,
) -> Option<QueueMapping> {
    let place = format!("{PLACE}.queues[{index}]");
    if queue.shaper.is_some() {
        refusals.add(
            format!("{place}.shape"),
            format!(
                "band {} of ets: a shaper would be tbf, which asks its queue with peek and so changes its law",
                band + 1
            ),
            "leave shape out, or run this on the simulator",
        );
        return None;
    }
    let first = refusals.0.len();
    let mapping = express(&queue.law, site, refusals);
    // Laws name keys of the link's own table.
    refusals.rename(first, PLACE, &format!("{place}.aqm"));
    mapping
}

/// A discipline of a band, with numbers of its own.
fn moved(discipline: Discipline, band: u32) -> Discipline {
    let shift = |number: u32| number + handle(10 * (band + 1));
    let parent =
        if discipline.parent == below(1) { handle(ETS) | (band + 1) } else { shift(discipline.parent) };
    Discipline { parent, handle: shift(discipline.handle), ..discipline }
}

/// How packets find their band, in words of `tc`.
fn filters(classes: &ClassesConfig, band_of: &[u8], device: &str) -> String {
    let mut text =
        "classes: the line sets skb->priority to the class of the packet's code point, as these filters \
         would:"
            .to_owned();
    // The queue of all other packets needs no filter for each of them.
    let rest = classes.queue_of[0];
    for (code_point, queue) in classes.queue_of.iter().enumerate().filter(|(_, queue)| **queue != rest) {
        let band = band_of[usize::from(*queue)];
        let _ = write!(
            text,
            " tc filter add dev {device} parent {ETS}: protocol ip prio 1 u32 match ip dsfield {:#04x} 0xfc flowid \
             {ETS}:{band};",
            code_point << 2
        );
    }
    let _ = write!(text, " all others are of class {ETS}:{}", band_of[usize::from(rest)]);
    text
}
