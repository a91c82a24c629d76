//! Reads agent files (`.af`) of Letta: memory blocks, archival passages, and messages. Newer files
//! have lists of agents and blocks, older ones describe one agent with its `core_memory`.

use serde_json::Value;

use super::item_collector::{EventDraft, FactDraft, ItemCollector};
use super::json_elements::{
    describe_kind, list_member, list_texts, read_json, text_member, time_member,
};
use super::{ForeignFile, ForeignFileError};
use crate::record::SpeakerRole;

const EXPECTED: &str = "an agent file of Letta, with `agents` and `blocks`, or with `core_memory`";

/// Converts one agent file.
pub(super) fn convert(
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) -> Result<(), ForeignFileError> {
    let (mut object, mut elements) = (None, 0);
    read_json(file, &mut |_, _| elements += 1, &mut |whole| object = Some(whole), EXPECTED)?;
    let shape = |found: String| {
        Err(ForeignFileError::Shape { path: file.path.to_owned(), expected: EXPECTED, found })
    };
    let Some(object) = object.map(Value::Object) else {
        return shape(format!("a list of {elements} elements"));
    };
    let is_new = object.get("agents").is_some_and(Value::is_array);
    if !is_new && object.get("core_memory").is_none() && object.get("blocks").is_none() {
        return shape("an object without them".to_owned());
    }
    let written = time_member(&object, &["created_at", "updated_at"]).or(file.modified);
    for list in ["blocks", "core_memory"] {
        for (index, block) in list_member(&object, list).iter().enumerate() {
            convert_block(&format!("/{list}/{index}"), block, written, items);
        }
    }
    for list in ["passages", "archival_memory"] {
        for (index, passage) in list_member(&object, list).iter().enumerate() {
            convert_passage(&format!("/{list}/{index}"), passage, written, items);
        }
    }
    if !is_new {
        convert_messages("", &object, items);
    }
    for (index, agent) in list_member(&object, "agents").iter().enumerate() {
        convert_messages(&format!("/agents/{index}"), agent, items);
    }
    for list in ["tools", "files", "sources", "groups", "mcp_servers"] {
        for index in 0..list_member(&object, list).len() {
            items.leave_out(&format!("/{list}/{index}"), "it is configuration, not memory");
        }
    }
    Ok(())
}

fn convert_block(
    pointer: &str,
    block: &Value,
    written: Option<countersign_contract::Timestamp>,
    items: &mut ItemCollector<'_>,
) {
    let (Some(label), Some(value)) =
        (text_member(block, &["label", "name"]), text_member(block, &["value"]))
    else {
        let found = describe_kind(block);
        return items
            .leave_out(pointer, format!("it is no block with `label` and `value`: {found}"));
    };
    let event = EventDraft {
        id: vec!["block", label, value],
        session: "blocks",
        ts: time_member(block, &["updated_at", "created_at"]).or(written),
        role: SpeakerRole::Assistant,
        speaker: None,
        text: value.to_owned(),
        tags: vec![label.to_owned()],
        entities: Vec::new(),
    };
    let fact = FactDraft {
        id: vec!["block", label, value],
        key: label.to_owned(),
        value: value.into(),
        valid_from: None,
        valid_to: None,
        evidence: Vec::new(),
        preference: false,
        tags: Vec::new(),
        entities: Vec::new(),
        notes: text_member(block, &["description"]).unwrap_or_default().to_owned(),
    };
    items.add_statement(pointer, event, fact);
}

fn convert_passage(
    pointer: &str,
    passage: &Value,
    written: Option<countersign_contract::Timestamp>,
    items: &mut ItemCollector<'_>,
) {
    let text = text_member(passage, &["text", "content"]).unwrap_or_default();
    items.add_event(
        pointer,
        EventDraft {
            id: vec!["passage", text_member(passage, &["id"]).unwrap_or(text)],
            session: "archival memory",
            ts: time_member(passage, &["created_at", "updated_at"]).or(written),
            role: SpeakerRole::Assistant,
            speaker: None,
            text: text.to_owned(),
            tags: list_texts(passage, "tags"),
            entities: Vec::new(),
        },
    );
}

