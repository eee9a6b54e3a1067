//! The arguments of `tc qdisc add ... red`.

use super::{LinuxRed, doc};
use crate::shell::Single;
use crate::{Extent, LawConfig, Level, TcError};
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate};

/// RED as `tc qdisc add ... red` configures it and
/// [`net/sched/sch_red.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_red.c) runs it: fixed
/// point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinuxRedConfig {
    /// Hard limit of the child queue, bytes.
    pub limit_bytes: u32,
    /// Minimum threshold, bytes.
    pub min_bytes: u32,
    /// Maximum threshold, bytes.
    pub max_bytes: u32,
    /// Average packet size, bytes.
    pub avpkt_bytes: u32,
    /// Burst, packets: determines the weight.
    pub burst_packets: u32,
    /// Probability at the maximum threshold.
    pub probability: f64,
    /// Bandwidth given to `tc`; it only affects the idle table.
    pub bandwidth: Rate,
    /// Mark ECT packets.
    pub ecn: bool,
    /// With `ecn`: drop above the maximum even if ECT.
    pub harddrop: bool,
    /// With `ecn`: let packets that are not ECT pass instead of dropping them.
    pub nodrop: bool,
    /// Adapt the maximum probability every 0.5 s (ARED).
    pub adaptive: bool,
    /// Kernels before 3.3: the probability is rounded to a power of two (`Plog`) instead of a 32-bit fraction.
    pub legacy_probability: bool,
}

impl LawConfig for LinuxRedConfig {
    type Queue = Single<LinuxRed>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(LinuxRed::new(self, line_rate)?, self.limit(), line_rate))
    }

    fn limit(&self) -> Extent {
        Extent::Bytes(self.limit_bytes.into())
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        self.ecn.then_some(Extent::Bytes(self.min_bytes.into()))
    }

    fn levels(&self) -> Vec<Level> {
        vec![Level::of_bytes("min", self.min_bytes.into()), Level::of_bytes("max", self.max_bytes.into())]
    }
}
