//! API keys of providers, which must never be shown.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

use crate::{ModelConfigError, ModelProvider};

/// A secret. It prints as `…`, and is wiped from memory when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderKey(Zeroizing<String>);

/// All keys of a process, each bound to the provider or host that it may be sent to.
#[derive(Debug, Clone, Default)]
pub struct ProviderKeys {
    providers: BTreeMap<ModelProvider, ProviderKey>,
    hosts: BTreeMap<String, ProviderKey>,
}

/// Environment variable that binds keys to hosts: `openrouter.ai=OPENROUTER_API_KEY,…`.
const KEYS_BY_HOST_VARIABLE: &str = "COUNTERSIGN_KEYS_BY_HOST";

impl ProviderKey {
    /// Parses a key and trims white space around it; `None` if it could not be sent.
    ///
    /// Keys are sent in headers: they must have at least one character, and only visible ASCII.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Returns the secret itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ProviderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl fmt::Display for ProviderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl ProviderKeys {
    /// Reads every key from the environment. No other function reads keys.
    ///
    /// # Errors
    /// If both a key and a key file are set, a file cannot be read, a key cannot be sent, or the
    /// list of hosts is invalid.
    pub fn from_env(read: &dyn Fn(&str) -> Option<String>) -> Result<Self, ModelConfigError> {
        let mut keys = Self::default();
        for provider in ModelProvider::ALL {
            if let Some(key) = read_key(provider.key_variable(), read)? {
                keys.providers.insert(provider, key);
            }
        }
        for pair in read(KEYS_BY_HOST_VARIABLE).unwrap_or_default().split(',').map(str::trim) {
            if pair.is_empty() {
                continue;
            }
            let Some((host, variable)) = pair.split_once('=') else {
                return Err(ModelConfigError::BadHostList {
                    variable: KEYS_BY_HOST_VARIABLE,
                    found: pair.to_owned(),
                });
            };
            let (host, variable) = (host.trim(), variable.trim());
            let Some(key) = read_key(variable, read)? else {
                return Err(ModelConfigError::UnsetKey {
                    variable: variable.to_owned(),
                    host: host.to_owned(),
                });
            };
            keys.hosts.insert(host.to_ascii_lowercase(), key);
        }
        Ok(keys)
    }

    /// Adds a key for a provider.
    #[must_use]
    pub fn with_provider(mut self, provider: ModelProvider, key: ProviderKey) -> Self {
        self.providers.insert(provider, key);
        self
    }

    /// Adds a key for a host, `name` or `name:port`, for any provider at that host.
    #[must_use]
    pub fn with_host(mut self, host: &str, key: ProviderKey) -> Self {
        self.hosts.insert(host.to_ascii_lowercase(), key);
        self
    }

    /// Returns the key of a provider.
    pub(crate) fn for_provider(&self, provider: ModelProvider) -> Option<&ProviderKey> {
        self.providers.get(&provider)
    }

    /// Returns the key of a host, by name and port, or else by name.
    pub(crate) fn for_host(&self, host: &str, port: Option<u16>) -> Option<&ProviderKey> {
        let with_port = port.and_then(|port| self.hosts.get(&format!("{host}:{port}")));
        with_port.or_else(|| self.hosts.get(host))
    }

    /// Iterates over all keys, so that they can be redacted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ProviderKey> {
        self.providers.values().chain(self.hosts.values())
    }
}

/// Reads the key from a variable, or from the file that the variable with the suffix `_FILE` names.
fn read_key(
    variable: &str,
    read: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<ProviderKey>, ModelConfigError> {
    let set = |name: &str| read(name).filter(|value| !value.trim().is_empty());
    let variable = variable.to_owned();
    let key = match (set(&variable), set(&format!("{variable}_FILE"))) {
        (Some(_), Some(_)) => return Err(ModelConfigError::TwoKeys { variable }),
        (Some(text), None) => ProviderKey::parse(&Zeroizing::new(text)),
        (None, Some(file)) => match std::fs::read_to_string(&file).map(Zeroizing::new) {
            Ok(text) => ProviderKey::parse(&text),
            Err(source) => return Err(ModelConfigError::UnreadableKey { variable, file, source }),
        },
        (None, None) => return Ok(None),
    };
    match key {
        Some(key) => Ok(Some(key)),
        None => Err(ModelConfigError::UnusableKey { variable }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(variables: &[(&str, &str)]) -> Result<ProviderKeys, ModelConfigError> {
        ProviderKeys::from_env(&|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[track_caller]
    fn refused(variables: &[(&str, &str)], message: &str) {
        assert_eq!(keys(variables).unwrap_err().to_string(), message);
    }

    #[test]
    fn keys_come_from_variables_files_and_host_lists() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "sk-ant-from-file\n").unwrap();
        let keys = keys(&[
            ("OPENAI_API_KEY", " sk-open "),
            ("ANTHROPIC_API_KEY_FILE", file.path().to_str().unwrap()),
            ("GEMINI_API_KEY", ""),
            ("COUNTERSIGN_KEYS_BY_HOST", "OpenRouter.ai=ROUTER, 10.0.0.1:8080 = LAN,"),
            ("ROUTER", "sk-router"),
            ("LAN", "sk-lan"),
        ])
        .unwrap();
        let of = |provider| keys.for_provider(provider).map(ProviderKey::reveal);
        assert_eq!(of(ModelProvider::OpenAi), Some("sk-open"));
        assert_eq!(of(ModelProvider::Anthropic), Some("sk-ant-from-file"));
        assert_eq!(of(ModelProvider::Gemini), None);
        assert_eq!(
            keys.for_host("openrouter.ai", Some(443)).map(ProviderKey::reveal),
            Some("sk-router")
        );
        assert_eq!(keys.for_host("10.0.0.1", Some(8080)).map(ProviderKey::reveal), Some("sk-lan"));
        assert_eq!(keys.for_host("10.0.0.1", Some(8081)), None);
    }

    #[test]
    fn what_cannot_be_a_key_is_told_without_it() {
        let both = [("OPENAI_API_KEY", "sk-1"), ("OPENAI_API_KEY_FILE", "/nowhere")];
        refused(
            &both,
            "both `OPENAI_API_KEY` and `OPENAI_API_KEY_FILE` are set; expected one of them",
        );
        refused(
            &[("GEMINI_API_KEY", "sk 1")],
            "the key in `GEMINI_API_KEY` cannot be sent: expected visible ASCII characters on one line",
        );
        refused(
            &[("GEMINI_API_KEY_FILE", "/nowhere/key")],
            "cannot read `/nowhere/key`, which `GEMINI_API_KEY_FILE` names",
        );
        refused(
            &[("COUNTERSIGN_KEYS_BY_HOST", "openrouter.ai")],
            "`COUNTERSIGN_KEYS_BY_HOST`: expected `HOST=VARIABLE`, found `openrouter.ai`",
        );
        refused(
            &[("COUNTERSIGN_KEYS_BY_HOST", "a=B")],
            "`B` is not set; it must contain the key for `a`",
        );
    }

    #[test]
    fn a_key_prints_as_dots() {
        let key = ProviderKey::parse("sk-1").unwrap();
        assert_eq!(format!("{key:?} {key}"), "… …");
        let keys = ProviderKeys::default()
            .with_provider(ModelProvider::OpenAi, key.clone())
            .with_host("H", key);
        assert_eq!(
            format!("{keys:?}"),
            "ProviderKeys { providers: {OpenAi: …}, hosts: {\"h\": …} }"
        );
    }
}
