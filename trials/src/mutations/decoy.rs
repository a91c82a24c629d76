//! Decoys: a second reply of the same contract next to, around or inside the real one.
//!
//! The real reply is whole, broken or invalid; the decoy is valid or nearly so. The decoy must
//! never be accepted: if the real reply cannot be recovered, refusing is correct.

use countersign_contract::reply::FinishReason;
use serde_json::Value;

use super::case::MutationCase;
use super::corrupt::{self, CorruptedReply, Corruption};
use super::generate;
use super::phrases::ReplyLanguage;
use super::text_pieces::{TextLayout, TextPieces};
use super::wrapping;
use testkit::SeededRng;

macro_rules! named {
    ($(#[$doc:meta])* $type:ident: $($variant:ident = $name:literal,)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum $type { $($variant,)* }

        impl $type {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

named! {
    /// The position of the decoy.
    DecoyPosition:
    ProseBefore = "in prose, before",
    ProseAfter = "in prose, after",
    QuotesBefore = "in quotes, before",
    QuotesAfter = "in quotes, after",
    FenceBefore = "in a fence, before",
    FenceAfter = "in a fence, after",
    ThinkBefore = "in a think block, before",
    ThinkAfter = "in a think block, after",
    TagBefore = "in a tag, before",
    TagAfter = "in a tag, after",
    LineQuoted = "in a block quote, before",
    Member = "inside another object, before",
    Array = "in an array with the real one",
    Comment = "in a comment inside",
    Text = "in a string inside, escaped",
    RawText = "in a string inside, unescaped",
}

named! {
    /// The condition of the real reply.
    Real:
    Whole = "real one whole",
    Broken = "real one broken",
    Invalid = "real one invalid",
    Sparse = "real one with few fields",
}

const BREAKING: [Corruption; 16] = [
    Corruption::DeletedCharacter,
    Corruption::InsertedCharacter,
    Corruption::SwappedCharacters,
    Corruption::DoubledComma,
    Corruption::MissingComma,
    Corruption::MissingColon,
    Corruption::MissingBracket,
    Corruption::MissingBracket,
    Corruption::MismatchedCloser,
    Corruption::MissingQuote,
    Corruption::UnescapedQuote,
    Corruption::InvalidEscape,
    Corruption::RawNewlines,
    Corruption::SingleQuotes,
    Corruption::TrailingComma,
    Corruption::Truncation,
];

const INVALIDATING: [Corruption; 6] = [
    Corruption::EnumTypo,
    Corruption::WrongType,
    Corruption::DroppedField,
    Corruption::ExtraField,
    Corruption::DuplicatedKey,
    Corruption::LossyNumber,
];

const NEARLY: [Corruption; 5] = [
    Corruption::TrailingComma,
    Corruption::Comment,
    Corruption::SingleQuotes,
    Corruption::BareKeys,
    Corruption::MissingComma,
];

/// Builds a case from a real reply and a decoy.
pub(super) fn make_case(
    rng: &mut SeededRng,
    number: u64,
    contract: &'static str,
    reply: &Value,
    decoy: &Value,
) -> MutationCase {
    let position = *rng.pick(DecoyPosition::ALL);
    let real = *rng.pick(Real::ALL);
    let mut reply = reply.clone();
    let quoted = TextPieces::from_value(decoy, TextLayout::COMPACT).to_text();
    let inside = matches!(position, DecoyPosition::Text | DecoyPosition::RawText)
        .then(|| generate::find_free_text(contract, &reply))
        .flatten()
        .and_then(|free| reply.pointer_mut(free));
    let position = match inside {
        Some(text) => {
            *text = Value::String(format!("{} {quoted} ", text.as_str().unwrap_or_default()));
            position
        }
        None if matches!(position, DecoyPosition::Text | DecoyPosition::RawText) => {
            DecoyPosition::ProseBefore
        }
        None => position,
    };
    let mut corrupted = make_real_reply(rng, contract, &reply, decoy, real);
    match position {
        DecoyPosition::RawText => {
            let escaped = Value::from(quoted.as_str()).to_string();
            let escaped = &escaped[1..escaped.len() - 1];
            corrupted.object = corrupted.object.replace(escaped, &quoted);
            // The quoted text may end the string and add members of its own.
            if let Ok(said) = serde_json::from_str(&corrupted.object) {
                corrupted.truth = said;
            }
        }
        DecoyPosition::Comment if corrupted.object.starts_with('{') => {
            corrupted.object.insert_str(1, &format!(" // {quoted}\n"));
        }
        _ => {}
    }
    let text = combine_texts(rng, position, &corrupted, decoy, contract);
    let CorruptedReply { truth, recoverable: tolerable, .. } = corrupted;
    let labels = vec![position.name(), real.name()];
    let decoy = Some(decoy.clone());
    MutationCase {
        number,
        contract,
        text,
        finish: FinishReason::Stop,
        truth,
        recoverable: tolerable,
        decoy,
        labels,
    }
}

/// Returns the real reply in the requested condition.
fn make_real_reply(
    rng: &mut SeededRng,
    contract: &str,
    reply: &Value,
    decoy: &Value,
    real: Real,
) -> CorruptedReply {
    match real {
        Real::Whole => corrupt::corrupt_reply(rng, contract, reply, decoy, &[]),
        Real::Broken => {
            let first = *rng.pick(&BREAKING);
            let second = *rng.pick(&BREAKING);
            let both = [first, second];
            let together = first.stage() != second.stage();
            let count = if together && rng.roll_percent(30) { 2 } else { 1 };
            corrupt::corrupt_reply(rng, contract, reply, decoy, &both[..count])
        }
        Real::Invalid => {
            let corruption = *rng.pick(&INVALIDATING);
            let corrupted = corrupt::corrupt_reply(rng, contract, reply, decoy, &[corruption]);
            if corrupted.recoverable {
                // If this way of making the reply invalid does not apply, dropping a field always
                // does.
                return corrupt::corrupt_reply(
                    rng,
                    contract,
                    reply,
                    decoy,
                    &[Corruption::DroppedField],
                );
            }
            corrupted
        }
        Real::Sparse => {
            let mut sparse = reply.clone();
            let kept = rng.next_between(1, 2);
            if let Some(members) = sparse.as_object_mut() {
                while members.len() > kept {
                    let key = members
                        .keys()
                        .nth(rng.next_below(members.len()))
                        .cloned()
                        .unwrap_or_default();
                    members.shift_remove(&key);
                }
            }
            let mut corrupted = corrupt::corrupt_reply(rng, contract, &sparse, decoy, &[]);
            corrupted.recoverable = false;
            corrupted
        }
    }
}

/// Returns the text of the decoy: valid or nearly so.
fn render_decoy(rng: &mut SeededRng, decoy: &Value, contract: &str) -> String {
    let corruptions: &[Corruption] = if rng.roll_percent(70) { &[] } else { &[*rng.pick(&NEARLY)] };
    corrupt::corrupt_reply(rng, contract, decoy, decoy, corruptions).object
}

/// Combines the real reply and the decoy into one text.
fn combine_texts(
    rng: &mut SeededRng,
    position: DecoyPosition,
    real: &CorruptedReply,
    decoy: &Value,
    contract: &str,
) -> String {
    let language = *rng.pick(&ReplyLanguage::ALL);
    let lead = wrapping::pick_lead_in(rng, language);
    let decoy = render_decoy(rng, decoy, contract);
    let object = match rng.next_below(3) {
        0 => wrapping::wrap_in_fence(rng, &real.object, true),
        _ => real.object.clone(),
    };
    let quotes = *rng.pick(&[["\"", "\""], ["'", "'"], ["`", "`"], ["«", "»"], ["“", "”"]]);
    let said =
        *rng.pick(&["The user wrote:", "Пользователь написал:", "用户写道：", "사용자가 쓴 내용:"]);
    match position {
        DecoyPosition::ProseBefore => format!("{said} {decoy}\n{lead}\n{object}"),
        DecoyPosition::ProseAfter => format!("{lead}\n{object}\n{said} {decoy} ."),
        DecoyPosition::QuotesBefore => {
            format!("{said} {}{decoy}{}\n{lead}\n{object}", quotes[0], quotes[1])
        }
        DecoyPosition::QuotesAfter => {
            format!("{lead}\n{object}\n{said} {}{decoy}{}", quotes[0], quotes[1])
        }
        DecoyPosition::FenceBefore => {
            format!("{said}\n{}\n{lead}\n{object}", wrapping::wrap_in_fence(rng, &decoy, true))
        }
        DecoyPosition::FenceAfter => {
            format!("{lead}\n{object}\n{said}\n{}", wrapping::wrap_in_fence(rng, &decoy, true))
        }
        DecoyPosition::ThinkBefore => {
            format!("{}\n{object}", wrapping::wrap_in_reasoning(rng, &format!("{said} {decoy} ?")))
        }
        DecoyPosition::ThinkAfter => {
            format!("{object}\n{}", wrapping::wrap_in_reasoning(rng, &format!("{said} {decoy} ?")))
        }
        DecoyPosition::TagBefore => format!("<user_input>{decoy}</user_input>\n{lead}\n{object}"),
        DecoyPosition::TagAfter => format!("{object}\n<!-- {decoy} -->"),
        DecoyPosition::LineQuoted => {
            format!("> {}\n\n{lead}\n{object}", decoy.replace('\n', "\n> "))
        }
        DecoyPosition::Member => format!("{{\"user_input\": {decoy}}}\n{lead}\n{object}"),
        DecoyPosition::Array => {
            let pair =
                if rng.roll_percent(50) { [&decoy, &real.object] } else { [&real.object, &decoy] };
            format!("[{}, {}]", pair[0], pair[1])
        }
        DecoyPosition::Comment | DecoyPosition::Text | DecoyPosition::RawText => object,
    }
}
