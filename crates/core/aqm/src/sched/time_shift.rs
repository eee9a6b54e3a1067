//! Time-shifted FIFO ([RFC 9332, section 4.2.2](https://www.rfc-editor.org/rfc/rfc9332#section-4.2.2)).

use super::Lane;
use shoal_units::{Span, Time};

/// The packet that has waited longest, after `shift` is added to the wait of the low-latency one; it wins ties
/// (as in `pi2_qdisc_dequeue` of the sch_pi2 module by De Schepper and Bondarenko).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeShiftedFifo {
    shift: Span,
}

impl TimeShiftedFifo {
    pub(crate) const fn new(shift: Span) -> Self {
        Self { shift }
    }

    /// Which of two backlogged queues sends, whose heads arrived then.
    #[inline]
    pub(crate) fn pick(&self, low: Time, classic: Time) -> Lane {
        if classic.saturating_add(self.shift) >= low { Lane::Low } else { Lane::Classic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_biased_wait_sends() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let scheduler = TimeShiftedFifo::new(Span::from_millis(50));
        // A classic packet waits since 10 ms; a low-latency packet goes first if it came at 60 ms at the latest.
        assert_eq!(scheduler.pick(at(0), at(10)), Lane::Low);
        assert_eq!(scheduler.pick(at(60), at(10)), Lane::Low);
        assert_eq!(scheduler.pick(at(60) + Span::from_picos(1), at(10)), Lane::Classic);
        // Without a shift it is one FIFO.
        let fifo = TimeShiftedFifo::new(Span::ZERO);
        assert_eq!(fifo.pick(at(10), at(10)), Lane::Low);
        assert_eq!(fifo.pick(at(11), at(10)), Lane::Classic);
    }
}
