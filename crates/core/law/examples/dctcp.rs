//! DCTCP as a module, with the gain of its estimate as a parameter.
#![allow(unsafe_code, missing_docs)]

use shoal_law::cc::{CcConfig, Dctcp, Gain};

shoal_law::controller! {
    Dctcp,
    describe: r#"{
        "abi": 1, "kind": "controller", "summary": "DCTCP as Linux has it.", "ecn": "dctcp",
        "parameters": [{
            "name": "gain_shift", "default": 4, "least": 0, "most": 10, "whole": true,
            "text": "A window's fraction of marks counts one part in two to the power of this."
        }]
    }"#,
    start: |rules, words| {
        let Some(CcConfig::Dctcp(config)) = CcConfig::preset("dctcp") else { return Err(c"there is no DCTCP") };
        // The host has checked that the value is one of the parameter.
        let shift = words.parameter(0) as u8;
        Ok(Dctcp::new(shoal_law::cc::DctcpConfig { gain: Gain::Shift(shift), ..config }, rules))
    },
    calls: [
        on_established, on_ack, on_growth, on_ecn, on_ece_in_cwr, on_loss, on_loss_in_cwr, on_rto, on_exit, on_recovered,
        on_idle_restart, on_idle_beyond_rto, on_sent, undo_cwnd, rate_halving_floor,
    ],
}
