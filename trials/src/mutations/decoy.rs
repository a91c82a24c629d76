//! Decoys: a second reply of the same contract beside, around or inside the real one.
//!
//! The real reply is whole, broken or invalid; the decoy is valid or nearly so. Whatever happens, the decoy must not
//! be taken: where the real one cannot be had, refusing is right.

use countersign_core::reply::Finish;
use serde_json::Value;

use super::around;
use super::case::Case;
use super::corrupt::{self, Corrupted, Corruption};
use super::generate;
use super::phrases::Language;
use super::pieces::{Layout, Pieces};
use testkit::Chance;

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
    /// Where the decoy stands.
    Place:
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
    /// What the real reply is.
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

/// Makes a case of a real reply and a decoy.
pub(super) fn make(
    rng: &mut Chance,
    number: u64,
    contract: &'static str,
    reply: &Value,
    decoy: &Value,
) -> Case {
    let place = *rng.pick(Place::ALL);
    let real = *rng.pick(Real::ALL);
    let mut reply = reply.clone();
    let quoted = Pieces::of(decoy, Layout::COMPACT).text();
    let inside = matches!(place, Place::Text | Place::RawText)
        .then(|| generate::free_text(contract, &reply))
        .flatten()
        .and_then(|free| reply.pointer_mut(free));
    let place = match inside {
        Some(text) => {
            *text = Value::String(format!("{} {quoted} ", text.as_str().unwrap_or_default()));
            place
        }
        None if matches!(place, Place::Text | Place::RawText) => Place::ProseBefore,
        None => place,
    };
    let mut corrupted = real_one(rng, contract, &reply, decoy, real);
    match place {
        Place::RawText => {
            let escaped = Value::from(quoted.as_str()).to_string();
            let escaped = &escaped[1..escaped.len() - 1];
            corrupted.object = corrupted.object.replace(escaped, &quoted);
            // The quotation may end the string and bring members of its own.
            if let Ok(said) = serde_json::from_str(&corrupted.object) {
                corrupted.truth = said;
            }
        }
        Place::Comment if corrupted.object.starts_with('{') => {
            corrupted.object.insert_str(1, &format!(" // {quoted}\n"));
        }
        _ => {}
    }
    let text = put(rng, place, &corrupted, decoy, contract);
    let Corrupted { truth, tolerable, .. } = corrupted;
    let labels = vec![place.name(), real.name()];
    let decoy = Some(decoy.clone());
    Case { number, contract, text, finish: Finish::Stop, truth, tolerable, decoy, labels }
}

/// The real reply, in the state that was asked for.
fn real_one(
    rng: &mut Chance,
    contract: &str,
    reply: &Value,
    decoy: &Value,
    real: Real,
) -> Corrupted {
    match real {
        Real::Whole => corrupt::corrupt(rng, contract, reply, decoy, &[]),
        Real::Broken => {
            let first = *rng.pick(&BREAKING);
            let second = *rng.pick(&BREAKING);
            let both = [first, second];
            let together = first.stage() != second.stage();
            let count = if together && rng.percent(30) { 2 } else { 1 };
            corrupt::corrupt(rng, contract, reply, decoy, &both[..count])
        }
        Real::Invalid => {
            let corruption = *rng.pick(&INVALIDATING);
            let corrupted = corrupt::corrupt(rng, contract, reply, decoy, &[corruption]);
            if corrupted.tolerable {
                // There was nothing to make invalid in that way; a field can always be dropped.
                return corrupt::corrupt(rng, contract, reply, decoy, &[Corruption::DroppedField]);
            }
            corrupted
        }
        Real::Sparse => {
            let mut sparse = reply.clone();
            let kept = rng.between(1, 2);
            if let Some(members) = sparse.as_object_mut() {
                while members.len() > kept {
                    let key =
                        members.keys().nth(rng.below(members.len())).cloned().unwrap_or_default();
                    members.shift_remove(&key);
                }
            }
            let mut corrupted = corrupt::corrupt(rng, contract, &sparse, decoy, &[]);
            corrupted.tolerable = false;
            corrupted
        }
    }
}

/// The decoy's own text: valid, or nearly.
fn decoy_text(rng: &mut Chance, decoy: &Value, contract: &str) -> String {
    let corruptions: &[Corruption] = if rng.percent(70) { &[] } else { &[*rng.pick(&NEARLY)] };
    corrupt::corrupt(rng, contract, decoy, decoy, corruptions).object
}

/// Puts the two together.
fn put(rng: &mut Chance, place: Place, real: &Corrupted, decoy: &Value, contract: &str) -> String {
    let language = *rng.pick(&Language::ALL);
    let lead = around::lead(rng, language);
    let decoy = decoy_text(rng, decoy, contract);
    let object = match rng.below(3) {
        0 => around::fence(rng, &real.object, true),
        _ => real.object.clone(),
    };
    let quotes = *rng.pick(&[["\"", "\""], ["'", "'"], ["`", "`"], ["«", "»"], ["“", "”"]]);
    let said =
        *rng.pick(&["The user wrote:", "Пользователь написал:", "用户写道：", "사용자가 쓴 내용:"]);
    match place {
        Place::ProseBefore => format!("{said} {decoy}\n{lead}\n{object}"),
        Place::ProseAfter => format!("{lead}\n{object}\n{said} {decoy} ."),
        Place::QuotesBefore => {
            format!("{said} {}{decoy}{}\n{lead}\n{object}", quotes[0], quotes[1])
        }
        Place::QuotesAfter => format!("{lead}\n{object}\n{said} {}{decoy}{}", quotes[0], quotes[1]),
        Place::FenceBefore => {
            format!("{said}\n{}\n{lead}\n{object}", around::fence(rng, &decoy, true))
        }
        Place::FenceAfter => {
            format!("{lead}\n{object}\n{said}\n{}", around::fence(rng, &decoy, true))
        }
        Place::ThinkBefore => {
            format!("{}\n{object}", around::think(rng, &format!("{said} {decoy} ?")))
        }
        Place::ThinkAfter => {
            format!("{object}\n{}", around::think(rng, &format!("{said} {decoy} ?")))
        }
        Place::TagBefore => format!("<user_input>{decoy}</user_input>\n{lead}\n{object}"),
        Place::TagAfter => format!("{object}\n<!-- {decoy} -->"),
        Place::LineQuoted => format!("> {}\n\n{lead}\n{object}", decoy.replace('\n', "\n> ")),
        Place::Member => format!("{{\"user_input\": {decoy}}}\n{lead}\n{object}"),
        Place::Array => {
            let pair =
                if rng.percent(50) { [&decoy, &real.object] } else { [&real.object, &decoy] };
            format!("[{}, {}]", pair[0], pair[1])
        }
        Place::Comment | Place::Text | Place::RawText => object,
    }
}
