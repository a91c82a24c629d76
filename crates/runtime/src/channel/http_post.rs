//! Posts a body to the address of a channel: no redirects, a bounded answer, a time limit.

use std::sync::Once;
use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, Url, redirect};

use super::{DeliveryError, DeliveryFailure, DeliveryReceipt};
use crate::effect::is_loopback;

/// Maximum number of bytes of an answer that are read; the rest is dropped with the connection.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// Longest pause that a receiver may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// Parses the address of a channel: `https`, or `http` to this machine.
pub(super) fn parse_channel_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|_| {
        "its `url` is not an address; expected one like `https://host/path`".to_owned()
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("its `url` must not contain a user name or a password".to_owned());
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        other => Err(format!(
            "its `url` begins with `{other}:`; expected `https:`, or `http:` for an address on this machine"
        )),
    }
}

/// Returns scheme, host and port: the part of an address that may be shown.
pub(super) fn format_server(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{}://{host}:{port}", url.scheme()),
        None => format!("{}://{host}", url.scheme()),
    }
}

/// Posts a JSON body. Only a status from 200 to 299 counts as accepted.
pub(super) async fn post_json(
    url: Url,
    headers: HeaderMap,
    body: String,
    limit: Duration,
) -> Result<DeliveryReceipt, DeliveryError> {
    let server = format_server(&url);
    let fault = |error: &reqwest::Error| {
        if error.is_timeout() {
            let message = format!("{server} took longer than {limit:?}");
            DeliveryError::new(DeliveryFailure::TimedOut, message)
        } else {
            let message = format!("{server} cannot be reached: {}", innermost_message(error));
            DeliveryError::new(DeliveryFailure::Unavailable, message)
        }
    };
    let client = build_client(&url).map_err(|error| fault(&error))?;
    let request = client.post(url).timeout(limit).headers(headers);
    let request = request.header(CONTENT_TYPE, "application/json").body(body);
    let response = request.send().await.map_err(|error| fault(&error))?;
    let status = response.status();
    let retry_after = parse_retry_after(response.headers());
    if status.is_success() {
        // The receiver has accepted; what else it sends does not matter.
        drain_answer(response).await;
        return Ok(DeliveryReceipt { answer: format!("status {}", status.as_u16()) });
    }
    let failure = match status.as_u16() {
        410 => DeliveryFailure::Gone,
        _ => DeliveryFailure::Refused,
    };
    let redirect = if status.is_redirection() { "; redirects are not followed" } else { "" };
    let message = format!("{server} answered with status {}{redirect}", status.as_u16());
    Err(DeliveryError { retry_after, ..DeliveryError::new(failure, message) })
}

fn build_client(url: &Url) -> Result<Client, reqwest::Error> {
    static PROVIDER: Once = Once::new();
    // An error means that a provider was installed before; that one is sufficient.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let builder = Client::builder().redirect(redirect::Policy::none()).referer(false);
    // Requests that stay on this machine need no proxy.
    if is_loopback(url) { builder.no_proxy().build() } else { builder.build() }
}

/// Reads a bounded part of the answer, so that a short one does not break the connection.
async fn drain_answer(mut response: Response) {
    let mut read = 0;
    while let Ok(Some(chunk)) = response.chunk().await {
        read += chunk.len();
        if read > MAX_ANSWER_BYTES {
            return;
        }
    }
}

/// Parses `Retry-After`, in seconds or as a date.
fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let wanted = text(RETRY_AFTER)?;
    let wait = match wanted.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let then = httpdate::parse_http_date(wanted).ok()?;
            // A date is compared with the receiver's own clock if it sends one.
            let now = text(DATE).and_then(|date| httpdate::parse_http_date(date).ok());
            then.duration_since(now.unwrap_or_else(SystemTime::now)).unwrap_or_default()
        }
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

/// The innermost cause: the outer ones repeat the address with its query.
fn innermost_message(error: &reqwest::Error) -> String {
    let mut inner = std::error::Error::source(error);
    while let Some(deeper) = inner.and_then(|inner| inner.source()) {
        inner = Some(deeper);
    }
    inner.map_or_else(|| "the request failed".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_encrypted_or_on_this_machine() {
        for good in ["https://example.org/x?y=1", "http://127.0.0.1:8080/", "http://[::1]/"] {
            parse_channel_url(good).unwrap();
        }
        for bad in ["http://example.org/", "ftp://127.0.0.1/", "example.org", "https://a:b@c/"] {
            assert!(parse_channel_url(bad).is_err(), "{bad}");
        }
        let url = parse_channel_url("https://hooks.example.org/T0/secret?key=1").unwrap();
        assert_eq!(format_server(&url), "https://hooks.example.org");
    }

    #[test]
    fn a_wish_to_wait_is_read_and_bounded() {
        let check = |text: &str, wanted: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            headers.insert(DATE, "Wed, 21 Oct 2015 07:28:00 GMT".parse().unwrap());
            assert_eq!(parse_retry_after(&headers), wanted.map(Duration::from_secs), "{text}");
        };
        check("7", Some(7));
        check("Wed, 21 Oct 2015 07:29:00 GMT", Some(60));
        check("Wed, 21 Oct 2015 07:27:00 GMT", Some(0));
        check("99999999999", Some(86_400));
        check("soon", None);
    }
}
