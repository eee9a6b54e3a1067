//! See `shoal_tests::fuzz::receiver_packets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::receiver_packets(input));
