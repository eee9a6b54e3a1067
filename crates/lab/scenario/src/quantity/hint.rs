//! Hints: what the author of a malformed quantity most likely meant.

use super::{Accepts, Decimal, QuantityError, Unit};

/// Explains why `text` is not a quantity of the accepted kind.
pub(super) fn explain(text: &str, accepts: &Accepts) -> QuantityError {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || ".,_+-".contains(c))).unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..end], trimmed[end..].trim());
    let right = |fixed: &str| format!("write \"{fixed}\"");
    let example = || format!("write a number, a space and a unit, as in \"{}\"", accepts.example);
    let units = || format!("units here: {}; as in \"{}\"", accepts.unit_list(), accepts.example);

    let (message, hint) = if trimmed.is_empty() {
        ("the quantity is empty".to_owned(), example())
    } else if number.is_empty() {
        (format!("`{text}` is not {}", accepts.what), example())
    } else if number.starts_with('-') {
        (format!("`{text}` is negative"), format!("{} is never negative", accepts.what))
    } else if let Some(clean) = clean_number(number) {
        match (unit.is_empty(), meant(unit, accepts)) {
            (true, _) => (format!("`{text}` has no unit"), units()),
            (false, Some(unit)) => {
                (format!("`{text}` is not written as a quantity"), right(&format!("{clean} {}", unit.name())))
            }
            (false, None) if is_exponent(unit) => (
                format!("`{text}` has an exponent"),
                "write the number out, or use a larger or smaller unit".to_owned(),
            ),
            (false, None) => (format!("unknown unit `{unit}` in `{text}`"), units()),
        }
    } else if Decimal::parse(&number.replace([',', '_', '+'], "")).is_none()
        && number.bytes().filter(u8::is_ascii_digit).count() > 15
    {
        (format!("`{text}` has too many digits"), "at most 18 digits, 15 of them after the point".to_owned())
    } else {
        (format!("`{number}` is not a number"), example())
    };
    QuantityError { message, hint }
}

/// Whether the letters behind a number are an exponent: `e6`, `E-3`.
fn is_exponent(unit: &str) -> bool {
    let rest = unit.strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['+', '-']));
    rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

fn clean_number(number: &str) -> Option<Decimal> {
    let plain = number.trim_start_matches('+').replace('_', "");
    let plain = if plain.starts_with('.') { format!("0{plain}") } else { plain };
    let plain = plain.strip_suffix('.').unwrap_or(&plain);
    // A comma that is not followed by exactly three digits is a decimal comma; with three it could separate
    // thousands.
    let plain = match plain.split_once(',') {
        Some((whole, fraction)) if fraction.len() != 3 => format!("{whole}.{fraction}"),
        _ => plain.to_owned(),
    };
    Decimal::parse(&plain)
}

/// The unit that a misspelling stands for, among those that the key accepts.
fn meant(unit: &str, accepts: &Accepts) -> Option<Unit> {
    let accepted = |u: &Unit| accepts.dimensions.contains(&u.dimension());
    if let Some(exact) = Unit::by_name(unit).filter(accepted) {
        return Some(exact);
    }
    let lower = unit.to_lowercase();
    let name = match lower.as_str() {
        "bps" | "bit" | "bits/s" | "b/s" | "bit/sec" => "bit/s",
        "kbps" | "kbit" | "kbits/s" | "kb/s" | "k" | "kbit/sec" => "kbit/s",
        "mbps" | "mbit" | "mbits/s" | "mb/s" | "mbits" | "mbit/sec" => "Mbit/s",
        "gbps" | "gbit" | "gbits/s" | "gb/s" | "gbits" | "gbit/sec" => "Gbit/s",
        "µs" | "μs" | "usec" | "usecs" | "microseconds" => "us",
        "msec" | "msecs" | "milliseconds" | "millisecond" => "ms",
        "sec" | "secs" | "seconds" | "second" => "s",
        "m" | "mins" | "minute" | "minutes" => "min",
        "nsec" | "nanoseconds" => "ns",
        "byte" | "bytes" | "octets" => "B",
        "kbyte" | "kbytes" => "kB",
        "mbyte" | "mbytes" => "MB",
        "pkt" | "pkts" | "p" | "pckts" => "packets",
        "bdps" => "BDP",
        "/s" | "hz" | "1/s" | "per sec" | "per second" => "per s",
        other => Unit::ALL.iter().find(|u| accepted(u) && u.name().to_lowercase() == other)?.name(),
    };
    Unit::by_name(name).filter(accepted)
}
