//! Settings of models: keys, addresses and timeouts. The caller passes the environment in; nothing
//! else here reads it.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{ModelConfigError, ModelProvider, ProviderKey, ProviderKeys};

/// Everything that a connection needs besides the model specification.
#[derive(Debug, Clone, Default)]
pub struct ModelSettings {
    /// Keys of the providers.
    pub keys: ProviderKeys,
    /// Addresses of the providers that differ from the defaults.
    pub addresses: ProviderAddresses,
    /// Time limits of a call.
    pub timeouts: ModelTimeouts,
    /// Whether the contract's schema is sent to providers.
    pub schema_delivery: SchemaDelivery,
    /// Proxy for https addresses; a secret, because it may contain a password.
    pub proxy: Option<ProviderKey>,
    /// Hosts that are reached without the proxy, separated by commas.
    pub no_proxy: String,
}

/// Whether the contract's schema is sent to providers. The reply must satisfy the contract either
/// way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SchemaDelivery {
    /// Sends the schema as far as the provider can express it.
    #[default]
    Send,
    /// Sends no schema, for servers that fail on schemas: only the prompt describes the reply.
    Omit,
}

/// Addresses of providers that the machine's owner has set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderAddresses(BTreeMap<ModelProvider, String>);

/// Time limits of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelTimeouts {
    /// Limit for establishing the connection. Default: 10 seconds.
    pub connect: Duration,
    /// Limit for the beginning of the response, from the start of the call. Default: 3 minutes.
    pub first_byte: Duration,
    /// Limit for each pause within the response. Default: 2 minutes.
    pub idle: Duration,
    /// Limit for the whole call. Default: 15 minutes.
    pub total: Duration,
}

impl Default for ModelTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Reasoning models may send nothing for minutes.
            first_byte: Duration::from_mins(3),
            idle: Duration::from_mins(2),
            total: Duration::from_mins(15),
        }
    }
}

impl ProviderAddresses {
    /// Sets the address of a provider.
    #[must_use]
    pub fn with_provider(mut self, provider: ModelProvider, address: impl Into<String>) -> Self {
        self.0.insert(provider, address.into());
        self
    }

    /// Returns the address of a provider, or its default.
    #[must_use]
    pub fn for_provider(&self, provider: ModelProvider) -> &str {
        self.0.get(&provider).map_or(provider.default_address(), String::as_str)
    }

    /// Whether the machine's owner has set the address.
    pub(crate) fn is_overridden(&self, provider: ModelProvider) -> bool {
        self.0.contains_key(&provider)
    }
}

impl SchemaDelivery {
    /// Environment variable with the value.
    const VARIABLE: &str = "COUNTERSIGN_SCHEMA";

    fn parse(text: &str) -> Result<Self, ModelConfigError> {
        match text.trim() {
            "send" => Ok(Self::Send),
            "omit" => Ok(Self::Omit),
            found => Err(ModelConfigError::BadSchemaUse {
                variable: Self::VARIABLE,
                found: found.to_owned(),
            }),
        }
    }
}

impl ModelSettings {
    /// Reads keys, addresses, the proxy and the schema setting from the environment, through
    /// `read`.
    pub fn from_env(read: &dyn Fn(&str) -> Option<String>) -> Result<Self, ModelConfigError> {
        let set = |name: &str| read(name).filter(|value| !value.trim().is_empty());
        let either = |upper: &str, lower: &str| set(upper).or_else(|| set(lower));
        let mut addresses = ProviderAddresses::default();
        for provider in ModelProvider::ALL {
            if let Some(address) = set(provider.address_variable()) {
                let address = address.trim();
                let address = match provider {
                    ModelProvider::Ollama => normalize_ollama_host(address),
                    _ => address.to_owned(),
                };
                addresses = addresses.with_provider(provider, address);
            }
        }
        let proxy = either("HTTPS_PROXY", "https_proxy");
        let proxy = proxy
            .map(|text| ProviderKey::parse(&text).ok_or(ModelConfigError::BadProxy))
            .transpose()?;
        let schema =
            set(SchemaDelivery::VARIABLE).map(|text| SchemaDelivery::parse(&text)).transpose()?;
        Ok(Self {
            keys: ProviderKeys::from_env(read)?,
            addresses,
            timeouts: ModelTimeouts::default(),
            schema_delivery: schema.unwrap_or_default(),
            proxy,
            no_proxy: either("NO_PROXY", "no_proxy").unwrap_or_default(),
        })
    }
}

/// Completes `OLLAMA_HOST`, which tells a server where to listen: it may lack scheme and port, and
/// may mean all interfaces.
fn normalize_ollama_host(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let has_port = authority.rsplit(']').next().is_some_and(|tail| tail.contains(':'));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if has_port => (host, format!(":{port}")),
        _ if scheme == "https" || text.contains("://") => (authority, String::new()),
        _ => (authority, ":11434".to_owned()),
    };
    let host = match host {
        "0.0.0.0" | "" => "127.0.0.1",
        "[::]" => "[::1]",
        host => host,
    };
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    format!("{scheme}://{host}{port}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_addresses() {
        let settings = ModelSettings::from_env(&|name| match name {
            "OPENAI_BASE_URL" => Some("http://127.0.0.1:8080/v1".to_owned()),
            "OLLAMA_HOST" => Some("0.0.0.0".to_owned()),
            "https_proxy" => Some("http://user:pass@proxy:3128".to_owned()),
            _ => None,
        })
        .unwrap();
        assert_eq!(
            settings.addresses.for_provider(ModelProvider::OpenAi),
            "http://127.0.0.1:8080/v1"
        );
        assert_eq!(
            settings.addresses.for_provider(ModelProvider::Ollama),
            "http://127.0.0.1:11434"
        );
        assert_eq!(
            settings.addresses.for_provider(ModelProvider::Anthropic),
            "https://api.anthropic.com"
        );
        assert!(!format!("{settings:?}").contains("pass"));
    }

    #[test]
    fn the_environment_may_hold_the_schema_back() {
        let read = |word: Option<&'static str>| {
            let settings = ModelSettings::from_env(&|name| {
                word.filter(|_| name == "COUNTERSIGN_SCHEMA").map(str::to_owned)
            });
            settings.map(|settings| settings.schema_delivery).map_err(|error| error.to_string())
        };
        assert_eq!(read(None), Ok(SchemaDelivery::Send));
        assert_eq!(read(Some("")), Ok(SchemaDelivery::Send));
        assert_eq!(read(Some("send")), Ok(SchemaDelivery::Send));
        assert_eq!(read(Some(" omit ")), Ok(SchemaDelivery::Omit));
        assert_eq!(
            read(Some("off")).unwrap_err(),
            "`COUNTERSIGN_SCHEMA`: expected `send` or `omit`, found `off`"
        );
    }

    #[test]
    fn ollama_hosts_become_addresses() {
        for (text, address) in [
            ("127.0.0.1", "http://127.0.0.1:11434"),
            ("box:8000", "http://box:8000"),
            ("0.0.0.0:8000", "http://127.0.0.1:8000"),
            (":8000", "http://127.0.0.1:8000"),
            ("[::]:8000", "http://[::1]:8000"),
            ("[::1]", "http://[::1]:11434"),
            ("https://ollama.com", "https://ollama.com"),
            ("http://box/below", "http://box/below"),
        ] {
            assert_eq!(normalize_ollama_host(text), address);
        }
    }
}
