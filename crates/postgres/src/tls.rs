//! TLS setup: encrypts connections and verifies that the server is the intended one.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_rustls::TlsConnector;

/// Why TLS cannot be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// The TLS library supports no protocol version here.
    #[error("cannot set up TLS")]
    Unsupported,
    /// The system's trusted certificates cannot be read.
    #[error("cannot read the certificates that the system trusts")]
    NoSystemRoots,
    /// The CA file is not a PEM file of certificates.
    #[error("the CA file is not a PEM file of certificates")]
    InvalidCaFile,
}

/// Builds a connector that trusts the system's certificates, or only the CA in a file.
pub fn build_tls_connector(authority: Option<&Path>) -> Result<TlsConnector, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| TlsError::Unsupported)?;
    let config = match authority {
        None => builder
            .with_platform_verifier()
            .map_err(|_| TlsError::NoSystemRoots)?
            .with_no_client_auth(),
        Some(path) => {
            builder.with_root_certificates(load_ca_certificates(path)?).with_no_client_auth()
        }
    };
    Ok(TlsConnector::from(Arc::new(config)))
}

fn load_ca_certificates(path: &Path) -> Result<RootCertStore, TlsError> {
    let unusable = |_| TlsError::InvalidCaFile;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unusable)? {
        let certificate = certificate.map_err(unusable)?;
        roots.add(certificate).map_err(|_| TlsError::InvalidCaFile)?;
    }
    if roots.is_empty() { Err(TlsError::InvalidCaFile) } else { Ok(roots) }
}

/// Whether a host name or address means this machine.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
