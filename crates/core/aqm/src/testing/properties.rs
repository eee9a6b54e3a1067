//! Invariants of all queues under arbitrary operations.

use super::{Kind, run};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_queue_keeps_the_invariants(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        for &kind in Kind::ALL {
            let digest = run(kind, &bytes);
            prop_assert_eq!(run(kind, &bytes), digest, "{:?} again", kind);
        }
    }
}

/// Bytes that once broke an invariant.
#[test]
fn inputs_that_once_failed_keep_the_invariants() {
    let bytes = [
        0, 0, 0, 0, 8, 192, 0, 39, 84, 218, 47, 7, 14, 153, 233, 8, 12, 0, 39, 152, 94, 43, 87, 0, 188, 224,
        127, 48, 105, 95, 50, 17, 4, 71, 132, 178, 47, 7, 83, 212, 40,
    ];
    for &kind in Kind::ALL {
        run(kind, &bytes);
    }
}
