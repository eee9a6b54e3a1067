//! Types of quantities: one for each kind that a key of the scenario file can hold.

use std::fmt;

use shoal_units::{Rate, Span};

use super::{Accepts, Decimal, Dimension, Quantity, QuantityError, Ratio, Unit};

macro_rules! amount {
    ($(#[$doc:meta])* $name:ident, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name(Quantity);

        impl $name {
            /// The texts that the type accepts.
            pub const ACCEPTS: Accepts = $accepts;

            /// Reads `text` and checks that it has a value in base units.
            ///
            /// # Errors
            /// If it is not a quantity of this kind, or too large for its base unit.
            pub fn parse(text: &str) -> Result<Self, QuantityError> {
                let value = Self(Quantity::parse(text, &Self::ACCEPTS)?);
                value.check(text)?;
                Ok(value)
            }
            /// The quantity as written.
            pub const fn quantity(self) -> Quantity {
                self.0
            }
            /// Whether it is zero.
            pub fn is_zero(self) -> bool {
                matches!(self.0, Quantity::Of(number, _) if number.is_zero())
            }
            /// The value in base units; `None` for `unlimited`.
            fn base(self) -> Option<Ratio> {
                match self.0 {
                    Quantity::Unlimited => None,
                    Quantity::Of(number, unit) => {
                        Some(Ratio::new(number.numerator() * unit.base_units(), number.denominator()))
                    }
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

amount!(
    /// A duration, exact to the picosecond.
    Duration,
    Accepts { what: "a time", dimensions: &[Dimension::Time], unlimited: false, example: "25 ms" }
);
amount!(
    /// A data rate in whole bit/s, or `unlimited`.
    DataRate,
    Accepts { what: "a rate", dimensions: &[Dimension::Rate], unlimited: true, example: "10 Mbit/s" }
);
amount!(
    /// A whole number of bytes, or `unlimited`.
    Size,
    Accepts { what: "a size in bytes", dimensions: &[Dimension::Bytes], unlimited: true, example: "1500 B" }
);
amount!(
    /// A whole number of packets, or `unlimited`.
    PacketCount,
    Accepts { what: "a number of packets", dimensions: &[Dimension::Packets], unlimited: true, example: "10 packets" }
);
amount!(
    /// Room in a queue: bytes, packets, time, BDP or `unlimited`.
    Amount,
    Accepts {
        what: "an amount of queue",
        dimensions: &[Dimension::Bytes, Dimension::Packets, Dimension::Time, Dimension::Bdp],
        unlimited: true,
        example: "20 packets",
    }
);
amount!(
    /// How often something happens on average.
    Frequency,
    Accepts { what: "a frequency", dimensions: &[Dimension::Frequency], unlimited: false, example: "200 per s" }
);

/// Explains why a value is not a whole number of base units between 1 and `max`.
fn unusable(text: &str, value: Option<Ratio>, unit: &str, max: u64, example: &str) -> QuantityError {
    let too_large = value.is_some_and(|value| value.exceeds(Ratio::whole(max.into())));
    let problem = if too_large {
        format!("too large: more than {max} {unit}")
    } else {
        format!("not a whole number of {unit}")
    };
    QuantityError { message: format!("`{text}` is {problem}"), hint: format!("for example \"{example}\"") }
}

fn check_time(text: &str, value: Option<Ratio>, example: &str) -> Result<(), QuantityError> {
    let max = u128::from(Duration::MAX.as_picos());
    if value.is_some_and(|value| value.exceeds(Ratio::whole(max))) {
        return Err(QuantityError {
            message: format!("`{text}` is too long"),
            hint: format!("at most \"1000000 s\"; for example \"{example}\""),
        });
    }
    match value.and_then(Ratio::exact) {
        Some(_) => Ok(()),
        None => Err(unusable(text, value, "picoseconds", u64::MAX, example)),
    }
}

impl Duration {
    /// Upper bound of every time in a scenario: far below the range of the clock (213 days), so that sums
    /// stay in range too.
    pub const MAX: Span = Span::from_secs(1_000_000);

    fn check(self, text: &str) -> Result<(), QuantityError> {
        check_time(text, self.base(), Self::ACCEPTS.example)
    }
    /// The value as a time span.
    pub fn span(self) -> Span {
        Span::from_picos(self.base().and_then(Ratio::exact).unwrap_or(u64::MAX))
    }
    /// A tenth of the duration.
    pub fn tenth(self) -> Option<Self> {
        let Quantity::Of(number, unit) = self.0 else { return None };
        let tenth = Self(Quantity::Of(number.tenth()?, unit));
        tenth.base()?.exact().map(|_| tenth)
    }
}

impl DataRate {
    fn check(self, text: &str) -> Result<(), QuantityError> {
        match self.base().map(Ratio::exact) {
            None | Some(Some(_)) => Ok(()),
            Some(None) => Err(unusable(text, self.base(), "bit/s", u64::MAX, Self::ACCEPTS.example)),
        }
    }
    /// The value as a rate; `None` for `unlimited`.
    pub fn rate(self) -> Option<Rate> {
        self.base().and_then(Ratio::exact).map(Rate::from_bps)
    }
}

impl Size {
    fn check(self, text: &str) -> Result<(), QuantityError> {
        match self.base().map(Ratio::exact) {
            None | Some(Some(_)) => Ok(()),
            Some(None) => Err(unusable(text, self.base(), "bytes", u64::MAX, Self::ACCEPTS.example)),
        }
    }
    /// The value in bytes; `None` for `unlimited`.
    pub fn bytes(self) -> Option<u64> {
        self.base().and_then(Ratio::exact)
    }
}

impl Frequency {
    #[allow(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "every amount has it, and a frequency has no bound"
    )]
    fn check(self, _: &str) -> Result<(), QuantityError> {
        Ok(())
    }
    /// The frequency in events per second.
    pub fn per_second(self) -> f64 {
        self.base().map_or(0.0, Ratio::as_f64) / 60.0
    }
}

impl PacketCount {
    fn check(self, text: &str) -> Result<(), QuantityError> {
        match self.base().map(Ratio::exact) {
            None => Ok(()),
            Some(Some(n)) if u32::try_from(n).is_ok() => Ok(()),
            Some(_) => Err(unusable(text, self.base(), "packets", u32::MAX.into(), Self::ACCEPTS.example)),
        }
    }
    /// The number of packets; `None` for `unlimited`.
    pub fn packets(self) -> Option<u32> {
        self.base().and_then(Ratio::exact).and_then(|n| u32::try_from(n).ok())
    }
    /// A count of `n` packets.
    pub const fn of(n: u32) -> Self {
        Self(Quantity::Of(Decimal::whole(n as u64), Unit::Packets))
    }
}

impl Amount {
    fn check(self, text: &str) -> Result<(), QuantityError> {
        let Quantity::Of(_, unit) = self.0 else { return Ok(()) };
        let value = self.base().and_then(Ratio::exact);
        match unit.dimension() {
            Dimension::Packets if value.is_none_or(|n| n > u64::from(u32::MAX)) => {
                Err(unusable(text, self.base(), "packets", u32::MAX.into(), "20 packets"))
            }
            Dimension::Bytes if value.is_none() => {
                Err(unusable(text, self.base(), "bytes", u64::MAX, "30000 B"))
            }
            Dimension::Time => check_time(text, self.base(), "1 ms"),
            _ => Ok(()),
        }
    }
    /// A whole multiple of the amount; `None` if it leaves the range or the amount is `unlimited`.
    pub fn times(self, factor: u64) -> Option<Self> {
        let Quantity::Of(number, unit) = self.0 else { return None };
        Some(Self(Quantity::Of(number.times(factor)?, unit)))
    }
    /// Dimension of the amount; `None` for `unlimited`.
    pub const fn dimension(self) -> Option<Dimension> {
        match self.0 {
            Quantity::Unlimited => None,
            Quantity::Of(_, unit) => Some(unit.dimension()),
        }
    }
    /// Value in the base unit of its dimension (a fraction for BDP); `None` for `unlimited`.
    pub fn value(self) -> Option<Ratio> {
        self.base()
    }
}
