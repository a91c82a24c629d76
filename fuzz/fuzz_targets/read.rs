//! libFuzzer's way to the door `read`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| countersign_fuzz::read(input));
