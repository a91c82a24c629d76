//! Calls a host that the policy allows, and no other, wherever a redirect points.

use std::error::Error as _;
use std::sync::Once;
use std::time::Duration;

use countersign_protocol::ProtocolPolicy;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Method, Response, Url, redirect};
use serde_json::{Value, json};

use super::host_rule::is_loopback;
use super::lossless_json::parse_lossless;
use super::{EffectError, EffectErrorKind, HostRule};

/// Maximum size of a response body that is kept, in bytes.
const BODY_LIMIT: usize = 1024 * 1024;

/// Maximum duration of a call, from the first byte to the last.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Maximum number of redirects that are followed, on the same host only.
const MAX_REDIRECTS: usize = 5;

const METHODS: [Method; 6] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// A request that the policy allows.
#[derive(Debug)]
pub(super) struct EffectHttpRequest {
    method: Method,
    url: Url,
    body: Option<String>,
    idempotency_key: HeaderValue,
    timeout: Duration,
}

impl EffectHttpRequest {
    /// Validates a request before anything is sent.
    pub(super) fn prepare(
        method: &str,
        url: &str,
        body: Option<&Value>,
        id: &str,
        policy: &ProtocolPolicy,
    ) -> Result<Self, EffectError> {
        let invalid = |message: &str| EffectError::new_permanent(EffectErrorKind::Invalid, message);
        let known = METHODS.iter().find(|known| known.as_str().eq_ignore_ascii_case(method));
        let method = known.cloned().ok_or_else(|| {
            invalid("the method is not one of GET, HEAD, POST, PUT, PATCH and DELETE")
        })?;
        let url = check_url(url, policy)?;
        let key = HeaderValue::from_str(id)
            .map_err(|_| invalid("the action id cannot be sent in a header"))?;
        Ok(Self {
            method,
            url,
            body: body.map(Value::to_string),
            idempotency_key: key,
            timeout: TIME_LIMIT,
        })
    }

    /// Sends the request. The other side receives the action id as `Idempotency-Key`.
    pub(super) async fn send(self) -> Result<Value, EffectError> {
        let limit = self.timeout;
        let label = format!("{} {}", self.method, format_origin(&self.url));
        let fault = |error: reqwest::Error| to_effect_error(&label, limit, &error);
        let client = build_client(&self.url).map_err(fault)?;
        let mut request = client
            .request(self.method, self.url)
            .timeout(limit)
            .header("Idempotency-Key", self.idempotency_key);
        if let Some(body) = self.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let response = request.send().await.map_err(fault)?;
        let status = response.status();
        let result = read_response(response).await.map_err(fault)?;
        if status.is_success() {
            return Ok(result);
        }
        let message = format!("`{label}` answered with status {}", status.as_u16());
        let error = if status.is_server_error() || status.as_u16() == 429 {
            EffectError::new_transient(EffectErrorKind::Failed, message)
        } else {
            EffectError::new_permanent(EffectErrorKind::Failed, message)
        };
        Err(error.with_detail(result))
    }
}

/// Parses an address and checks that the policy allows it.
fn check_url(text: &str, policy: &ProtocolPolicy) -> Result<Url, EffectError> {
    let refused =
        |message: String| EffectError::new_permanent(EffectErrorKind::NotAllowed, message);
    let Ok(url) = Url::parse(text) else {
        let message = "the address is not a URL; expected one like `https://host/path`";
        return Err(EffectError::new_permanent(EffectErrorKind::Invalid, message));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("an address must not contain a user name or a password".to_owned()));
    }
    let rules = policy.hosts.iter().filter_map(|host| HostRule::parse(host));
    if rules.into_iter().any(|rule| rule.allows(&url)) {
        return Ok(url);
    }
    let hosts = match policy.hosts.as_slice() {
        [] => "it allows no host".to_owned(),
        hosts => format!("it allows `{}`", hosts.join("`, `")),
    };
    Err(refused(format!("the policy does not allow `{}`; {hosts}", format_origin(&url))))
}

/// Returns scheme, host and port: the part of an address that may be shown.
fn format_origin(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{}://{host}:{port}", url.scheme()),
        None => format!("{}://{host}", url.scheme()),
    }
}

/// Installs the cryptography that TLS connections use, unless one is installed already.
pub(crate) fn install_tls_provider() {
    static PROVIDER: Once = Once::new();
    // An error means that a provider was installed before; that one is sufficient.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}

fn build_client(url: &Url) -> Result<Client, reqwest::Error> {
    install_tls_provider();
    let same_host = redirect::Policy::custom(|attempt| {
        let first = attempt.previous().first().map(format_origin);
        if first != Some(format_origin(attempt.url())) {
            attempt.error("the response redirects to another host")
        } else if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("the response redirects too many times")
        } else {
            attempt.follow()
        }
    });
    let builder = Client::builder().redirect(same_host).referer(false);
    // Requests that stay on this machine need no proxy.
    if is_loopback(url) { builder.no_proxy().build() } else { builder.build() }
}

/// Returns `status` and `body`, `json` if the body is JSON, and `truncated` if the body exceeds the
/// limit.
async fn read_response(mut response: Response) -> Result<Value, reqwest::Error> {
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    let mut truncated = false;
    while let Some(chunk) = response.chunk().await? {
        let free = BODY_LIMIT - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(free)]);
        if chunk.len() > free {
            truncated = true;
            break;
        }
    }
    let body = String::from_utf8_lossy(&bytes);
    let mut result = json!({ "status": status, "body": body });
    if truncated {
        result["truncated"] = json!(true);
    } else if let Some(value) = parse_lossless(&body) {
        result["json"] = value;
    }
    Ok(result)
}

fn to_effect_error(label: &str, limit: Duration, error: &reqwest::Error) -> EffectError {
    // The innermost error says what happened; the outer ones repeat the address with its query.
    let mut inner = error.source();
    while let Some(deeper) = inner.and_then(|inner| inner.source()) {
        inner = Some(deeper);
    }
    let why = inner.map_or_else(|| "the request failed".to_owned(), |inner| inner.to_string());
    if error.is_redirect() {
        EffectError::new_permanent(EffectErrorKind::NotAllowed, format!("`{label}`: {why}"))
    } else if error.is_timeout() {
        let message = format!("`{label}` took longer than {limit:?}");
        EffectError::new_transient(EffectErrorKind::TimedOut, message)
    } else if error.is_builder() {
        EffectError::new_permanent(EffectErrorKind::Unavailable, format!("`{label}`: {why}"))
    } else {
        EffectError::new_transient(EffectErrorKind::Unavailable, format!("`{label}`: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_host_that_does_not_answer_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let policy =
            ProtocolPolicy { hosts: vec![address.to_string()], ..ProtocolPolicy::default() };
        let url = format!("http://{address}/?key=secret");
        let call = EffectHttpRequest::prepare("GET", &url, None, "a", &policy).unwrap();
        let timeout = Duration::from_millis(50);
        let error = EffectHttpRequest { timeout, ..call }.send().await.unwrap_err();
        assert_eq!(error.kind, EffectErrorKind::TimedOut);
        assert!(error.retryable);
        assert_eq!(error.message, format!("`GET http://{address}` took longer than 50ms"));
    }
}
