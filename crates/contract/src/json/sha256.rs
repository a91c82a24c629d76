//! SHA-256 digests, for every module that displays or compares one.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 digest of the concatenated parts as 64 hexadecimal digits.
#[must_use]
pub fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut digest = Sha256Hasher::default();
    for part in parts {
        digest.update(part);
    }
    digest.finish()
}

/// Incremental SHA-256, so that no caller needs all bytes in memory at once.
#[derive(Debug, Clone, Default)]
pub struct Sha256Hasher(Sha256);

impl Sha256Hasher {
    /// Adds the next piece of the input.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Returns the digest of all pieces as 64 hexadecimal digits.
    #[must_use]
    pub fn finish(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(64);
        for byte in self.0.finalize() {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_text() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_hex(&[b"abc"]), abc);
        assert_eq!(sha256_hex(&[b"a", b"", b"bc"]), abc);
    }
}
