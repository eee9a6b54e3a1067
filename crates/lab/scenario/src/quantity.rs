//! Quantities as the scenario file writes them: a decimal number, one space and a unit. All arithmetic is
//! exact.

mod amounts;
mod decimal;
mod hint;
mod ratio;
mod unit;

pub use amounts::{Amount, DataRate, Duration, Frequency, PacketCount, Size};
pub use decimal::Decimal;
pub use ratio::Ratio;
pub use unit::{Dimension, Unit};

use std::fmt;

/// A number with its unit as written, or `unlimited`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// No limit.
    Unlimited,
    /// A number and its unit.
    Of(Decimal, Unit),
}

/// Why a text is not a quantity of the expected kind, and what to write instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuantityError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

/// The texts that a key accepts.
#[derive(Clone, Copy, Debug)]
pub struct Accepts {
    /// The kind of quantity with its article: `a rate`.
    pub what: &'static str,
    /// Accepted dimensions.
    pub dimensions: &'static [Dimension],
    /// Whether `unlimited` is accepted.
    pub unlimited: bool,
    /// A valid example.
    pub example: &'static str,
}

impl Quantity {
    /// Reads `text`.
    ///
    /// # Errors
    /// If it is not a number with a unit that is accepted here.
    pub fn parse(text: &str, accepts: &Accepts) -> Result<Self, QuantityError> {
        if text == "unlimited" {
            return if accepts.unlimited {
                Ok(Self::Unlimited)
            } else {
                Err(QuantityError {
                    message: format!("{} cannot be unlimited", accepts.what),
                    hint: format!("write a number and a unit, as in \"{}\"", accepts.example),
                })
            };
        }
        let Some((number, unit)) = split(text) else { return Err(hint::explain(text, accepts)) };
        let (Some(number), Some(unit)) = (Decimal::parse(number), Unit::by_name(unit)) else {
            return Err(hint::explain(text, accepts));
        };
        if !accepts.dimensions.contains(&unit.dimension()) {
            return Err(QuantityError {
                message: format!("`{text}` is {}, not {}", unit.dimension().with_article(), accepts.what),
                hint: format!("units here: {}; as in \"{}\"", accepts.unit_list(), accepts.example),
            });
        }
        Ok(Self::Of(number, unit))
    }
}

impl Accepts {
    fn unit_list(&self) -> String {
        let units = Unit::ALL.iter().filter(|u| self.dimensions.contains(&u.dimension())).map(|u| u.name());
        units.chain(self.unlimited.then_some("or \"unlimited\"")).collect::<Vec<_>>().join(", ")
    }

    /// The accepted dimensions in words: `bytes | packets | unlimited`.
    pub(crate) fn dimensions_in_words(&self) -> String {
        let names = self.dimensions.iter().map(|dimension| dimension.name());
        names.chain(self.unlimited.then_some("unlimited")).collect::<Vec<_>>().join(" | ")
    }

    /// Regular expression of accepted texts, for editors.
    pub(crate) fn pattern(&self) -> String {
        let spelling = |unit: &Unit| if *unit == Unit::Packets { "packets?" } else { unit.name() };
        let units: Vec<_> =
            Unit::ALL.iter().filter(|u| self.dimensions.contains(&u.dimension())).map(spelling).collect();
        let number = format!("[0-9]+(\\.[0-9]+)? ({})", units.join("|"));
        if self.unlimited { format!("^(unlimited|{number})$") } else { format!("^{number}$") }
    }
}

/// Splits at exactly one space between number and unit: one spelling of each quantity keeps files searchable.
fn split(text: &str) -> Option<(&str, &str)> {
    text.split_once(' ')
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::Of(number, Unit::Packets) if *number == Decimal::whole(1) => f.write_str("1 packet"),
            Self::Of(number, unit) => write!(f, "{number} {}", unit.name()),
        }
    }
}

#[cfg(test)]
mod tests;
