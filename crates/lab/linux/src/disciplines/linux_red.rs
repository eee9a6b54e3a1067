//! `linux-red`: the kernel's own RED.

use super::{Discipline, Express, PLACE, QueueMapping, Site};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{LinuxRedConfig, TcRed};
use shoal_packet::Reason;

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

/// `struct tc_red_qopt`: limit, qth_min, qth_max, Wlog, Plog, Scell_log, flags. The kernel takes all flags from the
/// structure, which has no room for NODROP, or all of them from an attribute (`red_get_flags`). It starts the timer of
/// adaptive RED for a flag of the structure only (`__red_change`).
pub(super) fn options(tc: &TcRed, flags: u8) -> Attributes {
    let mut parms = Vec::new();
    for number in [tc.limit_bytes, tc.min_bytes, tc.max_bytes] {
        parms.extend(number.to_ne_bytes());
    }
    let is_adaptive = flags & red_flags::ADAPTATIVE != 0;
    parms.extend([tc.wlog, tc.plog, tc.scell_log, if is_adaptive { flags } else { 0 }]);
    let selector =
        u32::from(red_flags::ECN | red_flags::HARDDROP | red_flags::ADAPTATIVE | red_flags::NODROP);
    let mut bitfield = u32::from(flags).to_ne_bytes().to_vec();
    bitfield.extend(selector.to_ne_bytes());
    let attributes = Attributes::default()
        .bytes(red_attributes::PARMS, &parms)
        .bytes(red_attributes::STAB, &tc.stab)
        .u32(red_attributes::MAX_P, tc.max_p);
    if is_adaptive { attributes } else { attributes.bytes(red_attributes::FLAGS, &bitfield) }
}

impl Express for LinuxRedConfig {
    const MARKS: Reason = Reason::Early;
    const DROPS: Reason = Reason::Early;

    fn express(&self, _: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        if self.legacy_probability {
            refusals.add(
                "bottleneck.aqm.kernel",
                "the probability rounded to a power of two is that of kernels before 3.3",
                "write the version of a kernel from 3.3 on, or leave `kernel` out",
            );
            return None;
        }
        if self.adaptive && self.nodrop {
            refusals.add(
                PLACE,
                "the kernel starts the timer of adaptive RED only for flags that leave no room for nodrop",
                "leave adaptive or nodrop out",
            );
            return None;
        }
        let tc = match self.solve() {
            Ok(tc) => tc,
            Err(error) => {
                refusals.add(PLACE, error.to_string(), "change min, max, burst, avpkt or probability");
                return None;
            }
        };
        let mut flags = 0;
        let mut words = String::new();
        for (set, flag, word) in [
            (self.ecn, red_flags::ECN, " ecn"),
            (self.harddrop, red_flags::HARDDROP, " harddrop"),
            (self.nodrop, red_flags::NODROP, " nodrop"),
            (self.adaptive, red_flags::ADAPTATIVE, " adaptive"),
        ] {
            if set {
                flags |= flag;
                words += word;
            }
        }
        let words = format!("red {}{words}", words_of(self, &tc));
        let discipline = Discipline::new("red", options(&tc, flags), words);
        let rule = format!(
            "linux-red: Wlog {}, Plog {}, Scell_log {}, max_P {} / 2^32, as tc computes them",
            tc.wlog, tc.plog, tc.scell_log, tc.max_p
        );
        let mut rules = vec![rule];
        if self.adaptive {
            rules.push(
                "linux-red: the flag of adaptive stands in the older structure, since the kernel starts the timer for \
                 no other; a queue that tc made would not adapt"
                    .to_owned(),
            );
        }
        Some(QueueMapping::of(discipline, rules))
    }
}

/// Words of `tc` that `red` and `gred` share.
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
