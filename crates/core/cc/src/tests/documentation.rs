use crate::{AnyController, CcConfig, CongestionControl, EcnUse, PRESETS, tests::drive::LINUX_6};
use std::{collections::BTreeSet, format};

/// All files with tests: a difference names one of their functions.
const TESTS: &[&str] = &[
    include_str!("laws.rs"),
    include_str!("model.rs"),
    include_str!("reno.rs"),
    include_str!("../cubic/linux/tests.rs"),
    include_str!("../cubic/rfc9438/tests.rs"),
    include_str!("../dctcp/tests/alpha.rs"),
    include_str!("../dctcp/tests/cut.rs"),
    include_str!("../dctcp/tests/freebsd.rs"),
    include_str!("../dctcp/tests/kuehlewind.rs"),
];

#[test]
fn every_difference_is_pinned_by_a_test_that_exists() {
    for preset in PRESETS {
        for difference in preset.doc.differences {
            let function = format!("fn {}()", difference.test);
            assert!(
                TESTS.iter().any(|file| file.contains(&function)),
                "{}: {}",
                preset.name,
                difference.test
            );
        }
    }
}

#[test]
fn presets_are_found_by_their_unique_names() {
    let names: BTreeSet<_> = PRESETS.iter().map(|preset| preset.name).collect();
    assert_eq!(names.len(), PRESETS.len());
    for preset in PRESETS {
        assert_eq!(CcConfig::preset(preset.name), Some(preset.config));
    }
    assert_eq!(CcConfig::preset("vegas"), None);
}

#[test]
fn only_dctcp_needs_its_own_echo_and_falls_back_to_reno_without_ecn() {
    for preset in PRESETS {
        let controller = AnyController::new(&preset.config, LINUX_6);
        let is_dctcp = matches!(preset.config, CcConfig::Dctcp(_));
        assert_eq!(controller.ecn_use() == EcnUse::Dctcp, is_dctcp, "{}", preset.name);
        assert_eq!(controller.alpha().is_some(), is_dctcp);
        match preset.config.without_ecn() {
            CcConfig::Reno(_) => assert!(is_dctcp || preset.name.ends_with("reno")),
            other => assert_eq!(other, preset.config),
        }
    }
}
