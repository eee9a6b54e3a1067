//! CUBIC: the window grows as W(t) = C (t - K)^3 + W_max, where t is the time since the last reduction, W_max
//! the window before it, and K = cbrt((W_max - cwnd) / C) the time at which W_max is reached again; a
//! reduction multiplies the window by beta = 0.7 ([RFC 9438](https://www.rfc-editor.org/rfc/rfc9438)). There
//! are two versions: the integers of Linux (`linux.rs`) and the formulas of the RFC (`rfc9438.rs`). The
//! HyStart of Linux ends slow start.

mod cbrt;
mod clock;
mod config;
mod hystart;
mod linux;
pub mod presets;
mod rfc9438;

pub use config::{CubicArithmetic, CubicConfig};
pub use linux::LinuxCubic;
pub use rfc9438::Rfc9438Cubic;

/// CUBIC in either arithmetic.
#[derive(Clone, Copy, Debug)]
pub enum Cubic {
    /// The integers of Linux.
    Linux(LinuxCubic),
    /// The formulas of RFC 9438.
    Rfc9438(Rfc9438Cubic),
}

crate::any::dispatch!(Cubic { Linux, Rfc9438 });
