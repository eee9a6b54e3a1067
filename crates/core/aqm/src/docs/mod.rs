//! What the queues are, for `shoal describe`.

mod basic;
mod coupled;
mod delay;
mod dualpi2;
mod gred;
mod red;

use shoal_units::ModelDoc;

/// All queues, in the order of [`QueueConfig`](crate::QueueConfig).
pub const DOCS: &[ModelDoc] = &[
    basic::FIFO,
    basic::STEP,
    red::RED,
    red::LINUX_RED,
    red::DUAL_RED,
    basic::OPEN_LOOP,
    coupled::COUPLED,
    coupled::DUAL_COUPLED,
    dualpi2::DUALPI2,
    delay::CODEL,
    delay::FQ_CODEL,
    delay::PIE,
    gred::GRED,
    dualpi2::PI2,
];

#[cfg(test)]
mod tests {
    use super::DOCS;

    const TESTS: &str = concat!(
        include_str!("../../tests/coupled.rs"),
        include_str!("../../tests/dual_coupled.rs"),
        include_str!("../../tests/codel.rs"),
        include_str!("../../tests/dual_red.rs"),
        include_str!("../../tests/dualpi2.rs"),
        include_str!("../../tests/fifo.rs"),
        include_str!("../../tests/open_loop.rs"),
        include_str!("../../tests/fq_codel.rs"),
        include_str!("../../tests/gred.rs"),
        include_str!("../../tests/linux_red.rs"),
        include_str!("../../tests/pie.rs"),
        include_str!("../../tests/pi2.rs"),
        include_str!("../../tests/red.rs"),
        include_str!("../../tests/step.rs"),
        include_str!("../../tests/tc_vectors.rs"),
        include_str!("../../../../../tests/rust/tests/coupled_queues.rs"),
    );

    #[test]
    fn every_difference_names_an_existing_test() {
        for doc in DOCS {
            assert!(!doc.differences.is_empty(), "{}", doc.name);
            for difference in doc.differences {
                assert!(TESTS.contains(&format!("#[test]\nfn {}()", difference.test)), "{}", difference.test);
            }
        }
    }
}
