//! The control law of CoDel:
//! [`include/net/codel_impl.h`](https://elixir.bootlin.com/linux/v7.3/source/include/net/codel_impl.h).

use super::clock::{Instant, is_below, ticks};
use crate::shell::Decision;
use crate::{CeThresholdFor, CodelParameters, Reason};
use shoal_packet::Packet;
use shoal_units::Time;

/// `rec_inv_sqrt` has 16 bits, arithmetic 32.
const SHIFT: u32 = 16;
/// `CODEL_MAX_DROPS_PER_DEQUEUE`: signals that are due and were not given within so many drops are forgotten.
const MAX_DROPS: u16 = 256;

/// `struct codel_params`, in ticks and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    target: u32,
    interval: u32,
    ce_threshold: Option<u32>,
    ce_threshold_for: CeThresholdFor,
    mtu: u64,
    ecn: bool,
}

impl Parameters {
    pub(crate) fn new(config: &CodelParameters) -> Self {
        Self {
            target: ticks(config.target),
            interval: ticks(config.interval),
            ce_threshold: config.ce_threshold.map(ticks),
            ce_threshold_for: config.ce_threshold_for,
            mtu: config.mtu_bytes.into(),
            ecn: config.ecn,
        }
    }
}

/// `struct codel_vars` of one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    /// Number of signals since the dropping state was entered.
    count: u32,
    /// Value of `count` after the last entry.
    last_count: u32,
    /// Time at which the next signal is due, or was due last.
    drop_next: Instant,
    /// Time from which the sojourn time has been too long for an interval; 0 if it is not too long.
    first_above: Instant,
    /// Sojourn time of the last packet, ticks.
    sojourn: u32,
    /// 2^16 / sqrt(count), approximately.
    rec_inv_sqrt: u16,
    dropping: bool,
    next: Step,
}

/// Role of the next packet. The kernel takes several packets in one call; here every drop is reported before
/// the next packet is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The first packet of a call.
    First,
    /// The packet after the one that was dropped on entering the dropping state.
    AfterEntry,
    /// A packet after so many that were dropped in the dropping state.
    AfterDrops(u16),
}

impl Control {
    /// The state before the first packet. The kernel's clock begins with its boot, and so does the state of its
    /// queues: `drop_next` is the boot until the first signal.
    pub(crate) const fn new() -> Self {
        Self {
            count: 0,
            last_count: 0,
            drop_next: Instant::BOOT,
            first_above: Instant(0),
            sojourn: 0,
            rec_inv_sqrt: 0,
            dropping: false,
            next: Step::First,
        }
    }

    /// `codel_dequeue`: `packet` was taken at `now` and leaves `backlog_bytes` behind.
    #[inline]
    pub(crate) fn on_packet(
        &mut self,
        parameters: &Parameters,
        packet: &Packet,
        backlog_bytes: u64,
        now: Time,
    ) -> Decision {
        let now = Instant::of(now);
        let is_late = self.is_late(parameters, packet, backlog_bytes, now);
        match core::mem::replace(&mut self.next, Step::First) {
            Step::First if self.dropping => {
                if !is_late {
                    self.dropping = false;
                } else if self.drop_next.has_come(now) {
                    return self.signal(parameters, packet, 0);
                }
            }
            Step::First => {
                if is_late {
                    return self.enter(parameters, packet, now);
                }
            }
            // The packet is sent whatever its sojourn time, which has been recorded.
            Step::AfterEntry => {}
            Step::AfterDrops(drops) => {
                if is_late {
                    self.schedule(parameters, self.drop_next);
                    if self.drop_next.has_come(now) {
                        if drops < MAX_DROPS {
                            return self.signal(parameters, packet, drops);
                        }
                        self.schedule(parameters, now);
                    }
                } else {
                    self.dropping = false;
                }
            }
        }
        self.send(parameters, packet)
    }

