//! The controller of PIE in the kernel's integers: `pie_drop_early`, `pie_process_dequeue` and
//! `pie_calculate_probability` of
//! [`net/sched/sch_pie.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_pie.c), with
//! [`include/net/pie.h`](https://elixir.bootlin.com/linux/v6.12/source/include/net/pie.h).

use super::rate::DepartureRate;
use crate::PieConfig;
use shoal_packet::Packet;
use shoal_units::cast::{count_u32, low_u32};
use shoal_units::{Span, Stream, Time};

/// Probability 1 (`MAX_PROB`): 56 bits, so that sums of a few do not overflow. Nothing stops the probability above it.
pub(super) const MAX_PROB: u64 = u64::MAX >> 8;
/// psched ticks of 64 ns a second (`PSCHED_TICKS_PER_SEC`).
const TICKS_PER_SEC: u64 = 1_000_000_000 >> 6;
/// Burst allowance of 150 ms in ticks.
const BURST: u64 = 150_000_000 >> 6;
/// Delay of 250 ms in ticks, beyond which the probability grows by a further 2 % at each update.
const HIGH_DELAY: u64 = 250_000_000 >> 6;
/// Bytes of backlog with which a measurement of the departure rate begins, and bytes that it covers
/// (`QUEUE_THRESHOLD`).
const RATE_THRESHOLD: u64 = 16_384;

/// Parameters and state.
#[derive(Clone, Debug)]
pub(super) struct Control {
    target: u64,
    /// Gains per tick, before they are tuned to the probability.
    alpha: u64,
    beta: u64,
    /// Twice the size of the largest packet in bytes.
    little: u64,
    mtu: u64,
    bytemode: bool,
    vars: Vars,
}

/// `struct pie_vars`: what an update depends on and changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Vars {
    prob: u64,
    /// Sum of the probabilities since the last drop: drops come neither too early nor too late.
    accu_prob: u64,
    /// Delay of the last packet, or at the last update.
    qdelay: u64,
    qdelay_old: u64,
    /// Remaining burst allowance in ticks, during which nothing is dropped.
    burst: u64,
    measured: Measured,
}

/// How the delay is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Measured {
    /// By the wait of the packet that leaves; holds the time at which the previous one left.
    Timestamps(Option<u64>),
    /// By the backlog over the departure rate.
    Rate(DepartureRate),
}

impl Control {
    pub(super) fn new(config: &PieConfig) -> Self {
        let gain = |sixteenths: u32| u64::from(sixteenths).wrapping_mul(MAX_PROB / TICKS_PER_SEC) >> 4;
        let measured = if config.dq_rate_estimator {
            Measured::Rate(DepartureRate::new(RATE_THRESHOLD))
        } else {
            Measured::Timestamps(None)
        };
        Self {
            target: span_ticks(config.target),
            alpha: gain(config.alpha),
            beta: gain(config.beta),
            little: 2 * u64::from(config.mtu_bytes),
            mtu: u64::from(config.mtu_bytes).max(1),
            bytemode: config.bytemode,
            vars: Vars { prob: 0, accu_prob: 0, qdelay: 0, qdelay_old: 0, burst: BURST, measured },
        }
    }

    pub(super) fn probability(&self) -> u64 {
        self.vars.prob
    }

    pub(super) fn vars(&self) -> Vars {
        self.vars
    }

    /// A packet was dropped on arrival.
    #[inline]
    pub(super) fn on_drop(&mut self) {
        self.vars.accu_prob = 0;
    }

    /// Whether a packet that finds `backlog_bytes` is dropped early.
    #[inline]
    pub(super) fn acts(&mut self, size: u16, backlog_bytes: u64, random: &mut Stream) -> bool {
        let vars = &mut self.vars;
        if vars.burst > 0
            || (vars.qdelay < self.target / 2 && vars.prob < MAX_PROB / 5)
            || backlog_bytes < self.little
        {
            return false;
        }
        let size = u64::from(size);
        let local = if self.bytemode && size <= self.mtu { size * (vars.prob / self.mtu) } else { vars.prob };
        vars.accu_prob = if local == 0 { 0 } else { vars.accu_prob.wrapping_add(local) };
        if vars.accu_prob < MAX_PROB / 100 * 85 {
            return false;
        }
        if vars.accu_prob >= MAX_PROB / 2 * 17 {
            return true;
        }
        let drops = random.uniform_u64() >> 8 < local;
        if drops {
            vars.accu_prob = 0;
        }
        drops
    }

