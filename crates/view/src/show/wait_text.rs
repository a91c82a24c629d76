//! Describes waits in words: the expected answer, and the command that gives it.

use countersign_run::{RunWait, WaitAnswerShape, WaitKind};
use serde_json::Value;

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

/// Returns the command that answers the wait.
#[must_use]
pub fn answer_command(run: &str, wait: &RunWait) -> String {
    let id = &wait.id;
    match wait.kind {
        WaitKind::Question => format!("countersign answer {run}/{id} VALUE"),
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
    use serde_json::json;

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
