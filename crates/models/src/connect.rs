//! Creates models and embedders from a model specification and settings. Nothing is sent yet.

use std::sync::Arc;

use countersign_contract::ServiceUrl;
use countersign_contract::source::SourceFile;
use reqwest::Url;
use reqwest::header::HeaderMap;

use crate::providers::dialect_for;
use crate::wire::{
    HttpChatModel, HttpEmbedder, ProviderEndpoint, SecretRedactor, build_http_client,
};
use crate::{
    ChatModel, Embedder, HumanModel, ModelConfigError, ModelProvider, ModelSettings, ModelSpec,
    ProviderKey, ScriptedModel,
};

/// Connects a model: resolves its address and key, or reads its script.
///
/// # Errors
/// If a person must correct the settings first.
pub fn connect_model(
    spec: &ModelSpec,
    settings: &ModelSettings,
) -> Result<Arc<dyn ChatModel>, ModelConfigError> {
    match spec {
        ModelSpec::Human => Ok(Arc::new(HumanModel)),
        ModelSpec::Script(file) => {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file).map_err(|source| {
                ModelConfigError::UnreadableScript { file: name.clone(), source }
            })?;
            let script = ScriptedModel::parse(SourceFile::new(name, text))
                .map_err(ModelConfigError::BadScript)?;
            Ok(Arc::new(script))
        }
        ModelSpec::Remote { provider, name, address } => {
            let ResolvedProvider { base, key } =
                resolve_provider(*provider, address.as_ref().map(ServiceUrl::reveal), settings)?;
            let is_openai_itself = base.host_str() == Some("api.openai.com");
            let dialect = dialect_for(*provider, is_openai_itself);
            let url = join_path(&base, &dialect.request_path(name))?;
            Ok(Arc::new(HttpChatModel {
                spec: spec.to_string(),
                model: name.clone(),
                endpoint: build_endpoint(url, dialect.request_headers(key), settings)?,
                schema_delivery: settings.schema_delivery,
                redactor: build_redactor(settings),
                dialect,
            }))
        }
    }
}

/// Connects an embedder: `openai:NAME`, any `OpenAI`-compatible server, or `ollama:NAME`.
///
/// # Errors
/// If a person must correct the settings first, or if the model does not make embeddings.
pub fn connect_embedder(
    spec: &ModelSpec,
    settings: &ModelSettings,
) -> Result<Arc<dyn Embedder>, ModelConfigError> {
    let (provider, name, address, path) = match spec {
        ModelSpec::Remote { provider: one @ ModelProvider::OpenAi, name, address } => {
            (*one, name, address, "/embeddings")
        }
        ModelSpec::Remote { provider: one @ ModelProvider::Ollama, name, address } => {
            (*one, name, address, "/v1/embeddings")
        }
        other => return Err(ModelConfigError::NoEmbedder { spec: other.to_string() }),
    };
    let ResolvedProvider { base, key } =
        resolve_provider(provider, address.as_ref().map(ServiceUrl::reveal), settings)?;
    let url = join_path(&base, path)?;
    let headers = dialect_for(provider, false).request_headers(key);
    Ok(Arc::new(HttpEmbedder {
        spec: spec.to_string(),
        model: name.clone(),
        redactor: build_redactor(settings),
        endpoint: build_endpoint(url, headers, settings)?,
    }))
}

/// The address of a provider, and the key to send to it.
struct ResolvedProvider<'s> {
    base: Url,
    key: Option<&'s ProviderKey>,
}

fn resolve_provider<'s>(
    provider: ModelProvider,
    address: Option<&str>,
    settings: &'s ModelSettings,
) -> Result<ResolvedProvider<'s>, ModelConfigError> {
    let base =
        parse_base_url(address.unwrap_or_else(|| settings.addresses.for_provider(provider)))?;
    let key = select_key(provider, &base, address.is_some(), settings)?;
    Ok(ResolvedProvider { base, key })
}

fn build_endpoint(
    url: Url,
    headers: HeaderMap,
    settings: &ModelSettings,
) -> Result<ProviderEndpoint, ModelConfigError> {
    Ok(ProviderEndpoint {
        client: build_http_client(&url, settings)?,
        url,
        headers,
        timeouts: settings.timeouts,
    })
}

fn build_redactor(settings: &ModelSettings) -> SecretRedactor {
    SecretRedactor::new(settings.keys.iter().chain(&settings.proxy))
}

fn parse_base_url(text: &str) -> Result<Url, ModelConfigError> {
    let bad = |address: &str, why: &str| {
        Err(ModelConfigError::BadAddress { address: address.to_owned(), reason: why.to_owned() })
    };
    // An address that does not parse may contain a password anywhere, so the error does not show
    // it.
    let url = match text.parse::<Url>() {
        Ok(url) => url,
        Err(error) if text.contains('@') => return bad("…", &error.to_string()),
        Err(error) => return bad(text, &error.to_string()),
    };
    if !url.username().is_empty() || url.password().is_some() {
        let host = url.host_str().unwrap_or_default();
        return bad(host, "it contains a user name or a password; put keys into the environment");
    }
    if !matches!(url.scheme(), "http" | "https") {
        return bad(text, &format!("expected http or https, found `{}`", url.scheme()));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return bad(text, "it must not have a query or a fragment");
    }
    Ok(url)
}

