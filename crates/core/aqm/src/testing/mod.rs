//! A model that drives any queue with arbitrary operations and checks what must hold for all of them.
//!
//! Property tests and the fuzz target share it: [`run`] turns any bytes into a configuration and operations.

mod decode;
mod decode_delay;
mod model;
mod promise;
#[cfg(test)]
mod properties;

pub use decode::{Input, Kind};
pub use model::{Model, Operation};

use crate::AnyQueue;
use shoal_units::Stream;

/// Drives the queue of `kind` that `bytes` describe.
///
/// # Panics
/// If the queue breaks an invariant.
pub fn run(kind: Kind, bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let line_rate = input.rate();
    let config = input.config(kind, line_rate);
    // tc may refuse; that it does not panic is checked, too.
    let Ok(queue) = AnyQueue::try_new(&config, line_rate) else { return };
    let random = Stream::new(u64::from(input.byte()), "model");
    let mut model = Model::new(queue, &config, line_rate, random);
    while let Some(operation) = input.operation() {
        model.apply(operation);
    }
    model.drain();
}
