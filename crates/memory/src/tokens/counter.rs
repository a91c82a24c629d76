//! The built-in token counters, by name. The vocabularies are compiled in, so counting needs no
//! network.

use std::fmt;

use tiktoken::CoreBpe;

/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// The name of the counter. A packet stores it so that a replay counts the same way.
    fn id(&self) -> &str;

    /// Returns the number of tokens in a text.
    fn count(&self, text: &str) -> u64;
}

/// A counter with a built-in `tiktoken` vocabulary.
#[derive(Clone, Copy)]
pub struct TiktokenCounter {
    id: &'static str,
    encoding: &'static CoreBpe,
}

/// Counts a quarter of the characters, rounded up, for models with an unknown vocabulary.
#[derive(Debug, Clone, Copy, Default)]
pub struct CharCounter;

/// Error for a name that no counter has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown tokenizer `{name}`; expected `o200k_base`, `cl100k_base` or `chars/4`")]
pub struct UnknownTokenizer {
    /// The unknown name.
    pub name: String,
}

/// Returns the counter with a name: `o200k_base`, `cl100k_base` (either without its `_base`) or
/// `chars/4`.
///
/// ```
/// let counter = countersign_memory::tokens::find_counter("o200k").unwrap();
/// assert_eq!(counter.id(), "o200k_base");
/// assert_eq!(counter.count("tiktoken is great!"), 6);
/// ```
pub fn find_counter(name: &str) -> Result<Box<dyn TokenCounter>, UnknownTokenizer> {
    match name {
        "o200k_base" | "o200k" => Ok(Box::new(TiktokenCounter::o200k())),
        "cl100k_base" | "cl100k" => Ok(Box::new(TiktokenCounter::cl100k())),
        "chars/4" => Ok(Box::new(CharCounter)),
        _ => Err(UnknownTokenizer { name: name.to_owned() }),
    }
}

impl TiktokenCounter {
    /// The vocabulary of the newer OpenAI models; the default.
    #[must_use]
    pub fn o200k() -> Self {
        Self::from_encoding("o200k_base")
    }

    /// The vocabulary of the earlier OpenAI models.
    #[must_use]
    pub fn cl100k() -> Self {
        Self::from_encoding("cl100k_base")
    }

    fn from_encoding(id: &'static str) -> Self {
        Self { id, encoding: tiktoken::get_encoding(id).expect("its vocabulary is built in") }
    }
}

impl Default for TiktokenCounter {
    fn default() -> Self {
        Self::o200k()
    }
}

impl fmt::Debug for TiktokenCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TiktokenCounter({})", self.id)
    }
}

impl TokenCounter for TiktokenCounter {
    fn id(&self) -> &str {
        self.id
    }

    fn count(&self, text: &str) -> u64 {
        self.encoding.count(text) as u64
    }
}

impl TokenCounter for CharCounter {
    fn id(&self) -> &'static str {
        "chars/4"
    }

    fn count(&self, text: &str) -> u64 {
        text.chars().count().div_ceil(4) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, cl100k: u64, o200k: u64, chars: u64) {
        assert_eq!(TiktokenCounter::cl100k().count(text), cl100k, "cl100k {text}");
        assert_eq!(TiktokenCounter::o200k().count(text), o200k, "o200k {text}");
        assert_eq!(CharCounter.count(text), chars, "chars {text}");
    }

    #[test]
    fn counts_are_those_that_were_published() {
        // The worked examples of OpenAI's guide to counting tokens.
        check("antidisestablishmentarianism", 6, 6, 7);
        check("2 + 2 = 4", 7, 7, 3);
        check("お誕生日おめでとう", 9, 8, 3);
        check("tiktoken is great!", 6, 6, 5);
    }

    #[test]
    fn a_second_implementation_counts_the_same() {
        // Expected counts were recorded from `bpe-openai` 0.3.2.
        check("The client’s offer: 1,250.50 € by 2026-01-21, can't wait!\n", 25, 24, 15);
        check("Когда начинаются работы по договору № 12?\n", 18, 11, 11);
        check("合同价格是一百万元。付款期为三十天。\n", 17, 13, 5);
        check("계약 가격은 얼마입니까? 내일까지 알려주세요.\n", 28, 13, 7);
        check("👩\u{200d}👩\u{200d}👧 family & friends 🎉🎉\n", 23, 16, 7);
        check("snake_case camelCase HTTPServer2x v1.2.3-rc1\n", 18, 18, 12);
        check("    indented\ttabbed   spaced  \n", 8, 8, 8);
        check("- goal: подписать 合同 by Friday [3]\n", 14, 12, 9);
    }

    #[test]
    fn nothing_is_nothing_and_marks_of_models_are_text() {
        check("", 0, 0, 0);
        assert!(TiktokenCounter::o200k().count("<|endoftext|>") > 1);
    }

    #[test]
    fn a_name_finds_its_counter() {
        for (name, id) in [
            ("o200k", "o200k_base"),
            ("o200k_base", "o200k_base"),
            ("cl100k", "cl100k_base"),
            ("chars/4", "chars/4"),
        ] {
            assert_eq!(
                find_counter(name).map(|counter| counter.id().to_owned()),
                Ok(id.to_owned())
            );
        }
        assert_eq!(
            find_counter("p50k").map(|_| ()).unwrap_err().to_string(),
            "unknown tokenizer `p50k`; expected `o200k_base`, `cl100k_base` or `chars/4`"
        );
    }
}
