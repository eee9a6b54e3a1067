//! What CUBIC can be told.

use super::{Cubic, LinuxCubic, Rfc9438Cubic};
use crate::{GrowthRules, Law};

/// Arithmetic of CUBIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CubicArithmetic {
    /// Linux [`net/ipv4/tcp_cubic.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_cubic.c):
    /// beta 717/1024, integer cube root, clock of HZ = 1000.
    Linux,
    /// [RFC 9438](https://www.rfc-editor.org/rfc/rfc9438) with its floating-point formulas.
    Rfc9438,
}

/// Parameters of CUBIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubicConfig {
    /// Arithmetic: integers of Linux, or formulas of the RFC.
    pub arithmetic: CubicArithmetic,
    /// Whether W_max is released faster after consecutive reductions below it.
    pub fast_convergence: bool,
    /// Whether the window never grows more slowly than that of Reno with the same reduction (Reno-friendly
    /// region).
    pub reno_friendly: bool,
    /// Whether HyStart ends slow start.
    pub hystart: bool,
}

impl Law for CubicConfig {
    type Controller = Cubic;

    fn start(self, rules: GrowthRules) -> Cubic {
        match self.arithmetic {
            CubicArithmetic::Linux => Cubic::Linux(LinuxCubic::new(self, rules)),
            CubicArithmetic::Rfc9438 => Cubic::Rfc9438(Rfc9438Cubic::new(self, rules)),
        }
    }
}
