//! Reads the files of a Claude data export: `conversations.json`, `memories.json`, and the
//! documents in `projects.json` or `projects/*.json`.

use countersign_contract::Timestamp;
use serde_json::Value;

use super::foreign_text::split_markdown;
use super::item_collector::{EventDraft, ItemCollector};
use super::json_elements::{describe_kind, list_member, read_json, text_member, time_member};
use super::{ForeignFile, ForeignFileError};
use crate::record::SpeakerRole;

const EXPECTED: &str = "a list of Claude conversations, memories or projects";

/// Converts one file of the export.
pub(super) fn convert(
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) -> Result<(), ForeignFileError> {
    let mut single = None;
    let mut each =
        |index: usize, element: Value| convert_element(&format!("/{index}"), &element, file, items);
    read_json(file, &mut each, &mut |object| single = Some(object), EXPECTED)?;
    if let Some(object) = single {
        convert_element("", &Value::Object(object), file, items);
    }
    Ok(())
}

fn convert_element(
    pointer: &str,
    element: &Value,
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) {
    if element.get("chat_messages").is_some() {
        convert_conversation(pointer, element, items);
    } else if element.get("conversations_memory").is_some()
        || element.get("project_memories").is_some()
    {
        convert_memories(pointer, element, file, items);
    } else if element.get("docs").is_some() {
        convert_project(pointer, element, items);
    } else {
        let found = describe_kind(element);
        items.leave_out(pointer, format!("it is no conversation, memory or project: {found}"));
    }
}

fn convert_conversation(pointer: &str, conversation: &Value, items: &mut ItemCollector<'_>) {
    let Some(id) = text_member(conversation, &["uuid"]) else {
        return items.leave_out(pointer, "the conversation has no `uuid`");
    };
    let mut last = time_member(conversation, &["created_at", "updated_at"]);
    for (index, message) in list_member(conversation, "chat_messages").iter().enumerate() {
        let place = format!("{pointer}/chat_messages/{index}");
        let role = match message.get("sender").and_then(Value::as_str) {
            Some("human" | "user") => SpeakerRole::User,
            Some("assistant") => SpeakerRole::Assistant,
            _ => {
                items.leave_out(&place, "its sender is not known");
                continue;
            }
        };
        last = time_member(message, &["created_at", "updated_at"]).or(last);
        let number = index.to_string();
        let message_id = text_member(message, &["uuid"]).unwrap_or(&number);
        let mut words: Vec<&str> = Vec::new();
        for (block, content) in list_member(message, "content").iter().enumerate() {
            let at = format!("{place}/content/{block}");
            match content.get("type").and_then(Value::as_str) {
                Some("text") => words.extend(text_member(content, &["text"])),
                Some("tool_result") => {
                    add_tool_result(&at, (id, message_id, block), content, last, items);
                }
                Some(kind) => items.leave_out(&at, format!("it is not text but `{kind}`")),
                None => items.leave_out(&at, "it has no type"),
            }
        }
        // Older exports have the text beside an empty list of blocks.
        if words.is_empty() {
            words.extend(text_member(message, &["text"]));
        }
        let text = words.join("\n\n");
        let draft = EventDraft {
            id: vec![id, message_id],
            session: id,
            ts: last,
            role,
            speaker: None,
            text,
            tags: Vec::new(),
            entities: Vec::new(),
        };
        items.add_event(&place, draft);
        convert_attachments(&place, id, message_id, message, last, items);
    }
}

fn add_tool_result(
    pointer: &str,
    (conversation, message, block): (&str, &str, usize),
    content: &Value,
    ts: Option<Timestamp>,
    items: &mut ItemCollector<'_>,
) {
    let texts = list_member(content, "content").iter();
    let mut texts: Vec<&str> = texts.filter_map(|part| text_member(part, &["text"])).collect();
    texts.extend(content.get("content").and_then(Value::as_str));
    let block = block.to_string();
    items.add_event(
        pointer,
        EventDraft {
            id: vec![conversation, message, "result", &block],
            session: conversation,
            ts,
            role: SpeakerRole::Tool,
            speaker: text_member(content, &["name"]).map(str::to_owned),
            text: texts.join("\n\n"),
            tags: Vec::new(),
            entities: Vec::new(),
        },
    );
}

