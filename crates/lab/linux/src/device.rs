//! Devices of network namespaces, and the lines of instructions that name them.

use std::fmt;
use std::net::Ipv4Addr;

/// Writes one instruction.
macro_rules! line {
    ($text:expr, $($words:tt)+) => {{
        $text.push_str(&format!($($words)+));
        $text.push('\n');
    }};
}
pub(crate) use line;

/// Handle of the root of a device's queue disciplines (`TC_H_ROOT`).
pub(crate) const ROOT: u32 = u32::MAX;
/// Handle of a pure delay.
pub(crate) const DELAY: u32 = 20;

/// One end of a wire.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub host: String,
    pub device: String,
    pub address: Ipv4Addr,
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.host, self.device, self.address)
    }
}
