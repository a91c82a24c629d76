//! Settings: flag over environment over file over default. Nothing else reads the environment.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::json::Span;
use countersign_core::spec::{Diagnostic, Source};
use countersign_models::{Embedder, ModelSpec, connect_embedder};

use crate::args::Site;
use crate::exit::Error;

/// The file beside `.countersign` that holds settings.
pub(crate) const FILE: &str = "countersign.toml";

/// A value, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// What it is called in the file.
    pub(crate) name: &'static str,
    /// The value; `None` where nobody gave one and there is no default.
    pub(crate) value: Option<String>,
    /// Who gave it: `flag`, an environment variable, the file, `default`.
    pub(crate) origin: String,
}

/// Everything that can be set.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) protocol: Setting,
    pub(crate) store: Setting,
    pub(crate) model: Setting,
    pub(crate) user: Setting,
    pub(crate) agent: Setting,
    /// `on` or `off`.
    pub(crate) memory: Setting,
    /// Who makes vectors for it.
    pub(crate) embedder: Setting,
    /// Where traces and measures go, over OTLP by HTTP.
    pub(crate) telemetry: Setting,
    /// The file that was read.
    pub(crate) file: Option<PathBuf>,
}

impl Settings {
    /// Reads them for a folder of work.
    pub(crate) fn read(folder: &Path, site: &Site, model: Option<&str>) -> Result<Self, Error> {
        let file = folder.ancestors().map(|above| above.join(FILE)).find(|path| path.is_file());
        let table = match &file {
            Some(path) => parse(path)?,
            None => toml::Table::new(),
        };
        let told = file.as_ref().map_or_else(String::new, |path| path.display().to_string());
        let setting =
            |name: &'static str, flag: Option<String>, variable: &str, default: Option<String>| {
                let (value, origin) = if let Some(value) = flag {
                    (Some(value), "flag".to_owned())
                } else if let Some(value) = env(variable) {
                    (Some(value), variable.to_owned())
                } else if let Some(value) = table.get(name).and_then(toml::Value::as_str) {
                    (Some(value.to_owned()), told.clone())
                } else {
                    (default, "default".to_owned())
                };
                Setting { name, value, origin }
            };
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let user = env("USER").or_else(|| env("USERNAME")).unwrap_or_else(|| "somebody".to_owned());
        Ok(Self {
            protocol: setting("protocol", path(&site.protocol), "COUNTERSIGN_PROTOCOL", None),
            store: setting("store", path(&site.store), "COUNTERSIGN_STORE", None),
            model: setting("model", model.map(str::to_owned), "COUNTERSIGN_MODEL", None),
            user: setting("user", site.user.clone(), "COUNTERSIGN_USER", Some(user)),
            agent: setting("agent", None, "COUNTERSIGN_AGENT", None),
            memory: on_or_off(setting(
                "memory",
                None,
                "COUNTERSIGN_MEMORY",
                Some("on".to_owned()),
            ))?,
            embedder: setting("embedder", None, "COUNTERSIGN_EMBEDDER", None),
            telemetry: setting("telemetry", None, "OTEL_EXPORTER_OTLP_ENDPOINT", None),
            file,
        })
    }

    /// Whether runs are remembered, and models reminded.
    pub(crate) fn remembers(&self) -> bool {
        self.memory.value.as_deref() != Some("off")
    }

    /// The same, with memory turned off by a flag.
    pub(crate) fn without_memory(self) -> Self {
        let (value, origin) = (Some("off".to_owned()), "flag".to_owned());
        Self { memory: Setting { value, origin, ..self.memory }, ..self }
    }

    /// Who asks.
    pub(crate) fn user(&self) -> String {
        self.user.value.clone().unwrap_or_default()
    }

    /// Every setting.
    pub(crate) fn all(&self) -> [&Setting; 8] {
        let Self { protocol, store, model, user, agent, memory, embedder, telemetry, .. } = self;
        [protocol, store, model, user, agent, memory, embedder, telemetry]
    }

    /// The embedder that is set, connected.
    pub(crate) fn embedder(&self) -> Result<Option<Arc<dyn Embedder>>, Error> {
        let Setting { value: Some(named), origin, .. } = &self.embedder else { return Ok(None) };
        let usage = |error: &dyn Display| Error::Usage(format!("`embedder` ({origin}): {error}"));
        let spec: ModelSpec = named.parse().map_err(|error| usage(&error))?;
        let settings =
            countersign_models::Settings::from_env(&env).map_err(|error| usage(&error))?;
        connect_embedder(&spec, &settings).map(Some).map_err(|error| usage(&error))
    }
}

/// A variable of the environment, where it is set and not empty.
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The names that the file may have.
const NAMES: [&str; 8] =
    ["protocol", "store", "model", "user", "agent", "memory", "embedder", "telemetry"];

fn on_or_off(setting: Setting) -> Result<Setting, Error> {
    match setting.value.as_deref() {
        Some("on" | "off") | None => Ok(setting),
        Some(other) => Err(Error::Usage(format!(
            "`{}` must be `on` or `off`, found `{other}` ({})",
            setting.name, setting.origin
        ))),
    }
}

fn parse(path: &Path) -> Result<toml::Table, Error> {
    let what = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Unreadable { what: what.clone(), source })?;
    let source = Arc::new(Source::new(what, text.clone()));
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let span = error.span().map_or(Span::default(), |span| Span::new(span.start, span.end));
        let message = format!("not TOML: {}", error.message());
        Error::Author(vec![Diagnostic::new("invalid_toml", message, &source, span)])
    })?;
    let mut faults = Vec::new();
    for (name, value) in &table {
        let at = text.find(name.as_str()).unwrap_or(0);
        let span = Span::new(at, at + name.len());
        if !NAMES.contains(&name.as_str()) {
            let message = format!("no setting `{name}`; there are {}", NAMES.join(", "));
            faults.push(Diagnostic::new("unknown_key", message, &source, span));
        } else if !value.is_str() {
            let message = format!("`{name}` must be a text, found {}", value.type_str());
            faults.push(Diagnostic::new("type", message, &source, span));
        }
    }
    if faults.is_empty() { Ok(table) } else { Err(Error::Author(faults)) }
}
