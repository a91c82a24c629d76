//! Names of runs: short enough to type, and hard to misread.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// No vowels and no ambiguous characters, so that names form no words and cannot be misread.
const NAME_ALPHABET: &[u8; 25] = b"bcdfghjkmnpqrstvwxz234679";

/// Generates a name that is probably unique: six characters, 244 million combinations. The store
/// detects duplicates.
#[must_use]
pub fn generate_run_name() -> String {
    // The standard library seeds each of these from the system's random source.
    let mut chance = RandomState::new().build_hasher().finish();
    let mut name = String::with_capacity(6);
    for _ in 0..6 {
        name.push(char::from(NAME_ALPHABET[(chance % NAME_ALPHABET.len() as u64) as usize]));
        chance /= NAME_ALPHABET.len() as u64;
    }
    name
}
