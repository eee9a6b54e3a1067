//! PIE.

use shoal_aqm::{Extent, PieConfig, QueueConfig};
use shoal_units::Span;

use super::{Context, Law};
use crate::schema::Pie;

impl Law<'_> {
    pub(super) fn pie(&self, pie: &Pie, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let target = self.tc_time(pie.target, "target", cx);
        let tupdate = self.tc_time(pie.tupdate, "tupdate", cx);
        for (time, key) in [(target, "target"), (tupdate, "tupdate")] {
            if time.is_some_and(Span::is_zero) {
                cx.error(&self.at(key), format!("{key} must be above 0"), "as in \"15 ms\"");
            }
        }
        for (gain, key, example) in [(pie.alpha, "alpha", 2), (pie.beta, "beta", 20)] {
            // q_pie.c
            // (https://git.kernel.org/pub/scm/network/iproute2/iproute2.git/tree/tc/q_pie.c?h=v6.12.0).
            if gain > 32 {
                let hint = format!("write a number from 0 to 32, as in {example}");
                cx.error(&self.at(key), format!("{key} of {gain} sixteenths"), hint);
            }
        }
        let limit = self.limit(pie.limit, limit, cx);
        Some(QueueConfig::Pie(PieConfig {
            target: target?,
            tupdate: tupdate?,
            alpha: pie.alpha,
            beta: pie.beta,
            ecn: pie.ecn,
            bytemode: pie.bytemode,
            dq_rate_estimator: pie.dq_rate_estimator,
            mtu_bytes: self.port.mtu,
            limit: limit?,
        }))
    }
}
