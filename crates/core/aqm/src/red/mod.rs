//! Random Early Detection: as published (`float`) and as Linux computes it (`linux`, configured through `tc`).

mod average;
mod float;
mod idle;
mod instance;
mod linux;
mod tc;

pub use float::Red;
pub use linux::LinuxRed;
pub use tc::{TcError, TcRed};

pub(crate) use idle::Transmitter;
pub(crate) use instance::Instance;
pub(crate) use linux::Law as LinuxLaw;
