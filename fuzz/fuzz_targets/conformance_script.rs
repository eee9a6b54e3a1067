//! See `shoal_tests::fuzz::conformance_script`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::conformance_script(input));
