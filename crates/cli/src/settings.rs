//! Settings, in order of precedence: flag, environment variable, file, default. No other module
//! reads the environment.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contract::json::TextSpan;
use countersign_contract::source::{Diagnostic, SourceFile};
use countersign_models::{Embedder, ModelSpec, connect_embedder};
use countersign_run::InputSender;
use countersign_runtime::channel::{ChannelDefinition, ChannelSet};
use countersign_runtime::trust::{
    AllowList, AllowListError, TrustFile, extract_address_server, extract_model_server,
};
use countersign_server::service_limits::ServiceLimits;

use crate::args::StoreArgs;
use crate::channel_settings::{CHANNELS_TABLE, parse_channels};
use crate::exit::CliError;
use crate::os_user;

/// The settings file, which is next to `.countersign`.
pub(crate) const SETTINGS_FILE: &str = "countersign.toml";

/// A setting with its value and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CliSetting {
    /// The key in the settings file.
    pub(crate) name: &'static str,
    /// The value; `None` if it is not set and has no default.
    pub(crate) value: Option<String>,
    /// The origin of the value: `flag`, an environment variable, the file, or `default`.
    pub(crate) origin: String,
}

/// All settings of the program.
#[derive(Debug, Clone)]
pub(crate) struct CliSettings {
    pub(crate) protocol: CliSetting,
    pub(crate) store: CliSetting,
    pub(crate) model: CliSetting,
    pub(crate) user: CliSetting,
    pub(crate) agent: CliSetting,
    /// Whether memory is used: `on` or `off`.
    pub(crate) memory: CliSetting,
    /// The embedding model for the memory.
    pub(crate) embedder: CliSetting,
    /// The endpoint for traces and metrics, as OTLP over HTTP.
    pub(crate) telemetry: CliSetting,
    /// The address under which people reach the web page, for links in deliveries.
    pub(crate) public_url: CliSetting,
    /// The concurrency limits of a server; the table `[limits]` of the file.
    pub(crate) limits: ServiceLimits,
    /// The programs, hosts, sources and model server that the file allows for every run. Effective
    /// only if the user trusts the file.
    pub(crate) allow: AllowList,
    /// The channels that the file defines; the tables `[channels.NAME]`.
    channels: Vec<ChannelDefinition>,
    /// The workspace folder that the trust refers to.
    folder: PathBuf,
    /// The settings file that was read; absent if there is none.
    pub(crate) file: Option<PathBuf>,
}

