//! Talking to a server so that nobody listens in, with errors that name the source.

use std::path::Path;

use countersign_postgres::TlsError;
use countersign_runtime::effect::EffectError;
use tokio_rustls::TlsConnector;

use crate::settings::not_configured;

/// A connector that trusts what the system trusts, or only the authority in a file.
pub(crate) fn connector(name: &str, authority: Option<&Path>) -> Result<TlsConnector, EffectError> {
    countersign_postgres::connector(authority).map_err(|fault| unencrypted(name, fault))
}

/// Why a source cannot encrypt what it says.
pub(crate) fn unencrypted(name: &str, fault: TlsError) -> EffectError {
    match fault {
        TlsError::NoAuthority => {
            not_configured(name, "has a `ca` that is not a PEM file of certificates")
        }
        other => not_configured(name, other),
    }
}
