//! A long talk by chance, as talks are: few words are said all the time and most of them rarely (Zipf),
//! in three languages, by a few speakers, in sessions of which some run side by side; and questions about
//! it. The same number gives the same event on every machine.
//!
//! *Not here*: measuring.

mod words;
pub(crate) mod questions;

use countersign_contract::Timestamp;
use countersign_memory::MemoryScope;
use countersign_memory::record::{MemoryOrigin, SpeakerRole};
use countersign_memory::store::NewMemoryEvent;
use testkit::SeededRng;

use words::{Language, text};

/// Who speaks; a name of each language is among them.
const SPEAKERS: [&str; 6] = ["Ann", "Ben", "Олег", "Вера", "李明", "王芳"];

const IN_SESSION: usize = 40;
const BEGINNING: i64 = 1_640_995_200_000;
const BETWEEN_EVENTS: i64 = 120_000;

/// Where everything of the talk lies.
pub(crate) fn scope(session: usize) -> MemoryScope {
    MemoryScope::new("t", "u", "a", format!("s{session}"), "r").expect("the ids are good")
}

/// The session of an event. Of each ten, two run side by side.
pub(crate) fn session(number: usize) -> usize {
    let (pair, within) = (number / (2 * IN_SESSION), number % (2 * IN_SESSION));
    let second = if pair.is_multiple_of(5) { within % 2 } else { within / IN_SESSION };
    pair * 2 + second
}

pub(crate) fn moment(number: usize) -> Timestamp {
    Timestamp(BEGINNING + number as i64 * BETWEEN_EVENTS)
}

/// The event of a number.
pub(crate) fn event(number: usize) -> NewMemoryEvent {
    let session = session(number);
    let language = language(session);
    let mut chance = SeededRng::for_case(1, number as u64);
    let words = match chance.next_below(50) {
        // Something pasted.
        0 => chance.next_between(150, 220),
        _ => 3 + chance.next_below(9) + chance.next_below(9),
    };
    let mut text = text(language, words, &mut chance);
    text.push_str(if chance.roll_percent(20) { "?" } else { "." });
    let speaker = speaker(language, number);
    let mut event = NewMemoryEvent::from_user_message(
        scope(session),
        format!("e{number}"),
        text,
        moment(number),
    );
    event.speaker = Some(speaker.to_owned());
    if number.is_multiple_of(3) {
        (event.role, event.origin) = (SpeakerRole::Assistant, MemoryOrigin::Model);
    }
    event
}

fn language(session: usize) -> Language {
    match session % 5 {
        3 => Language::Russian,
        4 => Language::Chinese,
        _ => Language::English,
    }
}

fn speaker(language: Language, number: usize) -> &'static str {
    let first = match language {
        Language::English => 0,
        Language::Russian => 2,
        Language::Chinese => 4,
    };
    SPEAKERS[first + number % 2]
}
