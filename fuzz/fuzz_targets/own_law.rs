//! See `shoal_tests::fuzz::own_law`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::own_law(input));
