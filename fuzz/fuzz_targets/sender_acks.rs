//! See `shoal_tests::fuzz::sender_acks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::sender_acks(input));
