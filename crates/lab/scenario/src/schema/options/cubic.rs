//! The policies of CUBIC.

use shoal_cc::{CubicArithmetic, CubicConfig};

use crate::field::{Section, choices};

/// Policies of CUBIC.
#[derive(Clone, PartialEq, Debug, Section)]
pub(super) struct CubicOptions {
    /// The integers of the Linux module, or the formulas of the RFC.
    #[key(source = "tcp_cubic.c; RFC 9438 section 4")]
    pub arithmetic: Option<CubicArithmetic>,
    /// Release bandwidth faster when a reduction comes below the previous maximum (W_max).
    #[key(source = "RFC 9438 section 4.7; tcp_cubic.c fast_convergence")]
    pub fast_convergence: Option<bool>,
    /// Reno-friendly region: never slower than the estimate of a Reno flow with the same reduction.
    #[key(source = "RFC 9438 section 4.3; tcp_cubic.c tcp_friendliness")]
    pub reno_friendly: Option<bool>,
    /// HyStart: leave slow start on a long ACK train or on a rising delay.
    #[key(source = "Ha and Rhee, Taming the Elephants (2008); tcp_cubic.c hystart")]
    pub hystart: Option<bool>,
}
overrides!(CubicOptions of CubicConfig { arithmetic, fast_convergence, reno_friendly, hystart });

choices!(CubicArithmetic { "linux" => Self::Linux, "rfc9438" => Self::Rfc9438, });