    /// The queue was asked for a packet and had none.
    #[inline]
    pub(crate) fn on_empty(&mut self) {
        self.first_above = Instant(0);
        // The dropping state that was entered with the last packet goes on.
        self.dropping = core::mem::replace(&mut self.next, Step::First) == Step::AfterEntry;
    }

    /// Packets were dropped for lack of room: the next signals come faster (`fq_codel_drop`).
    pub(crate) fn on_overflow(&mut self, packets: u32) {
        self.count = self.count.wrapping_add(packets);
    }

    /// `codel_should_drop`.
    #[inline]
    fn is_late(
        &mut self,
        parameters: &Parameters,
        packet: &Packet,
        backlog_bytes: u64,
        now: Instant,
    ) -> bool {
        self.sojourn = now.since(Instant::of(packet.enqueued));
        if is_below(self.sojourn, parameters.target) || backlog_bytes <= parameters.mtu {
            self.first_above = Instant(0);
            return false;
        }
        if self.first_above == Instant(0) {
            self.first_above = now.plus(parameters.interval);
            return false;
        }
        now.is_after(self.first_above)
    }

    /// Enters the dropping state. If it was left a short time ago, the law continues with the rate of signals
    /// that was needed last.
    fn enter(&mut self, parameters: &Parameters, packet: &Packet, now: Instant) -> Decision {
        self.dropping = true;
        let needed = self.count.wrapping_sub(self.last_count);
        let recent = is_below(now.since(self.drop_next), parameters.interval.wrapping_mul(16));
        if needed > 1 && recent {
            self.count = needed;
            self.improve_root();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.last_count = self.count;
        self.schedule(parameters, now);
        if parameters.ecn && packet.ecn.is_capable() {
            return Decision::Mark(Reason::Sojourn);
        }
        self.next = Step::AfterEntry;
        Decision::Drop(Reason::Sojourn)
    }

    /// A signal in the dropping state, after `drops` others at the same dequeue.
    fn signal(&mut self, parameters: &Parameters, packet: &Packet, drops: u16) -> Decision {
        self.count = self.count.wrapping_add(1);
        self.improve_root();
        if parameters.ecn && packet.ecn.is_capable() {
            self.schedule(parameters, self.drop_next);
            return Decision::Mark(Reason::Sojourn);
        }
        self.next = Step::AfterDrops(drops + 1);
        Decision::Drop(Reason::Sojourn)
    }

    /// `codel_control_law`: the next signal is interval / sqrt(count) after `from`, and a tick at least.
    #[inline]
    fn schedule(&mut self, parameters: &Parameters, from: Instant) {
        let reciprocal = u64::from(self.rec_inv_sqrt) << SHIFT;
        let gap = ((u64::from(parameters.interval) * reciprocal) >> 32) as u32;
        self.drop_next = from.plus(gap.max(1));
    }

    /// `codel_Newton_step`: x (3 - count x^2) / 2, with 32 fractional bits in x, of which 16 are kept. The
    /// two lowest bits of the bracket are dropped before the product, which would not fit otherwise.
    #[inline]
    fn improve_root(&mut self) {
        let x = u64::from(self.rec_inv_sqrt) << SHIFT;
        let square = (x * x) >> 32;
        let bracket = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square));
        self.rec_inv_sqrt = ((bracket >> 2).wrapping_mul(x) >> (31 + SHIFT)) as u16;
    }

    /// Sends a packet that the law lets pass; it is marked if it waited longer than `ce_threshold`.
    #[inline]
    fn send(&self, parameters: &Parameters, packet: &Packet) -> Decision {
        let Some(threshold) = parameters.ce_threshold else { return Decision::Pass };
        if parameters.ce_threshold_for.applies_to(packet.ecn) && is_below(threshold, self.sojourn) {
            return Decision::Mark(Reason::Threshold);
        }
        Decision::Pass
    }
}

#[cfg(test)]
mod tests;
