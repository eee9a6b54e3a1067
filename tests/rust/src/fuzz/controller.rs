//! Any controller under any consistent history.

use crate::Bytes;
use shoal_cc::testing::{MSS, Model, Operation};
use shoal_cc::{AckCounting, PRESETS, Window};
use shoal_tcp::Profile;

/// Drives the model of `shoal_cc::testing`; its checks are there.
///
/// # Panics
/// If an invariant of a controller does not hold.
pub fn controller(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let preset = bytes.byte();
    let config = PRESETS[usize::from(preset) % PRESETS.len()].config;
    let rules = bytes.pick(Profile::ALL).growth;
    // Hosts that count bytes have windows of bytes.
    let quantum = if rules.counting == AckCounting::Bytes { MSS } else { 1 };
    let mut model = Model::new(&config, rules, quantum);
    while !bytes.is_empty() {
        model.apply(Operation::from_bytes([bytes.byte(), bytes.byte(), bytes.byte()]));
    }
    let Window { cwnd, ssthresh, .. } = model.window();
    assert!(cwnd >= 1 && ssthresh >= 2);
}
