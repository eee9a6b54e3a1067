//! Coupled AQM: scalable traffic is marked with p, classic traffic dropped with (p/k)^2 (De Schepper 2015).

mod dual;
mod single;
mod slope;

pub use dual::DualCoupled;
pub use single::Coupled;
