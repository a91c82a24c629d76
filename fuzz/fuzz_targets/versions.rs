//! libFuzzer's way to the door `versions`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| countersign_fuzz::versions(input));
