#![doc = include_str!("../README.md")]

mod columns;
mod laws;
mod lens;
mod live;
mod run;
mod scenario;

pub use laws::{LawInstance, LawModule, law};
pub use live::Live;
pub use run::Run;
pub use scenario::Scenario;

use wasm_bindgen::prelude::wasm_bindgen;

/// The verdict on what flows get and how long packets wait, as JSON of `shoal_notices::Verdict`.
///
/// Kinds of flows are columns: names, whether their packets have ECT, and the rate of one in bit/s. The rest is as in
/// `shoal_notices::Share`.
///
/// # Errors
/// The verdict cannot be written.
#[wasm_bindgen]
pub fn verdict(
    names: Vec<String>,
    uses_ecn: &[u8],
    each_bps: &[f64],
    others_send: bool,
    ect_s: Option<f64>,
    not_ect_s: Option<f64>,
) -> Result<String, String> {
    let kinds = names.into_iter().zip(uses_ecn).zip(each_bps);
    let kind = |((name, uses_ecn), each_bps): ((String, &u8), &f64)| shoal_notices::Kind {
        name,
        uses_ecn: *uses_ecn > 0,
        each_bps: *each_bps,
    };
    let kinds = kinds.map(kind).collect();
    let share = shoal_notices::Share { kinds, others_send, ect_s, not_ect_s };
    serde_json::to_string(&shoal_notices::verdict(&share)).map_err(|error| error.to_string())
}

/// Version of shoal.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
