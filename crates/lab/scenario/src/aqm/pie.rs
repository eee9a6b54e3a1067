//! Keys of `pie` ([RFC 8033](https://www.rfc-editor.org/rfc/rfc8033)).

use shoal_aqm::{Extent, PieConfig};
use shoal_units::Span;

use super::{Place, Resolve};
use crate::field::Section;
use crate::quantity::{Amount, Duration};

/// The threshold of `pie_qdisc_enqueue`.
const KERNEL_THRESHOLD_PERCENT: u32 = 10;

/// PIE with the parameters of `tc qdisc add ... pie`.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Pie {
    /// Queueing delay to hold; kept in ticks of 64 ns.
    #[key(default = "15 ms", source = "RFC 8033 section 4.2")]
    pub target: Duration,
    /// What the timer between updates of the probability is set to. The kernel's timers take the next slot of 1 ms
    /// (above 63 ms of 8 ms): 15 ms give an update every 16 ms, the first after 0.504 s.
    #[key(
        default = "15 ms",
        source = "sch_pie.c pie_timer, pie_init; kernel/time/timer.c calc_wheel_index (since 4.8)"
    )]
    pub tupdate: Duration,
    /// Gain on the distance from the target, in sixteenths of a Hz; reduced while the probability is low.
    #[key(
        default = 2,
        unit = "0 to 32",
        source = "RFC 8033 section 4.2; sch_pie.c pie_calculate_probability"
    )]
    pub alpha: u32,
    /// Gain on the growth of the delay, in sixteenths of a Hz; reduced while the probability is low.
    #[key(
        default = 20,
        unit = "0 to 32",
        source = "RFC 8033 section 4.2; sch_pie.c pie_calculate_probability"
    )]
    pub beta: u32,
    /// Mark ECT packets instead of dropping them while the probability is at most 10 %.
    #[key(default = false, source = "RFC 8033 section 5.1; sch_pie.c pie_qdisc_enqueue")]
    pub ecn: bool,
    /// With ecn: the highest probability with which ECT packets are marked, in percent; 100: they are never dropped
    /// early. On the simulator only: the kernel's code has the number itself.
    #[key(otherwise = "10", unit = "0 to 100", source = "RFC 8033 section 5.1; sch_pie.c pie_qdisc_enqueue")]
    pub ecn_threshold_percent: Option<u32>,
    /// Scale the probability with the size of the packet.
    #[key(default = false, source = "sch_pie.c pie_drop_early")]
    pub bytemode: bool,
    /// Measure the delay as backlog over departure rate instead of by the last packet's own wait.
    #[key(
        default = false,
        source = "RFC 8033 sections 4.3 and 5.2; sch_pie.c pie_process_dequeue (an option since 5.5)"
    )]
    pub dq_rate_estimator: bool,
    /// Waiting packets that fit; tc's own default is 1000 packets.
    #[key(otherwise = "the link's buffer", source = "sch_pie.c pie_init")]
    pub limit: Option<Amount>,
}

impl Resolve for Pie {
    type Config = PieConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<PieConfig> {
        let target = law.tc_time(self.target, "target");
        let tupdate = law.tc_time(self.tupdate, "tupdate");
        for (time, key) in [(target, "target"), (tupdate, "tupdate")] {
            if time.is_some_and(Span::is_zero) {
                law.keys.error(key, format!("{key} must be above 0"), "as in \"15 ms\"");
            }
        }
        for (gain, key, example) in [(self.alpha, "alpha", 2), (self.beta, "beta", 20)] {
            // q_pie.c
            // (https://git.kernel.org/pub/scm/network/iproute2/iproute2.git/tree/tc/q_pie.c?h=v6.12.0).
            if gain > 32 {
                let hint = format!("write a number from 0 to 32, as in {example}");
                law.keys.error(key, format!("{key} of {gain} sixteenths"), hint);
            }
        }
        let percent = self.ecn_threshold_percent.unwrap_or(KERNEL_THRESHOLD_PERCENT);
        let ecn_threshold_percent = u8::try_from(percent).ok().filter(|percent| *percent <= 100);
        if ecn_threshold_percent.is_none() {
            law.keys.error(
                "ecn_threshold_percent",
                format!("a threshold of {percent} %"),
                "write a number from 0 to 100",
            );
        } else if self.ecn_threshold_percent.is_some() && !self.ecn {
            let hint = "write ecn = true, or remove it";
            law.keys.error("ecn_threshold_percent", "nothing is marked without ecn", hint);
        }
        let limit = law.limit(self.limit, limit);
        Some(PieConfig {
            target: target?,
            tupdate: tupdate?,
            alpha: self.alpha,
            beta: self.beta,
            ecn: self.ecn,
            ecn_threshold_percent: ecn_threshold_percent?,
            bytemode: self.bytemode,
            dq_rate_estimator: self.dq_rate_estimator,
            mtu_bytes: law.port.mtu,
            limit: limit?,
        })
    }
}
