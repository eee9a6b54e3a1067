//! Bounds of the parameters that this project's modules accept. linux/modules/law/bounds.h defines them; a
//! test compares both.

use super::PLACE;
use crate::refusal::Refusals;
use std::ops::RangeInclusive;

/// Rate in bytes per second.
pub(super) const RATE: RangeInclusive<u64> = 1..=1_000_000_000_000;
/// Saturation and unit, in nanoseconds, bytes or packets.
pub(super) const AMOUNT: RangeInclusive<u64> = 1..=1_000_000_000_000_000;
/// Threshold and shift, which may be zero.
pub(super) const AMOUNT_OR_NOTHING: RangeInclusive<u64> = 0..=1_000_000_000_000_000;
/// Coupling factor k in 2^-16.
pub(super) const COUPLING: RangeInclusive<u64> = (1 << 6)..=(1 << 26);
/// Mean packet size in bytes.
pub(super) const MEAN_PACKET: RangeInclusive<u64> = 1..=65_535;

/// Refuses a `value` outside of `bounds`; `says` describes the bounds in words.
pub(super) fn check(
    key: &str,
    value: u64,
    bounds: &RangeInclusive<u64>,
    says: &str,
    refusals: &mut Refusals,
) -> Option<()> {
    if bounds.contains(&value) {
        return Some(());
    }
    let reason = format!("{key} is beyond what the module computes with");
    refusals.add(PLACE, reason, format!("write {says}, or run this on the simulator"));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = include_str!("../../../../../linux/modules/law/bounds.h");

    /// The value of a `#define`.
    fn defined(name: &str) -> u64 {
        let words = HEADER.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = words.into_iter().find(|words| words.get(1) == Some(&name)).expect(name);
        line[2].trim_end_matches("ULL").parse().expect(name)
    }

    #[test]
    fn bounds_are_those_of_the_modules() {
        for (name, bounds) in [
            ("RATE", RATE),
            ("SATURATION", AMOUNT),
            ("UNIT", AMOUNT),
            ("THRESHOLD", AMOUNT_OR_NOTHING),
            ("SHIFT", AMOUNT_OR_NOTHING),
            ("COUPLING", COUPLING),
            ("MEAN_PACKET", MEAN_PACKET),
        ] {
            let [min, max] = ["MIN", "MAX"].map(|end| defined(&format!("LAW_{name}_{end}")));
            assert_eq!(bounds, min..=max, "{name}");
        }
    }
}
