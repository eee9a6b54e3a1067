use crate::{AnyController, CcConfig, CongestionControl, EcnUse, PRESETS, tests::drive::LINUX_6};
use std::{collections::BTreeSet, format, fs, path::Path, string::String};

/// Every source file of this crate, tests included.
fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder of this crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push_str(&fs::read_to_string(&path).expect("a source file"));
        }
    }
}

#[test]
fn every_difference_is_pinned_by_a_test_that_exists() {
    let mut all = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    for preset in PRESETS {
        for difference in preset.doc.differences {
            let function = format!("#[test]\nfn {}()", difference.test);
            let inner = format!("#[test]\n    fn {}()", difference.test);
            let found = all.contains(&function) || all.contains(&inner);
            assert!(found, "{}: {}", preset.name, difference.test);
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
fn only_scalable_laws_need_feedback_of_their_own_and_fall_back_to_reno_without_it() {
    for preset in PRESETS {
        let controller = AnyController::new(&preset.config, LINUX_6);
        let ecn_use = match preset.config {
            CcConfig::Dctcp(_) => EcnUse::Dctcp,
            CcConfig::Prague(_) => EcnUse::L4s,
            _ => EcnUse::Classic,
        };
        let is_scalable = ecn_use != EcnUse::Classic;
        assert_eq!(controller.ecn_use(), ecn_use, "{}", preset.name);
        assert_eq!(ecn_use.is_scalable(), is_scalable, "{}", preset.name);
        assert_eq!(controller.alpha().is_some(), is_scalable);
        assert!(preset.ecn || !is_scalable, "{}", preset.name);
        match preset.config.without_ecn() {
            CcConfig::Reno(_) => assert!(is_scalable || preset.name.ends_with("reno")),
            other => assert_eq!(other, preset.config),
        }
    }
}
