//! Reads memories of Mem0: the results of `get_all` of the platform or the library, a memory
//! export, or one memory per line.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::item_collector::{EventDraft, FactDraft, ItemCollector};
use super::json_elements::{
    describe_kind, list_member, list_texts, read_json, text_member, time_member,
};
use super::{ForeignFile, ForeignFileError};
use crate::record::SpeakerRole;

const EXPECTED: &str = "a list of Mem0 memories, or an object with `results` or `memories`";

/// The members of an object that may have the memories.
const LISTS: [&str; 3] = ["results", "memories", "data"];

/// Converts one file of memories.
pub(super) fn convert(
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) -> Result<(), ForeignFileError> {
    let mut memories: Vec<(String, Value)> = Vec::new();
    let mut object: Option<Map<String, Value>> = None;
    if file.path.to_ascii_lowercase().ends_with(".jsonl") {
        read_lines(file, &mut memories, items)?;
    } else {
        let mut each = |index: usize, memory: Value| memories.push((format!("/{index}"), memory));
        read_json(file, &mut each, &mut |whole| object = Some(whole), EXPECTED)?;
    }
    if let Some(object) = object.map(Value::Object) {
        let Some(list) =
            LISTS.into_iter().find(|name| object.get(*name).is_some_and(Value::is_array))
        else {
            return Err(ForeignFileError::Shape {
                path: file.path.to_owned(),
                expected: EXPECTED,
                found: "an object without such a list".to_owned(),
            });
        };
        for (index, memory) in list_member(&object, list).iter().enumerate() {
            memories.push((format!("/{list}/{index}"), memory.clone()));
        }
        for (index, relation) in list_member(&object, "relations").iter().enumerate() {
            convert_relation(&format!("/relations/{index}"), relation, file, items);
        }
    }
    let users: BTreeSet<String> = memories
        .iter()
        .filter_map(|(_, memory)| text_member(memory, &["user_id"]).map(str::to_owned))
        .collect();
    for (pointer, memory) in &memories {
        let whose = text_member(memory, &["user_id"]);
        match whose.filter(|whose| users.len() > 1 && *whose != items.user()) {
            Some(other) => items.leave_out(
                pointer,
                format!("it belongs to user `{other}`; import it with `--user {other}`"),
            ),
            None => convert_memory(pointer, memory, items),
        }
    }
    Ok(())
}

/// Reads one memory per line.
fn read_lines(
    file: ForeignFile<'_>,
    memories: &mut Vec<(String, Value)>,
    items: &mut ItemCollector<'_>,
) -> Result<(), ForeignFileError> {
    let text = std::str::from_utf8(file.bytes)
        .map_err(|_| ForeignFileError::Text { path: file.path.to_owned() })?;
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(memory) => memories.push((format!("L{number}"), memory)),
            Err(error) => items.leave_out(&format!("L{number}"), format!("it is no JSON: {error}")),
        }
    }
    Ok(())
}

fn convert_memory(pointer: &str, memory: &Value, items: &mut ItemCollector<'_>) {
    let Some(text) = text_member(memory, &["memory", "content", "text", "data"]) else {
        let found = describe_kind(memory);
        return items.leave_out(pointer, format!("it has no text under `memory`: {found}"));
    };
    let id = text_member(memory, &["id", "memory_id", "hash"]).unwrap_or(text);
    let mut tags = list_texts(memory, "categories");
    let metadata = memory.get("metadata").filter(|metadata| metadata.is_object());
    let topic = tags.first().cloned().unwrap_or_else(|| "memory".to_owned());
    if let Some(session) = text_member(memory, &["app_id"]) {
        tags.push(session.to_owned());
    }
    let ts = time_member(memory, &["updated_at", "created_at"]);
    let event = EventDraft {
        id: vec![id],
        session: text_member(memory, &["run_id", "session_id"]).unwrap_or("memories"),
        ts,
        role: SpeakerRole::User,
        speaker: text_member(memory, &["actor_id"]).map(str::to_owned),
        text: text.to_owned(),
        tags: tags.clone(),
        entities: Vec::new(),
    };
    let short: String = id.chars().take(8).collect();
    let fact = FactDraft {
        id: vec![id],
        key: format!("{topic} {short}"),
        value: text.into(),
        valid_from: time_member(memory, &["created_at"]),
        valid_to: time_member(memory, &["expiration_date"]),
        evidence: Vec::new(),
        preference: tags.iter().any(|tag| tag.contains("preference")),
        tags,
        entities: Vec::new(),
        notes: metadata.map_or_else(String::new, |metadata| format!("metadata: {metadata}")),
    };
    items.add_statement(pointer, event, fact);
}

/// Takes a relation of the graph memory: two entities and how they are related.
fn convert_relation(
    pointer: &str,
    relation: &Value,
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) {
    let source = text_member(relation, &["source"]);
    let target = text_member(relation, &["target", "destination"]);
    let (Some(source), Some(kind), Some(target)) =
        (source, text_member(relation, &["relationship", "relation"]), target)
    else {
        return items.leave_out(pointer, "it has no `source`, `relationship` and `target`");
    };
    let statement = format!("{source} {} {target}", kind.replace('_', " "));
    let entities = vec![source.to_owned(), target.to_owned()];
    let ts = time_member(relation, &["updated_at", "created_at"]).or(file.modified);
    let event = EventDraft {
        id: vec!["relation", source, kind, target],
        session: "relations",
        ts,
        role: SpeakerRole::User,
        speaker: None,
        text: statement.clone(),
        tags: Vec::new(),
        entities: entities.clone(),
    };
    let fact = FactDraft {
        id: vec!["relation", source, kind, target],
        key: statement.clone(),
        value: statement.into(),
        valid_from: time_member(relation, &["created_at"]),
        valid_to: None,
        evidence: Vec::new(),
        preference: false,
        tags: Vec::new(),
        entities,
        notes: String::new(),
    };
    items.add_statement(pointer, event, fact);
}