/// Takes the text of attached files; files of which the export has only the name are left out.
fn convert_attachments(
    pointer: &str,
    conversation: &str,
    message_id: &str,
    message: &Value,
    ts: Option<Timestamp>,
    items: &mut ItemCollector<'_>,
) {
    for member in ["attachments", "files"] {
        for (index, attachment) in list_member(message, member).iter().enumerate() {
            let place = format!("{pointer}/{member}/{index}");
            let name = text_member(attachment, &["file_name"]).unwrap_or("a file");
            let Some(text) = text_member(attachment, &["extracted_content"]) else {
                items.leave_out(&place, format!("the export does not have the text of `{name}`"));
                continue;
            };
            let number = index.to_string();
            items.add_event(
                &place,
                EventDraft {
                    id: vec![conversation, message_id, member, &number],
                    session: conversation,
                    ts,
                    role: SpeakerRole::Tool,
                    speaker: None,
                    text: format!("{name}\n\n{text}"),
                    tags: vec!["attachment".to_owned()],
                    entities: Vec::new(),
                },
            );
        }
    }
}

/// Takes what Claude remembers of the person, in parts. The export names no time for it, so the
/// time of the file counts.
fn convert_memories(
    pointer: &str,
    memories: &Value,
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) {
    let ts = time_member(memories, &["updated_at", "created_at"]).or(file.modified);
    if let Some(text) = text_member(memories, &["conversations_memory"]) {
        let place = format!("{pointer}/conversations_memory");
        add_parts(&place, ("memory", &["memory"]), text, ts, SpeakerRole::Assistant, items);
    }
    if let Some(projects) = memories.get("project_memories").and_then(Value::as_object) {
        for (project, text) in projects {
            let place = format!("{pointer}/project_memories/{project}");
            match text.as_str() {
                Some(text) => {
                    let names = ["memory", project.as_str()];
                    add_parts(&place, (project, &names), text, ts, SpeakerRole::Assistant, items);
                }
                None => items.leave_out(&place, "it is not text"),
            }
        }
    }
}

fn convert_project(pointer: &str, project: &Value, items: &mut ItemCollector<'_>) {
    let Some(id) = text_member(project, &["uuid"]) else {
        return items.leave_out(pointer, "the project has no `uuid`");
    };
    let began = time_member(project, &["created_at", "updated_at"]);
    for member in ["description", "prompt_template"] {
        if let Some(text) = text_member(project, &[member]) {
            let place = format!("{pointer}/{member}");
            add_parts(&place, (id, &[id, member]), text, began, SpeakerRole::User, items);
        }
    }
    for (index, doc) in list_member(project, "docs").iter().enumerate() {
        let place = format!("{pointer}/docs/{index}");
        let Some(text) = text_member(doc, &["content"]) else {
            items.leave_out(&place, "the document has no text");
            continue;
        };
        let name = text_member(doc, &["filename", "file_name"]).unwrap_or("document");
        let number = index.to_string();
        let doc_id = text_member(doc, &["uuid"]).unwrap_or(&number);
        let ts = time_member(doc, &["created_at", "updated_at"]).or(began);
        let text = format!("# {name}\n\n{text}");
        add_parts(&place, (id, &[id, doc_id]), &text, ts, SpeakerRole::Tool, items);
    }
}

/// Adds a long text in parts, each with its headings.
fn add_parts(
    pointer: &str,
    (session, names): (&str, &[&str]),
    text: &str,
    ts: Option<Timestamp>,
    role: SpeakerRole,
    items: &mut ItemCollector<'_>,
) {
    for (number, part) in split_markdown(text).into_iter().enumerate() {
        let number = number.to_string();
        let heading = part.headings.join(" > ");
        let text =
            if heading.is_empty() { part.body } else { format!("{heading}\n\n{}", part.body) };
        let mut id = names.to_vec();
        id.extend([number.as_str(), text.as_str()]);
        let draft = EventDraft {
            id,
            session,
            ts,
            role,
            speaker: None,
            text: text.clone(),
            tags: Vec::new(),
            entities: Vec::new(),
        };
        items.add_event(pointer, draft);
    }
}
