//! Test harnesses, also for fuzzing: a connection between two endpoints, and a hostile peer.

mod bottleneck;
mod hostile;
mod pair;

pub use bottleneck::{Bottleneck, Policer};
pub use hostile::{Hostile, drive_hostile};
pub use pair::{Direction, Fate, Pair};

use crate::{EcnOption, EcnSetting, EndpointConfig, Profile, ReceiverConfig};
use shoal_cc::Preset;

/// A connection with 1500-byte packets, SACK, delayed ACKs and a window that never limits. ECN is as the preset has it.
/// Timers go off when they are due, not with a slot of the kernel's wheel, so that tests can name their times.
///
/// # Panics
/// If there is no preset or profile of that name.
pub fn config(cc: &str, stack: &str) -> EndpointConfig {
    let preset = Preset::by_name(cc).expect("a preset");
    let mut stack = Profile::by_name(stack).expect("a profile");
    if let Some(rules) = stack.linux_mut() {
        rules.timer_wheel = false;
    }
    EndpointConfig {
        stack,
        receiver: ReceiverConfig::default(),
        cc: preset.config,
        ecn_option: EcnOption::Full,
        ecn: if preset.ecn { EcnSetting::On } else { EcnSetting::Off },
        mtu_bytes: 1500,
        header_bytes: 52,
        sack: true,
        delayed_ack: true,
        initial_window: None,
        receive_window_bytes: 64 << 20,
        cwnd_clamp_packets: u32::MAX,
        no_delay: false,
        unsent_bytes: 128 << 10,
        offload: None,
    }
}
