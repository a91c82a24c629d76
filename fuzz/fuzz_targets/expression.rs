//! libFuzzer's way to the door `expression`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| countersign_fuzz::expression(input));
