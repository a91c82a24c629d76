//! Reads graphs of Zep and Graphiti: facts are edges between named nodes, with the time in which
//! they hold and the episodes that they come from. Also reads the messages of a thread.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::item_collector::{EventDraft, FactDraft, ItemCollector};
use super::json_elements::{
    describe_kind, list_member, list_texts, read_json, text_member, time_member,
};
use super::{ForeignFile, ForeignFileError};
use crate::record::{FactEvidence, SpeakerRole};

const EXPECTED: &str =
    "a list of Zep edges, or an object with `edges`, `nodes`, `episodes` or `messages`";

const EDGES: [&str; 4] = ["edges", "entity_edges", "facts", "relevant_facts"];
const NODES: [&str; 3] = ["nodes", "entity_nodes", "entities"];
const EPISODES: [&str; 3] = ["episodes", "episodic_nodes", "episode_nodes"];

/// Converts one file of a graph.
pub(super) fn convert(
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) -> Result<(), ForeignFileError> {
    let mut elements: Vec<Value> = Vec::new();
    let mut object = None;
    read_json(
        file,
        &mut |_, element| elements.push(element),
        &mut |whole| object = Some(whole),
        EXPECTED,
    )?;
    let Some(object) = object.map(Value::Object) else {
        let names = BTreeMap::new();
        for (index, element) in elements.iter().enumerate() {
            convert_element(&format!("/{index}"), element, &names, items);
        }
        return Ok(());
    };
    let lists = [&EDGES[..], &NODES, &EPISODES, &["messages"]].concat();
    if !lists.iter().any(|name| object.get(*name).is_some_and(Value::is_array)) {
        return Err(ForeignFileError::Shape {
            path: file.path.to_owned(),
            expected: EXPECTED,
            found: "an object without such a list".to_owned(),
        });
    }
    let nodes = || NODES.into_iter().flat_map(|list| list_member(&object, list));
    let names: BTreeMap<&str, &str> = nodes()
        .filter_map(|node| {
            Some((text_member(node, &["uuid", "uuid_"])?, text_member(node, &["name"])?))
        })
        .collect();
    let mut episodes = BTreeSet::new();
    for list in EPISODES {
        for (index, episode) in list_member(&object, list).iter().enumerate() {
            episodes.extend(convert_episode(&format!("/{list}/{index}"), episode, items));
        }
    }
    let thread = text_member(&object, &["thread_id", "session_id", "uuid"]).unwrap_or("messages");
    for (index, message) in list_member(&object, "messages").iter().enumerate() {
        convert_message(&format!("/messages/{index}"), thread, message, items);
    }
    for list in EDGES {
        for (index, edge) in list_member(&object, list).iter().enumerate() {
            convert_edge(&format!("/{list}/{index}"), edge, &names, &episodes, items);
        }
    }
    for list in NODES {
        for (index, node) in list_member(&object, list).iter().enumerate() {
            convert_node(&format!("/{list}/{index}"), node, items);
        }
    }
    Ok(())
}

/// Converts an element of a list that does not say what it contains.
fn convert_element(
    pointer: &str,
    element: &Value,
    names: &BTreeMap<&str, &str>,
    items: &mut ItemCollector<'_>,
) {
    if element.get("fact").is_some() {
        convert_edge(pointer, element, names, &BTreeSet::new(), items);
    } else if element.get("summary").is_some() {
        convert_node(pointer, element, items);
    } else if element.get("source").is_some() && element.get("content").is_some() {
        convert_episode(pointer, element, items);
    } else if element.get("role").is_some() || element.get("role_type").is_some() {
        convert_message(pointer, "messages", element, items);
    } else {
        let found = describe_kind(element);
        items.leave_out(pointer, format!("it is no edge, node, episode or message: {found}"));
    }
}

/// Takes an edge as a fact. Its evidence is its episodes, or else the words of the fact.
fn convert_edge(
    pointer: &str,
    edge: &Value,
    names: &BTreeMap<&str, &str>,
    episodes: &BTreeSet<String>,
    items: &mut ItemCollector<'_>,
) {
    let (Some(statement), Some(id)) =
        (text_member(edge, &["fact"]), text_member(edge, &["uuid", "uuid_"]))
    else {
        return items.leave_out(pointer, "it has no `fact` and `uuid`");
    };
    let name = |direct: &str, by_id: &str| -> Option<String> {
        let node = text_member(edge, &[by_id]).and_then(|id| names.get(id).copied());
        text_member(edge, &[direct]).or(node).map(str::to_owned)
    };
    let source = name("source_node_name", "source_node_uuid");
    let target = name("target_node_name", "target_node_uuid");
    let relation = text_member(edge, &["name"]).unwrap_or("relates to").replace('_', " ");
    let relation = relation.to_lowercase();
    let key = match (&source, &target) {
        (Some(source), Some(target)) => format!("{source} {relation} {target}"),
        (Some(one), None) | (None, Some(one)) => format!("{one} {relation}"),
        (None, None) => format!("{relation} {}", id.chars().take(8).collect::<String>()),
    };
    let entities: Vec<String> = source.into_iter().chain(target).collect();
    let known = ["episodes", "episode_uuids"].iter().flat_map(|list| list_texts(edge, list));
    let known = known.map(|episode| items.event_id(&["episode", &episode]));
    let evidence: Vec<FactEvidence> = known
        .filter(|event| episodes.contains(event))
        .map(|event| FactEvidence { event, quote: None })
        .collect();
    let valid_from = time_member(edge, &["valid_at"]);
    let fact = FactDraft {
        id: vec![id],
        key,
        value: statement.into(),
        valid_from,
        valid_to: time_member(edge, &["invalid_at", "expired_at"]),
        evidence,
        preference: false,
        tags: Vec::new(),
        entities: entities.clone(),
        notes: describe_attributes(edge),
    };
    if !fact.evidence.is_empty() {
        return items.add_fact(pointer, fact);
    }
    let event = EventDraft {
        id: vec!["fact", id],
        session: "facts",
        ts: time_member(edge, &["created_at", "valid_at"]),
        role: SpeakerRole::User,
        speaker: None,
        text: statement.to_owned(),
        tags: Vec::new(),
        entities,
    };
    items.add_statement(pointer, event, fact);
}

