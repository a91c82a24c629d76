//! What a request speaks of, and what of that an item answers.

use std::collections::BTreeSet;

use countersign_core::run::Time;

use super::ComposeError;
use super::normal::{holds, normal};
use crate::Request;
use crate::policy::Activation;
use crate::rank::{Sought, terms};

/// What a request speaks of.
#[derive(Debug, Default)]
pub(super) struct CueSet {
    tags: Vec<String>,
    entities: Vec<String>,
    keywords: Vec<Keyword>,
    time: Option<(Time, Time)>,
    message: BTreeSet<String>,
    /// The terms of the keywords and the message.
    sought: Sought,
    /// Whether it speaks of anything.
    pub(super) asked: bool,
}

#[derive(Debug)]
struct Keyword {
    written: String,
    terms: Vec<String>,
}

/// What an item has for cues to find.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) text: &'a str,
    pub(super) tags: &'a [String],
    pub(super) entities: &'a [String],
    pub(super) time: Option<(Time, Time)>,
}

/// What of the cues an item answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Activated {
    /// One a cue: `entity:acme`, `keyword:price`.
    pub(super) rules: Vec<String>,
    /// What they are worth.
    pub(super) points: i64,
    kinds: u8,
    entity: bool,
}

impl Activated {
    /// Whether any cue finds it.
    pub(super) fn any(&self) -> bool {
        self.kinds > 0
    }

    /// Whether two kinds of cue do, or an entity.
    pub(super) fn strong(&self) -> bool {
        self.entity || self.kinds > 1
    }
}

impl CueSet {
    /// Reads the cues and the message of a request.
    pub(super) fn of(request: &Request) -> Result<Self, ComposeError> {
        let mut set = Self::default();
        if let Some(cues) = &request.cues {
            let list = |list: &Option<Vec<String>>| -> Vec<String> {
                let told = list.iter().flatten().map(|text| normal(text));
                told.filter(|text| !text.is_empty()).collect()
            };
            (set.tags, set.entities) = (list(&cues.tags), list(&cues.entities));
            let keywords = cues.keywords.iter().flatten().map(|written| Keyword {
                written: written.trim().to_owned(),
                terms: terms(written),
            });
            set.keywords = keywords.filter(|keyword| !keyword.terms.is_empty()).collect();
            if let Some(range) = &cues.time_range {
                let start = end("start", range.start.as_deref(), Time(i64::MIN))?;
                let until = end("end", range.end.as_deref(), Time(i64::MAX))?;
                if until < start {
                    return Err(ComposeError::Cue {
                        field: "end",
                        expected: "no earlier than `start`",
                    });
                }
                set.time = Some((start, until));
            }
        }
        let message = request.message.as_deref().unwrap_or_default();
        set.message = terms(message).into_iter().collect();
        let of_keywords = set.keywords.iter().flat_map(|keyword| &keyword.terms);
        set.sought = Sought::of(of_keywords.chain(&set.message));
        set.asked = !message.trim().is_empty()
            || set.time.is_some()
            || !(set.tags.is_empty() && set.entities.is_empty() && set.keywords.is_empty());
        Ok(set)
    }

    /// What of the cues an item answers.
    pub(super) fn activate(&self, target: Target<'_>, worth: &Activation) -> Activated {
        let mut activated = Activated::default();
        if !self.asked {
            return activated;
        }
        if !self.entities.is_empty() {
            let text = normal(target.text);
            let of_item: Vec<String> = target.entities.iter().map(|it| normal(it)).collect();
            for entity in &self.entities {
                if of_item.contains(entity) || holds(&text, entity) {
                    activated.entity = true;
                    activated.add("entity", entity, worth.entity);
                }
            }
        }
        if !self.tags.is_empty() {
            let tags: Vec<String> = target.tags.iter().map(|tag| normal(tag)).collect();
            let tagged = self.tags.iter().filter(|tag| tags.contains(tag));
            tagged.for_each(|tag| activated.add("tag", tag, worth.tag));
        }
        activated.kinds = u8::from(activated.entity)
            + u8::from(activated.rules.iter().any(|rule| rule.starts_with("tag:")));

        if !(self.keywords.is_empty() && self.message.is_empty()) {
            let names = target.tags.iter().chain(target.entities).map(String::as_str);
            let mut found = BTreeSet::new();
            for text in [target.text].into_iter().chain(names) {
                self.sought.of_text(text, &mut found);
            }
            let standing = self
                .keywords
                .iter()
                .filter(|keyword| keyword.terms.iter().all(|term| found.contains(term)));
            let before = activated.rules.len();
            standing.for_each(|keyword| activated.add("keyword", &keyword.written, worth.keyword));
            activated.kinds += u8::from(activated.rules.len() > before);

            let shared = self.message.intersection(&found).count();
            if shared > 0 {
                let all = self.message.len();
                activated.points += worth.message.saturating_mul(shared as i64) / all as i64;
                activated.rules.push(format!("message:{shared}/{all}"));
                // One common word of many is an accident, not a cue.
                activated.kinds += u8::from(shared > 1 || all == 1);
            }
        }
        if let (Some((from, to)), Some((start, end))) = (self.time, target.time)
            && start <= to
            && end >= from
        {
            activated.kinds += 1;
            activated.points = activated.points.saturating_add(worth.time);
            activated.rules.push("time".to_owned());
        }
        activated
    }

    /// Whether one of these tags is asked for, or one of these entities.
    pub(super) fn names(&self, tags: &[String], entities: &[String]) -> bool {
        tags.iter().any(|tag| self.tags.contains(&normal(tag)))
            || entities.iter().any(|entity| self.entities.contains(&normal(entity)))
    }
}

impl Activated {
    fn add(&mut self, kind: &str, cue: &str, points: i64) {
        self.points = self.points.saturating_add(points);
        self.rules.push(format!("{kind}:{cue}"));
    }
}

fn end(field: &'static str, text: Option<&str>, open: Time) -> Result<Time, ComposeError> {
    let Some(text) = text else { return Ok(open) };
    Time::parse(text).ok_or(ComposeError::Cue { field, expected: "an RFC 3339 date-time" })
}
