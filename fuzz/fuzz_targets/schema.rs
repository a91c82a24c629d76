//! libFuzzer's way to the door `schema`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| countersign_fuzz::schema(input));
