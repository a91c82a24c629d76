//! libFuzzer's way to the door `patch`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| countersign_fuzz::patch(input));
