//! See `shoal_tests::fuzz::hostile_peer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::hostile_peer(input));
