//! What holds for every queue under arbitrary operations.

use super::{Kind, run};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_queue_keeps_the_invariants(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        for kind in Kind::ALL {
            run(kind, &bytes);
        }
    }
}
