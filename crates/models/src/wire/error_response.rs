//! Interprets a provider's error, from its status, its headers and its body.

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::retry_after::parse_retry_after;
use crate::ModelErrorKind;

/// Classifies a response that is not a success.
pub(super) fn parse_error_response(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
) -> ModelErrorKind {
    let parsed: Value = serde_json::from_slice(body).unwrap_or_default();
    // Gemini's stream can begin with an array.
    let parsed = match parsed {
        Value::Array(mut items) if !items.is_empty() => items.swap_remove(0),
        other => other,
    };
    let retry_after = parse_retry_after(headers, &parsed);
    let (code, message) = error_code_and_message(&parsed);
    let message = match status {
        300..=399 => {
            "it redirects the request, and keys are not sent to another address".to_owned()
        }
        _ if parsed.is_null() => String::from_utf8_lossy(body).into_owned(),
        _ => message,
    };
    match status {
        // Waiting does not help if the account has no credit.
        429 if code == "insufficient_quota" => ModelErrorKind::Refused { status, code, message },
        429 => ModelErrorKind::RateLimited { retry_after, message },
        408 | 500..=599 => ModelErrorKind::Overloaded { status, retry_after, message },
        _ => ModelErrorKind::Refused { status, code, message },
    }
}

/// Classifies an error that arrived in the middle of a response.
pub(crate) fn parse_stream_error(body: &Value) -> ModelErrorKind {
    let (code, message) = error_code_and_message(body);
    let status = body["error"]["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    match (code.as_str(), status) {
        ("rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED", _) | (_, Some(429)) => {
            let retry_after = parse_retry_after(&HeaderMap::new(), body);
            ModelErrorKind::RateLimited { retry_after, message }
        }
        (
            "invalid_request_error"
            | "authentication_error"
            | "permission_error"
            | "not_found_error"
            | "billing_error"
            | "insufficient_quota"
            | "INVALID_ARGUMENT"
            | "PERMISSION_DENIED"
            | "UNAUTHENTICATED"
            | "NOT_FOUND"
            | "FAILED_PRECONDITION",
            _,
        )
        | (_, Some(400..=407 | 409..=499)) => {
            ModelErrorKind::Refused { status: status.unwrap_or(200), code, message }
        }
        _ => {
            ModelErrorKind::Overloaded { status: status.unwrap_or(200), retry_after: None, message }
        }
    }
}

/// Returns the provider's error code and message.
fn error_code_and_message(body: &Value) -> (String, String) {
    let error = &body["error"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let code = ["code", "status", "type"].iter().find_map(|key| error[*key].as_str());
    let sentences = [error, &error["message"], &body["message"], &body["detail"]];
    let message = sentences.into_iter().find(|value| value.is_string()).map(text);
    (code.unwrap_or_default().to_owned(), message.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn middle(body: &Value, kind: &str, message: &str) {
        let fault = parse_stream_error(body);
        assert_eq!((fault.code(), fault.to_string().as_str()), (kind, message));
    }

    #[test]
    fn errors_in_the_middle_of_an_answer_are_told_apart() {
        middle(
            &json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "overloaded",
            "the provider cannot answer now (status 200): Overloaded",
        );
        middle(
            &json!({"error": {"type": "rate_limit_error", "message": "slow"}}),
            "rate_limited",
            "the provider asks to slow down: slow",
        );
        middle(
            &json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no"}}),
            "refused",
            "the provider refused the request (status 400, `INVALID_ARGUMENT`): no",
        );
        middle(
            &json!({"error": "the runner stopped"}),
            "overloaded",
            "the provider cannot answer now (status 200): the runner stopped",
        );
        middle(
            &json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "later"}}),
            "overloaded",
            "the provider cannot answer now (status 503): later",
        );
    }
}
