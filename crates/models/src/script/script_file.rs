//! Parses script files into entries, or returns every error with its location.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use countersign_contract::contract::Schema;
use countersign_contract::json::child_pointer;
use countersign_contract::reply::FinishReason;
use countersign_contract::source::{Diagnostic, ParsedSourceFile, SourceFile};
use serde_json::Value;

use super::entry::{ScriptEntry, ScriptReply};
use crate::{ModelErrorKind, ModelTimeouts, ResponseDefect, TimeoutStage, TokenUsage};

/// The JSON Schema of script files.
pub const SCRIPT_SCHEMA: &str = include_str!("script.schema.json");

static SCRIPT_FILE_SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let schema = serde_json::from_str(SCRIPT_SCHEMA).expect("our own schema is JSON");
    Schema::compile(schema).expect("our own schema compiles")
});

/// A parsed script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptFile {
    /// The replies of the script, in order.
    pub(super) entries: ScriptEntries,
    /// Inputs and answers that the replies fit.
    pub(super) examples: ScriptExamples,
}

/// What a person can type so that the replies of a script fit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScriptExamples {
    /// Inputs of a run; empty if the script names none.
    pub inputs: Vec<String>,
    /// Answers to questions of a run; empty if the script names none.
    pub answers: Vec<String>,
}

/// The entries of a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScriptEntries {
    /// One list for the whole run.
    Run(Vec<ScriptEntry>),
    /// One list for each label.
    ByLabel(BTreeMap<String, Vec<ScriptEntry>>),
}

/// Parses a script file.
pub(super) fn parse_script(source: SourceFile) -> Result<ScriptFile, Vec<Diagnostic>> {
    let tree = ParsedSourceFile::parse(source).map_err(|fault| vec![fault])?;
    let violations = SCRIPT_FILE_SCHEMA.list_violations(&tree.value);
    if !violations.is_empty() {
        return Err(violations
            .iter()
            .map(|violation| tree.diagnose_violation(violation))
            .collect());
    }
    let mut faults = Vec::new();
    let entries = match tree.value["phases"].as_object() {
        None => ScriptEntries::Run(parse_entries(&tree, "", &mut faults)),
        Some(phases) => {
            let lists = phases.keys().map(|label| {
                (label.clone(), parse_entries(&tree, &child_pointer("/phases", label), &mut faults))
            });
            ScriptEntries::ByLabel(lists.collect())
        }
    };
    let examples = ScriptExamples {
        inputs: parse_texts(&tree.value["inputs"]),
        answers: parse_texts(&tree.value["answers"]),
    };
    if faults.is_empty() { Ok(ScriptFile { entries, examples }) } else { Err(faults) }
}

fn parse_entries(
    tree: &ParsedSourceFile,
    at: &str,
    faults: &mut Vec<Diagnostic>,
) -> Vec<ScriptEntry> {
    let items = tree.value.pointer(at).and_then(Value::as_array);
    let mut entries = Vec::new();
    for (index, item) in items.into_iter().flatten().enumerate() {
        match parse_entry(item) {
            Ok(entry) => entries.push(entry),
            Err(message) => {
                faults.push(tree.diagnose("one_of", &format!("{at}/{index}"), message));
            }
        }
    }
    entries
}

/// Reads one text or a list of texts.
fn parse_texts(value: &Value) -> Vec<String> {
    let one = value.as_str().map(str::to_owned);
    let listed = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(listed.map(str::to_owned)).collect()
}

fn parse_entry(item: &Value) -> Result<ScriptEntry, &'static str> {
    let text = match (item, &item["reply"], &item["error"]) {
        (Value::String(text), ..) => Some(text.clone()),
        (_, Value::Null, Value::Null) => return Err("expected `reply` or `error`, found neither"),
        (_, Value::String(text), Value::Null) => Some(text.clone()),
        (_, object, Value::Null) => Some(object.to_string()),
        (_, Value::Null, _) => None,
        _ => return Err("expected `reply` or `error`, found both"),
    };
    let outcome = match text {
        Some(text) => Ok(ScriptReply {
            text,
            finish: if item["finish"] == "length" {
                FinishReason::Length
            } else {
                FinishReason::Stop
            },
            usage: parse_usage(&item["usage"]),
        }),
        None if item.get("finish").is_some() || item.get("usage").is_some() => {
            return Err("`finish` and `usage` belong to a reply, but this entry is an error");
        }
        None => Err(parse_error(&item["error"])?),
    };
    Ok(ScriptEntry {
        outcome,
        when: item["when"].as_str().map(str::to_owned),
        expects: parse_texts(&item["expects"]),
        delay: Duration::from_millis(item["delay_ms"].as_u64().unwrap_or_default()),
    })
}

fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    Some(TokenUsage {
        input_tokens: usage["input_tokens"].as_u64()?,
        output_tokens: usage["output_tokens"].as_u64()?,
        cached_tokens: usage["cached_tokens"].as_u64(),
    })
}

