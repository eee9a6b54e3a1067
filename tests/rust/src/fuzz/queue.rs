//! Any queue under any operations.

use shoal_aqm::testing::{Kind, run};

/// Drives the model of `shoal_aqm::testing`; its checks are there.
///
/// # Panics
/// If an invariant of a queue does not hold.
pub fn queue(input: &[u8]) {
    let Some((kind, rest)) = input.split_first() else { return };
    run(Kind::ALL[usize::from(*kind) % Kind::ALL.len()], rest);
}
