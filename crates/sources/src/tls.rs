//! Talking to a server so that nobody listens in, and so that it is the server that was meant.

use std::path::Path;
use std::sync::Arc;

use countersign_runtime::effect::EffectError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_rustls::TlsConnector;

use crate::settings::not_configured;

/// A connector that trusts what the system trusts, or only the authority in a file.
pub(crate) fn connector(name: &str, authority: Option<&Path>) -> Result<TlsConnector, EffectError> {
    let unusable = |what: &str| not_configured(name, what);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| unusable("cannot speak TLS here"))?;
    let config = match authority {
        None => builder
            .with_platform_verifier()
            .map_err(|_| unusable("cannot read the certificates that the system trusts"))?
            .with_no_client_auth(),
        Some(path) => {
            let unreadable = "has a `ca` that is not a PEM file of certificates";
            let found = CertificateDer::pem_file_iter(path).map_err(|_| unusable(unreadable))?;
            let mut roots = RootCertStore::empty();
            for certificate in found {
                let certificate = certificate.map_err(|_| unusable(unreadable))?;
                roots.add(certificate).map_err(|_| unusable(unreadable))?;
            }
            if roots.is_empty() {
                return Err(unusable(unreadable));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(TlsConnector::from(Arc::new(config)))
}

/// A host that is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
