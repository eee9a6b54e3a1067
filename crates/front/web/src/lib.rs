#![doc = include_str!("../README.md")]

mod columns;
mod lens;
mod live;
mod run;
mod scenario;

pub use live::Live;
pub use run::Run;
pub use scenario::Scenario;

use wasm_bindgen::prelude::wasm_bindgen;

/// The verdict on what flows get and how long packets wait, both as JSON: `shoal_notices::Share` and
/// `shoal_notices::Verdict`.
///
/// # Errors
/// The JSON is not such a share.
#[wasm_bindgen]
pub fn verdict(share: &str) -> Result<String, String> {
    let wrong = |error: serde_json::Error| error.to_string();
    let share: shoal_notices::Share = serde_json::from_str(share).map_err(wrong)?;
    serde_json::to_string(&shoal_notices::verdict(&share)).map_err(wrong)
}

/// Version of shoal.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
