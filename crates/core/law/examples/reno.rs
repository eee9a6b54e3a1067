//! Reno as a module: the law of `shoal_cc` behind the interface.
#![allow(unsafe_code, missing_docs)]

use shoal_law::cc::Reno;
use shoal_law::cc::reno::RENO;

shoal_law::controller! {
    Reno,
    describe: r#"{ "abi": 1, "kind": "controller", "summary": "Reno as Linux has it." }"#,
    start: |rules, _| Ok(Reno::new(RENO, rules)),
    calls: [on_growth, on_ecn, on_loss, on_rto, undo_cwnd, rate_halving_floor],
}
