//! A call of a named query: which query, with which parameters.

use std::collections::BTreeMap;

use countersign_contract::find_similar_name;
use countersign_runtime::effect::{EffectError, EffectErrorKind};
use serde_json::{Map, Value};

use super::declared_query::{DeclaredQueries, DeclaredQuery};
use super::param_value::ParamValue;
use crate::evidence_builder::{EvidenceBuilder, format_row, percent_encode};

/// A call that matches the author's declaration.
#[derive(Debug)]
pub(crate) struct QueryCall<'q> {
    pub(crate) query: &'q DeclaredQuery,
    /// A value for every declared parameter.
    pub(crate) values: BTreeMap<String, ParamValue>,
    source: String,
}

impl<'q> QueryCall<'q> {
    /// Parses `{ query: NAME, params: { … } }`.
    pub(crate) fn parse(
        source: &str,
        queries: &'q DeclaredQueries,
        value: &Value,
    ) -> Result<Self, EffectError> {
        let fault = |what: String| {
            let message = format!("the query to source `{source}` {what}");
            EffectError::new_permanent(EffectErrorKind::Invalid, message)
        };
        let shape = || fault("is not an object with `query` and `params`".to_owned());
        let fields = value.as_object().ok_or_else(shape)?;
        if fields.keys().any(|key| key != "query" && key != "params") {
            return Err(shape());
        }
        let name = fields.get("query").and_then(Value::as_str).ok_or_else(shape)?;
        let query = queries.get(name).ok_or_else(|| {
            let known: Vec<&str> = queries.iter().map(|query| query.name.as_str()).collect();
            // A model may have written the name, so the error shows only names that the author
            // declared.
            let near = find_similar_name(name, known.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            fault(format!("names none of its queries ({}){near}", known.join(", ")))
        })?;
        let none = Map::new();
        let params = match fields.get("params") {
            None => &none,
            Some(params) => params.as_object().ok_or_else(shape)?,
        };
        let query_error = |what: String| fault(format!("`{name}` {what}"));
        if let Some(extra) = params.keys().position(|key| !query.params.contains_key(key)) {
            let declared: Vec<&str> = query.params.keys().map(String::as_str).collect();
            let declared =
                if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
            let nth = extra + 1;
            return Err(query_error(format!(
                "has an undeclared parameter (declared: {declared}): number {nth}"
            )));
        }
        let mut values = BTreeMap::new();
        for (param, declared) in &query.params {
            let value = match params.get(param) {
                None | Some(Value::Null) if declared.optional => ParamValue::Null,
                None => return Err(query_error(format!("lacks the parameter `{param}`"))),
                Some(value) => declared.kind.bind(value).ok_or_else(|| {
                    query_error(format!(
                        "has a parameter `{param}` that is not {}",
                        declared.kind.describe_expected()
                    ))
                })?,
            };
            values.insert(param.clone(), value);
        }
        Ok(Self { query, values, source: source.to_owned() })
    }

    /// Converts rows to evidence. `more` says that the limit left some out.
    pub(crate) fn build_evidence(
        &self,
        rows: Vec<Map<String, Value>>,
        more: bool,
    ) -> Result<Value, EffectError> {
        let mut evidence = EvidenceBuilder::new(&self.source);
        for (index, row) in rows.into_iter().enumerate() {
            let reference = self.format_reference(index, &row)?;
            let text = format_row(&row);
            if !evidence.add_item(&reference, &text, Value::Object(row), self.query.confidence)? {
                break;
            }
        }
        if more {
            evidence.mark_truncated();
        }
        Ok(evidence.finish())
    }

    /// Formats the reference `query:NAME?param=value#key=value`; running the query again with these
    /// values leads to the same row.
    fn format_reference(
        &self,
        index: usize,
        row: &Map<String, Value>,
    ) -> Result<String, EffectError> {
        let filled = self.values.iter().filter_map(|(name, value)| {
            Some(format!(
                "{}={}",
                percent_encode(name),
                percent_encode(&value.to_reference_text()?)
            ))
        });
        let filled: Vec<String> = filled.collect();
        let question =
            if filled.is_empty() { String::new() } else { format!("?{}", filled.join("&")) };
        let key = if self.query.key_columns.is_empty() {
            format!("row={}", index + 1)
        } else {
            let mut parts = Vec::new();
            for column in &self.query.key_columns {
                let value = row.get(column).ok_or_else(|| {
                    let (source, name) = (&self.source, &self.query.name);
                    let what = format!(
                        "its query `{name}` returns no column `{column}`, which is its key"
                    );
                    let message = format!("source `{source}`: {what}");
                    EffectError::new_permanent(EffectErrorKind::NotConfigured, message)
                })?;
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                parts.push(format!("{}={}", percent_encode(column), percent_encode(&text)));
            }
            parts.join("&")
        };
        Ok(format!("query:{}{question}#{key}", percent_encode(&self.query.name)))
    }
}
