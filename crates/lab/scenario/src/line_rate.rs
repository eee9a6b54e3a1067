//! Rates that a transmitter can have.

use shoal_units::Rate;

use crate::quantity::DataRate;
use crate::remarks::Remarks;

/// The highest rate: time is counted in picoseconds, and a byte takes one picosecond at this rate.
const MAX_RATE: Rate = Rate::from_bps(8_000_000_000_000);

impl Remarks<'_> {
    /// The rate of a transmitter, or `None` for `unlimited`; `Err` if the rate was refused.
    pub(crate) fn checked_rate(&self, rate: DataRate, path: &str) -> Result<Option<Rate>, ()> {
        match rate.rate() {
            Some(rate) if rate.as_bps() == 0 => {
                self.error(path, "the rate is 0: no packet would ever leave", "as in \"10 Mbit/s\"");
                Err(())
            }
            Some(rate) if rate > MAX_RATE => {
                let hint = "time is counted in picoseconds, and a byte must take at least one";
                self.error(path, "the rate is above 8000 Gbit/s", hint);
                Err(())
            }
            rate => Ok(rate),
        }
    }

    /// A rate that is needed.
    pub(crate) fn finite_rate(&self, rate: DataRate, path: &str) -> Option<Rate> {
        let rate = self.checked_rate(rate, path).ok()?;
        if rate.is_none() {
            self.error(path, "the rate must be limited here", "as in \"10 Mbit/s\"");
        }
        rate
    }
}
