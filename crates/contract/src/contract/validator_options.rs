//! The only configuration of the schema engine: which formats it asserts and how patterns run.

use std::sync::LazyLock;

use jsonschema::{PatternOptions, ValidationOptions, Validator};
use serde_json::{Value, json};

use super::reference_resolver::is_draft_07;

/// The formats that are asserted in both drafts, in alphabetical order.
pub(super) const ASSERTED_FORMATS: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Returns the options that every schema is compiled with. In draft-07 the formats of 2020-12 are
/// asserted, too: an author who writes `uuid` means it.
pub(super) fn build_options<'i>(root: &Value) -> ValidationOptions<'i> {
    let options = jsonschema::options()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex());
    if !is_draft_07(root) {
        return options;
    }
    options
        .with_format("duration", |text: &str| matches_format(&DURATION, text))
        .with_format("uuid", |text: &str| matches_format(&UUID, text))
}

static DURATION: LazyLock<Validator> = LazyLock::new(|| build_format_validator("duration"));
static UUID: LazyLock<Validator> = LazyLock::new(|| build_format_validator("uuid"));

fn build_format_validator(format: &str) -> Validator {
    jsonschema::options()
        .should_validate_formats(true)
        .build(&json!({"format": format}))
        .expect("a schema of one format compiles")
}

fn matches_format(validator: &Validator, text: &str) -> bool {
    validator.is_valid(&Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Schema;

    /// A valid and an invalid text of each format.
    const TEXTS: [(&str, &str, &str); 19] = [
        ("date", "2026-11-17", "2026-13-01"),
        ("date-time", "2026-11-17T10:00:00Z", "yesterday"),
        ("duration", "P1DT2H", "two hours"),
        ("email", "a@example.org", "a at example"),
        ("hostname", "example.org", "-example-.org"),
        ("idn-email", "실례@실례.테스트", "2962"),
        ("idn-hostname", "실례.테스트", "〮실례.테스트"),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "2001:db8::1", "2001:db8::g"),
        ("iri", "http://ƒøø.ßår/?∂éœ=πîx#πîüx", "/abc"),
        ("iri-reference", "/âππ", "\\\\WINDOWS\\filëßåré"),
        ("json-pointer", "/a/b~1c", "a/b"),
        ("regex", "^a+$", "^(abc]"),
        ("relative-json-pointer", "1/a", "/a"),
        ("time", "10:00:00Z", "25:00:00Z"),
        ("uri", "https://example.org/a", "not a uri"),
        ("uri-reference", "/a/b", "\\\\WINDOWS\\share"),
        ("uri-template", "https://example.org/{a}", "https://example.org/{a"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"),
    ];

    #[test]
    fn every_format_of_the_standard_is_asserted_in_both_drafts() {
        assert_eq!(TEXTS.map(|(format, ..)| format), ASSERTED_FORMATS);
        for dialect in [
            "https://json-schema.org/draft/2020-12/schema",
            "http://json-schema.org/draft-07/schema#",
        ] {
            for (format, good, bad) in TEXTS {
                let schema =
                    Schema::compile(json!({"$schema": dialect, "format": format})).unwrap();
                assert!(schema.is_valid(&json!(good)), "{dialect} {format} {good}");
                assert!(!schema.is_valid(&json!(bad)), "{dialect} {format} {bad}");
                assert!(schema.is_valid(&json!(5)), "{dialect} {format}");
            }
        }
    }
}
