//! Reads `conversations.json` of a ChatGPT data export: conversations as trees of messages, of
//! which the branch that ends in `current_node` is the one that the person saw last.

use std::collections::BTreeSet;

use countersign_contract::Timestamp;
use serde_json::{Map, Value};

use super::item_collector::{EventDraft, FactDraft, ItemCollector};
use super::json_elements::{
    describe_kind, escape_token, list_member, read_json, text_member, time_member,
};
use super::{ForeignFile, ForeignFileError};
use crate::record::SpeakerRole;

const EXPECTED: &str = "a list of ChatGPT conversations with `mapping`";

/// Converts one file of conversations.
pub(super) fn convert(
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) -> Result<(), ForeignFileError> {
    // A file may contain one conversation, without a list around it.
    let mut single = None;
    let mut each = |index: usize, conversation: Value| {
        convert_conversation(&format!("/{index}"), &conversation, items);
    };
    read_json(file, &mut each, &mut |object| single = Some(object), EXPECTED)?;
    match single {
        None => Ok(()),
        Some(object) if object.contains_key("mapping") => {
            convert_conversation("", &Value::Object(object), items);
            Ok(())
        }
        Some(_) => Err(ForeignFileError::Shape {
            path: file.path.to_owned(),
            expected: EXPECTED,
            found: "an object without `mapping`".to_owned(),
        }),
    }
}

fn convert_conversation(pointer: &str, conversation: &Value, items: &mut ItemCollector<'_>) {
    let Some(mapping) = conversation.get("mapping").and_then(Value::as_object) else {
        let found = describe_kind(conversation);
        return items.leave_out(pointer, format!("it is no conversation with `mapping`: {found}"));
    };
    let Some(id) = text_member(conversation, &["conversation_id", "id"]) else {
        return items.leave_out(pointer, "the conversation has no id");
    };
    let began = time_member(conversation, &["create_time", "update_time"]);
    let path = find_current_path(conversation, mapping);
    let on_path: BTreeSet<&str> = path.iter().copied().collect();
    for (node, value) in mapping {
        if !on_path.contains(node.as_str()) && value.get("message").is_some_and(Value::is_object) {
            let place = format!("{pointer}/mapping/{}", escape_token(node));
            items.leave_out(&place, "it is on another branch of the conversation");
        }
    }
    let mut last = began;
    for node in path {
        let Some(message) = mapping.get(node).and_then(|value| value.get("message")) else {
            continue;
        };
        if message.is_object() {
            let place = format!("{pointer}/mapping/{}", escape_token(node));
            last = time_member(message, &["create_time", "update_time"]).or(last);
            convert_message(&place, id, node, message, last, items);
        }
    }
}

/// Returns the nodes from the root to the current one. A broken or circular tree ends the path.
fn find_current_path<'m>(conversation: &'m Value, mapping: &'m Map<String, Value>) -> Vec<&'m str> {
    let last_leaf = || {
        let leaves = mapping.iter().filter(|(_, node)| list_member(node, "children").is_empty());
        leaves.map(|(id, _)| id.as_str()).next_back()
    };
    let current = text_member(conversation, &["current_node"]);
    let mut at = current.filter(|id| mapping.contains_key(*id)).or_else(last_leaf);
    let mut path: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    while let Some(id) = at {
        let Some(node) = mapping.get(id) else { break };
        if !seen.insert(id) {
            break;
        }
        path.push(id);
        at = node.get("parent").and_then(Value::as_str);
    }
    path.reverse();
    path
}

fn convert_message(
    pointer: &str,
    conversation: &str,
    node: &str,
    message: &Value,
    ts: Option<Timestamp>,
    items: &mut ItemCollector<'_>,
) {
    let content = message.get("content").unwrap_or(&Value::Null);
    let content_type = content.get("content_type").and_then(Value::as_str).unwrap_or("text");
    if content_type == "user_editable_context" {
        return convert_instructions(pointer, content, ts, items);
    }
    let author = message.get("author").unwrap_or(&Value::Null);
    let role = match author.get("role").and_then(Value::as_str) {
        Some("user") => SpeakerRole::User,
        Some("assistant") => SpeakerRole::Assistant,
        Some("tool") => SpeakerRole::Tool,
        Some("system") => return items.leave_out(pointer, "it is a message of the system"),
        _ => return items.leave_out(pointer, "its author has no role that is known"),
    };
    let metadata = message.get("metadata").unwrap_or(&Value::Null);
    if metadata.get("is_visually_hidden_from_conversation").and_then(Value::as_bool) == Some(true) {
        return items.leave_out(pointer, "it is hidden in the conversation");
    }
    let recipient = message.get("recipient").and_then(Value::as_str).unwrap_or("all");
    if role == SpeakerRole::Assistant && recipient != "all" {
        return items.leave_out(pointer, format!("it is a call of the tool `{recipient}`"));
    }
    let text = match content_type {
        "text" | "multimodal_text" => read_parts(pointer, content, items),
        "code"
        | "execution_output"
        | "tether_quote"
        | "tether_browsing_display"
        | "system_error" => {
            text_member(content, &["text", "result"]).unwrap_or_default().to_owned()
        }
        "thoughts" | "reasoning_recap" => {
            return items.leave_out(pointer, "it is reasoning of the model");
        }
        other => {
            return items.leave_out(pointer, format!("its content has the unknown type `{other}`"));
        }
    };
    items.add_event(
        pointer,
        EventDraft {
            id: vec![conversation, text_member(message, &["id"]).unwrap_or(node)],
            session: conversation,
            ts,
            role,
            speaker: text_member(author, &["name"])
                .filter(|_| role != SpeakerRole::Assistant)
                .map(str::to_owned),
            text,
            tags: Vec::new(),
            entities: Vec::new(),
        },
    );
}

/// Joins the parts of a message; images and sound without a transcript are left out.
fn read_parts(pointer: &str, content: &Value, items: &mut ItemCollector<'_>) -> String {
    let mut texts = Vec::new();
    for (index, part) in list_member(content, "parts").iter().enumerate() {
        let kind = part.get("content_type").and_then(Value::as_str);
        match part.as_str().or_else(|| text_member(part, &["text"])) {
            Some(text) if !text.trim().is_empty() => texts.push(text),
            Some(_) => {}
            None => {
                let kind = kind.unwrap_or_else(|| describe_kind(part));
                let place = format!("{pointer}/message/content/parts/{index}");
                items.leave_out(&place, format!("it is not text but `{kind}`"));
            }
        }
    }
    texts.join("\n\n")
}

/// Takes the custom instructions of the person as preferences; later ones replace earlier ones.
fn convert_instructions(
    pointer: &str,
    content: &Value,
    ts: Option<Timestamp>,
    items: &mut ItemCollector<'_>,
) {
    let mut any = false;
    for (member, key) in [
        ("user_profile", "custom instructions about the user"),
        ("user_instructions", "custom instructions for replies"),
    ] {
        let Some(text) = text_member(content, &[member]) else { continue };
        any = true;
        items.add_instruction(
            pointer,
            FactDraft {
                id: vec![key, text],
                key: key.to_owned(),
                value: text.into(),
                valid_from: ts,
                valid_to: None,
                evidence: Vec::new(),
                preference: true,
                tags: Vec::new(),
                entities: Vec::new(),
                notes: "custom instructions of ChatGPT".to_owned(),
            },
        );
    }
    if !any {
        items.leave_out(pointer, "it has no text");
    }
}
