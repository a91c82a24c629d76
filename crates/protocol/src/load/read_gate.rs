//! Reads the gates of transitions.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::read_approval::read_approval_rules;
use super::read_expression::{read_expression, read_template};
use super::read_presentation::read_presentation;
use super::read_retry_policy::read_retry_policy;
use super::{confined_path, read_duration, read_pointer};
use crate::{EXPRESSION_NAMES, GateCheck, TransitionGate};

/// The gate types, as in the schema. `read_gate` has an arm for each.
const GATE_TYPES: [&str; 5] = ["manual", "criteria", "expression", "file_exists", "status"];

/// The gate types that each key belongs to; other keys belong to all types.
const KEY_OWNERS: [(&str, &[&str]); 13] = [
    ("check", &["criteria", "expression"]),
    ("path", &["file_exists"]),
    ("field", &["status"]),
    ("value", &["status"]),
    ("who", &["manual"]),
    ("deadline", &["manual"]),
    ("subject", &["manual"]),
    ("present", &["manual"]),
    ("need", &["manual"]),
    ("distinct_from", &["manual"]),
    ("verified", &["manual"]),
    ("note", &["manual"]),
    ("escalate", &["manual"]),
];

/// Reads a gate; `None` if it is invalid.
pub(super) fn read_gate(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<TransitionGate> {
    if member.text().is_some() {
        let check = GateCheck::Expression(read_short_gate(member, faults)?);
        return Some(TransitionGate { description: None, check, retry: None });
    }
    let kind = member.text_at("type").unwrap_or_default();
    for (key, kinds) in KEY_OWNERS {
        if member.get(key).is_some() && !kinds.contains(&kind) && GATE_TYPES.contains(&kind) {
            let kinds = kinds.join("` and `");
            let message = format!("`{key}` belongs to gates of type `{kinds}`, not `{kind}`");
            faults.push(member.diagnose_key("misplaced_key", key, message));
        }
    }
    let check = match kind {
        "status" => GateCheck::Status {
            pointer: read_pointer::read_dotted_path(&member.get("field")?, faults)?,
            value: member.string_at("value")?,
        },
        "file_exists" => read_file_check(&member.get("path")?, faults)?,
        "manual" => GateCheck::Manual {
            present: read_presentation(member, faults),
            rules: read_approval_rules(member, faults),
            deadline: member
                .get("deadline")
                .and_then(|it| read_duration::read_duration(&it, faults)),
            subject: member.get("subject").map_or_else(Vec::new, |subject| {
                let items = subject.items();
                items.iter().filter_map(|item| read_pointer::read_pointer(item, faults)).collect()
            }),
            question: match member.get("description") {
                Some(text) => Some(read_template(&text, &EXPRESSION_NAMES[..2], faults)?),
                None => None,
            },
        },
        // `criteria` and `expression`. The schema has refused any other type; its `check` is read
        // all the same, so that a mistake there is reported too.
        _ => GateCheck::Expression(read_expression(
            &member.get("check")?,
            &EXPRESSION_NAMES[..2],
            faults,
        )?),
    };
    let retry = member.get("retry").and_then(|it| read_retry_policy(&it, faults));
    Some(TransitionGate { description: member.string_at("description"), check, retry })
}

/// Reads a check for a file, at a path that may contain placeholders.
fn read_file_check(path: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<GateCheck> {
    if !path.text()?.contains("{{") {
        return Some(GateCheck::FileExists {
            path: confined_path::read_confined_path(path, faults)?,
        });
    }
    let (filled, inside) = (
        read_template(path, &EXPRESSION_NAMES[..2], faults),
        confined_path::check_template_path(path, faults),
    );
    inside?;
    Some(GateCheck::FileExistsTemplate { path: filled? })
}

/// Reads a gate given as text, which is an expression. The name of a gate type in its place is an
/// easy mistake and is reported.
fn read_short_gate(
    member: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> Option<countersign_contract::expr::Expr> {
    let text = member.text()?.trim();
    if GATE_TYPES.contains(&text) {
        let message =
            format!("a gate given as text must be an expression, and `{text}` is not one");
        let hint = format!("did you mean `gate: {{ type: {text} }}`?");
        faults.push(member.diagnose("invalid_expression", message).with_hint(Some(hint)));
        return None;
    }
    read_expression(member, &EXPRESSION_NAMES[..2], faults)
}

#[cfg(test)]
mod tests {
    use super::super::protocol_file::WORKFLOW_SCHEMA;
    use super::GATE_TYPES;

    #[test]
    fn the_schema_has_the_same_gate_types() {
        let schema: serde_json::Value = serde_json::from_str(WORKFLOW_SCHEMA).expect("valid JSON");
        let types = &schema["$defs"]["gate"]["properties"]["type"]["enum"];
        assert_eq!(*types, serde_json::json!(GATE_TYPES));
    }
}
