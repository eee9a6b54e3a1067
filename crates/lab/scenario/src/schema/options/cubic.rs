//! The policies of CUBIC.

use shoal_cc::{CubicArithmetic, CubicConfig};

use crate::field::{choices, section};

section! {
    /// Policies of CUBIC.
    CubicOptions {
        /// The integers of the Linux module, or the formulas of the RFC.
        #[source = "tcp_cubic.c; RFC 9438 section 4"]
        arithmetic: Option<CubicArithmetic>,
        /// Release bandwidth faster when a reduction comes below the previous maximum (W_max).
        #[source = "RFC 9438 section 4.7; tcp_cubic.c fast_convergence"]
        fast_convergence: Option<bool>,
        /// Reno-friendly region: never slower than the estimate of a Reno flow with the same reduction.
        #[source = "RFC 9438 section 4.3; tcp_cubic.c tcp_friendliness"]
        reno_friendly: Option<bool>,
        /// HyStart: leave slow start on a long ACK train or on a rising delay.
        #[source = "Ha and Rhee, Taming the Elephants (2008); tcp_cubic.c hystart"]
        hystart: Option<bool>,
    }
}
overrides!(CubicOptions of CubicConfig { arithmetic, fast_convergence, reno_friendly, hystart });

choices!(CubicArithmetic { "linux" => Self::Linux, "rfc9438" => Self::Rfc9438, });
