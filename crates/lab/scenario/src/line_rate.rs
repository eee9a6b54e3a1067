//! Rates that a transmitter can have.

use shoal_units::Rate;

use crate::quantity::DataRate;
use crate::remarks::Remarks;

/// The highest rate: time is counted in picoseconds, and a byte takes one picosecond at this rate.
const MAX_RATE: Rate = Rate::from_bps(8_000_000_000_000);

/// The rate of a transmitter, or `None` for `unlimited`; `Err` if the rate was refused.
pub(crate) fn checked_rate(
    rate: DataRate,
    path: &str,
    remarks: &mut Remarks<'_>,
) -> Result<Option<Rate>, ()> {
    match rate.rate() {
        Some(rate) if rate.as_bps() == 0 => {
            remarks.error(path, "the rate is 0: no packet would ever leave", "as in \"10 Mbit/s\"");
            Err(())
        }
        Some(rate) if rate > MAX_RATE => {
            remarks.error(
                path,
                "the rate is above 8000 Gbit/s",
                "time is counted in picoseconds, and a byte must take at least one",
            );
            Err(())
        }
        rate => Ok(rate),
    }
}

/// A rate that is needed.
pub(crate) fn finite_rate(rate: DataRate, path: &str, remarks: &mut Remarks<'_>) -> Option<Rate> {
    let rate = checked_rate(rate, path, remarks).ok()?;
    if rate.is_none() {
        remarks.error(path, "the rate must be limited here", "as in \"10 Mbit/s\"");
    }
    rate
}