fn join_path(base: &Url, path: &str) -> Result<Url, ModelConfigError> {
    let text = format!("{}{path}", base.as_str().trim_end_matches('/'));
    text.parse().map_err(|_| ModelConfigError::BadAddress {
        address: text.clone(),
        reason: format!("`{path}` cannot be appended to it"),
    })
}

/// Selects the key that may be sent to an address.
///
/// An address in a model specification may come from an untrusted file. So a provider's own key is
/// sent there only if the origin is the same as that of the provider's configured or default
/// address.
fn select_key<'s>(
    provider: ModelProvider,
    base: &Url,
    from_spec: bool,
    settings: &'s ModelSettings,
) -> Result<Option<&'s ProviderKey>, ModelConfigError> {
    let host = base.host_str().unwrap_or_default();
    let usual = settings.addresses.for_provider(provider).parse::<Url>().map(|url| url.origin());
    let trusted = !from_spec || usual.is_ok_and(|origin| origin == base.origin());
    let own = settings.keys.for_provider(provider).filter(|_| trusted);
    let key = settings.keys.for_host(host, base.port_or_known_default()).or(own);
    let is_here = host == "localhost"
        || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    if key.is_some() && base.scheme() == "http" && !is_here {
        return Err(ModelConfigError::KeyOverHttp { host: host.to_owned() });
    }
    let wants_key = provider != ModelProvider::Ollama && !from_spec;
    if key.is_none() && wants_key && !settings.addresses.is_overridden(provider) {
        return Err(ModelConfigError::NoKey { provider, variable: provider.key_variable() });
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shown(spec: &str, settings: &ModelSettings) -> Option<String> {
        let Ok(ModelSpec::Remote { provider, address, .. }) = spec.parse() else { panic!() };
        let default = || settings.addresses.for_provider(provider);
        let text = address.as_ref().map_or_else(default, ServiceUrl::reveal);
        let found =
            select_key(provider, &parse_base_url(text).unwrap(), address.is_some(), settings)
                .unwrap();
        found.map(|key| key.reveal().to_owned())
    }

    #[track_caller]
    fn refused(spec: &str, settings: &ModelSettings, message: &str) {
        let error = connect_model(&spec.parse().unwrap(), settings).err().unwrap();
        assert_eq!(error.to_string(), message);
    }

    fn with_key() -> ModelSettings {
        let keys = ModelSettings::default()
            .keys
            .with_provider(ModelProvider::OpenAi, ProviderKey::parse("sk-open").unwrap());
        ModelSettings { keys, ..ModelSettings::default() }
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
        settings.addresses =
            settings.addresses.with_provider(ModelProvider::OpenAi, "https://mine.example/v1");
        assert_eq!(shown("openai:m", &settings), own);
        assert_eq!(shown("openai:m@https://mine.example/v1", &settings), own);
        assert_eq!(shown("openai:m@https://api.openai.com/v1", &settings), None);
        settings.keys =
            settings.keys.with_host("evil.example", ProviderKey::parse("sk-bound").unwrap());
        let bound = Some("sk-bound".to_owned());
        assert_eq!(shown("openai:m@https://evil.example/v1", &settings), bound);
    }

    #[test]
    fn settings_that_cannot_work_are_told() {
        let none = ModelSettings::default();
        refused(
            "gemini:m",
            &none,
            "`gemini` needs a key; set `GEMINI_API_KEY`, or `GEMINI_API_KEY_FILE` to a file that holds it",
        );
        refused(
            "openai:m@http://:1",
            &none,
            "`http://:1` is not a valid model address: empty host",
        );
        refused(
            "openai:m@http://h/v1?key=1",
            &none,
            "`http://h/v1?key=1` is not a valid model address: it must not have a query or a fragment",
        );
        refused(
            "openai:m@https://user:secret@h/v1",
            &none,
            "`h` is not a valid model address: it contains a user name or a password; put keys into the environment",
        );
        refused("script:/nowhere/x.yaml", &none, "cannot read the script `/nowhere/x.yaml`");
        for spec in ["anthropic:claude", "gemini:m", "human", "script:x.yaml"] {
            let error = connect_embedder(&spec.parse().unwrap(), &none).err().unwrap();
            assert_eq!(
                error.to_string(),
                format!(
                    "`{spec}` is not an embedder; expected `openai:NAME`, `openai:NAME@ADDRESS` or `ollama:NAME`"
                )
            );
        }
        let mut settings = with_key();
        settings.addresses =
            settings.addresses.with_provider(ModelProvider::OpenAi, "http://10.0.0.1/v1");
        refused(
            "openai:m",
            &settings,
            "keys are not sent to `10.0.0.1` over http; use https, or an address of this machine",
        );
        settings.addresses = settings.addresses.with_provider(ModelProvider::OpenAi, "ftp://h");
        refused(
            "openai:m",
            &settings,
            "`ftp://h` is not a valid model address: expected http or https, found `ftp`",
        );
        let settings =
            ModelSettings { proxy: Some(ProviderKey::parse("::no::").unwrap()), ..with_key() };
        refused(
            "openai:m",
            &settings,
            "the proxy cannot be used: expected an address like `http://HOST:PORT`",
        );
    }

    #[test]
    fn https_and_people_need_nothing_more() {
        assert_eq!(
            connect_model(&"openai:m".parse().unwrap(), &with_key()).unwrap().name(),
            "openai:m"
        );
        assert_eq!(
            connect_model(&ModelSpec::Human, &ModelSettings::default()).unwrap().name(),
            "human"
        );
    }
}
