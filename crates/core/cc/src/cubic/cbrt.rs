//! The integer cube root of Linux
//! [`tcp_cubic.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_cubic.c): a 6-bit table and one
//! Newton step, about 0.2 % off on average.

use shoal_units::cast::fit_u32;

/// Starting values for the six leading bits of the argument, biased by -10: the parameters of the kernel's
/// approximation (`cubic_root`). Other starting values would give other windows.
const START: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173,
    176, 179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221,
    222, 224, 225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// Approximate cube root of `a`.
pub(super) fn cube_root(a: u64) -> u32 {
    let bits = 64 - a.leading_zeros();
    if bits < 7 {
        return (u32::from(START[index(a)]) + 35) >> 6;
    }
    // A third of the number of bits (84/256 of it) less one: the starting value is scaled by 2^third, the
    // argument by its cube.
    let third = ((bits * 84) >> 8) - 1;
    let leading = index(a >> (third * 3));
    let start = u64::from(((u32::from(START[leading]) + 10) << third) >> 6);
    // Newton: (2 x + a / x^2) / 3, with x (x - 1) for x^2 and 341/1024 for a third.
    let tripled = fit_u32(2 * start + a / (start * (start - 1)));
    fit_u32((u64::from(tripled) * 341) >> 10)
}

/// Index of an entry of [`START`].
fn index(place: u64) -> usize {
    fit_u32(place) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Floor of the cube root by bisection, exact.
    fn exact(a: u64) -> u64 {
        let (mut low, mut high) = (0u128, 1u128 << 22);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if middle * middle * middle <= u128::from(a) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low as u64
    }

    #[test]
    fn small_arguments_are_rounded_to_the_nearest() {
        // (v + 35) >> 6 with v = 54, 118, 181, 245.. gives 1 from 1, 2 from 4, 3 from 18, 4 from 50 on.
        for (a, root) in [(0, 0), (1, 1), (3, 1), (4, 2), (17, 3), (63, 4)] {
            assert_eq!(cube_root(a), root, "cube root of {a}");
        }
    }

    #[test]
    fn cubes_of_windows_in_use() {
        // K for W_max - cwnd = 30 packets: cube_factor 2^40/410 = 2,681,735,677; x 30 = 80,452,070,310; true root 4317.
        // 37 bits: third = (37 * 84 >> 8) - 1 = 11; leading = a >> 33 = 9; start = (139 << 11) >> 6 = 4448;
        // 2 * 4448 + a / (4448 * 4447) = 8896 + 4067; 12,963 * 341 >> 10 = 4316.
        assert_eq!(cube_root(80_452_070_310), 4316);
        // Two packets: 33 bits, third 9, leading 39, start 1800; 3600 + a / (1800 * 1799) = 1656, where a / 1800^2
        // would be 1655 and the root 1749.
        assert_eq!(cube_root(5_363_471_354), 1750);
        // The smallest argument of the table: third 1, leading 8, start 4; 8 + 64 / (4 * 3) = 13, a third of it 4.
        assert_eq!(cube_root(64), 4);
    }

    proptest! {
        #[test]
        fn within_the_stated_error_over_the_range_in_use(a in 64u64..(1 << 60)) {
            // The kernel's comment states an average error of 0.195 %; small arguments have the largest,
            // because of integer steps.
            let error = (f64::from(cube_root(a)) - exact(a) as f64).abs();
            prop_assert!(error <= 1.0 + 0.02 * exact(a) as f64, "{a}: {} against {}", cube_root(a), exact(a));
        }
    }
}
