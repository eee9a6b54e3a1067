//! First in, first out, in memory that grows and stays.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// Values in the order in which they came, oldest first.
///
/// As [`VecDeque`](alloc::collections::VecDeque), of which it has what a queue needs, but with a power of two as number
/// of places, so that the place behind the last one needs no comparison, and back at its first place whenever it is
/// empty: what was once a long queue stays in a near cache.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// As many as a power of two up to 2^31, or none.
    places: Box<[T]>,
    first: u32,
    len: u32,
}

/// A place or a number of places, which a [`Ring`] has fewer of.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "a ring has at most 2^31 places")]
const fn small(number: usize) -> u32 {
    number as u32
}

impl<T> Ring<T> {
    /// An empty ring; allocates nothing.
    pub fn new() -> Self {
        Self { places: Box::default(), first: 0, len: 0 }
    }

    /// Number of values.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is no value.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest value.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.places.get(self.first as usize) }
    }

    /// The newest value.
    pub fn back(&self) -> Option<&T> {
        self.len().checked_sub(1).map(|newest| &self[newest])
    }

    /// Number of values for which there is memory.
    pub const fn capacity(&self) -> usize {
        self.places.len()
    }

    /// Position of the first value, oldest first, that does not have what all before it have.
    pub fn partition_point(&self, has: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if has(&self[middle]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The place of the value at position `n`.
    ///
    /// # Panics
    /// If there are not so many values.
    fn place(&self, n: usize) -> usize {
        assert!(n < self.len(), "a ring of {} values has none at position {n}", self.len);
        (self.first as usize + n) & (self.places.len() - 1)
    }

    /// Removes the oldest value, which stays readable as long as nothing is added.
    #[inline]
    pub fn pop_front(&mut self) -> Option<&T> {
        self.pop_front_if(|_| true)
    }

    /// Removes the oldest value if it `is_due`; it stays readable as long as nothing is added.
    #[inline]
    pub fn pop_front_if(&mut self, is_due: impl FnOnce(&T) -> bool) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let at = self.first as usize;
        let oldest = self.places.get(at).filter(|oldest| is_due(oldest))?;
        self.len -= 1;
        self.first = if self.len == 0 { 0 } else { small((at + 1) & (self.places.len() - 1)) };
        Some(oldest)
    }

    /// The values, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        (0..self.len()).map(|n| &self[n])
    }
}

/// Position 0 is the oldest.
impl<T> Index<usize> for Ring<T> {
    type Output = T;
    fn index(&self, n: usize) -> &T {
        &self.places[self.place(n)]
    }
}

impl<T> IndexMut<usize> for Ring<T> {
    fn index_mut(&mut self, n: usize) -> &mut T {
        &mut self.places[self.place(n)]
    }
}

impl<T: Copy> Ring<T> {
    /// Adds a copy of a value, and returns it in its place.
    #[inline]
    pub fn push_back(&mut self, value: &T) -> &mut T {
        if self.len() == self.places.len() {
            self.grow(*value);
        }
        let at = (self.first as usize + self.len()) & (self.places.len() - 1);
        self.len += 1;
        let place = &mut self.places[at];
        *place = *value;
        place
    }

    /// Doubles the number of places; `value` fills the new ones.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, value: T) {
        let mut places: Vec<T> = core::mem::take(&mut self.places).into_vec();
        places.rotate_left(self.first as usize);
        self.first = 0;
        let number = (2 * places.len()).max(4);
        assert!(number <= 1 << 31, "a ring of 2^31 places is full");
        places.reserve_exact(number - places.len());
        places.resize(number, value);
        self.places = places.into();
    }
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    #[test]
    fn sorted_values_are_found_across_the_end_of_the_memory() {
        let mut ring = Ring::new();
        for value in 0..20 {
            ring.push_back(&value);
            if value > 10 {
                ring.pop_front();
                ring[0] -= 1;
            }
            let values: Vec<i32> = ring.iter().copied().collect();
            for bound in -1..21 {
                let below = |value: &i32| *value < bound;
                assert_eq!(ring.partition_point(below), values.partition_point(below), "{values:?} {bound}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_ring_is_a_deque(operations in prop::collection::vec((any::<u8>(), any::<u32>()), 0..400)) {
            let (mut ring, mut deque) = (Ring::new(), VecDeque::new());
            for (operation, value) in operations {
                // More comes than goes, and the other way round, in turns.
                if operation < if value & 64 == 0 { 160 } else { 90 } {
                    *ring.push_back(&0) = value;
                    deque.push_back(value);
                } else {
                    let due = deque.front().copied().filter(|oldest| oldest % 8 > 0);
                    prop_assert_eq!(ring.pop_front_if(|oldest| oldest % 8 > 0).copied(), due);
                    if due.is_none() {
                        prop_assert_eq!(ring.pop_front().copied(), deque.front().copied());
                    }
                    deque.pop_front();
                }
                prop_assert_eq!(ring.front(), deque.front());
                prop_assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
                prop_assert!(ring.iter().eq(&deque));
                prop_assert_eq!(ring.back(), deque.back());
            }
        }
    }
}