fn convert_messages(pointer: &str, agent: &Value, items: &mut ItemCollector<'_>) {
    let name = text_member(agent, &["id", "name"]).unwrap_or("agent");
    for (index, message) in list_member(agent, "messages").iter().enumerate() {
        convert_message(&format!("{pointer}/messages/{index}"), name, index, message, items);
    }
}

fn convert_message(
    pointer: &str,
    agent: &str,
    index: usize,
    message: &Value,
    items: &mut ItemCollector<'_>,
) {
    let content = read_content(message);
    let (role, text) = match message.get("role").and_then(Value::as_str) {
        Some("user") => match unpack_user_message(&content) {
            Ok(text) => (SpeakerRole::User, text),
            Err(kind) => {
                return items.leave_out(pointer, format!("it is an event of the system: `{kind}`"));
            }
        },
        Some("assistant") => {
            // What an older agent says is an argument of its tool `send_message`; the content of
            // such a message is its reasoning.
            let said = read_sent_messages(message);
            match (said.is_empty(), list_member(message, "tool_calls").is_empty()) {
                (false, _) => (SpeakerRole::Assistant, said),
                (true, true) => (SpeakerRole::Assistant, content),
                (true, false) => return items.leave_out(pointer, "it is a call of a tool"),
            }
        }
        Some("tool") => {
            let result = unpack_tool_result(&content);
            if matches!(result.as_str(), "None" | "null" | "") || result.starts_with("Sent message")
            {
                return items.leave_out(pointer, "it is the receipt of a message");
            }
            (SpeakerRole::Tool, result)
        }
        Some("system") => return items.leave_out(pointer, "it is a message of the system"),
        other => {
            let role = other.unwrap_or("none");
            return items.leave_out(pointer, format!("its role is not known: `{role}`"));
        }
    };
    let number = index.to_string();
    items.add_event(
        pointer,
        EventDraft {
            id: vec!["message", agent, text_member(message, &["id"]).unwrap_or(&number)],
            session: agent,
            ts: time_member(message, &["created_at"]),
            role,
            speaker: None,
            text,
            tags: Vec::new(),
            entities: Vec::new(),
        },
    );
}

/// Returns the text of a message: a string, or a list of parts.
fn read_content(message: &Value) -> String {
    if let Some(text) = text_member(message, &["content", "text"]) {
        return text.to_owned();
    }
    let parts = list_member(message, "content").iter();
    parts.filter_map(|part| text_member(part, &["text"])).collect::<Vec<_>>().join("\n\n")
}

/// Returns the words of a user message, which Letta wraps in JSON; other wrapped events are errors
/// with their type.
fn unpack_user_message(content: &str) -> Result<String, String> {
    let wrapped = serde_json::from_str::<Value>(content).ok().filter(Value::is_object);
    let Some(wrapped) = wrapped else { return Ok(content.to_owned()) };
    match (text_member(&wrapped, &["type"]), text_member(&wrapped, &["message"])) {
        (Some("user_message") | None, Some(words)) => Ok(words.to_owned()),
        (Some(kind), _) => Err(kind.to_owned()),
        (None, None) => Ok(content.to_owned()),
    }
}

fn unpack_tool_result(content: &str) -> String {
    let wrapped = serde_json::from_str::<Value>(content).ok();
    let words = wrapped.as_ref().and_then(|wrapped| text_member(wrapped, &["message"]));
    words.unwrap_or(content).to_owned()
}

fn read_sent_messages(message: &Value) -> String {
    let calls = list_member(message, "tool_calls").iter().filter_map(|call| call.get("function"));
    let sent = calls.filter(|call| text_member(call, &["name"]) == Some("send_message"));
    let said = sent.filter_map(|call| {
        let arguments: Value = serde_json::from_str(text_member(call, &["arguments"])?).ok()?;
        text_member(&arguments, &["message"]).map(str::to_owned)
    });
    said.collect::<Vec<_>>().join("\n\n")
}
