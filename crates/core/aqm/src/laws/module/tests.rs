//! What stands for a module.

use crate::testing::bench::{Bench, LINE, dropped, mark_of};
use crate::{Extent, LawConfig, ModuleConfig, Reason};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec;
use shoal_packet::Ecn;
use shoal_units::Unmodelled;

/// A limit of two packets: the third is dropped, and no ECT packet is marked whatever waits.
#[test]
fn without_its_module_it_is_tail_drop() {
    let config = ModuleConfig {
        name: "mine".to_string(),
        parameters: BTreeMap::new(),
        options: vec![],
        law: Err(Unmodelled::KernelModule),
        limit: Extent::Packets(2),
    };
    let mut bench = Bench::new(config.build(LINE).unwrap());
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(dropped(bench.arrive(1500, Ecn::Ect0)), Some(Reason::Buffer));
    assert_eq!(bench.draws(), 0);
}