fn parse_error(error: &Value) -> Result<ModelErrorKind, &'static str> {
    let kind = error["kind"].as_str().unwrap_or_default();
    if !matches!(kind, "rate_limited" | "overloaded") && error.get("retry_after_ms").is_some() {
        return Err("`retry_after_ms` belongs to `rate_limited` and `overloaded`");
    }
    if matches!(kind, "timed_out" | "invalid_response") && error.get("message").is_some() {
        return Err("`timed_out` and `invalid_response` do not accept a `message`");
    }
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    let retry_after = error["retry_after_ms"].as_u64().map(Duration::from_millis);
    Ok(match kind {
        "rate_limited" => ModelErrorKind::RateLimited { retry_after, message },
        "timed_out" => ModelErrorKind::TimedOut {
            stage: TimeoutStage::Total,
            limit: ModelTimeouts::default().total,
        },
        "unreachable" => ModelErrorKind::Unreachable { reason: message },
        "refused" => ModelErrorKind::Refused { status: 400, code: String::new(), message },
        "invalid_response" => ModelErrorKind::InvalidResponse { defect: ResponseDefect::Truncated },
        "content_filtered" => ModelErrorKind::ContentFiltered { reason: message },
        _ => ModelErrorKind::Overloaded { status: 503, retry_after, message },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, faults: &[&str]) {
        let found = parse_script(SourceFile::new("s.yaml", text)).unwrap_err();
        let messages: Vec<String> = found
            .iter()
            .map(|fault| match &fault.hint {
                Some(hint) => format!("{fault}; {hint}"),
                None => fault.to_string(),
            })
            .collect();
        assert_eq!(messages, faults);
    }

    fn texts(entries: &[ScriptEntry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.outcome.as_ref().unwrap().text.as_str()).collect()
    }

    #[test]
    fn every_form_of_a_reply_is_read() {
        let text = "- plain\n- reply: { b: 1, a: [null] }\n- reply: cut\n  finish: length\n  delay_ms: 5\n  when: work\n  usage: { input_tokens: 1, output_tokens: 2 }\n";
        let parsed = parse_script(SourceFile::new("s.yaml", text)).unwrap();
        let ScriptEntries::Run(entries) = parsed.entries else { panic!() };
        assert_eq!(texts(&entries), ["plain", "{\"b\":1,\"a\":[null]}", "cut"]);
        let reply = entries[2].outcome.as_ref().unwrap();
        assert_eq!((reply.finish, entries[2].delay.as_millis()), (FinishReason::Length, 5));
        assert_eq!(entries[2].when.as_deref(), Some("work"));
        let usage = TokenUsage { input_tokens: 1, output_tokens: 2, cached_tokens: None };
        assert_eq!(reply.usage, Some(usage));

        let text = r#"{"phases": {"a/b": ["one", {"reply": "two"}], "c": []}}"#;
        let parsed = parse_script(SourceFile::new("s.json", text)).unwrap();
        let ScriptEntries::ByLabel(lists) = parsed.entries else { panic!() };
        assert_eq!(texts(&lists["a/b"]), ["one", "two"]);
        assert!(lists["c"].is_empty());
    }

    #[test]
    fn every_error_of_the_schema_is_the_fault_of_that_kind() {
        let schema: Value = serde_json::from_str(SCRIPT_SCHEMA).unwrap();
        let kinds = &schema["$defs"]["entry"]["properties"]["error"]["properties"]["kind"]["enum"];
        for kind in kinds.as_array().unwrap() {
            let text = serde_json::json!([{"error": {"kind": kind}}]);
            let parsed = parse_script(SourceFile::new("s.json", text.to_string())).unwrap();
            let ScriptEntries::Run(entries) = parsed.entries else { panic!() };
            assert_eq!(entries[0].outcome.as_ref().unwrap_err().code(), kind.as_str().unwrap());
        }
    }

    #[test]
    fn faults_are_told_with_their_place_and_the_nearest_name() {
        refused(
            "- replay: x\n",
            &[
                "s.yaml:1:11: /0/replay: `replay` is not a field of this object; expected only `reply`, `error`, `when`, `expects`, `finish`, `delay_ms`, `usage` [unknown_field]; did you mean `reply`?",
            ],
        );
        refused(
            "- reply: x\n  error: { kind: refused }\n- when: a\n",
            &[
                "s.yaml:1:3: expected `reply` or `error`, found both [one_of]",
                "s.yaml:3:3: expected `reply` or `error`, found neither [one_of]",
            ],
        );
        refused(
            "- error: { kind: rate_limit }\n",
            &[
                "s.yaml:1:18: /0/error/kind: expected one of \"rate_limited\", \"overloaded\", \"timed_out\", \"unreachable\", \"refused\", \"invalid_response\", \"content_filtered\", found \"rate_limit\" [enum]; did you mean \"rate_limited\"?",
            ],
        );
        let stray = "s.yaml:1:3: `finish` and `usage` belong to a reply, but this entry is an error [one_of]";
        refused("- error: { kind: refused }\n  finish: stop\n", &[stray]);
        let stray =
            "s.yaml:1:3: `retry_after_ms` belongs to `rate_limited` and `overloaded` [one_of]";
        refused("- error: { kind: refused, retry_after_ms: 1 }\n", &[stray]);
        let stray =
            "s.yaml:1:3: `timed_out` and `invalid_response` do not accept a `message` [one_of]";
        refused("- error: { kind: timed_out, message: x }\n", &[stray]);
        refused(
            "phase: { a: [x] }\n",
            &[
                "s.yaml:1:1: /phase: `phase` is not a field of this object; expected only `inputs`, `answers`, `phases` [unknown_field]; did you mean `phases`?",
                "s.yaml:1:1: /phases: expected an object, found nothing: the field is missing [required]; there is a field `phase`; rename it",
            ],
        );
        refused(
            "phases: { a: x }\n",
            &["s.yaml:1:14: /phases/a: expected an array, found \"x\" [type]; put it in [ ]"],
        );
        refused("- 5\n", &["s.yaml:1:3: /0: expected a string or an object, found 5 [type]"]);
        refused("- [\n", &["s.yaml:1:3: not YAML: unclosed bracket '[' [invalid_yaml]"]);
    }
}