/// Takes the summary of a node as a fact about the node.
fn convert_node(pointer: &str, node: &Value, items: &mut ItemCollector<'_>) {
    let (Some(name), Some(id)) =
        (text_member(node, &["name"]), text_member(node, &["uuid", "uuid_"]))
    else {
        return items.leave_out(pointer, "it has no `name` and `uuid`");
    };
    let Some(summary) = text_member(node, &["summary"]) else {
        return items.leave_out(pointer, format!("the node `{name}` has no summary"));
    };
    let labels = list_texts(node, "labels");
    let tags: Vec<String> = labels.into_iter().filter(|label| label != "Entity").collect();
    let entities = vec![name.to_owned()];
    let event = EventDraft {
        id: vec!["node", id, summary],
        session: "facts",
        ts: time_member(node, &["created_at"]),
        role: SpeakerRole::User,
        speaker: None,
        text: summary.to_owned(),
        tags: tags.clone(),
        entities: entities.clone(),
    };
    let fact = FactDraft {
        id: vec!["node", id, summary],
        key: name.to_owned(),
        value: summary.into(),
        valid_from: None,
        valid_to: None,
        evidence: Vec::new(),
        preference: false,
        tags,
        entities,
        notes: describe_attributes(node),
    };
    items.add_statement(pointer, event, fact);
}

/// Takes an episode as an event. An episode of the type `message` begins with the speaker.
fn convert_episode(
    pointer: &str,
    episode: &Value,
    items: &mut ItemCollector<'_>,
) -> Option<String> {
    let Some(id) = text_member(episode, &["uuid", "uuid_"]) else {
        items.leave_out(pointer, "it has no `uuid`");
        return None;
    };
    let content = text_member(episode, &["content"]).unwrap_or_default();
    let (speaker, text) = match content.split_once(':') {
        Some((speaker, text))
            if text_member(episode, &["source"]) == Some("message")
                && speaker.len() <= 80
                && !speaker.contains('\n') =>
        {
            (Some(speaker.trim()), text.trim())
        }
        _ => (None, content),
    };
    let role = text_member(episode, &["role_type"]).or(speaker).map(str::to_lowercase);
    let role = parse_role(role.as_deref());
    let speaker = speaker.filter(|speaker| !is_role(&speaker.to_lowercase()));
    let session = text_member(episode, &["thread_id", "session_id", "group_id", "graph_id"]);
    items.add_event(
        pointer,
        EventDraft {
            id: vec!["episode", id],
            session: session.unwrap_or("episodes"),
            ts: time_member(episode, &["valid_at", "reference_time", "created_at"]),
            role,
            speaker: speaker.map(str::to_owned),
            text: text.to_owned(),
            tags: Vec::new(),
            entities: Vec::new(),
        },
    )
}

fn convert_message(pointer: &str, thread: &str, message: &Value, items: &mut ItemCollector<'_>) {
    let text = text_member(message, &["content"]).unwrap_or_default();
    let role = text_member(message, &["role_type", "role"]).map(str::to_lowercase);
    let Some(id) = text_member(message, &["uuid", "uuid_"]) else {
        return items.leave_out(pointer, "it has no `uuid`");
    };
    let speaker = text_member(message, &["name", "role"]);
    items.add_event(
        pointer,
        EventDraft {
            id: vec!["message", id],
            session: thread,
            ts: time_member(message, &["created_at"]),
            role: parse_role(role.as_deref()),
            speaker: speaker.filter(|name| !is_role(&name.to_lowercase())).map(str::to_owned),
            text: text.to_owned(),
            tags: Vec::new(),
            entities: Vec::new(),
        },
    );
}

fn parse_role(name: Option<&str>) -> SpeakerRole {
    match name {
        Some("assistant" | "ai") => SpeakerRole::Assistant,
        Some("tool" | "function" | "system") => SpeakerRole::Tool,
        _ => SpeakerRole::User,
    }
}

fn is_role(name: &str) -> bool {
    matches!(name, "user" | "human" | "assistant" | "ai" | "tool" | "function" | "system")
}

fn describe_attributes(value: &Value) -> String {
    let attributes = value.get("attributes").and_then(Value::as_object);
    let attributes = attributes.filter(|attributes| !attributes.is_empty());
    attributes.map_or_else(String::new, |attributes| {
        format!("attributes: {}", Value::Object(attributes.clone()))
    })
}
