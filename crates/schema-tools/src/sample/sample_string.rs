//! Generates strings of a length, a format or a pattern.

use serde_json::{Map, Value};

use super::regex_node::RegexNode;
use super::splitmix64::SplitMix64;

/// The maximum length of a generated string.
const MAX_STRING_LENGTH: usize = 8192;

/// Generates a string for schema keywords, `wanted` characters long if the schema allows it.
pub(super) fn generate_text(
    schema: &Map<String, Value>,
    random: &mut SplitMix64,
    wanted: usize,
) -> Option<String> {
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        return RegexNode::parse(pattern)?.generate_text(random, wanted.min(MAX_STRING_LENGTH));
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str)
        && let Some(text) = generate_formatted(format, random)
    {
        return Some(text);
    }
    let (least, most) = read_length_bounds(schema);
    (least <= MAX_STRING_LENGTH).then(|| {
        generate_words(wanted.clamp(least, most.max(least)).min(MAX_STRING_LENGTH), random)
    })
}

/// Returns the minimum and maximum length.
pub(super) fn read_length_bounds(schema: &Map<String, Value>) -> (usize, usize) {
    let bound = |keyword| schema.get(keyword).and_then(Value::as_f64).map(|bound| bound as usize);
    (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(usize::MAX))
}

/// Generates a text of exactly `length` characters from words, because rules often refuse blank
/// text.
pub(super) fn generate_words(length: usize, random: &mut SplitMix64) -> String {
    const WORDS: [&str; 8] =
        ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven"];
    let mut text = String::new();
    while text.len() < length {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(WORDS[random.next_below(WORDS.len())]);
    }
    text.truncate(length);
    if text.ends_with(' ') {
        text.pop();
        text.push('s');
    }
    text
}

fn generate_formatted(format: &str, random: &mut SplitMix64) -> Option<String> {
    let day = || "2026-03-";
    let number = |random: &mut SplitMix64, low: usize, room: usize| low + random.next_below(room);
    Some(match format {
        "date-time" => {
            let (date, hour) = (number(random, 10, 18), number(random, 10, 13));
            format!("{}{date}T{hour}:30:00Z", day())
        }
        "date" => format!("{}{}", day(), number(random, 10, 18)),
        "time" => format!("{}:15:00Z", number(random, 10, 13)),
        "duration" => format!("PT{}M", number(random, 1, 59)),
        "email" | "idn-email" => format!("person{}@example.org", random.next_below(100)),
        "hostname" | "idn-hostname" => format!("host{}.example.org", random.next_below(100)),
        "uri" | "iri" | "uri-reference" | "iri-reference" => {
            format!("https://example.org/{}", random.next_below(1000))
        }
        "uuid" => format!("123e4567-e89b-42d3-a456-4266141740{:02x}", random.next_below(256)),
        "ipv4" => format!("192.0.2.{}", random.next_below(256)),
        "ipv6" => format!("2001:db8::{:x}", 1 + random.next_below(65_535)),
        "json-pointer" => format!("/field/{}", random.next_below(10)),
        "regex" => "^[a-z]+$".to_owned(),
        _ => return None,
    })
}
