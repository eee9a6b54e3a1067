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

/// Version of shoal.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
