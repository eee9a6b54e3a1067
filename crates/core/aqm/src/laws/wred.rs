//! WRED as switches have it: one FIFO in which marks and drops have profiles of their own.
//!
//! A profile selects a packet with p(q) = 0 for q < min, `max_probability` (q - min) / (max - min) for min <= q < max,
//! and 1 for q >= max; min = max is a step. One profile marks ECT packets, one drops those that are not ECT, and one,
//! where a switch has it, drops ECT packets. q is what waits besides the packet: on arrival the queue that it finds, on
//! departure the queue behind it or, for thresholds in time, its own wait. With a weight n > 0 each profile averages
//! what it compares, avg <- avg + (q - avg) 2^-n, at every packet that passes.
//!
//! Drops are decided on arrival, as OpenConfig has it (below the minimum "all packets are admitted to the queue",
//! [openconfig-qos-mem-mgmt.yang](https://github.com/openconfig/public/blob/master/release/models/qos/openconfig-qos-mem-mgmt.yang));
//! marks on arrival or on departure, which the chip decides ([SONiC's test of
//! ECN](https://github.com/sonic-net/sonic-mgmt/blob/master/docs/testplan/ecn/ECN_ACCURACY_README.md)). Where the law
//! departs from switches, and what it assumes where their documents say nothing, is listed in [`WredConfig::DOC`].

mod config;
mod doc;
mod profile;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{WredConfig, WredProfile, WredThresholds};

use crate::DecideAt;
use crate::shell::{Decision, Law, Waiting};
use profile::Profile;
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// Three profiles on one queue.
#[derive(Clone, Debug)]
pub struct Wred {
    decide: DecideAt,
    mark: Profile,
    drop: Profile,
    drop_ect: Profile,
}

impl Wred {
    fn new(config: &WredConfig, line_rate: Rate) -> Self {
        let profile = |profile: &Option<WredProfile>, decide| {
            profile.map_or(Profile::NEVER, |profile| {
                Profile::new(&profile, decide, config.weight, config.cell_bytes, line_rate)
            })
        };
        Self {
            decide: config.decide,
            mark: profile(&config.mark, config.decide),
            drop: profile(&config.drop, DecideAt::Enqueue),
            drop_ect: profile(&config.drop_ect, DecideAt::Enqueue),
        }
    }

    /// All profiles, that of drops first.
    fn profiles(&self) -> [&Profile; 3] {
        [&self.drop, &self.mark, &self.drop_ect]
    }
}

impl Law for Wred {
    /// A packet that does not fit moves the averages, too.
    const LIMIT_FIRST: bool = false;

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, _: Time, random: &mut Stream) -> Decision {
        let is_ect = packet.ecn.is_capable();
        let dropped = self.drop.judge(!is_ect, waiting, Span::ZERO, random);
        let dropped = dropped.or(self.drop_ect.judge(is_ect, waiting, Span::ZERO, random));
        let marked = if self.decide == DecideAt::Enqueue {
            self.mark.judge(is_ect && dropped.is_none(), waiting, Span::ZERO, random)
        } else {
            None
        };
        match (dropped, marked) {
            (Some(reason), _) => Decision::Drop(reason),
            (None, Some(reason)) => Decision::Mark(reason),
            (None, None) => Decision::Pass,
        }
    }

    #[inline]
    fn on_departure(
        &mut self,
        packet: &Packet,
        waiting: &Waiting,
        now: Time,
        random: &mut Stream,
    ) -> Decision {
        if self.decide == DecideAt::Dequeue {
            let waited = now.since(packet.enqueued);
            if let Some(reason) = self.mark.judge(packet.ecn.is_capable(), waiting, waited, random) {
                return Decision::Mark(reason);
            }
        }
        Decision::Pass
    }

    fn decides_on_arrival(&self) -> bool {
        self.decide == DecideAt::Enqueue
    }

    /// The average of the profile that drops packets that are not ECT, else of the one that marks, else of the one that
    /// drops ECT packets: of the first one that averages bytes.
    fn average_bytes(&self) -> Option<f64> {
        self.profiles().into_iter().find_map(Profile::average_bytes)
    }
}
