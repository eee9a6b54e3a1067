//! An arbitrary configuration, and the properties of the queue that stands for its module.

use super::ModuleConfig;
use crate::testing::{Checked, Input, Promise};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec;
use shoal_units::{Rate, Unmodelled};

impl Checked for ModuleConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        let options = vec![(input.short(), vec![input.byte()])];
        let parameters = BTreeMap::new();
        let law = Err(Unmodelled::KernelModule);
        Self { name: "mine".to_string(), parameters, options, law, limit: input.extent() }
    }

    fn promise(&self) -> Promise {
        Promise::of_fifo(self.limit)
    }
}
