//! First in, first out: tail drop and nothing else.
//!
//! A packet is dropped if what waits with it would exceed the limit. Follows `pfifo` and `bfifo` of Linux
//! (<https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_fifo.c>); where it departs is listed in
//! [`FifoConfig::DOC`].

mod doc;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

use crate::shell::{Law, Single};
use crate::{Extent, LawConfig, TcError};
use shoal_units::{ModelDoc, Rate};

/// First in, first out, tail drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FifoConfig {
    /// Waiting packets that fit.
    pub limit: Extent,
}

/// Nothing is marked, and nothing dropped but by the limit.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

impl Law for Fifo {
    fn decides_on_arrival(&self) -> bool {
        true
    }
}

impl LawConfig for FifoConfig {
    type Queue = Single<Fifo>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(Fifo, self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }
}
