//! DualPI2: two queues, one PI controller.
//!
//! The longer of the two queueing times d drives p' <- p' + alpha (d - target) + beta (d - d before). Low-latency
//! packets are marked with k p', classic ones dropped, or marked if they are ECT, with p'^2; the low-latency queue has
//! a step or a ramp of its own besides. Follows `net/sched/sch_dualpi2.c`
//! (<https://elixir.bootlin.com/linux/v6.18/source/net/sched/sch_dualpi2.c>) and RFC 9332
//! (<https://www.rfc-editor.org/rfc/rfc9332>); where it departs is listed in [`DualPi2Config::DOC`].

mod coin;
mod config;
mod doc;
mod form;
mod native;
mod pi;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{DualPi2Config, NativeMarking, Tossing};
pub use form::DualPi2Form;

use crate::sched::Lane;
use crate::shell::{Decision, DualLaw, Lanes, Passage};
use crate::{DecideAt, Reason};
use coin::Coin;
use native::{Native, wait_ns};
use pi::{MAX_PROBABILITY, Pi};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// The controller, the two laws of the low-latency queue, and when they are applied.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    pi: Pi,
    coin: Coin,
    native: Native,
    decide: DecideAt,
    coupling: u8,
    ecn_mask: u8,
    drop_on_overload: bool,
    min_backlog_bytes: u64,
    tupdate: Span,
    update_at: Time,
}

impl DualPi2 {
    fn new(config: &DualPi2Config, line_rate: Rate) -> Self {
        // tc hands over microseconds; an update needs time to pass.
        let whole_micros = |span: Span| Span::from_picos(span.as_picos() / 1_000_000 * 1_000_000);
        let tupdate = whole_micros(config.tupdate).max(Span::from_micros(1));
        let stop_at = (!config.drop_on_overload).then_some(config.coupling);
        Self {
            pi: Pi::new(
                config.form,
                whole_micros(config.target).as_nanos(),
                config.alpha_256th_hz,
                config.beta_256th_hz,
                stop_at,
            ),
            coin: Coin::new(config.tossing),
            native: Native::new(config.native, line_rate),
            decide: config.decide,
            coupling: config.coupling.max(1),
            ecn_mask: config.ecn_mask,
            drop_on_overload: config.drop_on_overload,
            min_backlog_bytes: config.min_backlog_bytes,
            tupdate,
            update_at: Time::ZERO + config.first_update.max(Span::from_micros(1)),
        }
    }

    /// Decides on a packet as Linux's `must_drop` does: the
    /// probability is not applied if less than `min_backlog_bytes` waits. `native` is the probability of a
    /// mark by the ramp.
    #[inline]
    fn apply(&mut self, passage: &Passage<'_>, native: u64, random: &mut Stream) -> Decision {
        let &Passage { packet, lane, waiting, .. } = passage;
        let small = waiting.backlog().bytes < self.min_backlog_bytes;
        let base = if small { 0 } else { self.pi.probability() };
        let coupled = u64::from(base) * u64::from(self.coupling);
        let overload = coupled > u64::from(MAX_PROBABILITY);
        match lane {
            Lane::Classic if small => Decision::Pass,
            Lane::Classic => {
                if !self.coin.toss_squared(lane, base, random) {
                    Decision::Pass
                } else if overload {
                    Decision::Drop(Reason::Early)
                } else {
                    Decision::signal(packet, Reason::Early)
                }
            }
            Lane::Low if small && native == 0 => Decision::Pass,
            Lane::Low if overload => {
                if self.drop_on_overload && self.coin.toss_squared(lane, base, random) {
                    Decision::Drop(Reason::Early)
                } else {
                    Decision::signal(packet, Reason::Coupled)
                }
            }
            Lane::Low => {
                if !self.coin.toss(lane, coupled.max(native), random) {
                    Decision::Pass
                } else if native > coupled {
                    Decision::signal(packet, Reason::Threshold)
                } else {
                    Decision::signal(packet, Reason::Coupled)
                }
            }
        }
    }
}

impl DualLaw for DualPi2 {
    /// Classifies a packet (`dualpi2_skb_classify`).
    #[inline]
    fn lane_of(&self, packet: &Packet) -> Lane {
        if packet.ecn.bits() & self.ecn_mask != 0 { Lane::Low } else { Lane::Classic }
    }

    #[inline]
    fn on_arrival(&mut self, passage: &Passage<'_>, random: &mut Stream) -> Decision {
        match self.decide {
            DecideAt::Enqueue => {
                let native = self.native.likelihood_on_arrival(passage);
                self.apply(passage, native, random)
            }
            DecideAt::Dequeue => Decision::Pass,
        }
    }

    /// The law of the classic queue applies to it, too, if it is one that decides on arrival.
    fn on_redirection(&mut self, passage: &Passage<'_>, decision: Decision, random: &mut Stream) -> Decision {
        match self.decide {
            DecideAt::Enqueue => match self.apply(passage, 0, random) {
                Decision::Pass => decision,
                other => other,
            },
            DecideAt::Dequeue => decision,
        }
    }

    #[inline]
    fn on_joining(&mut self, passage: &Passage<'_>) {
        if passage.lane == Lane::Low {
            self.native.on_joining(passage.waiting.lane(Lane::Low).backlog().packets);
        }
    }

    #[inline]
    fn on_departure(&mut self, passage: &Passage<'_>, random: &mut Stream) -> Decision {
        let &Passage { packet, lane, waiting, now } = passage;
        let behind = waiting.lane(lane).backlog();
        let applies = lane == Lane::Low && self.native.on_departure();
        let ramp = if lane == Lane::Low { self.native.likelihood(packet, behind.packets, now) } else { 0 };
        let decision = match self.decide {
            DecideAt::Dequeue => self.apply(passage, ramp, random),
            DecideAt::Enqueue if ramp > 0 && self.coin.toss(lane, ramp, random) => {
                Decision::signal(packet, Reason::Threshold)
            }
            DecideAt::Enqueue => Decision::Pass,
        };
        // A packet that both laws mark is counted for the native one.
        let dropped = matches!(decision, Decision::Drop(_));
        if applies && !dropped && self.native.is_above(packet, behind.packets, behind.bytes, now) {
            return Decision::signal(packet, Reason::Threshold);
        }
        decision
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.update_at
    }

    fn on_timer(&mut self, waiting: &Lanes, now: Time) {
        if now < self.update_at {
            return;
        }
        let age = |lane| waiting.lane(lane).head().map_or(0, |arrived| wait_ns(arrived, now));
        self.pi.update(age(Lane::Low).max(age(Lane::Classic)));
        self.update_at = now.saturating_add(self.tupdate);
    }

    /// The base probability p'.
    fn probability(&self) -> Option<f64> {
        Some(f64::from(self.pi.probability()) / f64::from(MAX_PROBABILITY))
    }

    fn retune(&mut self, newer: &Self) -> bool {
        let (mut pi, mut native) = (newer.pi, newer.native.clone());
        pi.learn_from(&self.pi);
        native.learn_from(&mut self.native);
        *self = Self { pi, native, coin: self.coin, update_at: self.update_at, ..newer.clone() };
        true
    }
}
