//! RED: the kernel's own; and RED as published, where our module for two instances does the same.

use super::dual_red::dual_red;
use super::{Action, Discipline, PLACE, QueueMapping, Site, below, handle};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{AverageScope, DualRedConfig, LinuxRedConfig, MarkSpacing, RedConfig, TcRed};

/// Flags of `struct tc_red_qopt`
/// ([`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h)).
pub(super) mod red_flags {
    pub(in crate::disciplines) const ECN: u8 = 1;
    pub(in crate::disciplines) const HARDDROP: u8 = 2;
    pub(in crate::disciplines) const ADAPTATIVE: u8 = 4;
    pub(in crate::disciplines) const NODROP: u8 = 8;
}

/// Numbers of the attributes (same file).
mod red_attributes {
    pub(super) const PARMS: u16 = 1;
    pub(super) const STAB: u16 = 2;
    pub(super) const MAX_P: u16 = 3;
    pub(super) const FLAGS: u16 = 4;
}

/// `struct tc_red_qopt`: limit, qth_min, qth_max, Wlog, Plog, Scell_log, flags. NODROP travels in its own attribute.
pub(super) fn options(tc: &TcRed, flags: u8) -> Vec<u8> {
    let mut parms = Vec::new();
    for number in [tc.limit_bytes, tc.min_bytes, tc.max_bytes] {
        parms.extend(number.to_ne_bytes());
    }
    // Either all flags in the structure or all of them in the attribute (`red_get_flags`).
    parms.extend([tc.wlog, tc.plog, tc.scell_log, 0]);
    let selector =
        u32::from(red_flags::ECN | red_flags::HARDDROP | red_flags::ADAPTATIVE | red_flags::NODROP);
    let mut bitfield = u32::from(flags).to_ne_bytes().to_vec();
    bitfield.extend(selector.to_ne_bytes());
    Attributes::default()
        .bytes(red_attributes::PARMS, &parms)
        .bytes(red_attributes::STAB, &tc.stab)
        .u32(red_attributes::MAX_P, tc.max_p)
        .bytes(red_attributes::FLAGS, &bitfield)
        .into_bytes()
}

pub(super) fn linux_red(config: &LinuxRedConfig, refusals: &mut Refusals) -> Option<QueueMapping> {
    if config.legacy_probability {
        refusals.add(
            "bottleneck.aqm.kernel",
            "the probability rounded to a power of two is that of kernels before 3.3",
            "write the version of a kernel from 3.3 on, or leave `kernel` out",
        );
        return None;
    }
    let tc = match config.solve() {
        Ok(tc) => tc,
        Err(error) => {
            refusals.add(PLACE, error.to_string(), "change min, max, burst, avpkt or probability");
            return None;
        }
    };
    let mut flags = 0;
    let mut words = String::new();
    for (set, flag, word) in [
        (config.ecn, red_flags::ECN, " ecn"),
        (config.harddrop, red_flags::HARDDROP, " harddrop"),
        (config.nodrop, red_flags::NODROP, " nodrop"),
        (config.adaptive, red_flags::ADAPTATIVE, " adaptive"),
    ] {
        if set {
            flags |= flag;
            words += word;
        }
    }
    let discipline = Discipline {
        parent: below(1),
        handle: handle(10),
        kind: "red",
        action: Action::Add,
        options: options(&tc, flags),
        tc: format!("red {}{words}", words_of(config, &tc)),
    };
    let rule = format!(
        "linux-red: Wlog {}, Plog {}, Scell_log {}, max_P {} / 2^32, as tc computes them",
        tc.wlog, tc.plog, tc.scell_log, tc.max_p
    );
    Some(QueueMapping::of(discipline, vec![rule]))
}

/// Arguments that `red` and `gred` share.
pub(super) fn words_of(config: &LinuxRedConfig, tc: &TcRed) -> String {
    format!(
        "limit {} min {} max {} avpkt {} burst {} probability {} bandwidth {}bit",
        tc.limit_bytes,
        tc.min_bytes,
        tc.max_bytes,
        config.avpkt_bytes,
        config.burst_packets,
        config.probability,
        config.bandwidth.as_bps(),
    )
}

/// RED as published has any weight and real numbers; the kernel's has powers of two. `dualred` computes as published, with an
/// instance for each class of packets, of which each counts the packets since its own last decision. That is the same RED if
/// no instance counts, or if only one is ever asked.
pub(super) fn published(
    config: &RedConfig,
    site: &Site<'_>,
    refusals: &mut Refusals,
) -> Option<QueueMapping> {
    let counts = config.parameters.spacing == MarkSpacing::Uniformised;
    let (reason, hint) = match (config.ecn, site.any_ect) {
        (false, true) => (
            "`red` without ecn drops ECT packets; `dualred`, the only RED with any weight, marks them",
            "write ecn = true, or switch ECN off for all flows, or use kind = \"linux-red\"",
        ),
        (true, true) if counts => (
            "`dualred`, the only RED with any weight, counts packets between decisions for each class of packets alone",
            "write spacing = \"independent\", or use kind = \"dual-red\" or \"linux-red\", which are the same on both planes",
        ),
        _ => {
            let dual = DualRedConfig {
                not_ect: config.parameters,
                ect: config.parameters,
                average: AverageScope::Shared,
                limit: config.limit,
                rate: config.rate,
                mean_packet_bytes: config.mean_packet_bytes,
            };
            let mut mapping = dual_red(&dual, site.rate, refusals)?;
            mapping.rules.push("red: both instances of dualred alike, of which one decides".to_owned());
            return Some(mapping);
        }
    };
    refusals.add(PLACE, reason, hint);
    None
}
