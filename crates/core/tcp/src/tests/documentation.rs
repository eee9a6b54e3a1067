//! The descriptions agree with the code.

use crate::{DOCS, Profile};

/// All files with tests: a difference names one of their functions.
const TESTS: &[&str] = &[
    include_str!("cwr.rs"),
    include_str!("dctcp_echo.rs"),
    include_str!("dctcp_presets.rs"),
    include_str!("delayed_ack.rs"),
    include_str!("ecn_latch.rs"),
    include_str!("fast_recovery.rs"),
    include_str!("freebsd_ecn.rs"),
    include_str!("freebsd_growth.rs"),
    include_str!("freebsd_receiver.rs"),
    include_str!("freebsd_recovery.rs"),
    include_str!("../receiver/unread.rs"),
    include_str!("../sender/freebsd/rtt.rs"),
    include_str!("../sender/linux/rate_samples.rs"),
    include_str!("../sender/linux/timers.rs"),
    include_str!("growth.rs"),
    include_str!("accurate_ecn.rs"),
    include_str!("compressed_acks.rs"),
    include_str!("handshake.rs"),
    include_str!("idle.rs"),
    include_str!("loss_in_cwr.rs"),
    include_str!("new_reno.rs"),
    include_str!("probe.rs"),
    include_str!("rack.rs"),
    include_str!("sending.rs"),
    include_str!("timeout.rs"),
    include_str!("undo.rs"),
];

#[test]
fn every_difference_is_pinned_by_a_test_that_exists() {
    for doc in DOCS {
        assert!(!doc.differences.is_empty(), "{}", doc.name);
        for difference in doc.differences {
            let function = format!("fn {}()", difference.test);
            assert!(TESTS.iter().any(|file| file.contains(&function)), "{}: {}", doc.name, difference.test);
        }
    }
}

#[test]
fn every_profile_is_described_once() {
    let described: Vec<_> = DOCS.iter().map(|doc| doc.name).collect();
    let profiles: Vec<_> = Profile::ALL.iter().map(|profile| profile.name).collect();
    assert_eq!(described, profiles);
}

#[test]
fn profiles_are_found_by_name() {
    for profile in Profile::ALL {
        assert_eq!(Profile::by_name(profile.name), Some(*profile));
    }
    assert_eq!(Profile::by_name("linux-9"), None);
}