    /// `packet` leaves `backlog_bytes` behind.
    #[inline]
    pub(super) fn on_departure(&mut self, packet: &Packet, backlog_bytes: u64, now: Time) {
        let vars = &mut self.vars;
        let now = ticks(now);
        let passed = match &mut vars.measured {
            Measured::Timestamps(last) => {
                vars.qdelay = if backlog_bytes == 0 { 0 } else { now - ticks(packet.enqueued) };
                // 32 bits in the kernel.
                let passed = last.map_or(0, |last| low_u32(now - last));
                *last = Some(now);
                passed
            }
            Measured::Rate(rate) => {
                rate.on_departure(packet.size, low_u32(backlog_bytes).into(), now).unwrap_or(0)
            }
        };
        vars.burst = vars.burst.saturating_sub(passed.into());
    }

    /// The periodic update, with `backlog_bytes` waiting.
    pub(super) fn update(&mut self, backlog_bytes: u64) {
        let vars = &mut self.vars;
        let (qdelay, qdelay_old) = match vars.measured {
            Measured::Timestamps(_) => (vars.qdelay, vars.qdelay_old),
            Measured::Rate(rate) => {
                vars.qdelay_old = vars.qdelay;
                (rate.ticks_for(backlog_bytes), vars.qdelay)
            }
        };
        // A delay that is rounded to zero while packets wait carries no information.
        let mut may_decay = qdelay != 0 || backlog_bytes == 0;
        let shift = tuning(vars.prob);
        let (alpha, beta) = (self.alpha >> shift, self.beta >> shift);
        let mut delta = (alpha.wrapping_mul(qdelay.wrapping_sub(self.target)).cast_signed())
            .wrapping_add(beta.wrapping_mul(qdelay.wrapping_sub(qdelay_old)).cast_signed());
        if delta > (MAX_PROB / 50).cast_signed() && vars.prob >= MAX_PROB / 10 {
            delta = (MAX_PROB / 100 * 2).cast_signed();
        }
        if qdelay > HIGH_DELAY {
            delta = delta.wrapping_add((MAX_PROB / 50).cast_signed());
        }
        let before = vars.prob;
        vars.prob = before.wrapping_add_signed(delta);
        if delta > 0 && vars.prob < before {
            vars.prob = MAX_PROB;
            may_decay = false;
        } else if delta <= 0 && vars.prob > before {
            vars.prob = 0;
        }
        if qdelay == 0 && qdelay_old == 0 && may_decay {
            vars.prob -= vars.prob / 64;
        }
        vars.qdelay = qdelay;
        let half = self.target / 2;
        if qdelay < half && vars.qdelay_old < half && vars.prob == 0 {
            vars.restart();
        }
        if let Measured::Timestamps(_) = vars.measured {
            vars.qdelay_old = qdelay;
        }
    }
}

impl Vars {
    /// `pie_vars_init`: a new burst is allowed. With the estimator only once it has measured.
    fn restart(&mut self) {
        match &mut self.measured {
            Measured::Timestamps(last) => *last = None,
            Measured::Rate(rate) if rate.is_unknown() => return,
            Measured::Rate(rate) => *rate = DepartureRate::new(RATE_THRESHOLD),
        }
        self.burst = BURST;
        self.accu_prob = 0;
    }
}

/// The probability of so many percent, as the kernel divides: 10 % are `MAX_PROB / 10`. From 100 % on it is above
/// whatever the probability grows to, which may exceed 1.
pub(super) fn probability_of(percent: u8) -> u64 {
    if percent >= 100 {
        return u64::MAX;
    }
    MAX_PROB / 100 * u64::from(percent) + MAX_PROB % 100 * u64::from(percent) / 100
}

/// By how many bits the gains are reduced: a half below 10 %, and a quarter more for every power of ten from
/// 1 % down to 0.0001 % ([RFC 8033, section 4.2](https://www.rfc-editor.org/rfc/rfc8033#section-4.2)).
fn tuning(prob: u64) -> u32 {
    if prob >= MAX_PROB / 10 {
        return 0;
    }
    let steps = [100, 1000, 10_000, 100_000, 1_000_000];
    1 + 2 * count_u32(steps.into_iter().take_while(|&power| prob < MAX_PROB / power).count())
}

/// psched ticks of 64 ns since the start.
#[inline]
pub(crate) const fn ticks(time: Time) -> u64 {
    time.as_picos() / 64_000
}

/// A parameter: tc takes 32 bits of whole microseconds.
fn span_ticks(span: Span) -> u64 {
    (span.as_micros().min(u64::from(u32::MAX)) * 1000) >> 6
}

#[cfg(test)]
mod tests;
