//! The HTTP client, with the automatic behavior that must not happen turned off.

use reqwest::{NoProxy, Proxy, Url, redirect, retry};
use rustls::{ClientConfig, RootCertStore, crypto};

use crate::{ModelConfigError, ModelSettings};

/// Builds a client for one address: no redirects, no retries, no settings from the environment.
pub(crate) fn build_http_client(
    url: &Url,
    settings: &ModelSettings,
) -> Result<reqwest::Client, ModelConfigError> {
    // Another part of this process may have installed a provider already; that one works too.
    let _ = crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(settings.timeouts.connect)
        // A redirect would send the key's header to a host that no one chose.
        .redirect(redirect::Policy::none())
        // The caller decides about the next attempt, and records it first.
        .retry(retry::never())
        .no_proxy();
    if url.scheme() == "http" {
        // A machine without certificates can still connect to itself.
        let config = ClientConfig::builder()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.tls_backend_preconfigured(config);
    } else if let Some(proxy) = &settings.proxy {
        let proxy = Proxy::https(proxy.reveal()).map_err(|_| ModelConfigError::BadProxy)?;
        builder = builder.proxy(proxy.no_proxy(NoProxy::from_string(&settings.no_proxy)));
    }
    builder.build().map_err(|error| ModelConfigError::Https { reason: innermost_cause(&error) })
}

/// Returns the innermost cause, which has the useful message.
pub(super) fn innermost_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
