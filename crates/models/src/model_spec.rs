//! Model specifications, as users write them: `PROVIDER:NAME[@ADDRESS]`, `script:FILE` or `human`.
//!
//! The model's name is sent exactly as written. Only the provider knows whether it exists.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use countersign_contract::{ServiceUrl, find_similar_name, redact_credentials};
use thiserror::Error;

/// A parsed model specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSpec {
    /// A model behind one of the four wire formats.
    Remote {
        /// Provider whose wire format is used.
        provider: ModelProvider,
        /// Name of the model, as the provider knows it.
        name: String,
        /// Base URL of the server; `None` means the provider's configured or default address.
        address: Option<ServiceUrl>,
    },
    /// Replies from a script file.
    Script(PathBuf),
    /// A person who replies instead of a model.
    Human,
}

/// A wire format, named after the provider that defined it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelProvider {
    /// Chat completions: `OpenAI` and all compatible servers.
    OpenAi,
    /// Anthropic's Messages API.
    Anthropic,
    /// Gemini's `generateContent` API.
    Gemini,
    /// Ollama's native chat API.
    Ollama,
}

/// Why a text is not a model specification.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelSpecError {
    /// The provider does not exist.
    #[error("no provider `{found}`{}; expected {SPEC_FORMS}", hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}")))]
    UnknownProvider {
        /// Text before the colon.
        found: String,
        /// The provider that was probably meant.
        hint: Option<String>,
    },
    /// The text has no colon.
    #[error("`{found}` does not name a provider; expected {SPEC_FORMS}")]
    NoProvider {
        /// The whole text.
        found: String,
    },
    /// There is no text after the colon.
    #[error("`{found}` names no {what}; expected {SPEC_FORMS}")]
    NoName {
        /// The whole text.
        found: String,
        /// What is missing: a name or a file.
        what: &'static str,
    },
    /// The name contains white space or is otherwise invalid.
    #[error("`{found}` is not a model name: it must not contain white space")]
    BadName {
        /// The invalid name.
        found: String,
    },
}

const SPEC_FORMS: &str = "`openai:NAME`, `anthropic:NAME`, `gemini:NAME` or `ollama:NAME`, each optionally followed by an address (`openai:NAME@http://127.0.0.1:8080/v1` for any OpenAI-compatible server), `script:FILE` or `human`";

const PREFIXES: [&str; 6] = ["openai", "anthropic", "gemini", "ollama", "script", "human"];

impl FromStr for ModelSpec {
    type Err = ModelSpecError;

    fn from_str(text: &str) -> Result<Self, ModelSpecError> {
        let found = || redact_credentials(text).into_owned();
        if text == "human" {
            return Ok(Self::Human);
        }
        let Some((prefix, rest)) = text.split_once(':') else {
            return Err(ModelSpecError::NoProvider { found: found() });
        };
        if prefix == "script" {
            return match rest {
                "" => Err(ModelSpecError::NoName { found: found(), what: "file" }),
                file => Ok(Self::Script(PathBuf::from(file))),
            };
        }
        let Some(provider) = ModelProvider::parse(prefix) else {
            let hint =
                find_similar_name(prefix, PREFIXES).map(|known| format!("did you mean `{known}`?"));
            return Err(ModelSpecError::UnknownProvider { found: prefix.to_owned(), hint });
        };
        // A name may contain an `@` of its own; an address starts with its scheme.
        let at = ["@http://", "@https://"].iter().filter_map(|mark| rest.find(mark)).min();
        let (name, address) = match at {
            Some(at) => (&rest[..at], Some(ServiceUrl::new(&rest[at + 1..]))),
            None => (rest, None),
        };
        if name.is_empty() {
            return Err(ModelSpecError::NoName { found: found(), what: "model" });
        }
        if name.contains(|sign: char| sign.is_whitespace() || sign.is_control()) {
            return Err(ModelSpecError::BadName { found: name.to_owned() });
        }
        Ok(Self::Remote { provider, name: name.to_owned(), address })
    }
}

/// Shows the text that it was parsed from, without user and password in the address.
impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { provider, name, address: None } => write!(f, "{provider}:{name}"),
            Self::Remote { provider, name, address: Some(address) } => {
                write!(f, "{provider}:{name}@{address}")
            }
            Self::Script(file) => write!(f, "script:{}", file.display()),
            Self::Human => f.write_str("human"),
        }
    }
}

impl ModelProvider {
    /// Every provider, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Parses the name of a provider, as a user writes it.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }

    /// Returns the name that a user writes.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Returns the default base URL.
    #[must_use]
    pub fn default_address(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// Environment variable that holds the key; with the suffix `_FILE`, the path of a file that
    /// holds the key.
    #[must_use]
    pub fn key_variable(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
            Self::Ollama => "OLLAMA_API_KEY",
        }
    }

    /// Environment variable that overrides the address.
    #[must_use]
    pub fn address_variable(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_BASE_URL",
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::Gemini => "GEMINI_BASE_URL",
            Self::Ollama => "OLLAMA_HOST",
        }
    }
}

impl fmt::Display for ModelProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn remote(text: &str, provider: ModelProvider, name: &str, address: Option<&str>) {
        let address = address.map(ServiceUrl::new);
        let spec = ModelSpec::Remote { provider, name: name.to_owned(), address };
        assert_eq!(text.parse(), Ok(spec.clone()));
        assert_eq!(spec.to_string(), text);
    }

    #[track_caller]
    fn refused(text: &str, beginning: &str) {
        let error = text.parse::<ModelSpec>().unwrap_err().to_string();
        assert!(error.starts_with(beginning), "{error}");
    }

    #[test]
    fn every_form_is_read_and_written_back() {
        remote("openai:gpt-5-high", ModelProvider::OpenAi, "gpt-5-high", None);
        remote(
            "anthropic:claude-sonnet-4-5@20250929",
            ModelProvider::Anthropic,
            "claude-sonnet-4-5@20250929",
            None,
        );
        remote("gemini:gemini-2.5-pro", ModelProvider::Gemini, "gemini-2.5-pro", None);
        remote("ollama:qwen3:8b", ModelProvider::Ollama, "qwen3:8b", None);
        let local = Some("http://127.0.0.1:8080/v1");
        remote(
            "openai:org/m@v2@http://127.0.0.1:8080/v1",
            ModelProvider::OpenAi,
            "org/m@v2",
            local,
        );
        let script = ModelSpec::Script(PathBuf::from("replies: 1.yaml"));
        assert_eq!("script:replies: 1.yaml".parse(), Ok(script));
        assert_eq!("human".parse(), Ok(ModelSpec::Human));
    }

    #[test]
    fn what_names_no_model_is_told_with_the_forms() {
        refused(
            "antropic:x",
            "no provider `antropic`; did you mean `anthropic`?; expected `openai:NAME`",
        );
        refused("banana:x", "no provider `banana`; expected `openai:NAME`, `anthropic:NAME`");
        refused("gpt-5", "`gpt-5` does not name a provider; expected `openai:NAME`");
        refused("openai:", "`openai:` names no model; expected");
        refused("openai:@http://127.0.0.1:1/v1", "`openai:@http://127.0.0.1:1/v1` names no model");
        refused("script:", "`script:` names no file; expected");
        refused("ollama:a b", "`a b` is not a model name");
        refused("", "`` does not name a provider");
    }
}
