//! A queue discipline of the user's own: a kernel module, which only the real kernel runs.
//!
//! The configuration says which discipline it is and what it is told; what it does is in the module alone. The
//! simulator refuses it. Where a queue is built of it all the same, as the tests of all queues do, it is tail drop, see
//! [`ModuleConfig::DOC`].

#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

use crate::shell::{Law, Single};
use crate::{Extent, LawConfig, TcError};
use alloc::string::String;
use alloc::vec::Vec;
use shoal_units::{Difference, ModelDoc, ModelKind, Rate};

/// A queue discipline that a kernel module of the user registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleConfig {
    /// The name under which the module registers it.
    pub name: String,
    /// Parameters of the module: names, and values as `insmod` takes them.
    pub parameters: Vec<(String, String)>,
    /// Attributes within `TCA_OPTIONS`: numbers, and values in native byte order.
    pub options: Vec<(u16, Vec<u8>)>,
    /// Waiting packets that fit into the buffer of the link; the discipline has a limit of its own.
    pub limit: Extent,
}

/// What stands for the module where there is none: nothing is marked, and nothing dropped but by the limit.
#[derive(Clone, Copy, Debug)]
pub struct ModuleLaw;

impl Law for ModuleLaw {
    fn decides_on_arrival(&self) -> bool {
        true
    }
}

impl LawConfig for ModuleConfig {
    type Queue = Single<ModuleLaw>;
    const DOC: ModelDoc = ModelDoc {
        name: "module",
        kind: ModelKind::Queue,
        summary: "A queue discipline of the user's own, from a kernel module: runs on the real kernel only.",
        follows: "the module's own source, which shoal compiles and loads",
        differences: &[Difference {
            text: "Nothing of the module is modelled: the simulator refuses it. A queue that is built of its \
                   configuration all the same is tail drop.",
            test: "without_its_module_it_is_tail_drop",
        }],
    };

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(ModuleLaw, self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }
}
