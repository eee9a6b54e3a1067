//! PIE: proportional integral controller enhanced.
//!
//! Every Tupdate p <- p + alpha (d - target) + beta (d - d before), with gains that shrink with p; an arriving packet
//! is dropped with p, or marked if it is ECT and p at most a threshold, 10 % in the kernel. Follows RFC 8033
//! (<https://www.rfc-editor.org/rfc/rfc8033>) as `net/sched/sch_pie.c` has it
//! (<https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_pie.c>); where it departs is listed in
//! [`PieConfig::DOC`].

mod config;
mod control;
mod doc;
mod rate;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::PieConfig;
pub(crate) use control::ticks;
pub(crate) use rate::DepartureRate;

use crate::shell::{Decision, Law, Store, Waiting};
use crate::{Backlog, Reason};
use control::{Control, MAX_PROB, probability_of};
use shoal_packet::Packet;
use shoal_units::{JIFFY, Span, Stream, Time, wheel_slot, whole_jiffies};

/// The controller and its timer.
#[derive(Clone, Debug)]
pub struct Pie {
    control: Control,
    /// The highest probability with which ECT packets are marked; `None`: they are dropped like others.
    marks_up_to: Option<u64>,
    period: Span,
    /// Time of the next update; of the last one while updates are suspended.
    update_at: Time,
    /// Whether updates are suspended: nothing waits and updates would change nothing, until a packet arrives.
    asleep: bool,
}

/// From one update to the next: `pie_timer` asks for `tupdate`, rounded up to jiffies, at an instant that is a
/// multiple of what this returns. Zero stays zero: then it does not ask.
fn period(tupdate: Span) -> Span {
    if tupdate.is_zero() {
        return Span::ZERO;
    }
    JIFFY.saturating_mul(wheel_slot(0, whole_jiffies(tupdate)))
}

impl Pie {
    fn new(config: &PieConfig) -> Self {
        let period = period(config.tupdate);
        Self {
            control: Control::new(config),
            marks_up_to: config.ecn.then(|| probability_of(config.ecn_threshold_percent)),
            period,
            // The first one is half a second after the queue was created (`pie_init`), which is older than the run.
            update_at: if period.is_zero() { Time::NEVER } else { Time::ZERO + period },
            asleep: false,
        }
    }

    /// Time of the first update after `now` that the timer would have made; suspended updates keep the
    /// rhythm.
    #[cold]
    fn wake(&mut self, now: Time) {
        self.asleep = false;
        let missed = now.since(self.update_at).as_picos() / self.period.as_picos();
        self.update_at = self.update_at.saturating_add(self.period.saturating_mul(missed + 1));
    }
}

impl Law for Pie {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, now: Time, random: &mut Stream) -> Decision {
        if self.asleep {
            self.wake(now);
        }
        if !self.control.acts(packet.size, waiting.backlog().bytes, random) {
            return Decision::Pass;
        }
        let marks = self.marks_up_to.is_some_and(|most| self.control.probability() <= most);
        if marks && packet.ecn.is_capable() {
            return Decision::Mark(Reason::Early);
        }
        self.control.on_drop();
        Decision::Drop(Reason::Early)
    }

    #[inline]
    fn on_overflow(&mut self, now: Time) {
        if self.asleep {
            self.wake(now);
        }
        self.control.on_drop();
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, waiting: &Waiting, now: Time, _: &mut Stream) -> Decision {
        self.control.on_departure(packet, waiting.backlog().bytes, now);
        Decision::Pass
    }

    /// Probability of a drop or mark; the kernel's may exceed 1.
    fn probability(&self) -> Option<f64> {
        Some((self.control.probability() as f64 / MAX_PROB as f64).min(1.0))
    }

    #[inline]
    fn next_timer(&self) -> Time {
        if self.asleep { Time::NEVER } else { self.update_at }
    }

    fn on_timer(&mut self, waiting: &Store, now: Time) {
        if self.asleep || now < self.update_at {
            return;
        }
        let Backlog { packets, bytes } = waiting.backlog();
        let before = self.control.vars();
        self.control.update(bytes);
        if packets == 0 && self.control.vars() == before {
            // An update is a function of what it changes and of the backlog.
            self.asleep = true;
            self.update_at = now;
        } else {
            self.update_at = now.saturating_add(self.period);
        }
    }
}
