//! Configuration errors: why a model cannot be connected until a person corrects the settings.

use std::io;

use countersign_contract::source::Diagnostic;
use thiserror::Error;

use crate::ModelProvider;

/// An error in the settings. Never contains a key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelConfigError {
    /// The model generates text, not embeddings.
    #[error(
        "`{spec}` is not an embedder; expected `openai:NAME`, `openai:NAME@ADDRESS` or `ollama:NAME`"
    )]
    NoEmbedder {
        /// The model specification that the user wrote.
        spec: String,
    },
    /// The provider requires a key, and none is set.
    #[error(
        "`{provider}` needs a key; set `{variable}`, or `{variable}_FILE` to a file that holds it"
    )]
    NoKey {
        /// Provider that requires the key.
        provider: ModelProvider,
        /// Environment variable that should hold the key.
        variable: &'static str,
    },
    /// Two settings hold the same key, and one would silently take precedence.
    #[error("both `{variable}` and `{variable}_FILE` are set; expected one of them")]
    TwoKeys {
        /// Environment variable without `_FILE`.
        variable: String,
    },
    /// A key file cannot be read.
    #[error("cannot read `{file}`, which `{variable}_FILE` names")]
    UnreadableKey {
        /// Environment variable without `_FILE`.
        variable: String,
        /// Path of the key file.
        file: String,
        /// Why the file cannot be read.
        source: io::Error,
    },
    /// The key cannot be sent in a header.
    #[error(
        "the key in `{variable}` cannot be sent: expected visible ASCII characters on one line"
    )]
    UnusableKey {
        /// Environment variable that holds the key.
        variable: String,
    },
    /// The list of keys by host has an invalid entry.
    #[error("`{variable}`: expected `HOST=VARIABLE`, found `{found}`")]
    BadHostList {
        /// Environment variable with the list.
        variable: &'static str,
        /// The invalid entry.
        found: String,
    },
    /// The list of keys by host names a variable that is not set.
    #[error("`{variable}` is not set; it must contain the key for `{host}`")]
    UnsetKey {
        /// Environment variable that is missing.
        variable: String,
        /// Host that the key is for.
        host: String,
    },
    /// A key would be sent unencrypted.
    #[error("keys are not sent to `{host}` over http; use https, or an address of this machine")]
    KeyOverHttp {
        /// Host that the key would be sent to.
        host: String,
    },
    /// The address of a provider is invalid.
    #[error("`{address}` is not a valid model address: {reason}")]
    BadAddress {
        /// The address, without user and password.
        address: String,
        /// What is wrong with the address.
        reason: String,
    },
    /// The setting for schemas has an unknown value.
    #[error("`{variable}`: expected `send` or `omit`, found `{found}`")]
    BadSchemaUse {
        /// Environment variable with the setting.
        variable: &'static str,
        /// Value that was found.
        found: String,
    },
    /// The proxy cannot be used; its address is not shown, because it may contain a password.
    #[error("the proxy cannot be used: expected an address like `http://HOST:PORT`")]
    BadProxy,
    /// The HTTP client cannot be created, most likely because the system has no certificates.
    #[error("cannot set up HTTPS: {reason}")]
    Https {
        /// The cause, as the library reports it.
        reason: String,
    },
    /// A script file cannot be read.
    #[error("cannot read the script `{file}`")]
    UnreadableScript {
        /// Path of the script file.
        file: String,
        /// Why the file cannot be read.
        source: io::Error,
    },
    /// The script file is invalid; holds every error in it.
    #[error("the script has {} fault(s); the first: {}", .0.len(), .0.first().map(ToString::to_string).unwrap_or_default())]
    BadScript(Vec<Diagnostic>),
}
