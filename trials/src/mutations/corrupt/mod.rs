//! Corruptions by name, and their effect on the meaning of a reply.
//!
//! They are applied in the order of [`CorruptionStage`]: first to the value, then to its
//! characters, its syntax, its notation, and last to the surrounding text. Only [`corrupt_reply`]
//! decides what the text means afterwards.

mod value;
mod characters;
mod syntax;
mod strings;

use serde_json::Value;

use super::text_pieces::{TextLayout, TextPieces};
use testkit::SeededRng;

macro_rules! corruptions {
    ($($variant:ident = $name:literal, $stage:ident, $tolerable:literal;)*) => {
        /// One defect that a reply can have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Corruption { $($variant,)* }

        impl Corruption {
            /// All corruptions, in order of definition.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name used in tables.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the stage at which the corruption is applied.
            pub(crate) fn stage(self) -> CorruptionStage {
                match self { $(Self::$variant => CorruptionStage::$stage,)* }
            }

            /// Returns whether the reply keeps its meaning. If not, refusing is the only correct
            /// outcome.
            pub(crate) fn is_recoverable(self) -> bool {
                match self { $(Self::$variant => $tolerable,)* }
            }
        }
    };
}

/// The order in which corruptions are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CorruptionStage {
    Value,
    Characters,
    Syntax,
    Strings,
    Truncation,
    Wrapping,
}

corruptions! {
    EnumTypo = "enum typo", Value, false;
    WrongType = "wrong type", Value, false;
    DroppedField = "dropped field", Value, false;
    ExtraField = "extra field", Value, false;
    DeletedCharacter = "deleted character", Characters, true;
    InsertedCharacter = "inserted character", Characters, true;
    SwappedCharacters = "swapped characters", Characters, true;
    DuplicatedKey = "duplicated key", Syntax, false;
    LossyNumber = "lossy number", Syntax, false;
    TrailingComma = "trailing comma", Syntax, true;
    DoubledComma = "doubled comma", Syntax, true;
    MissingComma = "missing comma", Syntax, true;
    MissingColon = "missing colon", Syntax, true;
    MissingBracket = "missing bracket", Syntax, true;
    MismatchedCloser = "mismatched closer", Syntax, true;
    MissingQuote = "missing quote", Strings, true;
    UnescapedQuote = "unescaped inner quote", Strings, true;
    InvalidEscape = "invalid escape", Strings, true;
    RawNewlines = "raw newlines", Strings, true;
    SingleQuotes = "single quotes", Strings, true;
    SmartQuotes = "smart quotes", Strings, true;
    BareKeys = "bare keys", Strings, true;
    PythonLiterals = "python literals", Strings, true;
    Comment = "comment", Strings, true;
    Truncation = "truncation", Truncation, false;
    Fence = "fence", Wrapping, true;
    Prose = "prose around", Wrapping, true;
    Think = "think block", Wrapping, true;
    ByteOrderMark = "byte-order mark", Wrapping, true;
}

/// The text of an object after corruption, and its meaning.
#[derive(Debug, Clone)]
pub(crate) struct CorruptedReply {
    /// The text of the object alone.
    pub(crate) object: String,
    /// The value that the text means, if it has a meaning.
    pub(crate) truth: Value,
    /// Whether accepting `truth` is correct at all.
    pub(crate) recoverable: bool,
    /// The corruptions that were applied, without those that found nothing to corrupt.
    pub(crate) applied: Vec<Corruption>,
}

/// Applies corruptions to a reply. `other` is a second reply of the same contract, for corruptions
/// that need foreign values.
pub(crate) fn corrupt_reply(
    rng: &mut SeededRng,
    contract: &str,
    reply: &Value,
    other: &Value,
    corruptions: &[Corruption],
) -> CorruptedReply {
    let layout = TextLayout::random(rng);
    let mut corruptions = corruptions.to_vec();
    corruptions.sort_unstable_by_key(|corruption| (corruption.stage(), *corruption));
    let truncated = corruptions.contains(&Corruption::Truncation);
    let mut truth = reply.clone();
    let mut applied = Vec::new();
    for &corruption in corruptions.iter().filter(|one| one.stage() == CorruptionStage::Value) {
        if value::apply(rng, contract, &mut truth, corruption) {
            applied.push(corruption);
        }
    }
    let spoiled = !applied.is_empty();
    let mut pieces = TextPieces::from_value(&truth, layout);
    for corruption in corruptions {
        let done = match corruption.stage() {
            // A stray character could undo the corruption of the value.
            CorruptionStage::Characters if spoiled => false,
            CorruptionStage::Characters => {
                let done = characters::apply(rng, &mut pieces, corruption);
                if let Some(said) = parse_strict(&pieces) {
                    pieces = TextPieces::from_value(&said, layout);
                    truth = said;
                }
                done
            }
            CorruptionStage::Syntax => syntax::apply(rng, &mut pieces, other, corruption),
            CorruptionStage::Strings => strings::apply(rng, &mut pieces, corruption),
            CorruptionStage::Value | CorruptionStage::Truncation | CorruptionStage::Wrapping => {
                false
            }
        };
        if done {
            applied.push(corruption);
        }
    }
    let tolerable = applied.iter().all(|corruption| corruption.is_recoverable());
    if tolerable && let Some(said) = parse_strict(&pieces) {
        truth = said;
    }
    let object = if truncated { truncate_text(rng, &pieces) } else { None };
    let truncated = object.is_some();
    if truncated {
        applied.push(Corruption::Truncation);
    }
    let object = object.unwrap_or_else(|| pieces.to_text());
    let tolerable = tolerable && !truncated;
    CorruptedReply { object, truth, recoverable: tolerable, applied }
}

/// Truncates the text so that some of its content is lost; `None` if it has no content.
fn truncate_text(rng: &mut SeededRng, pieces: &TextPieces) -> Option<String> {
    // After the last letter or digit there are only quotes and brackets, which the repair level
    // `guess` could restore. Decoration is not content.
    let last = (0..pieces.0.len())
        .rev()
        .find(|&at| pieces.0[at].strict.contains(char::is_alphanumeric))?;
    let before: usize = pieces.0[..last].iter().map(|piece| piece.text.len()).sum();
    let (inside, _) =
        pieces.0[last].text.char_indices().rfind(|(_, character)| character.is_alphanumeric())?;
    let mut text = pieces.to_text();
    let mut at = rng.next_between(1, before + inside);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.truncate(at);
    Some(text)
}

/// Parses the strict spelling of the text, if it is JSON.
fn parse_strict(pieces: &TextPieces) -> Option<Value> {
    serde_json::from_str(&pieces.to_strict_json()).ok()
}
