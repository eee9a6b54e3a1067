//! Keys of `fifo`.

use shoal_aqm::{Extent, FifoConfig};

use super::{Place, Resolve};
use crate::field::Section;

/// First in, first out, tail drop: no parameters, the link's buffer is the limit.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Fifo {}

impl Resolve for Fifo {
    type Config = FifoConfig;

    fn resolve(&self, _: &Place<'_>, limit: Extent) -> Option<FifoConfig> {
        Some(FifoConfig { limit })
    }
}
