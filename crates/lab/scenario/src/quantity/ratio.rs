//! Exact fractions, the results of unit conversions.

/// A non-negative fraction.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    numerator: u128,
    denominator: u128,
}

impl Ratio {
    /// The fraction `numerator / denominator`, reduced.
    ///
    /// # Panics
    /// If the denominator is zero.
    pub const fn new(numerator: u128, denominator: u128) -> Self {
        let divisor = greatest_common_divisor(numerator, denominator);
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// A whole number.
    pub const fn whole(n: u128) -> Self {
        Self { numerator: n, denominator: 1 }
    }

    /// The product; `None` if it leaves the range.
    pub fn times(self, other: Self) -> Option<Self> {
        // Cancelling common factors before the multiplication keeps the products small.
        let a = Self::new(self.numerator, other.denominator);
        let b = Self::new(other.numerator, self.denominator);
        Some(Self {
            numerator: a.numerator.checked_mul(b.numerator)?,
            denominator: a.denominator.checked_mul(b.denominator)?,
        })
    }

    /// The value if it is whole and fits into 64 bits.
    pub fn exact(self) -> Option<u64> {
        (self.denominator == 1).then(|| u64::try_from(self.numerator).ok()).flatten()
    }

    /// The value rounded down; saturates.
    pub fn floor(self) -> u64 {
        u64::try_from(self.numerator / self.denominator).unwrap_or(u64::MAX)
    }

    /// The value rounded up; saturates.
    pub fn ceil(self) -> u64 {
        u64::try_from(self.numerator.div_ceil(self.denominator)).unwrap_or(u64::MAX)
    }

    /// The value as a double: both parts are rounded, then their quotient.
    pub fn as_f64(self) -> f64 {
        (self.numerator / self.denominator) as f64
            + (self.numerator % self.denominator) as f64 / self.denominator as f64
    }

    /// Whether the fraction is zero.
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// Whether `self > other`.
    pub fn exceeds(self, other: Self) -> bool {
        let whole = (self.numerator / self.denominator).cmp(&(other.numerator / other.denominator));
        whole
            .then_with(|| {
                let left = (self.numerator % self.denominator).checked_mul(other.denominator);
                let right = (other.numerator % other.denominator).checked_mul(self.denominator);
                match (left, right) {
                    (Some(left), Some(right)) => left.cmp(&right),
                    // Decimals of 15 places never have denominators so large; compare as doubles.
                    _ => self.as_f64().total_cmp(&other.as_f64()),
                }
            })
            .is_gt()
    }
}

const fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 { 1 } else { a }
}
