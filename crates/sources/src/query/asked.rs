//! A question to a source of named queries: which one, filled in with what.

use std::collections::BTreeMap;

use countersign_core::nearest;
use countersign_runtime::effect::{EffectError, EffectErrorKind};
use serde_json::{Map, Value};

use super::declared::{Queries, Query};
use super::value::Bound;
use crate::evidence::{Evidence, escaped, row_text};

/// A question that fits what the author declared.
#[derive(Debug)]
pub(crate) struct Asked<'q> {
    pub(crate) query: &'q Query,
    /// Every declared parameter.
    pub(crate) values: BTreeMap<String, Bound>,
    source: String,
}

impl<'q> Asked<'q> {
    /// Reads `{ query: NAME, params: { … } }`.
    pub(crate) fn read(
        source: &str,
        queries: &'q Queries,
        value: &Value,
    ) -> Result<Self, EffectError> {
        let fault = |what: String| {
            let message = format!("the query to source `{source}` {what}");
            EffectError::lasting(EffectErrorKind::Invalid, message)
        };
        let shape = || fault("is not an object with `query` and `params`".to_owned());
        let fields = value.as_object().ok_or_else(shape)?;
        if fields.keys().any(|key| key != "query" && key != "params") {
            return Err(shape());
        }
        let name = fields.get("query").and_then(Value::as_str).ok_or_else(shape)?;
        let query = queries.get(name).ok_or_else(|| {
            let known: Vec<&str> = queries.all().map(|query| query.name.as_str()).collect();
            // The name may be a model's words, so only what the author declared is told.
            let near = nearest(name, known.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            fault(format!("names none of its queries ({}){near}", known.join(", ")))
        })?;
        let none = Map::new();
        let given = match fields.get("params") {
            None => &none,
            Some(given) => given.as_object().ok_or_else(shape)?,
        };
        let about = |what: String| fault(format!("`{name}` {what}"));
        if let Some(extra) = given.keys().position(|key| !query.params.contains_key(key)) {
            let declared: Vec<&str> = query.params.keys().map(String::as_str).collect();
            let declared =
                if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
            let nth = extra + 1;
            return Err(about(format!(
                "has parameters beyond those declared ({declared}): number {nth}"
            )));
        }
        let mut values = BTreeMap::new();
        for (param, declared) in &query.params {
            let value = match given.get(param) {
                None | Some(Value::Null) if declared.optional => Bound::Nothing,
                None => return Err(about(format!("lacks the parameter `{param}`"))),
                Some(value) => declared.kind.bind(value).ok_or_else(|| {
                    about(format!(
                        "has a parameter `{param}` that is not {}",
                        declared.kind.expected()
                    ))
                })?,
            };
            values.insert(param.clone(), value);
        }
        Ok(Self { query, values, source: source.to_owned() })
    }

    /// Turns rows into evidence. `more` says that the limit cut some off.
    pub(crate) fn evidence(
        &self,
        rows: Vec<Map<String, Value>>,
        more: bool,
    ) -> Result<Value, EffectError> {
        let mut evidence = Evidence::of(&self.source);
        for (index, row) in rows.into_iter().enumerate() {
            let reference = self.reference(index, &row)?;
            let text = row_text(&row);
            if !evidence.add(&reference, &text, Value::Object(row), self.query.confidence)? {
                break;
            }
        }
        if more {
            evidence.cut_off();
        }
        Ok(evidence.finish())
    }

    /// `query:NAME?param=value#key=value`: asked again, it leads to the same row.
    fn reference(&self, index: usize, row: &Map<String, Value>) -> Result<String, EffectError> {
        let filled = self.values.iter().filter_map(|(name, value)| {
            Some(format!("{}={}", escaped(name), escaped(&value.shown()?)))
        });
        let filled: Vec<String> = filled.collect();
        let question =
            if filled.is_empty() { String::new() } else { format!("?{}", filled.join("&")) };
        let place = if self.query.key.is_empty() {
            format!("row={}", index + 1)
        } else {
            let mut parts = Vec::new();
            for column in &self.query.key {
                let value = row.get(column).ok_or_else(|| {
                    let (source, name) = (&self.source, &self.query.name);
                    let what = format!("its query `{name}` gives no column `{column}`, its key");
                    let message = format!("source `{source}`: {what}");
                    EffectError::lasting(EffectErrorKind::NotConfigured, message)
                })?;
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                parts.push(format!("{}={}", escaped(column), escaped(&text)));
            }
            parts.join("&")
        };
        Ok(format!("query:{}{question}#{place}", escaped(&self.query.name)))
    }
}
