//! TLS setup for sources, with errors that name the source.

use std::path::Path;

use countersign_postgres::TlsError;
use countersign_runtime::effect::EffectError;
use tokio_rustls::TlsConnector;

use crate::settings::source_config_error;

/// Builds a connector that trusts the system's certificates, or only the CA in a file.
pub(crate) fn build_source_connector(
    name: &str,
    authority: Option<&Path>,
) -> Result<TlsConnector, EffectError> {
    countersign_postgres::build_tls_connector(authority)
        .map_err(|fault| tls_config_error(name, fault))
}

/// Error that says why a source cannot set up TLS.
pub(crate) fn tls_config_error(name: &str, fault: TlsError) -> EffectError {
    match fault {
        TlsError::InvalidCaFile => {
            source_config_error(name, "has a `ca` that is not a PEM file of certificates")
        }
        other => source_config_error(name, other),
    }
}
