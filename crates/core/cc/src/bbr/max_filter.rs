//! The largest value of a sliding window, by three candidates (Kathleen Nichols' filter;
//! [`lib/win_minmax.c`](https://elixir.bootlin.com/linux/v6.12/source/lib/win_minmax.c)).

/// A value and when it was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seen {
    at: u32,
    value: u32,
}

/// The largest value of the last rounds: the best, second and third choice, each seen no earlier than the one before
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MaxFilter([Seen; 3]);

impl MaxFilter {
    /// The largest value.
    #[inline]
    pub(crate) const fn get(&self) -> u32 {
        self.0[0].value
    }

    /// Takes `value`, seen `at` a count that never falls, into a window of `window` counts.
    pub(crate) fn take(&mut self, window: u32, at: u32, value: u32) {
        let new = Seen { at, value };
        let [best, second, third] = &mut self.0;
        if value >= best.value || at.wrapping_sub(third.at) > window {
            self.0 = [new; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        self.age(window, new);
    }

    /// Lets choices go that are older than the window, and takes a second and a third one from its later parts.
    fn age(&mut self, window: u32, new: Seen) {
        let [best, second, third] = self.0;
        let age = new.at.wrapping_sub(best.at);
        if age > window {
            self.0 = [second, third, new];
            if new.at.wrapping_sub(second.at) > window {
                self.0 = [third, new, new];
            }
        } else if second.at == best.at && age > window / 4 {
            self.0 = [best, new, new];
        } else if third.at == second.at && age > window / 2 {
            self.0[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(samples: &[(u32, u32)]) -> Vec<u32> {
        let mut filter = MaxFilter::default();
        samples
            .iter()
            .map(|&(at, value)| {
                filter.take(10, at, value);
                filter.get()
            })
            .collect()
    }
    use std::vec::Vec;

    #[test]
    fn a_larger_value_counts_at_once_and_a_smaller_one_when_the_window_has_passed() {
        // 100 at 0; 90 comes too early to be a second choice. At 3 (more than 10/4 = 2) the second choice is 50, at 6
        // (more than 5) the third one is 40. At 11 the first is older than 10: 50 moves up; at 14 and 17 the next do.
        let samples = [(0, 100), (1, 90), (3, 50), (6, 40), (10, 30), (11, 30), (14, 30), (17, 20)];
        assert_eq!(after(&samples), [100, 100, 100, 100, 100, 50, 40, 30]);
        assert_eq!(after(&[(0, 10), (1, 11), (2, 12)]), [10, 11, 12]);
    }

    #[test]
    fn a_pause_longer_than_the_window_forgets_everything() {
        assert_eq!(after(&[(0, 100), (11, 5)]), [100, 5]);
        // Exactly the window: it counts still.
        assert_eq!(after(&[(0, 100), (10, 5)]), [100, 100]);
    }
}
