//! A link alone under any calls.

use shoal_bottleneck::testing;

/// Drives the model of `shoal_bottleneck::testing`, or calls a link with any numbers; its checks are there.
///
/// # Panics
/// If a link breaks a promise.
pub fn bottleneck(input: &[u8]) {
    match input.split_first() {
        Some((first, rest)) if first % 2 == 0 => drop(testing::run(rest)),
        Some((_, rest)) => testing::hostile(rest),
        None => {}
    }
}
