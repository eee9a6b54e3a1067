//! See `shoal_tests::fuzz::controller`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::controller(input));
