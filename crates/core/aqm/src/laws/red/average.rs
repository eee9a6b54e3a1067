//! The exponentially weighted moving average of RED (Floyd and Jacobson 1993, section 4 and figure 2).

use crate::Backlog;
use crate::shell::Transmitter;
use shoal_units::{Rate, Time};

/// The averaged queue in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Average {
    bytes: f64,
    weight: f64,
    /// Logarithm of 1 - weight: what one virtual arrival at an idle queue contributes.
    log_keep: f64,
    mean_packet_picos: f64,
    updated: Time,
}

impl Average {
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn new(weight: f64, rate: Rate, mean_packet_bytes: u32) -> Self {
        Self {
            bytes: 0.0,
            weight,
            log_keep: libm::log1p(-weight),
            // A packet takes some time even at rates that round to none.
            mean_packet_picos: rate.time_for(u64::from(mean_packet_bytes)).as_picos().max(1) as f64,
            updated: Time::ZERO,
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// A packet arrives and finds `backlog`. At an idle line the average ages as if m = idle time / time of a mean
    /// packet had arrived at an empty queue: avg (1-w)^m, and the backlog, which is zero, is not averaged again.
    ///
    /// The idle time starts at the last update if that is later than the end of the last transmission: a drop on an
    /// empty queue restarts it, otherwise the same idle time would count again and again.
    #[inline]
    pub(crate) fn on_arrival(&mut self, backlog: Backlog, line: &Transmitter, now: Time) {
        match line.idle_since(self.updated, backlog, now) {
            None => self.bytes += self.weight * (backlog.bytes as f64 - self.bytes),
            // With weight 1 nothing is kept of the past; log1p(-1) times no time at all would not be a number.
            Some(_) if self.weight >= 1.0 => self.bytes = 0.0,
            Some(idle) => {
                let arrivals = idle.as_picos() as f64 / self.mean_packet_picos;
                self.bytes *= libm::exp(arrivals * self.log_keep);
            }
        }
        self.updated = now;
    }
}
