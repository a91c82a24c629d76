//! How well a row that is not an event answers a request: by the words, tags and entities they share.
//! Such rows are few, so they are looked at one by one and need no index.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::rank::{Query, terms};
use crate::record::{Episode, Fact, Insight, Procedure};
use crate::{Request, Score};

/// What a tag or an entity that was asked for gives, in millionths; a word gives half.
const CUE: i64 = 2_000_000;

/// What is asked, made ready once for many rows.
pub(super) struct Asked {
    query: Query,
    tags: BTreeSet<String>,
    entities: BTreeSet<String>,
}

impl Asked {
    pub(super) fn of(request: &Request) -> Self {
        let set = |list: Option<&Vec<String>>| -> BTreeSet<String> {
            list.into_iter().flatten().map(|name| folded(name)).collect()
        };
        let cues = request.cues.as_ref();
        Self {
            query: Query::of(request),
            tags: set(cues.and_then(|cues| cues.tags.as_ref())),
            entities: set(cues.and_then(|cues| cues.entities.as_ref())),
        }
    }

    pub(super) fn query(&self) -> &Query {
        &self.query
    }

    pub(super) fn fact(&self, fact: &Fact) -> Score {
        let mut text = fact.key.replace(['.', '_', '-', ':', '/'], " ");
        write_text(&fact.value, &mut text);
        self.score(&text, &fact.tags, &fact.entities)
    }

    pub(super) fn episode(&self, episode: &Episode) -> Score {
        let mut text = episode.summary.clone();
        for highlight in &episode.highlights {
            text.push('\n');
            text.push_str(highlight);
        }
        self.score(&text, &episode.tags, &episode.entities)
    }

    pub(super) fn procedure(&self, procedure: &Procedure) -> Score {
        let mut text = procedure.task_type.clone();
        for value in procedure.content.values() {
            write_text(value, &mut text);
        }
        let names = |key: &str| -> Vec<String> {
            let list = procedure.applicability.get(key).and_then(Value::as_array);
            let names = list.into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        self.score(&text, &names("tags"), &names("entities"))
    }

    pub(super) fn insight(&self, insight: &Insight) -> Score {
        self.score(&insight.statement, &[], &[])
    }

    fn score(&self, text: &str, tags: &[String], entities: &[String]) -> Score {
        let named = tags.iter().chain(entities).flat_map(|name| terms(name));
        let words: BTreeSet<String> = terms(text).into_iter().chain(named).collect();
        let keyword: i64 = words.iter().map(|word| self.query.weight(word)).sum();
        let count = |asked: &BTreeSet<String>, names: &[String]| {
            let met: BTreeSet<String> = names.iter().map(|name| folded(name)).collect();
            met.intersection(asked).count() as i64 * CUE
        };
        let parts = [
            ("keyword", keyword),
            ("tag", count(&self.tags, tags)),
            ("entity", count(&self.entities, entities)),
        ];
        let total = parts.iter().map(|(_, value)| value).sum();
        let parts = parts.into_iter().filter(|(_, value)| *value != 0);
        let parts: BTreeMap<String, i64> =
            parts.map(|(name, value)| (name.to_owned(), value)).collect();
        Score { total, parts }
    }
}

/// A name as it is compared.
fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// The words of a value: its texts, numbers and names.
fn write_text(value: &Value, text: &mut String) {
    text.push('\n');
    match value {
        Value::String(words) => text.push_str(words),
        Value::Array(items) => items.iter().for_each(|item| write_text(item, text)),
        Value::Object(fields) => {
            for (name, value) in fields {
                text.push_str(name);
                write_text(value, text);
            }
        }
        Value::Number(number) => text.push_str(&number.to_string()),
        Value::Bool(_) | Value::Null => {}
    }
}
