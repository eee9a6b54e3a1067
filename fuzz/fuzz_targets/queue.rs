//! See `shoal_tests::fuzz::queue`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::queue(input));
