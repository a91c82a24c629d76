//! Something to be remembered, as it is told: by flags, or by a line of JSON with the same names.

use countersign_contracts::Object;
use serde::Deserialize;
use serde_json::Value;

use crate::args::Remember;
use crate::exit::Error;
use crate::files;

/// Something to be remembered. One of the first seven is there; the others say more of it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Told {
    pub(super) event: Option<String>,
    /// The key; `value` has what it is.
    pub(super) fact: Option<String>,
    pub(super) episode: Option<String>,
    /// The content.
    pub(super) procedure: Option<Object>,
    pub(super) insight: Option<String>,
    pub(super) working: Option<Object>,
    pub(super) summary: Option<String>,

    pub(super) session: Option<String>,
    pub(super) run: Option<String>,
    pub(super) value: Option<Value>,
    pub(super) id: Option<String>,
    pub(super) role: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) speaker: Option<String>,
    pub(super) ts: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) entities: Vec<String>,
    pub(super) sources: Vec<String>,
    pub(super) quote: Option<String>,
    pub(super) confidence: Option<f64>,
    pub(super) level: Option<String>,
    pub(super) preference: bool,
    pub(super) confirmed: bool,
    pub(super) valid_from: Option<String>,
    pub(super) valid_to: Option<String>,
    pub(super) start: Option<String>,
    pub(super) end: Option<String>,
    pub(super) highlights: Vec<String>,
    pub(super) task_type: Option<String>,
    pub(super) priority: Option<i64>,
    #[serde(rename = "type")]
    pub(super) guess: Option<String>,
    pub(super) validation: Option<String>,
    pub(super) expires: Option<String>,
}

impl Told {
    /// What the flags tell; `None` where they name no thing.
    pub(super) fn by_flags(args: &Remember) -> Result<Option<Self>, Error> {
        let (what, about) = (&args.what, &args.about);
        let (fact, value) = match what.fact.as_deref().map(key_and_value).transpose()? {
            Some((key, value)) => (Some(key), Some(value)),
            None => (None, None),
        };
        let object = |flag: &str, path: &Option<std::path::PathBuf>| match path {
            None => Ok(None),
            Some(path) => match files::value(path)? {
                Value::Object(object) => Ok(Some(object)),
                _ => Err(Error::Usage(format!(
                    "`{flag}`: {} must hold a JSON object",
                    path.display()
                ))),
            },
        };
        let told = Self {
            event: what.event.clone(),
            fact,
            value,
            episode: what.episode.clone(),
            procedure: object("--procedure", &what.procedure)?,
            insight: what.insight.clone(),
            working: object("--working", &what.working)?,
            summary: what.summary.clone(),
            session: None,
            run: None,
            id: about.id.clone(),
            role: about.role.clone(),
            kind: about.kind.clone(),
            origin: about.origin.clone(),
            speaker: about.speaker.clone(),
            ts: about.ts.clone(),
            tags: about.tags.clone(),
            entities: about.entities.clone(),
            sources: about.sources.clone(),
            quote: about.quote.clone(),
            confidence: about.confidence,
            level: about.level.clone(),
            preference: about.preference,
            confirmed: about.confirmed,
            valid_from: about.valid_from.clone(),
            valid_to: about.valid_to.clone(),
            start: about.start.clone(),
            end: about.end.clone(),
            highlights: about.highlights.clone(),
            task_type: about.task_type.clone(),
            priority: about.priority,
            guess: about.guess.clone(),
            validation: about.validation.clone(),
            expires: about.expires.clone(),
        };
        Ok((!told.things().is_empty()).then_some(told))
    }

    /// What a line tells.
    pub(super) fn by_line(line: Value) -> Result<Self, String> {
        let told: Self = serde_json::from_value(line).map_err(|error| error.to_string())?;
        match &told.things()[..] {
            [_] => Ok(told),
            [] => Err(
                "it names nothing to remember; expected one of `event`, `fact`, `episode`, `procedure`, `insight`, `working`, `summary`"
                    .to_owned(),
            ),
            several => Err(format!("it names several things: `{}`", several.join("`, `"))),
        }
    }

    fn things(&self) -> Vec<&'static str> {
        let all = [
            ("event", self.event.is_some()),
            ("fact", self.fact.is_some()),
            ("episode", self.episode.is_some()),
            ("procedure", self.procedure.is_some()),
            ("insight", self.insight.is_some()),
            ("working", self.working.is_some()),
            ("summary", self.summary.is_some()),
        ];
        all.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
    }
}

/// `KEY=VALUE`: the value is JSON where it can be read as such, else a text.
fn key_and_value(text: &str) -> Result<(String, Value), Error> {
    let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
        return Err(Error::Usage(format!(
            "`--fact` must be KEY=VALUE, such as `diet=vegetarian`, found `{text}`"
        )));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((key.trim().to_owned(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_json_or_a_text() {
        let read = |text: &str| key_and_value(text).ok();
        assert_eq!(read("price=12"), Some(("price".to_owned(), json!(12))));
        assert_eq!(read("diet=no meat"), Some(("diet".to_owned(), json!("no meat"))));
        assert_eq!(read("url=a=b"), Some(("url".to_owned(), json!("a=b"))));
        assert_eq!(read("diet"), None);
        assert_eq!(read("=x"), None);
    }

    #[test]
    fn a_line_names_one_thing() {
        let said = |line: Value| Told::by_line(line).unwrap_err();
        assert!(Told::by_line(json!({"event": "Hi", "role": "user"})).is_ok());
        assert!(said(json!({"role": "user"})).starts_with("it names nothing to remember"));
        assert_eq!(
            said(json!({"event": "a", "fact": "b"})),
            "it names several things: `event`, `fact`"
        );
        assert!(said(json!({"evnt": "a"})).starts_with("unknown field `evnt`"));
        assert!(
            said(json!([])).contains("expected struct") || said(json!(1)).contains("invalid type")
        );
    }
}
