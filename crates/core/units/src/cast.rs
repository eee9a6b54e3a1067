//! Conversions between numbers that say what is meant where the compiler cannot see that nothing is lost. The crates of
//! core and the simulator deny all others.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the one place for it")]

/// The low 32 bits: what wraps around is meant to, as clocks and sequence numbers do.
#[inline]
pub const fn low_u32(value: u64) -> u32 {
    value as u32
}

/// A value that the caller knows to be below 2^32; debug builds check it.
#[inline]
pub const fn fit_u32(value: u64) -> u32 {
    debug_assert!(value <= u32::MAX as u64);
    value as u32
}

/// A value that the caller knows to be below 2^16; debug builds check it.
#[inline]
pub const fn fit_u16(value: u64) -> u16 {
    debug_assert!(value <= u16::MAX as u64);
    value as u16
}

/// A value that the caller knows to be below 2^8; debug builds check it.
#[inline]
pub const fn fit_u8(value: u32) -> u8 {
    debug_assert!(value <= u8::MAX as u32);
    value as u8
}

/// A value that the caller knows to be below 2^64; debug builds check it.
#[inline]
pub const fn fit_u64(value: u128) -> u64 {
    debug_assert!(value <= u64::MAX as u128);
    value as u64
}

/// How many there are, which the caller knows to be below 2^32; debug builds check it.
#[inline]
pub const fn count_u32(value: usize) -> u32 {
    debug_assert!(value <= u32::MAX as usize);
    value as u32
}

/// The integer part; 0 for what is negative or not a number, the largest value for what is larger.
#[inline]
pub const fn floor_u32(value: f64) -> u32 {
    value as u32
}

/// The integer part; 0 for what is negative or not a number, the largest value for what is larger.
#[inline]
pub const fn floor_u64(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wraps_and_what_saturates() {
        assert_eq!(low_u32(0x1_0000_0002), 2);
        assert_eq!((fit_u16(6), fit_u32(7), fit_u64(8), count_u32(9)), (6, 7, 8, 9));
        assert_eq!(
            (floor_u32(3.9), floor_u32(-1.0), floor_u32(f64::NAN), floor_u32(1e10)),
            (3, 0, 0, u32::MAX)
        );
        assert_eq!((floor_u64(3.9), floor_u64(-0.5), floor_u64(f64::INFINITY)), (3, 0, u64::MAX));
    }

    #[test]
    #[should_panic(expected = "value <= u32::MAX")]
    fn what_does_not_fit_is_found_by_tests() {
        let _ = fit_u32(1 << 32);
    }
}
