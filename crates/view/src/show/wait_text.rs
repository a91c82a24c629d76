//! Describes waits in words: the expected answer, and the command that gives it.

use countersign_contract::patch::{Patch, PatchOperation};
use countersign_contract::reply::format_value;
use countersign_protocol::PresentationFormat;
use countersign_run::{PresentedPart, RunWait, WaitAnswerShape, WaitKind};
use countersign_runtime::diff_lines;
use serde_json::{Map, Value, json};

/// Describes the expected answer; `None` if the kind of wait is self-explanatory.
#[must_use]
pub fn describe_answer(wait: &RunWait) -> Option<String> {
    Some(match wait.answer_shape.as_ref()? {
        WaitAnswerShape::Choices { choices } => {
            let labels = choices.iter().map(|one| {
                if one.id == one.label {
                    one.id.clone()
                } else {
                    format!("{} ({})", one.id, one.label)
                }
            });
            format!("one of: {}", labels.collect::<Vec<_>>().join(", "))
        }
        WaitAnswerShape::Document { suggested_path, accepts } => {
            let kinds = if accepts.is_empty() {
                "a file".to_owned()
            } else {
                format!("a file: {}", accepts.join(", "))
            };
            match suggested_path {
                Some(path) => format!("{kinds}; the run looks for it at {path}"),
                None => kinds,
            }
        }
        WaitAnswerShape::Value { schema } => describe_schema(schema),
    })
}

/// Shows what an approval signs: each part of the document, and what changed since the approval
/// that this one replaces. `None` if the wait has no subject.
#[must_use]
pub fn describe_subject(wait: &RunWait) -> Option<String> {
    let subject = wait.subject.as_ref()?;
    let mut text = String::new();
    for part in &wait.presented {
        let again = is_first_difference(part)
            && wait.presented.iter().any(|other| other.pointer == part.pointer && other != part);
        if again {
            text.push_str(&format!("{}: nothing was approved before\n", part.title));
        } else {
            push_presented(&mut text, part, subject.find_value(&part.pointer));
        }
    }
    let parts = if wait.presented.is_empty() { &subject.parts[..] } else { &[] };
    for part in parts {
        match (part.pointer.as_str(), &part.value) {
            ("", Value::Object(members)) => push_members(&mut text, members),
            ("", value) => push_named(&mut text, "document", value),
            (pointer, value) => push_named(&mut text, pointer, value),
        }
    }
    if subject.omitted {
        text.push_str("The subject is too large to show here; read the document of the run.\n");
    }
    if let Some(changes) = &subject.changes {
        text.push_str("Changed since the approval was requested first:\n");
        push_indented(&mut text, &describe_changes(changes));
    }
    text.push_str(&format!("subject {}\n", subject.digest));
    Some(text)
}

/// Says what changed in the subject of an approval, one line for each location.
#[must_use]
pub fn describe_changes(changes: &Patch) -> String {
    let describe = |operation: &PatchOperation| {
        let path = operation.path();
        match operation {
            PatchOperation::Add { value, .. } | PatchOperation::Replace { value, .. } => {
                format!("{path} is now {}", format_value(value))
            }
            PatchOperation::Remove { .. } => format!("{path} was removed"),
            other => format!("{} {path}", other.verb()),
        }
    };
    changes.ops.iter().map(describe).collect::<Vec<_>>().join("\n")
}

/// Whether a part would show the difference to what was approved last, and nothing was.
fn is_first_difference(part: &PresentedPart) -> bool {
    part.format == Some(PresentationFormat::Difference) && part.before.is_none()
}

/// Appends a part as its author wants it shown. A terminal shows Markdown as text, and of a file
/// the path and the digest.
fn push_presented(text: &mut String, part: &PresentedPart, value: Option<&Value>) {
    let value = value.unwrap_or(&Value::Null);
    match (&part.file, part.format, &part.before) {
        (Some(file), ..) => {
            let digest = file.digest.as_deref().unwrap_or("missing, or too large to be signed");
            text.push_str(&format!("{}: {} ({digest})\n", part.title, file.path));
        }
        (None, Some(PresentationFormat::Difference), Some(before)) if before == value => {
            text.push_str(&format!("{}: as approved last\n", part.title));
        }
        (None, Some(PresentationFormat::Difference), Some(before)) => {
            text.push_str(&format!("{} (changed since it was approved last):\n", part.title));
            push_indented(text, &diff_lines(&plain_text(before), &plain_text(value)));
        }
        _ => push_named(text, &part.title, value),
    }
}

/// Appends a value under its name. Members of objects and lines of texts are indented below it.
fn push_named(text: &mut String, name: &str, value: &Value) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            text.push_str(&format!("{name}:\n"));
            let mut inside = String::new();
            push_members(&mut inside, members);
            push_indented(text, &inside);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push_str(&format!("{name}:\n"));
            let mut inside = String::new();
            for item in items {
                push_item(&mut inside, item);
            }
            push_indented(text, &inside);
        }
        Value::String(plain) if plain.contains('\n') => {
            text.push_str(&format!("{name}:\n"));
            push_indented(text, plain.trim_end());
        }
        Value::String(plain) => text.push_str(&format!("{name}: {plain}\n")),
        Value::Array(_) => text.push_str(&format!("{name}: (none)\n")),
        other => text.push_str(&format!("{name}: {other}\n")),
    }
}

