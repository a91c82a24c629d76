//! From a model's name and settings to something that answers. Nothing is sent yet.

use std::sync::Arc;

use countersign_core::Address;
use countersign_core::spec::Source;
use reqwest::Url;
use reqwest::header::HeaderMap;

use crate::providers::dialect;
use crate::wire::{Client, Embeddings, Line, Secrets, http_client};
use crate::{ConfigError, Embedder, Human, Key, Model, ModelSpec, Provider, Script, Settings};

/// Connects a model: finds its address and key, or reads its script.
///
/// # Errors
/// Where a person has to mend the settings first.
pub fn connect(spec: &ModelSpec, settings: &Settings) -> Result<Arc<dyn Model>, ConfigError> {
    match spec {
        ModelSpec::Human => Ok(Arc::new(Human)),
        ModelSpec::Script(file) => {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file)
                .map_err(|source| ConfigError::UnreadableScript { file: name.clone(), source })?;
            let script = Script::parse(Source::new(name, text)).map_err(ConfigError::BadScript)?;
            Ok(Arc::new(script))
        }
        ModelSpec::Remote { provider, name, address } => {
            let Place { base, key } =
                place(*provider, address.as_ref().map(Address::reveal), settings)?;
            let is_openai_itself = base.host_str() == Some("api.openai.com");
            let dialect = dialect(*provider, is_openai_itself);
            let url = joined(&base, &dialect.path(name))?;
            Ok(Arc::new(Client {
                spoken: spec.to_string(),
                model: name.clone(),
                line: line(url, dialect.headers(key), settings)?,
                schema: settings.schema,
                secrets: secrets(settings),
                dialect,
            }))
        }
    }
}

/// Connects an embedder: `openai:NAME`, or any server that speaks as OpenAI does, or `ollama:NAME`.
///
/// # Errors
/// Where a person has to mend the settings first, or where there is nothing that makes vectors.
pub fn connect_embedder(
    spec: &ModelSpec,
    settings: &Settings,
) -> Result<Arc<dyn Embedder>, ConfigError> {
    let (provider, name, address, path) = match spec {
        ModelSpec::Remote { provider: one @ Provider::OpenAi, name, address } => {
            (*one, name, address, "/embeddings")
        }
        ModelSpec::Remote { provider: one @ Provider::Ollama, name, address } => {
            (*one, name, address, "/v1/embeddings")
        }
        other => return Err(ConfigError::NoEmbedder { spec: other.to_string() }),
    };
    let Place { base, key } = place(provider, address.as_ref().map(Address::reveal), settings)?;
    let url = joined(&base, path)?;
    let headers = dialect(provider, false).headers(key);
    Ok(Arc::new(Embeddings {
        spoken: spec.to_string(),
        model: name.clone(),
        secrets: secrets(settings),
        line: line(url, headers, settings)?,
    }))
}

/// Where a provider is asked, and what it is shown.
struct Place<'s> {
    base: Url,
    key: Option<&'s Key>,
}

fn place<'s>(
    provider: Provider,
    address: Option<&str>,
    settings: &'s Settings,
) -> Result<Place<'s>, ConfigError> {
    let base = base(address.unwrap_or_else(|| settings.addresses.of(provider)))?;
    let key = key(provider, &base, address.is_some(), settings)?;
    Ok(Place { base, key })
}

fn line(url: Url, headers: HeaderMap, settings: &Settings) -> Result<Line, ConfigError> {
    Ok(Line { http: http_client(&url, settings)?, url, headers, timeouts: settings.timeouts })
}

fn secrets(settings: &Settings) -> Secrets {
    Secrets::new(settings.keys.all().chain(&settings.proxy))
}

fn base(text: &str) -> Result<Url, ConfigError> {
    let bad = |address: &str, why: &str| {
        Err(ConfigError::BadAddress { address: address.to_owned(), why: why.to_owned() })
    };
    // What does not parse may hold a password in any place, so it is not shown.
    let url = match text.parse::<Url>() {
        Ok(url) => url,
        Err(error) if text.contains('@') => return bad("…", &error.to_string()),
        Err(error) => return bad(text, &error.to_string()),
    };
    if !url.username().is_empty() || url.password().is_some() {
        let host = url.host_str().unwrap_or_default();
        return bad(host, "a user or a password stands in it; keys come from the environment");
    }
    if !matches!(url.scheme(), "http" | "https") {
        return bad(text, &format!("expected http or https, found `{}`", url.scheme()));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return bad(text, "expected nothing behind its path");
    }
    Ok(url)
}

fn joined(base: &Url, path: &str) -> Result<Url, ConfigError> {
    let text = format!("{}{path}", base.as_str().trim_end_matches('/'));
    text.parse().map_err(|_| ConfigError::BadAddress {
        address: text.clone(),
        why: format!("`{path}` cannot stand behind it"),
    })
}

