//! Reads the settings of a source, with errors that name the source.
//!
//! It only reads values: whether a file or a server exists is checked later.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use countersign_contract::find_similar_name;
use countersign_protocol::parse_duration;
use countersign_runtime::effect::{EffectError, EffectErrorKind};
use serde_json::{Map, Value};

/// Maximum timeout of a source.
const MAX_TIMEOUT: Duration = Duration::from_mins(1);

/// The settings of one source.
#[derive(Clone, Copy)]
pub(crate) struct SourceSettings<'a> {
    /// Name of the source in the policy.
    pub(crate) name: &'a str,
    values: Option<&'a Map<String, Value>>,
    base: &'a Path,
    environment: &'a EnvLookup,
}

/// Looks up an environment variable, which the machine's owner sets; `None` if it is not set.
pub type EnvLookup = dyn Fn(&str) -> Option<String> + Send + Sync;

impl<'a> SourceSettings<'a> {
    /// Parses the settings of a source, and refuses keys other than `known`.
    pub(crate) fn parse(
        name: &'a str,
        settings: &'a Value,
        base: &'a Path,
        environment: &'a EnvLookup,
        known: &[&str],
    ) -> Result<Self, EffectError> {
        let read = Self { name, values: settings.as_object(), base, environment };
        let mut keys = read.values.into_iter().flat_map(Map::keys);
        if let Some(key) = keys.find(|key| *key != "kind" && !known.contains(&key.as_str())) {
            let near = find_similar_name(key, known.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(read.config_error(format!(
                "has a setting `{key}` that its kind does not support{near}"
            )));
        }
        Ok(read)
    }

    /// Returns an error that says what is wrong with the source.
    pub(crate) fn config_error(&self, what: impl std::fmt::Display) -> EffectError {
        source_config_error(self.name, what)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.values.and_then(|values| values.get(key))
    }

    pub(crate) fn get_text(&self, key: &str) -> Result<Option<&'a str>, EffectError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text)),
            Some(_) => Err(self.config_error(format!("has a `{key}` that is not a string"))),
        }
    }

    /// Returns a whole number from 1 to `most`.
    pub(crate) fn get_count(&self, key: &str, default: u64, most: u64) -> Result<u64, EffectError> {
        let Some(value) = self.get(key) else { return Ok(default) };
        let count = value.as_u64().filter(|count| (1..=most).contains(count));
        count.ok_or_else(|| {
            self.config_error(format!("has a `{key}` that is not a number from 1 to {most}"))
        })
    }

    /// Returns the time limit for a query, from `timeout`. Default: 5 seconds.
    pub(crate) fn get_timeout(&self) -> Result<Duration, EffectError> {
        let Some(value) = self.get("timeout") else { return Ok(Duration::from_secs(5)) };
        let read = value.as_str().and_then(parse_duration);
        let read = read.and_then(|read| u64::try_from(read.millis).ok()).map(Duration::from_millis);
        let fits = |wait: &Duration| (Duration::from_millis(1)..=MAX_TIMEOUT).contains(wait);
        read.filter(fits).ok_or_else(|| {
            self.config_error("has a `timeout` that is not a duration up to `60s`, such as `5s`")
        })
    }

    /// Returns how reliable the source is, from `confidence`, between 0 and 1.
    pub(crate) fn get_confidence(&self, default: f64) -> Result<f64, EffectError> {
        let Some(value) = self.get("confidence") else { return Ok(default) };
        let fits = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
        fits.ok_or_else(|| self.config_error("has a `confidence` that is not a number from 0 to 1"))
    }

    /// Returns a path inside the workspace folder, or one that the machine's owner sets in a
    /// variable.
    pub(crate) fn get_path(&self, key: &str) -> Result<Option<PathBuf>, EffectError> {
        let variable = format!("{key}_env");
        match (self.get_text(key)?, self.get_text(&variable)?) {
            (Some(_), Some(_)) => Err(self
                .config_error(format!("has both `{key}` and `{variable}`; expected one of them"))),
            (Some(path), None) => self.resolve_inside(key, path).map(Some),
            (None, Some(_)) => self.read_variable(&variable).map(|path| Some(PathBuf::from(path))),
            (None, None) => Ok(None),
        }
    }

    fn resolve_inside(&self, key: &str, path: &str) -> Result<PathBuf, EffectError> {
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.contains(['\0', '\\']) || !Path::new(path).components().all(plain) {
            let advice =
                format!("name another location in an environment variable, with `{key}_env`");
            return Err(
                self.config_error(format!("has a `{key}` outside the working folder; {advice}"))
            );
        }
        Ok(self.base.join(path))
    }

    /// Returns the folder that relative paths start from.
    pub(crate) fn base(&self) -> &'a Path {
        self.base
    }

    /// Returns the value of the variable that a setting names. Errors never show the value.
    pub(crate) fn read_variable(&self, key: &str) -> Result<String, EffectError> {
        let name = self.get_text(key)?.ok_or_else(|| {
            self.config_error(format!(
                "has no `{key}`; expected the name of an environment variable"
            ))
        })?;
        match (self.environment)(name) {
            Some(value) if !value.trim().is_empty() => Ok(value),
            Some(_) => {
                Err(self.config_error(format!("needs the variable `{name}`, which is empty")))
            }
            None => {
                Err(self.config_error(format!("needs the variable `{name}`, which is not set")))
            }
        }
    }
}

/// Error for a source that the policy names and that cannot be used.
pub(crate) fn source_config_error(name: &str, what: impl std::fmt::Display) -> EffectError {
    EffectError::new_permanent(EffectErrorKind::NotConfigured, format!("source `{name}` {what}"))
}
