//! PIE: attributes of
//! [`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h).

use super::{Discipline, Express, QueueMapping, Site, micros, packet_limit};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::PieConfig;
use shoal_packet::Reason;
use shoal_units::JIFFY;

impl Express for PieConfig {
    const MARKS: Reason = Reason::Early;
    const DROPS: Reason = Reason::Early;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        const TARGET: u16 = 1;
        const LIMIT: u16 = 2;
        const TUPDATE: u16 = 3;
        const ALPHA: u16 = 4;
        const BETA: u16 = 5;
        const ECN: u16 = 6;
        const BYTEMODE: u16 = 7;
        const DQ_RATE_ESTIMATOR: u16 = 8;

        if !self.tupdate.as_picos().is_multiple_of(JIFFY.as_picos()) {
            refusals.add(
                "bottleneck.aqm.tupdate",
                format!(
                    "the kernel's PIE counts jiffies of {JIFFY}, and {} is not a whole number of them",
                    self.tupdate
                ),
                "write whole milliseconds",
            );
            return None;
        }
        if self.ecn && self.ecn_threshold_percent != 10 {
            refusals.add(
                "bottleneck.aqm.ecn_threshold_percent",
                format!("the kernel's PIE marks up to 10 %, and this is {} %", self.ecn_threshold_percent),
                "leave it out, or run this on the simulator",
            );
            return None;
        }
        let limit = packet_limit(self.limit, "pie", site, refusals)?;
        let options = Attributes::default()
            .u32(TARGET, micros(self.target))
            .u32(LIMIT, limit)
            .u32(TUPDATE, micros(self.tupdate))
            .u32(ALPHA, self.alpha)
            .u32(BETA, self.beta)
            .u32(ECN, self.ecn.into())
            .u32(BYTEMODE, self.bytemode.into())
            .u32(DQ_RATE_ESTIMATOR, self.dq_rate_estimator.into());
        let no = |set: bool| if set { "" } else { "no_" };
        let tc = format!(
            "pie limit {limit} target {}us tupdate {}us alpha {} beta {} {} {} {}dq_rate_estimator",
            micros(self.target),
            micros(self.tupdate),
            self.alpha,
            self.beta,
            if self.ecn { "ecn" } else { "noecn" },
            if self.bytemode { "bytemode" } else { "nobytemode" },
            no(self.dq_rate_estimator)
        );
        Some(QueueMapping::of(Discipline::new("pie", options, tc), Vec::new()))
    }

    /// The kernel answers `NET_XMIT_DROP` to both.
    fn is_law_on_arrival(&self, _refused: bool, has_room: bool) -> bool {
        has_room
    }
}