/// The key that may be shown at an address.
///
/// An address that comes with the model's name may come from a stranger's file: a provider's own
/// key is shown there only if the owner of the machine would be asked at the same place.
fn key<'s>(
    provider: Provider,
    base: &Url,
    from_spec: bool,
    settings: &'s Settings,
) -> Result<Option<&'s Key>, ConfigError> {
    let host = base.host_str().unwrap_or_default();
    let usual = settings.addresses.of(provider).parse::<Url>().map(|url| url.origin());
    let trusted = !from_spec || usual.is_ok_and(|origin| origin == base.origin());
    let own = settings.keys.of(provider).filter(|_| trusted);
    let key = settings.keys.at(host, base.port_or_known_default()).or(own);
    let is_here = host == "localhost"
        || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    if key.is_some() && base.scheme() == "http" && !is_here {
        return Err(ConfigError::KeyInTheClear { host: host.to_owned() });
    }
    let wants_key = provider != Provider::Ollama && !from_spec;
    if key.is_none() && wants_key && !settings.addresses.is_chosen(provider) {
        return Err(ConfigError::NoKey { provider, variable: provider.key_variable() });
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shown(spec: &str, settings: &Settings) -> Option<String> {
        let Ok(ModelSpec::Remote { provider, address, .. }) = spec.parse() else { panic!() };
        let default = || settings.addresses.of(provider);
        let text = address.as_ref().map_or_else(default, Address::reveal);
        let found = key(provider, &base(text).unwrap(), address.is_some(), settings).unwrap();
        found.map(|key| key.reveal().to_owned())
    }

    #[track_caller]
    fn refused(spec: &str, settings: &Settings, message: &str) {
        let error = connect(&spec.parse().unwrap(), settings).err().unwrap();
        assert_eq!(error.to_string(), message);
    }

    fn with_key() -> Settings {
        let keys = Settings::default().keys.with(Provider::OpenAi, Key::parse("sk-open").unwrap());
        Settings { keys, ..Settings::default() }
    }

    #[test]
    fn a_key_is_shown_only_where_its_owner_sends_it() {
        let mut settings = with_key();
        let own = Some("sk-open".to_owned());
        assert_eq!(shown("openai:m", &settings), own);
        assert_eq!(shown("openai:m@https://api.openai.com/v2", &settings), own);
        assert_eq!(shown("openai:m@https://evil.example/v1", &settings), None);
        assert_eq!(shown("openai:m@http://api.openai.com.evil.example/v1", &settings), None);
        assert_eq!(shown("openai:m@http://127.0.0.1:8080/v1", &settings), None);
        settings.addresses = settings.addresses.with(Provider::OpenAi, "https://mine.example/v1");
        assert_eq!(shown("openai:m", &settings), own);
        assert_eq!(shown("openai:m@https://mine.example/v1", &settings), own);
        assert_eq!(shown("openai:m@https://api.openai.com/v1", &settings), None);
        settings.keys = settings.keys.with_host("evil.example", Key::parse("sk-bound").unwrap());
        let bound = Some("sk-bound".to_owned());
        assert_eq!(shown("openai:m@https://evil.example/v1", &settings), bound);
    }

    #[test]
    fn settings_that_cannot_work_are_told() {
        let none = Settings::default();
        refused(
            "gemini:m",
            &none,
            "`gemini` needs a key; set `GEMINI_API_KEY`, or `GEMINI_API_KEY_FILE` to a file that holds it",
        );
        refused("openai:m@http://:1", &none, "`http://:1` is no address of a model: empty host");
        refused(
            "openai:m@http://h/v1?key=1",
            &none,
            "`http://h/v1?key=1` is no address of a model: expected nothing behind its path",
        );
        refused(
            "openai:m@https://user:secret@h/v1",
            &none,
            "`h` is no address of a model: a user or a password stands in it; keys come from the environment",
        );
        refused("script:/nowhere/x.yaml", &none, "cannot read the script `/nowhere/x.yaml`");
        for spec in ["anthropic:claude", "gemini:m", "human", "script:x.yaml"] {
            let error = connect_embedder(&spec.parse().unwrap(), &none).err().unwrap();
            assert_eq!(
                error.to_string(),
                format!(
                    "`{spec}` makes no vectors; expected `openai:NAME`, `openai:NAME@ADDRESS` or `ollama:NAME`"
                )
            );
        }
        let mut settings = with_key();
        settings.addresses = settings.addresses.with(Provider::OpenAi, "http://10.0.0.1/v1");
        refused(
            "openai:m",
            &settings,
            "a key is not sent to `10.0.0.1` over http; expected https, or an address of this machine",
        );
        settings.addresses = settings.addresses.with(Provider::OpenAi, "ftp://h");
        refused(
            "openai:m",
            &settings,
            "`ftp://h` is no address of a model: expected http or https, found `ftp`",
        );
        let settings = Settings { proxy: Some(Key::parse("::no::").unwrap()), ..with_key() };
        refused(
            "openai:m",
            &settings,
            "the proxy cannot be used: expected an address like `http://HOST:PORT`",
        );
    }

    #[test]
    fn https_and_people_need_nothing_more() {
        assert_eq!(connect(&"openai:m".parse().unwrap(), &with_key()).unwrap().name(), "openai:m");
        assert_eq!(connect(&ModelSpec::Human, &Settings::default()).unwrap().name(), "human");
    }
}