fn push_members(text: &mut String, members: &Map<String, Value>) {
    for (name, value) in members {
        push_named(text, name, value);
    }
}

/// Appends an item of a list behind a dash.
fn push_item(text: &mut String, item: &Value) {
    let mut inside = String::new();
    match item {
        Value::Object(members) if !members.is_empty() => {
            push_members(&mut inside, members);
        }
        Value::String(plain) => inside.push_str(plain),
        other => inside.push_str(&other.to_string()),
    }
    let mut indented = String::new();
    push_indented(&mut indented, &inside);
    text.push_str(&indented.replacen("  ", "- ", 1));
}

fn push_indented(text: &mut String, lines: &str) {
    for line in lines.lines() {
        text.push_str(if line.is_empty() { "" } else { "  " });
        text.push_str(line);
        text.push('\n');
    }
}

/// Returns the command that answers the wait.
#[must_use]
pub fn answer_command(run: &str, wait: &RunWait) -> String {
    let id = &wait.id;
    match wait.kind {
        WaitKind::Question => format!("countersign answer {run}/{id} {}", build_example(wait)),
        WaitKind::Document => format!("countersign answer {run}/{id} --file FILE"),
        WaitKind::Approval => format!("countersign approve {run}/{id}, or deny {run}/{id}"),
        WaitKind::Budget => format!(
            "countersign resume {run} --grant {}=AMOUNT, or deny {run}/{id} to end it",
            wait.name
        ),
        WaitKind::Work => format!("countersign next {run}, then submit {run} FILE"),
        WaitKind::Incident => {
            format!("countersign approve {run}/{id} to retry, or deny {run}/{id} to end it")
        }
    }
}

/// Builds an answer to copy and change, quoted for a shell.
fn build_example(wait: &RunWait) -> String {
    let example = match &wait.answer_shape {
        Some(WaitAnswerShape::Choices { choices }) => {
            choices.first().map_or_else(|| json!("…"), |first| json!(first.id))
        }
        Some(WaitAnswerShape::Value { schema }) => build_schema_example(schema, 0),
        Some(WaitAnswerShape::Document { .. }) | None => json!("your answer"),
    };
    quote_for_shell(&plain_text(&example))
}

fn quote_for_shell(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.chars().all(|sign| sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.'));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Maximum depth of members in an example.
const MAX_EXAMPLE_DEPTH: usize = 3;

/// Builds a value of the shape that a schema describes, as far as types and enumerations tell.
fn build_schema_example(schema: &Value, depth: usize) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|members| members.first()) {
        return first.clone();
    }
    if let Some(given) = schema["examples"].as_array().and_then(|given| given.first()) {
        return given.clone();
    }
    let least = || schema.get("minimum").cloned().unwrap_or_else(|| json!(1));
    match schema["type"].as_str() {
        Some("integer" | "number") => least(),
        Some("boolean") => json!(true),
        Some("array") if depth < MAX_EXAMPLE_DEPTH && schema["items"].is_object() => {
            json!([build_schema_example(&schema["items"], depth + 1)])
        }
        Some("array") => json!([]),
        Some("object") if depth < MAX_EXAMPLE_DEPTH => {
            let required: Vec<&str> = schema["required"]
                .as_array()
                .map_or_else(Vec::new, |names| names.iter().filter_map(Value::as_str).collect());
            let members = schema["properties"].as_object().into_iter().flatten();
            members
                .filter(|(name, _)| required.is_empty() || required.contains(&name.as_str()))
                .map(|(name, member)| (name.clone(), build_schema_example(member, depth + 1)))
                .collect()
        }
        Some("object") => json!({}),
        _ => json!("your answer"),
    }
}

