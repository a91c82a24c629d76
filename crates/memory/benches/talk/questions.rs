//! Questions about a talk, by how common the words are that they are asked with.

use countersign_memory::PacketRequest;
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use testkit::SeededRng;

use super::words::{Language, word};
use super::{SPEAKERS, event, moment, scope, session};

/// How a question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// With some words of one event, and who said it.
    Event,
    /// With words that one in a few thousand events has.
    Middle,
    /// With the most common words there are, and a name.
    Common,
    /// For things of a kind, in a month of a year, with a name.
    Kind,
}

impl Class {
    pub(crate) const ALL: [Self; 4] = [Self::Event, Self::Middle, Self::Common, Self::Kind];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Event => "an event",
            Self::Middle => "middle",
            Self::Common => "common",
            Self::Kind => "kinds",
        }
    }
}

/// A question about a talk of so many events, asked when it has ended.
pub(crate) fn question(class: Class, number: usize, events: usize) -> PacketRequest {
    let mut chance = SeededRng::for_case(2, number as u64);
    let name = SPEAKERS[chance.next_below(SPEAKERS.len())];
    let words = |ranks: [usize; 2], many: usize, chance: &mut SeededRng| {
        let language = *chance.pick(&[Language::English, Language::English, Language::Russian]);
        let words = (0..many).map(|_| word(language, chance.next_between(ranks[0], ranks[1])));
        words.collect::<Vec<_>>().join(" ")
    };
    let message = match class {
        Class::Event => {
            let about = event(chance.next_below(events));
            let said: Vec<&str> = about.text.trim_end_matches(['.', '?']).split(' ').collect();
            let from = chance.next_below(said.len());
            let some: String = said[from..].join(" ").chars().take(60).collect();
            format!("What did {} say about {some}?", about.speaker.unwrap_or_default())
        }
        Class::Middle => format!("Do you remember {}?", words([300, 3_000], 5, &mut chance)),
        Class::Common => format!("{name}: {}?", words([21, 44], 5, &mut chance)),
        Class::Kind => {
            let kind = chance.pick_ref(&["pets", "books", "sports", "desserts", "instruments"]);
            let month = chance.pick_ref(&["January", "April", "November"]);
            format!("What {kind} did {name} talk about in {month} 2022?")
        }
    };
    let last = events.saturating_sub(1);
    PacketRequest {
        scope: scope(session(last)),
        purpose: if number.is_multiple_of(2) {
            PacketPurpose::Planner
        } else {
            PacketPurpose::Responder
        },
        task_type: None,
        cues: None,
        message: Some(message),
        vector: None,
        budget: None,
        as_of: moment(events),
    }
}
