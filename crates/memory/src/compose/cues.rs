//! Matches the cues of a request against items.

use std::collections::BTreeSet;

use countersign_contract::Timestamp;

use super::ComposeError;
use super::normalize::{contains_words, normalize_text};
use crate::PacketRequest;
use crate::policy::ActivationWeights;
use crate::rank::{TermMatcher, extract_terms};

/// The cues and the message of a request, prepared for matching.
#[derive(Debug, Default)]
pub(super) struct CueSet {
    tags: Vec<String>,
    entities: Vec<String>,
    keywords: Vec<KeywordCue>,
    time: Option<(Timestamp, Timestamp)>,
    message: BTreeSet<String>,
    /// Matches the terms of the keywords and the message.
    term_matcher: TermMatcher,
    /// Whether the request has any cue or message.
    pub(super) has_query: bool,
}

#[derive(Debug)]
struct KeywordCue {
    text: String,
    terms: Vec<String>,
}

/// The parts of an item that cues can match.
#[derive(Debug, Clone, Copy)]
pub(super) struct CueTarget<'a> {
    pub(super) text: &'a str,
    pub(super) tags: &'a [String],
    pub(super) entities: &'a [String],
    pub(super) time: Option<(Timestamp, Timestamp)>,
}

/// The cues that an item matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CueMatch {
    /// One entry per matching cue: `entity:acme`, `keyword:price`.
    pub(super) rules: Vec<String>,
    /// The total score of the matches, in millionths.
    pub(super) points: i64,
    /// Whether the item overlaps the time range of the request.
    pub(super) in_time_range: bool,
    kinds: u8,
    entity: bool,
}

impl CueMatch {
    /// Returns whether any cue matches.
    pub(super) fn has_match(&self) -> bool {
        self.kinds > 0
    }

    /// Returns whether the match is strong: two kinds of cue, or an entity.
    pub(super) fn is_strong(&self) -> bool {
        self.entity || self.kinds > 1
    }
}

impl CueSet {
    /// Reads the cues and the message of a request.
    pub(super) fn from_request(request: &PacketRequest) -> Result<Self, ComposeError> {
        let mut set = Self::default();
        if let Some(cues) = &request.cues {
            let list = |list: &Option<Vec<String>>| -> Vec<String> {
                let told = list.iter().flatten().map(|text| normalize_text(text));
                told.filter(|text| !text.is_empty()).collect()
            };
            (set.tags, set.entities) = (list(&cues.tags), list(&cues.entities));
            let keywords = cues.keywords.iter().flatten().map(|written| KeywordCue {
                text: written.trim().to_owned(),
                terms: extract_terms(written),
            });
            set.keywords = keywords.filter(|keyword| !keyword.terms.is_empty()).collect();
            if let Some(range) = &cues.time_range {
                let start = parse_range_end("start", range.start.as_deref(), Timestamp(i64::MIN))?;
                let until = parse_range_end("end", range.end.as_deref(), Timestamp(i64::MAX))?;
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
        set.message = extract_terms(message).into_iter().collect();
        let of_keywords = set.keywords.iter().flat_map(|keyword| &keyword.terms);
        set.term_matcher = TermMatcher::from_terms(of_keywords.chain(&set.message));
        set.has_query = !message.trim().is_empty()
            || set.time.is_some()
            || !(set.tags.is_empty() && set.entities.is_empty() && set.keywords.is_empty());
        Ok(set)
    }

    /// Matches the cues against an item.
    pub(super) fn match_target(
        &self,
        target: CueTarget<'_>,
        worth: &ActivationWeights,
    ) -> CueMatch {
        let mut activated = CueMatch::default();
        if !self.has_query {
            return activated;
        }
        if !self.entities.is_empty() {
            let text = normalize_text(target.text);
            let of_item: Vec<String> =
                target.entities.iter().map(|it| normalize_text(it)).collect();
            for entity in &self.entities {
                if of_item.contains(entity) || contains_words(&text, entity) {
                    activated.entity = true;
                    activated.add_rule("entity", entity, worth.entity);
                }
            }
        }
        if !self.tags.is_empty() {
            let tags: Vec<String> = target.tags.iter().map(|tag| normalize_text(tag)).collect();
            let tagged = self.tags.iter().filter(|tag| tags.contains(tag));
            tagged.for_each(|tag| activated.add_rule("tag", tag, worth.tag));
        }
        activated.kinds = u8::from(activated.entity)
            + u8::from(activated.rules.iter().any(|rule| rule.starts_with("tag:")));

        if !(self.keywords.is_empty() && self.message.is_empty()) {
            let names = target.tags.iter().chain(target.entities).map(String::as_str);
            let mut found = BTreeSet::new();
            for text in [target.text].into_iter().chain(names) {
                self.term_matcher.find_in_text(text, &mut found);
            }
            let standing = self
                .keywords
                .iter()
                .filter(|keyword| keyword.terms.iter().all(|term| found.contains(term)));
            let before = activated.rules.len();
            standing
                .for_each(|keyword| activated.add_rule("keyword", &keyword.text, worth.keyword));
            activated.kinds += u8::from(activated.rules.len() > before);

            let shared = self.message.intersection(&found).count();
            if shared > 0 {
                let all = self.message.len();
                activated.points += worth.message.saturating_mul(shared as i64) / all as i64;
                activated.rules.push(format!("message:{shared}/{all}"));
                // One common word out of many is a coincidence, not a cue.
                activated.kinds += u8::from(shared > 1 || all == 1);
            }
        }
        if let (Some((from, to)), Some((start, end))) = (self.time, target.time)
            && start <= to
            && end >= from
        {
            activated.kinds += 1;
            activated.in_time_range = true;
            activated.points = activated.points.saturating_add(worth.time);
            activated.rules.push("time".to_owned());
        }
        activated
    }

    /// Returns whether the cues name one of these tags or entities.
    pub(super) fn mentions_any(&self, tags: &[String], entities: &[String]) -> bool {
        tags.iter().any(|tag| self.tags.contains(&normalize_text(tag)))
            || entities.iter().any(|entity| self.entities.contains(&normalize_text(entity)))
    }
}

impl CueMatch {
    fn add_rule(&mut self, kind: &str, cue: &str, points: i64) {
        self.points = self.points.saturating_add(points);
        self.rules.push(format!("{kind}:{cue}"));
    }
}

fn parse_range_end(
    field: &'static str,
    text: Option<&str>,
    open: Timestamp,
) -> Result<Timestamp, ComposeError> {
    let Some(text) = text else { return Ok(open) };
    Timestamp::parse(text).ok_or(ComposeError::Cue { field, expected: "an RFC 3339 date-time" })
}
