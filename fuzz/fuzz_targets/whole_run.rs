//! See `shoal_tests::fuzz::whole_run`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| shoal_tests::fuzz::whole_run(input));
