//! Keys of `codel` ([RFC 8289](https://www.rfc-editor.org/rfc/rfc8289)), and of its law wherever it is used.

use shoal_aqm::{CeThresholdFor, CodelConfig, CodelParameters, Extent};
use shoal_units::Span;

use super::{Place, Resolve};
use crate::field::Section;
use crate::quantity::{Amount, Duration};

/// CoDel with the parameters of `tc qdisc add ... codel`.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Codel {
    /// Sojourn time that may stand; kept in ticks of 1024 ns.
    #[key(default = "5 ms", source = "RFC 8289 section 4.2; codel_impl.h codel_should_drop")]
    pub target: Duration,
    /// How long the target must be exceeded before the first signal; the n-th gap between signals is this over sqrt(n).
    #[key(default = "100 ms", source = "RFC 8289 section 4.3; codel_impl.h codel_control_law")]
    pub interval: Duration,
    /// Mark ECT packets instead of dropping them.
    #[key(default = false, source = "codel_impl.h codel_dequeue")]
    pub ecn: bool,
    /// Beyond this sojourn time ECT packets are marked at once, whatever the law says.
    #[key(otherwise = "never", source = "codel_impl.h codel_dequeue (since 4.2)")]
    pub ce_threshold: Option<Duration>,
    /// Waiting packets that fit; tc's own default is 1000 packets.
    #[key(otherwise = "the link's buffer", source = "sch_codel.c codel_init")]
    pub limit: Option<Amount>,
}

impl Resolve for Codel {
    type Config = CodelConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<CodelConfig> {
        let Codel { target, interval, ecn, ce_threshold, .. } = *self;
        let parameters = law.codel_law((target, interval), ecn, (ce_threshold, CeThresholdFor::Ect));
        let limit = law.limit(self.limit, limit);
        Some(CodelConfig { law: parameters?, limit: limit? })
    }
}

impl Place<'_> {
    pub(super) fn codel_law(
        &self,
        (target, interval): (Duration, Duration),
        ecn: bool,
        (ce_threshold, ce_threshold_for): (Option<Duration>, CeThresholdFor),
    ) -> Option<CodelParameters> {
        let target = self.tc_time(target, "target");
        let interval = self.tc_time(interval, "interval");
        if interval.is_some_and(Span::is_zero) {
            self.keys.error("interval", "without an interval every packet is late", "as in \"100 ms\"");
        } else if let (Some(target), Some(interval)) = (target, interval)
            && target > interval
        {
            let hint = "RFC 8289 recommends 5 % to 10 % of the interval";
            self.keys.warning("target", "the target is longer than the interval", hint);
        }
        let ce_threshold = match ce_threshold {
            None => None,
            Some(threshold) => Some(self.tc_time(threshold, "ce_threshold")?),
        };
        Some(CodelParameters {
            target: target?,
            interval: interval?,
            ecn,
            ce_threshold,
            ce_threshold_for,
            mtu_bytes: self.port.mtu,
        })
    }
}
