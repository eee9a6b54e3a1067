//! See `shoal_tests::fuzz::frame`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::frame(input));