impl CliSettings {
    /// Loads the settings for a workspace folder.
    pub(crate) fn load(
        folder: &Path,
        site: &StoreArgs,
        model: Option<&str>,
    ) -> Result<Self, CliError> {
        let file =
            folder.ancestors().map(|above| above.join(SETTINGS_FILE)).find(|path| path.is_file());
        let table = match &file {
            Some(path) => parse_settings_file(path)?,
            None => toml::Table::new(),
        };
        let told = file.as_ref().map_or_else(String::new, |path| path.display().to_string());
        let setting =
            |name: &'static str, flag: Option<String>, variable: &str, default: Option<String>| {
                let (value, origin) = if let Some(value) = flag {
                    (Some(value), "flag".to_owned())
                } else if let Some(value) = env_var(variable) {
                    (Some(value), variable.to_owned())
                } else if let Some(value) = table.get(name).and_then(toml::Value::as_str) {
                    (Some(value.to_owned()), told.clone())
                } else {
                    (default, "default".to_owned())
                };
                CliSetting { name, value, origin }
            };
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let model = setting("model", model.map(str::to_owned), "COUNTERSIGN_MODEL", None);
        let mut allow = parse_allow_table(table.get(ALLOW_TABLE), &told)?;
        // The file may have come with the folder, so its values need trust too, even if a flag or a
        // variable overrides them today.
        let in_file = |name: &str| table.get(name).and_then(toml::Value::as_str);
        ["model", "embedder"]
            .into_iter()
            .filter_map(in_file)
            .for_each(|one| allow.allow_model(one));
        let base = file.as_deref().and_then(Path::parent).unwrap_or(folder);
        // Trust names the files of secrets, whatever folder a command is called in.
        let base = base.canonicalize().unwrap_or_else(|_| base.to_owned());
        let channels = parse_channels(table.get(CHANNELS_TABLE), &told, &base)?;
        for channel in &channels {
            allow.allow_channel(channel.describe());
        }
        for name in ["store", "telemetry"] {
            if let Some(address) = in_file(name) {
                allow.allow_service(name, address);
            }
        }
        let user = os_user::find_os_user()
            .map(|(name, _)| name)
            .or_else(|| env_var("USER"))
            .or_else(|| env_var("USERNAME"))
            .unwrap_or_else(|| "somebody".to_owned());
        Ok(Self {
            protocol: setting("protocol", path(&site.protocol), "COUNTERSIGN_PROTOCOL", None),
            store: setting("store", path(&site.store), "COUNTERSIGN_STORE", None),
            model,
            user: setting("user", site.user.clone(), "COUNTERSIGN_USER", Some(user)),
            agent: setting("agent", None, "COUNTERSIGN_AGENT", None),
            memory: require_on_or_off(setting(
                "memory",
                None,
                "COUNTERSIGN_MEMORY",
                Some("on".to_owned()),
            ))?,
            embedder: setting("embedder", None, "COUNTERSIGN_EMBEDDER", None),
            telemetry: setting("telemetry", None, "OTEL_EXPORTER_OTLP_ENDPOINT", None),
            public_url: setting("public_url", None, "COUNTERSIGN_PUBLIC_URL", None),
            limits: parse_limits(&table),
            allow,
            channels,
            folder: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
            file,
        })
    }

    /// Returns whether runs are recorded in memory and prompts contain memory packets.
    pub(crate) fn is_memory_enabled(&self) -> bool {
        self.memory.value.as_deref() != Some("off")
    }

    /// Returns the settings with memory turned off, as by a flag.
    pub(crate) fn without_memory(self) -> Self {
        let (value, origin) = (Some("off".to_owned()), "flag".to_owned());
        Self { memory: CliSetting { value, origin, ..self.memory }, ..self }
    }

    /// Allows the server of a model that a flag or an environment variable names: this is an
    /// explicit decision of the operator.
    pub(crate) fn allow_named_model(&self) -> AllowList {
        let mut list = AllowList::default();
        if let Some(model) = self.model.value.as_ref().filter(|_| !self.is_from_file(&self.model)) {
            list.allow_model(model);
        }
        list
    }

    fn is_from_file(&self, setting: &CliSetting) -> bool {
        self.file.as_ref().is_some_and(|file| setting.origin == file.display().to_string())
    }

    /// Returns whether the user trusts what the file allows. The file may have come with the
    /// folder, so it grants nothing on its own.
    pub(crate) fn is_file_trusted(&self) -> bool {
        let digest = self.allow.trust_digest(&self.folder);
        self.allow.is_empty()
            || locate_trust_file()
                .is_some_and(|file| file.contains_digest(&digest).unwrap_or(false))
    }

    /// Returns the channels that people are told through. A file that the user does not trust
    /// delivers nothing.
    pub(crate) fn build_channel_set(&self) -> ChannelSet {
        let set = ChannelSet::new(self.channels.clone());
        let set = set.with_public_url(self.public_url.value.clone());
        if self.channels.is_empty() || self.is_file_trusted() {
            return set;
        }
        set.refuse_deliveries(
            "the channels of countersign.toml are not trusted; review them with `countersign trust`",
        )
    }

    /// Returns the selected store. Fails if the file names its server and the user does not trust
    /// the file.
    pub(crate) fn resolve_store(&self) -> Result<Option<&str>, CliError> {
        self.permit_server(&self.store)?;
        Ok(self.store.value.as_deref())
    }

    /// Refuses a server that an untrusted file names, because text and a key would be sent to it.
    pub(crate) fn permit_server(&self, setting: &CliSetting) -> Result<(), CliError> {
        let server_of = match setting.name {
            "model" | "embedder" => extract_model_server,
            _ => extract_address_server,
        };
        let server = setting.value.as_deref().and_then(server_of);
        match server {
            Some(server) if self.is_from_file(setting) && !self.is_file_trusted() => {
                let CliSetting { name, origin, .. } = setting;
                Err(CliError::Usage(format!(
                    "`{name}` in {origin} names the server {server}, but you have not trusted that file; \
                     review it with `countersign trust`"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns the name of the user who runs the command.
    pub(crate) fn user(&self) -> String {
        self.user.value.clone().unwrap_or_default()
    }

    /// Returns how the operating system knows the user, or that the name is only claimed.
    pub(crate) fn sender(&self) -> InputSender {
        os_user::identify_sender(&self.user())
    }

    /// Returns all settings except the limits and the allow list.
    pub(crate) fn all(&self) -> [&CliSetting; 9] {
        let Self { protocol, store, model, user, agent, memory, embedder, telemetry, .. } = self;
        [protocol, store, model, user, agent, memory, embedder, telemetry, &self.public_url]
    }

    /// Connects to the configured embedding model, if there is one.
    pub(crate) fn connect_embedder(&self) -> Result<Option<Arc<dyn Embedder>>, CliError> {
        let CliSetting { value: Some(named), origin, .. } = &self.embedder else { return Ok(None) };
        self.permit_server(&self.embedder)?;
        let usage =
            |error: &dyn Display| CliError::Usage(format!("`embedder` ({origin}): {error}"));
        let spec: ModelSpec = named.parse().map_err(|error| usage(&error))?;
        let settings =
            countersign_models::ModelSettings::from_env(&env_var).map_err(|error| usage(&error))?;
        connect_embedder(&spec, &settings).map(Some).map_err(|error| usage(&error))
    }
}

/// Reads an environment variable; `None` if it is not set or empty.
pub(crate) fn env_var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The table of the settings file with the server limits.
const LIMITS_TABLE: &str = "limits";

/// Reads the server limits from the file. Invalid limits have already been reported when the file
/// was read.
fn parse_limits(table: &toml::Table) -> ServiceLimits {
    let mut limits = ServiceLimits::default();
    for (name, value) in
        table.get(LIMITS_TABLE).and_then(toml::Value::as_table).into_iter().flatten()
    {
        if let Some(value) = value.as_integer().and_then(|value| u64::try_from(value).ok()) {
            limits.set(name, value);
        }
    }
    limits
}

/// Returns the code and message for an invalid server limit.
fn check_limit(name: &str, value: &toml::Value) -> Option<(&'static str, String)> {
    if !ServiceLimits::NAMES.contains(&name) {
        let message =
            format!("unknown limit `{name}`; expected one of {}", ServiceLimits::NAMES.join(", "));
        return Some(("unknown_key", message));
    }
    if value.as_integer().is_none_or(|value| value < 1) {
        let found = match value.as_integer() {
            Some(number) => number.to_string(),
            None => format!("a value of type {}", value.type_str()),
        };
        let message = format!("`{name}` must be a whole number of at least 1, found {found}");
        return Some(("type", message));
    }
    None
}

/// The keys that the settings file may contain, besides the tables.
const SETTING_NAMES: [&str; 9] = [
    "protocol",
    "store",
    "model",
    "user",
    "agent",
    "memory",
    "embedder",
    "telemetry",
    "public_url",
];

/// The table of the settings file that lists what every run may use.
const ALLOW_TABLE: &str = "allow";

/// Reads `[allow]`: lists of strings under `programs`, `hosts` and `sources`.
fn parse_allow_table(table: Option<&toml::Value>, file: &str) -> Result<AllowList, CliError> {
    let wrong = |what: String| CliError::Usage(format!("`{file}`: {what}"));
    let Some(table) = table else { return Ok(AllowList::default()) };
    let lists = "`[allow]` must contain lists of strings under `programs`, `hosts` and `sources`";
    let table = table.as_table().ok_or_else(|| wrong(lists.to_owned()))?;
    let known = ["programs", "hosts", "sources"];
    if let Some(other) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(wrong(format!("{lists}; unknown key `{other}`")));
    }
    let texts = |key: &str| -> Option<Vec<String>> {
        let Some(list) = table.get(key) else { return Some(Vec::new()) };
        list.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let [Some(programs), Some(hosts), Some(sources)] = known.map(texts) else {
        return Err(wrong(lists.to_owned()));
    };
    build_allow_list(&programs, &hosts, &sources).map_err(|error| wrong(error.to_string()))
}

/// Builds an allow list from strings.
pub(crate) fn build_allow_list(
    programs: &[String],
    hosts: &[String],
    sources: &[String],
) -> Result<AllowList, AllowListError> {
    let mut list = AllowList::default();
    programs.iter().try_for_each(|entry| list.allow_program(entry))?;
    hosts.iter().try_for_each(|entry| list.allow_host(entry))?;
    sources.iter().try_for_each(|entry| list.allow_source(entry))?;
    Ok(list)
}

/// Locates the user's trust file: in the user's settings folder, outside of every workspace.
pub(crate) fn locate_trust_file() -> Option<TrustFile> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let named = |name: &str| env_var(name).map(PathBuf::from).and_then(absolute);
    let folder = named("XDG_CONFIG_HOME")
        .or_else(|| named("APPDATA").filter(|_| cfg!(windows)))
        .or_else(|| named("HOME").map(|home| home.join(".config")))?;
    Some(TrustFile::from_path(folder.join("countersign").join("trust.json")))
}

fn require_on_or_off(setting: CliSetting) -> Result<CliSetting, CliError> {
    match setting.value.as_deref() {
        Some("on" | "off") | None => Ok(setting),
        Some(other) => Err(CliError::Usage(format!(
            "`{}` must be `on` or `off`, found `{other}` ({})",
            setting.name, setting.origin
        ))),
    }
}

fn parse_settings_file(path: &Path) -> Result<toml::Table, CliError> {
    let what = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| CliError::Unreadable { what: what.clone(), source })?;
    let source = Arc::new(SourceFile::new(what, text.clone()));
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let span =
            error.span().map_or(TextSpan::default(), |span| TextSpan::new(span.start, span.end));
        let message = format!("invalid TOML: {}", error.message());
        CliError::InvalidFiles(vec![Diagnostic::new("invalid_toml", message, &source, span)])
    })?;
    let mut faults = Vec::new();
    for (name, value) in &table {
        let at = text.find(name.as_str()).unwrap_or(0);
        let span = TextSpan::new(at, at + name.len());
        if name == ALLOW_TABLE || name == CHANNELS_TABLE {
            continue;
        }
        if let (LIMITS_TABLE, Some(limits)) = (name.as_str(), value.as_table()) {
            for (limit, value) in limits {
                let at = text.find(limit.as_str()).unwrap_or(at);
                let span = TextSpan::new(at, at + limit.len());
                if let Some((code, message)) = check_limit(limit, value) {
                    faults.push(Diagnostic::new(code, message, &source, span));
                }
            }
        } else if name == LIMITS_TABLE {
            let message = format!("`{name}` must be a table, found {}", value.type_str());
            faults.push(Diagnostic::new("type", message, &source, span));
        } else if !SETTING_NAMES.contains(&name.as_str()) {
            let known = SETTING_NAMES.join(", ");
            let message = format!(
                "unknown setting `{name}`; expected one of {known}, {ALLOW_TABLE}, {CHANNELS_TABLE}, {LIMITS_TABLE}"
            );
            faults.push(Diagnostic::new("unknown_key", message, &source, span));
        } else if !value.is_str() {
            let message = format!("`{name}` must be a string, found {}", value.type_str());
            faults.push(Diagnostic::new("type", message, &source, span));
        }
    }
    if faults.is_empty() { Ok(table) } else { Err(CliError::InvalidFiles(faults)) }
}
