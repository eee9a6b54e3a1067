//! Instants and durations in integer picoseconds.

use crate::cast::floor_u64;
use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_MS: u64 = 1_000_000_000;
const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the experiment. Range: 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A duration in picoseconds. Never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The start of the experiment.
    pub const ZERO: Self = Self(0);
    /// Later than every reachable instant; used for "no deadline".
    pub const NEVER: Self = Self(u64::MAX);

    /// Instant `ps` picoseconds after the start.
    pub const fn from_picos(ps: u64) -> Self {
        Self(ps)
    }
    /// Picoseconds since the start.
    pub const fn as_picos(self) -> u64 {
        self.0
    }
    /// Whole microseconds since the start, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / PS_PER_US
    }
    /// Whole milliseconds since the start, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / PS_PER_MS
    }
    /// Seconds since the start. For output only: not exact.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// Time elapsed since `earlier`; zero if `earlier` is later than `self`.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, or [`Time::NEVER`] past the end of the range.
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// A duration of zero.
    pub const ZERO: Self = Self(0);
    /// The longest representable duration.
    pub const MAX: Self = Self(u64::MAX);

    /// A duration of `ps` picoseconds.
    pub const fn from_picos(ps: u64) -> Self {
        Self(ps)
    }
    /// A duration of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns * PS_PER_NS)
    }
    /// A duration of `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * PS_PER_US)
    }
    /// A duration of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * PS_PER_MS)
    }
    /// A duration of `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PS_PER_S)
    }
    /// The nearest duration to `s` seconds; negative and NaN give zero, too large saturates.
    pub fn from_secs_f64(s: f64) -> Self {
        // The cast saturates and maps NaN to 0.
        Self(floor_u64(s * PS_PER_S as f64 + 0.5))
    }
    /// The duration in picoseconds.
    pub const fn as_picos(self) -> u64 {
        self.0
    }
    /// The duration in whole nanoseconds, rounded down.
    pub const fn as_nanos(self) -> u64 {
        self.0 / PS_PER_NS
    }
    /// The duration in whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / PS_PER_US
    }
    /// The duration in whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / PS_PER_MS
    }
    /// The duration in seconds. For output only: not exact.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// Whether the duration is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// `self - other`, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// `self * factor`, or [`Span::MAX`] past the end of the range.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}
impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}
impl Sub for Time {
    type Output = Span;
    /// Elapsed time; a negative result is a bug (debug builds panic).
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}
impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}
impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}
impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}
impl SubAssign for Span {
    #[inline]
    fn sub_assign(&mut self, other: Span) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, factor: u64) -> Span {
        Span(self.0 * factor)
    }
}
impl Div<u64> for Span {
    type Output = Span;
    #[inline]
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER { f.write_str("never") } else { write!(f, "@{:?}", Span(self.0)) }
    }
}
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0 => return f.write_str("0 s"),
            ps if ps >= PS_PER_S => (PS_PER_S, "s"),
            ps if ps >= PS_PER_MS => (PS_PER_MS, "ms"),
            ps if ps >= PS_PER_US => (PS_PER_US, "us"),
            ps if ps >= PS_PER_NS => (PS_PER_NS, "ns"),
            _ => (1, "ps"),
        };
        write!(f, "{} {name}", self.0 as f64 / unit as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn conversions_are_exact_integers() {
        assert_eq!(Span::from_secs(213 * 86_400).as_picos(), 213 * 86_400 * PS_PER_S);
        assert_eq!(Span::from_millis(25).as_micros(), 25_000);
        let late = Time::ZERO + Span::from_nanos(25_999_999);
        assert_eq!((late.as_micros(), late.as_millis()), (25_999, 25));
        assert_eq!(Span::from_secs_f64(0.025), Span::from_millis(25));
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::INFINITY), Span::MAX);
    }

    #[test]
    fn text_names_the_unit() {
        assert_eq!(format!("{}", Span::from_micros(1200)), "1.2 ms");
        assert_eq!(format!("{:?}", Time::NEVER), "never");
        assert_eq!(format!("{:?}", Time::ZERO + Span::from_nanos(5)), "@5 ns");
    }
}