/// Describes a schema in a few words, enough to write an answer that is probably accepted.
fn describe_schema(schema: &Value) -> String {
    if let Some(members) = schema["enum"].as_array() {
        let texts: Vec<String> = members.iter().map(plain_text).collect();
        return format!("one of: {}", texts.join(", "));
    }
    let number = |word: &str| match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!("{word} from {least} to {most}"),
        (Some(least), None) => format!("{word} of at least {least}"),
        (None, Some(most)) => format!("{word} of at most {most}"),
        (None, None) => word.to_owned(),
    };
    match schema["type"].as_str() {
        Some("string") => "text".to_owned(),
        Some("integer") => number("a whole number"),
        Some("number") => number("a number"),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => match &schema["items"] {
            items if items.is_object() => {
                format!("a JSON array; each item is {}", describe_schema(items))
            }
            _ => "a JSON array".to_owned(),
        },
        Some("object") => {
            let names = schema["properties"].as_object();
            let names: Vec<&str> =
                names.into_iter().flat_map(|map| map.keys()).map(String::as_str).collect();
            if names.is_empty() {
                "a JSON object".to_owned()
            } else {
                format!("a JSON object with {}", names.join(", "))
            }
        }
        _ => "any JSON value, or plain text".to_owned(),
    }
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_can_be_copied() {
        for (schema, expected) in [
            (json!({"type": "string"}), "'your answer'"),
            (json!({"type": "boolean"}), "true"),
            (json!({"type": "integer", "minimum": 3}), "3"),
            (json!({"enum": ["it's", "b"]}), "'it'\\''s'"),
            (json!({"type": "array", "items": {"enum": ["a"]}}), "'[\"a\"]'"),
            (
                json!({"type": "object", "required": ["amount"], "properties":
                    {"amount": {"type": "number"}, "note": {"type": "string"}}}),
                "'{\"amount\":1}'",
            ),
        ] {
            let value = plain_text(&build_schema_example(&schema, 0));
            assert_eq!(quote_for_shell(&value), expected);
        }
    }

    #[test]
    fn a_subject_is_shown_as_text() {
        let value = json!({
            "title": "Hello", "body": "One.\n\nTwo.", "items": [{"what": "Train", "price": 4.5}, "x"],
            "none": [], "nothing": null,
        });
        let mut text = String::new();
        push_named(&mut text, "/draft", &value);
        assert_eq!(
            text,
            "/draft:\n  title: Hello\n  body:\n    One.\n\n    Two.\n  items:\n    - what: Train\n      price: 4.5\n    - x\n  none: (none)\n  nothing: null\n"
        );
    }

    #[test]
    fn parts_are_shown_as_their_author_wants() {
        let wait: RunWait = serde_json::from_value(json!({
            "id": "w2", "kind": "approval", "phase": "a", "name": "n", "question": "?", "opened_at": 0,
            "subject": {
                "digest": "sha256:d2",
                "parts": [{ "pointer": "", "value": {
                    "text": "one\n2\n", "same": "x", "sheet": "s.csv", "gone": "g.csv", "rows": [{ "what": "Train" }],
                } }],
                "changes": [
                    { "op": "replace", "path": "/text", "value": "one\n2\n" },
                    { "op": "remove", "path": "/old" },
                    { "op": "move", "path": "/a", "from": "/b" },
                ],
            },
            "presented": [
                { "title": "The text", "pointer": "/text", "format": "difference", "before": "one\ntwo\n" },
                { "title": "The rest", "pointer": "/same", "format": "difference", "before": "x" },
                { "title": "The rows", "pointer": "/rows", "format": "table" },
                { "title": "The sheet", "pointer": "/sheet", "format": "file", "file": { "path": "s.csv", "digest": "sha256:aa" } },
                { "title": "The other", "pointer": "/gone", "format": "image", "file": { "path": "g.csv", "digest": null } },
            ],
        }))
        .expect("a wait");
        assert_eq!(
            describe_subject(&wait).expect("a subject"),
            "The text (changed since it was approved last):
   one
  -two
  +2
The rest: as approved last
The rows:
  - what: Train
The sheet: s.csv (sha256:aa)
The other: g.csv (missing, or too large to be signed)
Changed since the approval was requested first:
  /text is now \"one\\n2\\n\"
  /old was removed
  move /a
subject sha256:d2
"
        );
    }

    #[test]
    fn a_text_that_was_never_approved_is_shown_once() {
        let part = |format, before: Option<Value>| PresentedPart {
            title: format!("{format:?}"),
            pointer: "/text".to_owned(),
            format: Some(format),
            before,
            file: None,
        };
        let show = |before: Option<Value>| {
            let wait: RunWait = serde_json::from_value(json!({
                "id": "w1", "kind": "approval", "phase": "p", "name": "n", "question": "?", "opened_at": 1,
                "subject": {"digest": "sha256:0", "parts": [{"pointer": "/text", "value": "two"}]},
            }))
            .unwrap();
            let presented = vec![
                part(PresentationFormat::Markdown, None),
                part(PresentationFormat::Difference, before),
            ];
            describe_subject(&RunWait { presented, ..wait }).unwrap()
        };
        assert_eq!(
            show(None),
            "Markdown: two\nDifference: nothing was approved before\nsubject sha256:0\n"
        );
        assert!(show(Some(json!("one"))).contains("-one"), "{}", show(Some(json!("one"))));
    }

    #[test]
    fn schemas_are_told_in_words() {
        for (schema, words) in [
            (json!({"type": "string"}), "text"),
            (json!({"enum": ["a", 1]}), "one of: a, 1"),
            (json!({"type": "integer", "minimum": 1, "maximum": 5}), "a whole number from 1 to 5"),
            (json!({"type": "number", "maximum": 5}), "a number of at most 5"),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "a JSON array; each item is text",
            ),
            (
                json!({"type": "object", "properties": {"a": {}, "b": {}}}),
                "a JSON object with a, b",
            ),
            (json!({}), "any JSON value, or plain text"),
        ] {
            assert_eq!(describe_schema(&schema), words);
        }
    }
}
