//! Computes the two coupled probabilities from a queue.

use crate::{Backlog, CoupledSlope, Extent};
use shoal_units::cast::floor_u64;
use shoal_units::{Probability, Rate, Span};

/// The quantity that Q measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Measure {
    /// Queueing time in picoseconds.
    Time,
    Bytes,
    Packets,
}

/// The slopes of both probabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    pub measure: Measure,
    mark: Line,
    drop: Line,
    picos_per_byte: f64,
}

/// A probability that is zero at the origin and rises linearly.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// Factor by which Q is multiplied, in 2^-32.
    Scale(f64),
    /// `(Q / unit) << bits` times 2^-32.
    Shift { unit: u64, bits: u8 },
}

impl Slope {
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn new(config: CoupledSlope, line_rate: Rate) -> Self {
        let (extent, mark, drop) = match config {
            CoupledSlope::Linear { saturation, coupling } => {
                let scale = TWO_TO_32 / value_of(saturation) as f64;
                (saturation, Line::Scale(scale), Line::Scale(scale / coupling))
            }
            CoupledSlope::Shift { drop_bits, mark_bits, unit } => {
                let line = |bits: u8| Line::Shift { unit: value_of(unit), bits: bits.min(31) };
                (unit, line(mark_bits), line(drop_bits))
            }
        };
        let measure = match extent {
            Extent::Time(_) => Measure::Time,
            Extent::Packets(_) => Measure::Packets,
            Extent::Bytes(_) | Extent::Unlimited => Measure::Bytes,
        };
        let picos_per_byte = 8e12 / line_rate.as_bps() as f64;
        assert!(picos_per_byte.is_finite(), "a rate of zero");
        Self { measure, mark, drop, picos_per_byte }
    }

    /// Q of a queue with `backlog` and a packet that has waited for `waited`.
    #[inline]
    pub(crate) fn queue(&self, backlog: Backlog, waited: Span) -> u64 {
        match self.measure {
            Measure::Time => waited.as_picos(),
            Measure::Bytes => backlog.bytes,
            Measure::Packets => backlog.packets.into(),
        }
    }

    /// Q of a queue with `backlog` of which only the length is known: a time is bytes over the line rate.
    #[inline]
    pub(crate) fn queue_length(&self, backlog: Backlog) -> u64 {
        let wait = Span::from_picos(floor_u64(backlog.bytes as f64 * self.picos_per_byte));
        self.queue(backlog, wait)
    }

    /// Probability of a mark.
    #[inline]
    pub(crate) fn mark(&self, queue: u64) -> Probability {
        self.mark.at(queue)
    }

    /// Root of the probability of a drop: two draws must both be below it.
    #[inline]
    pub(crate) fn drop_root(&self, queue: u64) -> Probability {
        self.drop.at(queue)
    }
}

impl Line {
    /// In the form `x > R` with R uniform over 0..2^32 the probability is x / 2^32, and certain from x = 2^32 on.
    #[inline]
    fn at(self, queue: u64) -> Probability {
        match self {
            // Saturates, and is zero for an unlimited extent.
            Self::Scale(scale) => Probability::from_q32(floor_u64(queue as f64 * scale)),
            Self::Shift { unit, bits } => {
                let queue = queue / unit;
                if queue >> 32 == 0 { Probability::from_q32(queue << bits) } else { Probability::ONE }
            }
        }
    }
}

const TWO_TO_32: f64 = 4_294_967_296.0;

/// In picoseconds, bytes or packets; not zero.
fn value_of(extent: Extent) -> u64 {
    match extent {
        Extent::Unlimited => u64::MAX,
        Extent::Packets(packets) => packets.max(1).into(),
        Extent::Bytes(bytes) => bytes.max(1),
        Extent::Time(span) => span.as_picos().max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Rate = Rate::from_bps(40_000_000);

    #[test]
    fn shifts_are_exact_and_saturate() {
        let unit = Extent::Time(Span::from_nanos(1));
        let slope = Slope::new(CoupledSlope::Shift { drop_bits: 3, mark_bits: 6, unit }, LINE);
        let at = |nanos| {
            let queue = Span::from_nanos(nanos).as_picos();
            (slope.drop_root(queue).as_q32(), slope.mark(queue).as_q32())
        };
        assert_eq!(at(0), (0, 0));
        assert_eq!(at(1), (8, 64));
        // 999 ps are not a whole nanosecond.
        assert_eq!(slope.mark(999).as_q32(), 0);
        // 32 ms: 32e6 << 3 and 32e6 << 6.
        assert_eq!(at(32_000_000), (256_000_000, 2_048_000_000));
        // 2^26 ns << 6 = 2^32: every mark, and the last queue below it.
        assert_eq!(at((1 << 26) - 1), (((1 << 26) - 1) << 3, ((1u64 << 26) - 1) << 6));
        assert_eq!(at(1 << 26), (1 << 29, 1 << 32));
        assert_eq!(at(1 << 29), (1 << 32, 1 << 32));
        // No bits are lost, however long the queue is.
        assert_eq!(at(1 << 53), (1 << 32, 1 << 32));
        let widest =
            Slope::new(CoupledSlope::Shift { drop_bits: 31, mark_bits: 31, unit: Extent::Bytes(1) }, LINE);
        assert_eq!(widest.mark(1).as_q32(), 1 << 31);
        assert_eq!(widest.mark(2).as_q32(), 1 << 32);
        assert_eq!(widest.mark(u64::MAX).as_q32(), 1 << 32);
    }

    /// A law in both forms: S_r = 0 and S_d = 3 in nanoseconds are k = 8 with saturation at 2^29 ns.
    #[test]
    fn both_forms_agree() {
        let unit = Extent::Time(Span::from_nanos(1));
        let shift = Slope::new(CoupledSlope::Shift { drop_bits: 0, mark_bits: 3, unit }, LINE);
        let saturation = Extent::Time(Span::from_nanos(1 << 29));
        let linear = Slope::new(CoupledSlope::Linear { saturation, coupling: 8.0 }, LINE);
        for nanos in [0, 1, 77, 1_000_000, 123_456_789, (1 << 29) - 1, 1 << 29, 1 << 32, 1 << 40] {
            let queue = Span::from_nanos(nanos).as_picos();
            assert_eq!(shift.mark(queue), linear.mark(queue), "{nanos} ns");
            assert_eq!(shift.drop_root(queue), linear.drop_root(queue), "{nanos} ns");
        }
    }

    #[test]
    fn the_unit_of_the_extent_is_the_measure() {
        let backlog = Backlog { packets: 3, bytes: 4500 };
        let q = |saturation| {
            let slope = Slope::new(CoupledSlope::Linear { saturation, coupling: 2.0 }, LINE);
            (slope.queue(backlog, Span::from_micros(7)), slope.queue_length(backlog))
        };
        assert_eq!(q(Extent::Packets(10)), (3, 3));
        assert_eq!(q(Extent::Bytes(10)), (4500, 4500));
        // 4500 B at 40 Mbit/s: 0.9 ms.
        assert_eq!(q(Extent::Time(Span::from_millis(1))), (7_000_000, 900_000_000));
    }

    #[test]
    fn an_unlimited_extent_never_acts() {
        let slope = Slope::new(CoupledSlope::Linear { saturation: Extent::Unlimited, coupling: 1.0 }, LINE);
        assert_eq!(slope.mark(1 << 31).as_q32(), 0);
    }
}
