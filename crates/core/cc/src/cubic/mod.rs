//! CUBIC: the integers of Linux and the formulas of RFC 9438, with the HyStart of Linux.

mod cbrt;
mod clock;
mod hystart;
mod linux;
pub mod presets;
mod rfc9438;

pub use linux::LinuxCubic;
pub use rfc9438::Rfc9438Cubic;
