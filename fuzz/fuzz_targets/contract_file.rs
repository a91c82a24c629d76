//! libFuzzer's way to the door `contract_file`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| countersign_fuzz::contract_file(input));
