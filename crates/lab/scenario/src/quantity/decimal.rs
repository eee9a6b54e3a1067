//! Decimal numbers that are never rounded.

use std::fmt;

/// The number `digits / 10^scale`, without trailing zeros after the point. Never negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal {
    digits: u64,
    scale: u8,
}

impl Decimal {
    /// Most decimal places: a picosecond in minutes needs 14.
    const MAX_SCALE: usize = 15;
    /// Most significant digits, such that every number of that many digits fits.
    const MAX_DIGITS: usize = 18;

    /// A whole number.
    pub const fn whole(digits: u64) -> Self {
        Self { digits, scale: 0 }
    }

    /// Reads `12` or `12.5`; no sign, no exponent, no bare point.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        if fraction.len() > Self::MAX_SCALE || whole.len() + fraction.len() > Self::MAX_DIGITS {
            return None;
        }
        let digits = format!("0{whole}{fraction}").parse().ok()?;
        Some(Self { digits, scale: fraction.len() as u8 })
    }

    /// A tenth of the number, if the result has few enough places.
    pub fn tenth(self) -> Option<Self> {
        (usize::from(self.scale) < Self::MAX_SCALE)
            .then_some(Self { digits: self.digits, scale: self.scale + 1 })
            .and_then(|tenth| Self::parse(&tenth.to_string()))
    }

    /// A whole multiple of the number.
    pub fn times(self, factor: u64) -> Option<Self> {
        let product = Self { digits: self.digits.checked_mul(factor)?, scale: self.scale };
        // Parsing the product drops trailing zeros and checks the number of digits.
        Self::parse(&product.to_string())
    }

    /// Whether the number is zero.
    pub const fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// Numerator of the number over [`Decimal::denominator`].
    pub const fn numerator(self) -> u128 {
        self.digits as u128
    }

    /// Denominator of the number, a power of ten.
    pub const fn denominator(self) -> u128 {
        10u128.pow(self.scale as u32)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = 10u64.pow(u32::from(self.scale));
        write!(f, "{}", self.digits / power)?;
        if self.scale > 0 {
            write!(f, ".{:0width$}", self.digits % power, width = usize::from(self.scale))?;
        }
        Ok(())
    }
}
