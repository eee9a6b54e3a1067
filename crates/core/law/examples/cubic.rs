//! CUBIC as a module.
#![allow(unsafe_code, missing_docs)]

use shoal_law::cc::{CcConfig, LinuxCubic};

shoal_law::controller! {
    LinuxCubic,
    describe: r#"{ "abi": 1, "kind": "controller", "summary": "CUBIC as Linux has it." }"#,
    start: |rules, _| {
        let Some(CcConfig::Cubic(config)) = CcConfig::preset("cubic") else { return Err(c"there is no CUBIC") };
        Ok(LinuxCubic::new(config, rules))
    },
    calls: [
        on_established, on_ack, on_growth, on_ecn, on_loss, on_rto, on_exit, on_idle_restart, on_sent, undo_cwnd,
        rate_halving_floor,
    ],
}
