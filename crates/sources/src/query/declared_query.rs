//! The queries that an author declares for a source.

use std::collections::BTreeMap;

use countersign_runtime::effect::EffectError;
use serde_json::Value;

use super::param_value::ParamType;
use super::statement_template::{StatementDialect, StatementTemplate};
use crate::settings::SourceSettings;

/// The language that queries are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryLanguage {
    /// SQL, under the key `sql`.
    Sql,
    /// Cypher, under the key `cypher`.
    Cypher,
}

/// The queries of a source, by name.
#[derive(Debug)]
pub(crate) struct DeclaredQueries {
    by_name: BTreeMap<String, DeclaredQuery>,
}

/// One declared query.
#[derive(Debug)]
pub(crate) struct DeclaredQuery {
    pub(crate) name: String,
    pub(crate) template: StatementTemplate,
    pub(crate) params: BTreeMap<String, QueryParam>,
    /// The columns that identify a row.
    pub(crate) key_columns: Vec<String>,
    /// How reliable its rows are, from 0 to 1.
    pub(crate) confidence: f64,
}

/// One declared parameter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryParam {
    pub(crate) kind: ParamType,
    pub(crate) optional: bool,
}

impl QueryLanguage {
    fn settings_key(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Cypher => "cypher",
        }
    }

    fn dialect(self) -> StatementDialect {
        match self {
            Self::Sql => StatementDialect::Sql,
            Self::Cypher => StatementDialect::Cypher,
        }
    }
}

impl DeclaredQueries {
    /// Reads the setting `queries`.
    pub(crate) fn from_settings(
        settings: &SourceSettings<'_>,
        language: QueryLanguage,
    ) -> Result<Self, EffectError> {
        let declared = settings.get("queries").and_then(Value::as_object);
        let declared = declared.filter(|declared| !declared.is_empty());
        let declared = declared.ok_or_else(|| {
            settings.config_error("has no `queries`; expected a map of names to statements")
        })?;
        let confidence = settings.get_confidence(0.9)?;
        let mut known = BTreeMap::new();
        for (name, value) in declared {
            let query = DeclaredQuery::parse(name, value, language, confidence);
            let query = query.map_err(|what| {
                settings.config_error(format!("has a query `{name}` that {what}"))
            })?;
            known.insert(name.clone(), query);
        }
        Ok(Self { by_name: known })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&DeclaredQuery> {
        self.by_name.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &DeclaredQuery> {
        self.by_name.values()
    }
}

impl DeclaredQuery {
    fn parse(
        name: &str,
        value: &Value,
        language: QueryLanguage,
        confidence: f64,
    ) -> Result<Self, String> {
        const KEYS: [&str; 4] = ["about", "params", "key", "confidence"];
        let key = language.settings_key();
        let fields = value.as_object().ok_or_else(|| format!("is not an object with `{key}`"))?;
        if let Some(strange) =
            fields.keys().find(|field| *field != key && !KEYS.contains(&field.as_str()))
        {
            return Err(format!(
                "has an unknown field `{strange}`; expected `{key}`, `about`, `params`, `key` and `confidence`"
            ));
        }
        let text = fields.get(key).and_then(Value::as_str);
        let text = text.ok_or_else(|| format!("has no `{key}`"))?;
        let scan = StatementTemplate::parse(text, language.dialect())
            .map_err(|fault| fault.to_string())?;
        let params = parse_params(fields.get("params"))?;
        let used = scan.param_names();
        if let Some(missing) = used.iter().find(|used| !params.contains_key(**used)) {
            return Err(format!(
                "uses the parameter `{missing}`, which its `params` do not declare"
            ));
        }
        if let Some(idle) = params.keys().find(|name| !used.contains(&name.as_str())) {
            return Err(format!("declares the parameter `{idle}` and does not use it"));
        }
        let columns = match fields.get("key") {
            None => Vec::new(),
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(several)) => {
                let names = several.iter().map(|name| name.as_str().map(str::to_owned));
                names.collect::<Option<_>>().ok_or("has a `key` that is not a list of columns")?
            }
            Some(_) => {
                return Err("has a `key` that is not a column or a list of columns".to_owned());
            }
        };
        let confidence = match fields.get("confidence") {
            None => confidence,
            Some(value) => value
                .as_f64()
                .filter(|number| (0.0..=1.0).contains(number))
                .ok_or("has a `confidence` that is not a number from 0 to 1")?,
        };
        Ok(Self { name: name.to_owned(), template: scan, params, key_columns: columns, confidence })
    }
}

fn parse_params(value: Option<&Value>) -> Result<BTreeMap<String, QueryParam>, String> {
    let Some(value) = value else { return Ok(BTreeMap::new()) };
    let declared = value.as_object().ok_or("has `params` that are not a map of names to types")?;
    let read = declared.iter().map(|(name, value)| {
        let (kind, optional) = match value {
            Value::String(kind) => (Some(kind.as_str()), Some(false)),
            Value::Object(fields)
                if fields.keys().all(|key| key == "type" || key == "optional") =>
            {
                let optional = fields.get("optional").map_or(Some(false), Value::as_bool);
                (fields.get("type").and_then(Value::as_str), optional)
            }
            _ => (None, None),
        };
        let fault = || {
            let names = ParamType::format_names();
            format!("has a parameter `{name}` without a type: {names}, or `{{ type, optional }}`")
        };
        let kind = kind.and_then(ParamType::parse).ok_or_else(fault)?;
        let optional = optional.ok_or_else(fault)?;
        Ok((name.clone(), QueryParam { kind, optional }))
    });
    read.collect()
}
