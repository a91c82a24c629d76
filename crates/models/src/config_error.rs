//! Why a model cannot be connected at all: settings to be mended by a person.

use std::io;

use countersign_core::source::Diagnostic;
use thiserror::Error;

use crate::ModelProvider;

/// A fault in the settings. Never holds a key.
#[derive(Debug, Error)]
pub enum ModelConfigError {
    /// It answers, and makes no vectors.
    #[error(
        "`{spec}` makes no vectors; expected `openai:NAME`, `openai:NAME@ADDRESS` or `ollama:NAME`"
    )]
    NoEmbedder {
        /// What the user typed.
        spec: String,
    },
    /// The provider wants a key.
    #[error(
        "`{provider}` needs a key; set `{variable}`, or `{variable}_FILE` to a file that holds it"
    )]
    NoKey {
        /// Whose key.
        provider: ModelProvider,
        /// Where it belongs.
        variable: &'static str,
    },
    /// Two places hold a key, and one would win silently.
    #[error("both `{variable}` and `{variable}_FILE` are set; expected one of them")]
    TwoKeys {
        /// The variable.
        variable: String,
    },
    /// The file of a key cannot be read.
    #[error("cannot read `{file}`, which `{variable}_FILE` names")]
    UnreadableKey {
        /// The variable without `_FILE`.
        variable: String,
        /// The file.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// The key cannot stand in a header.
    #[error(
        "the key in `{variable}` cannot be sent: expected visible ASCII characters on one line"
    )]
    UnusableKey {
        /// Where it stands.
        variable: String,
    },
    /// The list of keys by host is none.
    #[error("`{variable}`: expected `HOST=VARIABLE`, found `{found}`")]
    BadHostList {
        /// The variable.
        variable: &'static str,
        /// The entry.
        found: String,
    },
    /// The list of keys by host names a variable that is not set.
    #[error("`{variable}` is not set, and should hold the key for `{host}`")]
    UnsetKey {
        /// The variable.
        variable: String,
        /// Whose key.
        host: String,
    },
    /// A key would travel in the clear.
    #[error(
        "a key is not sent to `{host}` over http; expected https, or an address of this machine"
    )]
    KeyOverHttp {
        /// The host.
        host: String,
    },
    /// The address of a provider is none.
    #[error("`{address}` is no address of a model: {reason}")]
    BadAddress {
        /// The address, without user and password.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The word about schemas is none of the two.
    #[error("`{variable}`: expected `send` or `hold`, found `{found}`")]
    BadSchemaUse {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        found: String,
    },
    /// The proxy cannot be used.
    #[error("the proxy cannot be used: expected an address like `http://HOST:PORT`")]
    BadProxy,
    /// The HTTP client cannot be made: most likely the system has no certificates.
    #[error("cannot set up HTTPS: {reason}")]
    Https {
        /// The cause, in the words of the library.
        reason: String,
    },
    /// The file of a script cannot be read.
    #[error("cannot read the script `{file}`")]
    UnreadableScript {
        /// The file.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// The file of a script has faults.
    #[error("the script has {} fault(s); the first: {}", .0.len(), .0.first().map(ToString::to_string).unwrap_or_default())]
    BadScript(Vec<Diagnostic>),
}
