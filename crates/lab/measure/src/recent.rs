//! Sums of the weights of values that come again and again, before they go to a histogram.
//!
//! A histogram is linear in its weights and its sums are exact, so that it does not matter when a weight reaches it, or
//! in how many parts. A queue takes few states in a row, so most records become one addition here instead of one in
//! each of the histograms that a state concerns.

/// Values with the weights that they have gained. The place of a value follows from its `hash`; another value that has
/// the same place moves the first one on.
#[derive(Clone, Debug)]
pub(crate) struct Recent<T>(Box<[(T, u64); PLACES]>);

const PLACES: usize = 64;

impl<T: Copy + PartialEq + Default> Recent<T> {
    pub(crate) fn new() -> Self {
        Self(Box::new([(T::default(), 0); PLACES]))
    }

    /// Adds a weight to a value. `move_on` gets the value that had its place, with its weight, if that was another one.
    #[inline]
    pub(crate) fn add(&mut self, value: T, hash: u64, weight: u64, move_on: impl FnOnce(T, u64)) {
        // Fibonacci hashing: the highest bits of the product depend on all bits of the factor.
        let place = (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES.ilog2())) as usize;
        let entry = &mut self.0[place];
        if entry.0 == value {
            entry.1 += weight;
        } else {
            let before = std::mem::replace(entry, (value, weight));
            move_on(before.0, before.1);
        }
    }

    /// Moves on all values.
    pub(crate) fn drain(&mut self, mut move_on: impl FnMut(T, u64)) {
        for (value, weight) in self.0.iter_mut().filter(|(_, weight)| *weight > 0) {
            move_on(*value, std::mem::take(weight));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn no_weight_is_lost(values in prop::collection::vec((0u64..200, 0u64..1000, any::<bool>()), 0..600)) {
            let (mut recent, mut sums, mut expected) = (Recent::new(), BTreeMap::new(), BTreeMap::new());
            let add = |sums: &mut BTreeMap<u64, u64>, value, weight| *sums.entry(value).or_default() += weight;
            for (value, weight, drains) in values {
                recent.add(value, value, weight, |value, weight| add(&mut sums, value, weight));
                if drains {
                    recent.drain(|value, weight| add(&mut sums, value, weight));
                }
                add(&mut expected, value, weight);
            }
            recent.drain(|value, weight| add(&mut sums, value, weight));
            for sums in [&mut sums, &mut expected] {
                sums.retain(|_, weight| *weight > 0);
            }
            prop_assert_eq!(sums, expected);
        }
    }
}
