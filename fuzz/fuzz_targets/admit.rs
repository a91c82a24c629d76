//! libFuzzer's way to the door `admit`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| countersign_fuzz::admit(input));
