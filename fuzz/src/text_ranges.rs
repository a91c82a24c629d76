//! Ranges in texts, and inputs that hold two texts.

use std::ops::Range;

/// Demands that a range lies inside the text and cuts no character.
pub(super) fn assert_inside(text: &str, range: Range<usize>, whose: &dyn std::fmt::Debug) {
    assert!(text.get(range.clone()).is_some(), "{range:?} of {} bytes: {whose:?}", text.len());
}

/// The two parts of an input: before and after its first zero byte, or else its halves.
pub(super) fn parts(input: &[u8]) -> (&[u8], &[u8]) {
    match input.iter().position(|&byte| byte == 0) {
        Some(zero) => (&input[..zero], &input[zero + 1..]),
        None => input.split_at(input.len() / 2),
    }
}
