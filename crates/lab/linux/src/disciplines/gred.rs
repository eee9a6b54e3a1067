//! GRED: a table of virtual queues, followed by each of them (`gred_change` accepts one at a time).

use super::linux_red::{red_flags, words_of};
use super::{Action, Discipline, Express, PLACE, QueueMapping, Site};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{GRED_QUEUES, GredConfig, GredMode, GredQueueConfig, LinuxRedConfig, TcRed};
use shoal_packet::Reason;

mod attribute {
    pub(super) const PARMS: u16 = 1;
    pub(super) const STAB: u16 = 2;
    pub(super) const DPS: u16 = 3;
    pub(super) const MAX_P: u16 = 4;
    pub(super) const LIMIT: u16 = 5;
    pub(super) const VQ_LIST: u16 = 6;
    pub(super) const VQ_ENTRY: u16 = 1;
    pub(super) const VQ_DP: u16 = 2;
    pub(super) const VQ_FLAGS: u16 = 12;
}

impl Express for GredConfig {
    const MARKS: Reason = Reason::Early;
    const DROPS: Reason = Reason::Early;

    fn express(&self, _: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        let mut disciplines = vec![table(self)];
        for (number, queue) in self.queues.iter().enumerate() {
            let Some(queue) = queue else { continue };
            match queue.red.solve() {
                Ok(tc) => disciplines.push(virtual_queue(number as u32, queue, &tc, self.grio)),
                Err(error) => {
                    refusals.add(PLACE, error.to_string(), "change min, max, burst, avpkt or probability");
                    return None;
                }
            }
        }
        let mode = match self.mode() {
            GredMode::Separate => "every virtual queue averages its own packets",
            GredMode::Rio => "averages of lower priorities are added (RIO)",
            GredMode::Wred => "equal priorities share one average (WRED)",
        };
        let rules = vec![
            format!("gred: {mode}"),
            "gred: the line sets skb->tc_index by the ECN field (Linux has no filter for that any more): 0 for \
             packets that are not ECT, 1 for others"
                .to_owned(),
        ];
        Some(QueueMapping {
            disciplines,
            rules,
            tc_index: u32::from_le_bytes(self.queue_of),
            ..QueueMapping::default()
        })
    }
}

fn discipline(action: Action, options: Attributes, tc: String) -> Discipline {
    Discipline { action, ..Discipline::new("gred", options, tc) }
}

/// `struct tc_gred_sopt`: virtual queues, the default one, grio, flags.
fn table(config: &GredConfig) -> Discipline {
    let queues = config.queues.iter().rposition(Option::is_some).map_or(1, |last| last + 1);
    let mut setup = Vec::new();
    setup.extend((queues as u32).to_ne_bytes());
    setup.extend(0u32.to_ne_bytes());
    setup.extend([u8::from(config.grio), 0, 0, 0]);
    let options =
        Attributes::default().bytes(attribute::DPS, &setup).u32(attribute::LIMIT, config.limit_bytes);
    let grio = if config.grio { " grio" } else { "" };
    let tc = format!("gred setup vqs {queues} default 0{grio} limit {}", config.limit_bytes);
    discipline(Action::Add, options, tc)
}

fn virtual_queue(number: u32, queue: &GredQueueConfig, tc: &TcRed, grio: bool) -> Discipline {
    let red = &queue.red;
    let flags = flags(red);
    let entry =
        Attributes::default().u32(attribute::VQ_DP, number).u32(attribute::VQ_FLAGS, u32::from(flags));
    let options = Attributes::default()
        .bytes(attribute::PARMS, &parameters(number, queue.priority, tc))
        .bytes(attribute::STAB, &tc.stab)
        .u32(attribute::MAX_P, tc.max_p)
        .nest(attribute::VQ_LIST, Attributes::default().nest(attribute::VQ_ENTRY, entry));
    let words = [(red.ecn, " ecn"), (red.harddrop, " harddrop")];
    let words = words.map(|(set, word)| if set { word } else { "" }).concat();
    let priority = if grio { format!(" prio {}", queue.priority) } else { String::new() };
    let tc = format!("gred {} vq {number}{priority}{words}", words_of(red, tc));
    discipline(Action::Change, options, tc)
}

fn flags(red: &LinuxRedConfig) -> u8 {
    let ecn = if red.ecn { red_flags::ECN } else { 0 };
    ecn | if red.harddrop { red_flags::HARDDROP } else { 0 }
}

/// `struct tc_gred_qopt`: limit, thresholds, number, six counters, logarithms, priority, two counters.
fn parameters(number: u32, priority: u8, tc: &TcRed) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in [tc.limit_bytes, tc.min_bytes, tc.max_bytes, number] {
        bytes.extend(value.to_ne_bytes());
    }
    bytes.resize(bytes.len() + 6 * 4, 0);
    bytes.extend([tc.wlog, tc.plog, tc.scell_log, priority]);
    bytes.resize(bytes.len() + 2 * 4, 0);
    bytes
}

/// Codepoints and virtual queues fit the four bytes of `TCA_LINE_TC_INDEX`.
const _: () = assert!(GRED_QUEUES == 4);
