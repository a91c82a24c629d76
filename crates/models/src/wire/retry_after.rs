//! Reads how long a provider asks to wait, in the four forms that providers use.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// Longest wait that is accepted; a request for more than a day is not taken literally.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// Returns the wait that headers or body ask for.
pub(super) fn parse_retry_after(headers: &HeaderMap, body: &Value) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let millis = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    let delay = millis
        .and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok())
        .or_else(|| header(RETRY_AFTER.as_str()).and_then(|text| parse_wait(text, headers)))
        .or_else(|| parse_retry_info(body));
    delay.map(|wait| wait.min(MAX_RETRY_AFTER))
}

/// Parses seconds or a date; a date is compared with the provider's own clock if it sends one.
fn parse_wait(text: &str, headers: &HeaderMap) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = httpdate::parse_http_date(text.trim()).ok()?;
    let now = headers.get(DATE).and_then(|value| value.to_str().ok());
    let now = now.and_then(|text| httpdate::parse_http_date(text).ok());
    Some(then.duration_since(now.unwrap_or_else(SystemTime::now)).unwrap_or_default())
}

/// Google puts it in the body: `{"@type": "…RetryInfo", "retryDelay": "34s"}`.
fn parse_retry_info(body: &Value) -> Option<Duration> {
    let details = body["error"]["details"].as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &str)], body: &Value, millis: Option<u64>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        assert_eq!(parse_retry_after(&map, body), millis.map(Duration::from_millis));
    }

    #[test]
    fn every_way_of_saying_it_is_understood() {
        let none = &Value::Null;
        check(&[("retry-after", "7")], none, Some(7_000));
        check(&[("retry-after", " 0.5 ")], none, Some(500));
        check(&[("retry-after-ms", "250"), ("retry-after", "1")], none, Some(250));
        let date = ("date", "Sun, 06 Nov 1994 08:49:07 GMT");
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), date], none, Some(30_000));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"), date], none, Some(0));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], none, Some(0));
        let google = json!({"error": {"details": [{"x": 1}, {"retryDelay": "34.5s"}]}});
        check(&[], &google, Some(34_500));
    }

    #[test]
    fn nonsense_is_no_wait_and_a_year_is_a_day() {
        let none = &Value::Null;
        check(&[], none, None);
        check(&[("retry-after", "soon")], none, None);
        check(&[("retry-after", "-1")], none, None);
        check(&[("retry-after", "NaN")], none, None);
        check(&[], &json!({"error": {"details": [{"retryDelay": "soon"}]}}), None);
        check(&[("retry-after", "31536000")], none, Some(86_400_000));
    }
}
