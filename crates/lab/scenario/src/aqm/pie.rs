//! Keys of `pie` ([RFC 8033](https://www.rfc-editor.org/rfc/rfc8033)).

use shoal_aqm::{Extent, PieConfig};
use shoal_units::Span;

use super::{Place, Resolve};
use crate::field::section;
use crate::quantity::{Amount, Duration};

section! {
    /// PIE with the parameters of `tc qdisc add ... pie`.
    Pie {
        /// Queueing delay to hold; kept in ticks of 64 ns.
        #[source = "RFC 8033 section 4.2"]
        target: Duration = "15 ms",
        /// What the timer between updates of the probability is set to. The kernel's timers take the next slot of 1 ms (above 63 ms
        /// of 8 ms): 15 ms give an update every 16 ms, the first after 0.504 s.
        #[source = "sch_pie.c pie_timer, pie_init; kernel/time/timer.c calc_wheel_index (since 4.8)"]
        tupdate: Duration = "15 ms",
        /// Gain on the distance from the target, in sixteenths of a Hz; reduced while the probability is low.
        #[source = "RFC 8033 section 4.2; sch_pie.c pie_calculate_probability"]
        #[unit = "0 to 32"]
        alpha: u32 = 2,
        /// Gain on the growth of the delay, in sixteenths of a Hz; reduced while the probability is low.
        #[source = "RFC 8033 section 4.2; sch_pie.c pie_calculate_probability"]
        #[unit = "0 to 32"]
        beta: u32 = 20,
        /// Mark ECT packets instead of dropping them while the probability is at most 10 %.
        #[source = "RFC 8033 section 5.1; sch_pie.c pie_qdisc_enqueue"]
        ecn: bool = false,
        /// Scale the probability with the size of the packet.
        #[source = "sch_pie.c pie_drop_early"]
        bytemode: bool = false,
        /// Measure the delay as backlog over departure rate instead of by the last packet's own wait.
        #[source = "RFC 8033 sections 4.3 and 5.2; sch_pie.c pie_process_dequeue (an option since 5.5)"]
        dq_rate_estimator: bool = false,
        /// Waiting packets that fit; tc's own default is 1000 packets.
        #[source = "sch_pie.c pie_init"]
        #[otherwise = "the link's buffer"]
        limit: Option<Amount>,
    }
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
        let limit = law.limit(self.limit, limit);
        Some(PieConfig {
            target: target?,
            tupdate: tupdate?,
            alpha: self.alpha,
            beta: self.beta,
            ecn: self.ecn,
            bytemode: self.bytemode,
            dq_rate_estimator: self.dq_rate_estimator,
            mtu_bytes: law.port.mtu,
            limit: limit?,
        })
    }
}
