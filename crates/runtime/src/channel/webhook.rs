//! Signed webhooks by the Standard Webhooks convention, so that existing libraries verify them.
//!
//! The signature is `HMAC-SHA256` over `id.timestamp.body`. The id is the same for every attempt of
//! a delivery; the timestamp is that of the attempt.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use countersign_contract::Timestamp;
use countersign_contract::json::sha256_hex;
use countersign_run::RunDelivery;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::{Map, Value, json};
use sha2::Sha256;

use super::DeliveryContext;

/// Prefix of a secret, after which its bytes follow in Base64.
const SECRET_PREFIX: &str = "whsec_";

/// Allowed sizes of a secret, in bytes.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Computes the id that receivers see: the same for every attempt of a delivery, and different for
/// every other delivery.
#[must_use]
pub fn compute_message_id(tenant: &str, run: &str, delivery: &str) -> String {
    let text = format!("{tenant}\n{run}\n{delivery}");
    format!("msg_{}", &sha256_hex(&[text.as_bytes()])[..32])
}

/// Parses a secret: `whsec_` and 24 to 64 bytes in Base64.
///
/// # Errors
/// Returns a sentence that says what was expected, without the secret.
pub fn parse_webhook_secret(text: &str) -> Result<Vec<u8>, String> {
    let encoded = text.strip_prefix(SECRET_PREFIX);
    let bytes = encoded.and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
    bytes.filter(|bytes| SECRET_BYTES.contains(&bytes.len())).ok_or_else(|| {
        "expected `whsec_` followed by 24 to 64 bytes in Base64; create one with `echo whsec_$(openssl rand -base64 32)`".to_owned()
    })
}

/// Builds the body of a webhook.
pub(super) fn build_webhook_body(delivery: &RunDelivery, context: &DeliveryContext<'_>) -> String {
    let RunDelivery { event, time, protocol, workflow, phase, .. } = delivery;
    let RunDelivery { title, wait, end, reason, .. } = delivery;
    let mut data = Map::new();
    let mut insert = |name: &str, value: Value| {
        if !value.is_null() {
            data.insert(name.to_owned(), value);
        }
    };
    insert("tenant", json!(context.tenant));
    insert("run", json!(context.run));
    insert("protocol", json!(protocol));
    insert("workflow", json!(workflow));
    insert("phase", json!(phase));
    insert("title", json!((!title.is_empty()).then_some(title)));
    insert("wait", json!(wait));
    insert("end", json!(end));
    insert("reason", json!(reason));
    insert("link", json!(context.link()));
    let id = context.message_id(delivery);
    json!({ "type": event.as_str(), "timestamp": time.to_string(), "id": id, "data": data })
        .to_string()
}

/// Builds the headers of an attempt at `now`, with one signature per secret.
pub(super) fn sign_webhook(id: &str, now: Timestamp, body: &str, secrets: &[Vec<u8>]) -> HeaderMap {
    let timestamp = now.0.div_euclid(1000).to_string();
    let signatures = secrets.iter().map(|secret| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any size");
        for part in [id, ".", &timestamp, ".", body] {
            mac.update(part.as_bytes());
        }
        format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
    });
    let signatures = signatures.collect::<Vec<_>>().join(" ");
    let value = |text: &str| HeaderValue::from_str(text).expect("ids and signatures are ASCII");
    HeaderMap::from_iter([
        (HeaderName::from_static("webhook-id"), value(id)),
        (HeaderName::from_static("webhook-timestamp"), value(&timestamp)),
        (HeaderName::from_static("webhook-signature"), value(&signatures)),
        (USER_AGENT, HeaderValue::from_static("countersign")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks specification's reference libraries.
    #[test]
    fn the_signature_is_that_of_the_convention() {
        let secret = parse_webhook_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let headers = sign_webhook(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            Timestamp(1_614_265_330_000),
            r#"{"test": 2432232314}"#,
            &[secret.clone(), secret],
        );
        let one = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(headers["webhook-signature"], format!("{one} {one}").as_str());
        assert_eq!(headers["webhook-timestamp"], "1614265330");
    }

    #[test]
    fn secrets_are_of_the_convention_s_form() {
        for bad in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_%%"]
        {
            let message = parse_webhook_secret(bad).unwrap_err();
            assert!(message.starts_with("expected `whsec_`"), "{bad}: {message}");
        }
    }

    #[test]
    fn ids_name_one_delivery() {
        let id = compute_message_id("default", "r1", "3.1");
        assert_eq!(id, compute_message_id("default", "r1", "3.1"));
        assert!(!id.contains('.') && id.len() == 36, "{id}");
        assert_ne!(id, compute_message_id("other", "r1", "3.1"));
        assert_ne!(id, compute_message_id("default", "r1", "3.2"));
    }
}
