//! See `shoal_tests::fuzz::scenario_override`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::scenario_override(input));
