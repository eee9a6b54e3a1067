//! PIE: attributes of
//! [`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h).

use super::{Action, Discipline, QueueMapping, Site, below, handle, micros, packet_limit};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::PieConfig;
use shoal_units::Span;

pub(super) fn pie(config: &PieConfig, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
    const TARGET: u16 = 1;
    const LIMIT: u16 = 2;
    const TUPDATE: u16 = 3;
    const ALPHA: u16 = 4;
    const BETA: u16 = 5;
    const ECN: u16 = 6;
    const BYTEMODE: u16 = 7;
    const DQ_RATE_ESTIMATOR: u16 = 8;

    if !config.tupdate.as_picos().is_multiple_of(JIFFY.as_picos()) {
        refusals.add(
            "bottleneck.aqm.tupdate",
            format!(
                "the kernel's PIE counts jiffies of {JIFFY}, and {} are no whole number of them",
                config.tupdate
            ),
            "write whole milliseconds",
        );
        return None;
    }
    let limit = packet_limit(config.limit, "pie", site, refusals)?;
    let options = Attributes::default()
        .u32(TARGET, micros(config.target))
        .u32(LIMIT, limit)
        .u32(TUPDATE, micros(config.tupdate))
        .u32(ALPHA, config.alpha)
        .u32(BETA, config.beta)
        .u32(ECN, config.ecn.into())
        .u32(BYTEMODE, config.bytemode.into())
        .u32(DQ_RATE_ESTIMATOR, config.dq_rate_estimator.into())
        .into_bytes();
    let no = |set: bool| if set { "" } else { "no_" };
    let tc = format!(
        "pie limit {limit} target {}us tupdate {}us alpha {} beta {} {} {} {}dq_rate_estimator",
        micros(config.target),
        micros(config.tupdate),
        config.alpha,
        config.beta,
        if config.ecn { "ecn" } else { "noecn" },
        if config.bytemode { "bytemode" } else { "nobytemode" },
        no(config.dq_rate_estimator)
    );
    let discipline =
        Discipline { parent: below(1), handle: handle(10), kind: "pie", action: Action::Add, options, tc };
    Some(QueueMapping::of(discipline, Vec::new()))
}

/// The guest's HZ is 1000.
const JIFFY: Span = Span::from_millis(1);
