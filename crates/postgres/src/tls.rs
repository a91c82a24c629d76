//! Talking to a server so that nobody listens in, and so that it is the server that was meant.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_rustls::TlsConnector;

/// Why nothing can be encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// No version of TLS can be spoken.
    #[error("cannot speak TLS here")]
    NoTls,
    /// What the system trusts is not known.
    #[error("cannot read the certificates that the system trusts")]
    NoSystem,
    /// The file of the authority is of no use.
    #[error("the authority's file is not a PEM file of certificates")]
    NoAuthority,
}

/// A connector that trusts what the system trusts, or only the authority in a file.
pub fn connector(authority: Option<&Path>) -> Result<TlsConnector, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| TlsError::NoTls)?;
    let config = match authority {
        None => {
            builder.with_platform_verifier().map_err(|_| TlsError::NoSystem)?.with_no_client_auth()
        }
        Some(path) => builder.with_root_certificates(authorities(path)?).with_no_client_auth(),
    };
    Ok(TlsConnector::from(Arc::new(config)))
}

fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let unusable = |_| TlsError::NoAuthority;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unusable)? {
        let certificate = certificate.map_err(unusable)?;
        roots.add(certificate).map_err(|_| TlsError::NoAuthority)?;
    }
    if roots.is_empty() { Err(TlsError::NoAuthority) } else { Ok(roots) }
}

/// A host that is this machine.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
