//! Memory that several queues share, divided by dynamic thresholds.
//!
//! Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM ToN 6(2), 1998: a
//! queue may hold up to alpha times the memory that is free, so busy queues leave some of it for those that are not
//! yet. Reserved memory belongs to its queue; dynamic thresholds divide the rest. SONiC's `BUFFER_PROFILE` has the same
//! parameters as `dynamic_th` (alpha is 2 to that power) and `size`
//! (<https://github.com/sonic-net/SONiC/wiki/Configuration#buffer-profile>).

/// What one queue may hold of a shared memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MemoryShare {
    /// Multiple of the free memory that the queue may hold beyond its reserved part.
    pub alpha: f64,
    /// Bytes of the memory that no other queue may hold.
    pub reserved_bytes: u64,
}

impl Default for MemoryShare {
    /// As much as is free, and nothing reserved.
    fn default() -> Self {
        Self { alpha: 1.0, reserved_bytes: 0 }
    }
}

impl MemoryShare {
    /// Whether a number may be an alpha: above 0, and at most a million; switches have powers of two from 1/128 to 8.
    pub fn is_alpha(alpha: f64) -> bool {
        alpha > 0.0 && alpha <= 1e6
    }

    /// What a queue that holds `held_bytes` takes of the part that all share.
    #[inline]
    pub const fn shared(self, held_bytes: u64) -> u64 {
        held_bytes.saturating_sub(self.reserved_bytes)
    }

    /// Whether a packet of `size` bytes may join a queue that holds `held_bytes`, while `free_bytes` are left of the
    /// part that all share.
    #[inline]
    pub fn admits(self, held_bytes: u64, size: u32, free_bytes: u64) -> bool {
        let after = self.shared(held_bytes + u64::from(size));
        after == 0
            || (after as f64 <= self.alpha * free_bytes as f64
                && after - self.shared(held_bytes) <= free_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 B are free. With alpha 0.5 a queue may hold 500 B of them beyond the 300 B that are its own: 800 B with the
    /// arriving packet.
    #[test]
    fn the_reserved_part_comes_first_and_then_alpha_times_what_is_free() {
        let share = MemoryShare { alpha: 0.5, reserved_bytes: 300 };
        assert_eq!([0, 300, 800].map(|held| share.shared(held)), [0, 0, 500]);
        assert!(share.admits(0, 300, 0), "what is its own needs nothing free");
        assert!(!share.admits(0, 301, 0));
        assert!(share.admits(700, 100, 1000));
        assert!(!share.admits(700, 101, 1000));
    }

    /// A large alpha does not make more of the memory than there is.
    #[test]
    fn nothing_is_given_twice() {
        let share = MemoryShare { alpha: 1000.0, reserved_bytes: 0 };
        assert!(share.admits(5000, 100, 100));
        assert!(!share.admits(5000, 101, 100));
    }
}
