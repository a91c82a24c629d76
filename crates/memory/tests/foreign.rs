//! Exports of other memories and chat programs become rows of origin `imported`; what is not taken
//! is listed with its place.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use countersign_contract::Timestamp;
use countersign_memory::MemorySubject;
use countersign_memory::foreign::{
    ForeignConversion, ForeignFile, ForeignFileError, ForeignSource, convert_foreign_file,
};
use countersign_memory::record::{MemoryEvent, MemoryFact, MemoryOrigin, SpeakerRole};
use countersign_memory::store::{
    EphemeralMemory, ImportTrust, MemoryExportLine, MemoryExportRow, MemoryMaintenance as _,
};
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp(1_790_000_000_000);

fn owner() -> MemorySubject {
    MemorySubject { tenant: "default".into(), user: "ann".into(), agent: "helper".into() }
}

fn read(
    source: ForeignSource,
    path: &str,
    bytes: &[u8],
) -> Result<ForeignConversion, ForeignFileError> {
    let modified = Timestamp::parse("2025-03-04T05:06:07Z");
    convert_foreign_file(source, ForeignFile { path, bytes, modified }, &owner(), NOW)
}

#[track_caller]
fn convert(source: ForeignSource, path: &str, export: &Value) -> ForeignConversion {
    read(source, path, export.to_string().as_bytes()).unwrap()
}

fn events(conversion: &ForeignConversion) -> Vec<&MemoryEvent> {
    let rows = conversion.items.iter().map(|item| &item.row);
    rows.filter_map(|row| match row {
        MemoryExportRow::Event(event) => Some(&**event),
        _ => None,
    })
    .collect()
}

fn facts(conversion: &ForeignConversion) -> Vec<&MemoryFact> {
    let rows = conversion.items.iter().map(|item| &item.row);
    rows.filter_map(|row| match row {
        MemoryExportRow::Fact { fact, .. } => Some(&**fact),
        _ => None,
    })
    .collect()
}

fn omissions(conversion: &ForeignConversion) -> Vec<String> {
    let told =
        |it: &countersign_memory::foreign::ForeignOmission| format!("{}: {}", it.place, it.reason);
    conversion.omissions.iter().map(told).collect()
}

/// Imports a conversion twice: everything is stored, and the second time changes nothing.
async fn import_twice(conversion: &ForeignConversion) -> Vec<MemoryExportLine> {
    let memory = EphemeralMemory::new();
    let lines = || conversion.items.iter().map(|item| item.to_line(&owner())).collect::<Vec<_>>();
    let first = memory.import(lines(), ImportTrust::Foreign, NOW).await.unwrap();
    assert_eq!(first.refused, []);
    let stored = memory.export(&owner()).await.unwrap();
    let again = memory.import(lines(), ImportTrust::Foreign, NOW.plus_millis(9_999)).await.unwrap();
    assert_eq!(again.refused, []);
    assert_eq!(memory.export(&owner()).await.unwrap(), stored, "the second time adds nothing");
    for line in &stored {
        let origin = match &line.row {
            MemoryExportRow::Event(event) => event.origin,
            MemoryExportRow::Fact { origin, .. } => *origin,
            other => panic!("{other:?}"),
        };
        assert_eq!(origin, MemoryOrigin::Imported);
    }
    stored
}

fn chatgpt_conversation(id: &str, began: f64) -> Value {
    let message = |id: &str, role: &str, content: Value, more: Value| {
        let mut message = json!({"id": id, "author": {"role": role, "name": null, "metadata": {}},
            "create_time": began + 1.5, "content": content, "status": "finished_successfully",
            "metadata": {}, "recipient": "all"});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message
    };
    let text = |words: &str| json!({"content_type": "text", "parts": [words]});
    let image = json!({"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"},
        "What is on this picture?"]});
    let context = json!({"content_type": "user_editable_context",
        "user_profile": "I am a baker in Lyon.", "user_instructions": "Be brief."});
    json!({
        "title": "Bread", "conversation_id": id, "id": id, "create_time": began,
        "update_time": began + 60.0, "current_node": "n6", "is_archived": false,
        "mapping": {
            "n0": {"id": "n0", "message": null, "parent": null, "children": ["n1"]},
            "n1": {"id": "n1", "parent": "n0", "children": ["n2"],
                "message": message("n1", "system", text(""), json!({}))},
            "n2": {"id": "n2", "parent": "n1", "children": ["n3"],
                "message": message("n2", "user", context, json!({}))},
            "n3": {"id": "n3", "parent": "n2", "children": ["n4", "n5"],
                "message": message("n3", "user", image, json!({}))},
            "n4": {"id": "n4", "parent": "n3", "children": [],
                "message": message("n4", "assistant", text("A cat?"), json!({}))},
            "n5": {"id": "n5", "parent": "n3", "children": ["n6"],
                "message": message("n5", "assistant",
                    json!({"content_type": "code", "language": "python", "text": "look()"}),
                    json!({"recipient": "python"}))},
            "n6": {"id": "n6", "parent": "n5", "children": [],
                "message": message("n6", "assistant", text("A sourdough loaf."), json!({}))},
        },
    })
}

#[tokio::test]
async fn chatgpt_conversations_are_read_along_their_current_branch() {
    let export = json!([
        chatgpt_conversation("c2", 1_750_000_000.0),
        {"title": "odd", "mapping": []},
        chatgpt_conversation("c1", 1_740_000_000.0),
    ]);
    let mut found = convert(ForeignSource::Chatgpt, "conversations.json", &export);
    found.sort_sessions();
    let said: Vec<(&str, &str, SpeakerRole)> =
        events(&found).into_iter().map(|it| (it.scope.session(), &*it.text, it.role)).collect();
    assert_eq!(
        said,
        [
            ("chatgpt:c1", "What is on this picture?", SpeakerRole::User),
            ("chatgpt:c1", "A sourdough loaf.", SpeakerRole::Assistant),
            ("chatgpt:c2", "What is on this picture?", SpeakerRole::User),
            ("chatgpt:c2", "A sourdough loaf.", SpeakerRole::Assistant),
        ]
    );
    assert_eq!(events(&found)[0].ts, Timestamp(1_740_000_001_500));
    let keys: Vec<(&str, &Value)> =
        facts(&found).into_iter().map(|it| (&*it.key, &it.value)).collect();
    assert_eq!(
        keys,
        [
            ("custom instructions about the user", &json!("I am a baker in Lyon.")),
            ("custom instructions for replies", &json!("Be brief.")),
        ]
    );
    let left = omissions(&found);
    for place in [
        "conversations.json#/0/mapping/n4: it is on another branch of the conversation",
        "conversations.json#/0/mapping/n1: it is a message of the system",
        "conversations.json#/0/mapping/n3/message/content/parts/0: it is not text but `image_asset_pointer`",
        "conversations.json#/0/mapping/n5: it is a call of the tool `python`",
        "conversations.json#/1: it is no conversation with `mapping`: an object",
    ] {
        assert!(left.iter().any(|line| line == place), "{place} in {left:#?}");
    }
    assert_eq!(import_twice(&found).await.len(), 6);
}

#[test]
fn a_circular_tree_of_messages_ends() {
    let mut conversation = chatgpt_conversation("c1", 1_740_000_000.0);
    conversation["mapping"]["n3"]["parent"] = json!("n6");
    let found = convert(ForeignSource::Chatgpt, "conversations.json", &conversation);
    assert_eq!(events(&found).len(), 2, "what the circle contains is read once");
}

#[tokio::test]
async fn claude_conversations_memories_and_projects_are_read() {
    let conversations = json!([{
        "uuid": "c1", "name": "Trip", "created_at": "2025-05-01T10:00:00.000000Z",
        "updated_at": "2025-05-01T10:05:00.000000Z", "account": {"uuid": "a"},
        "chat_messages": [
            {"uuid": "m1", "text": "Read this.", "sender": "human", "created_at": "2025-05-01T10:00:01.123456Z",
                "content": [{"type": "text", "text": "Read this."}],
                "attachments": [{"file_name": "plan.txt", "file_type": "txt", "extracted_content": "Leave on Friday."}],
                "files": [{"file_name": "photo.png"}]},
            {"uuid": "m2", "text": "", "sender": "assistant", "created_at": "2025-05-01T10:00:09Z",
                "content": [{"type": "thinking", "thinking": "hm"},
                    {"type": "tool_use", "name": "web_search", "input": {}},
                    {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": "Trains run."}]},
                    {"type": "text", "text": "You leave on Friday."}], "attachments": [], "files": []},
            {"uuid": "m3", "text": "An older message.", "sender": "human", "created_at": "2025-05-01T10:01:00Z",
                "content": []},
        ],
    }]);
    let found = convert(ForeignSource::Claude, "conversations.json", &conversations);
    let said: Vec<(&str, SpeakerRole)> =
        events(&found).into_iter().map(|it| (&*it.text, it.role)).collect();
    assert_eq!(
        said,
        [
            ("Read this.", SpeakerRole::User),
            ("plan.txt\n\nLeave on Friday.", SpeakerRole::Tool),
            ("Trains run.", SpeakerRole::Tool),
            ("You leave on Friday.", SpeakerRole::Assistant),
            ("An older message.", SpeakerRole::User),
        ]
    );
    assert_eq!(
        omissions(&found),
        [
            "conversations.json#/0/chat_messages/0/files/0: the export does not have the text of `photo.png`",
            "conversations.json#/0/chat_messages/1/content/0: it is not text but `thinking`",
            "conversations.json#/0/chat_messages/1/content/1: it is not text but `tool_use`",
        ]
    );
    assert_eq!(import_twice(&found).await.len(), 5);

    let memories = json!([{"account_uuid": "a", "conversations_memory": "**Work**\n\nAnn bakes.",
        "project_memories": {"p1": "The oven is new."}}]);
    let found = convert(ForeignSource::Claude, "memories.json", &memories);
    let said: Vec<&str> = events(&found).into_iter().map(|it| &*it.text).collect();
    assert_eq!(said, ["**Work**\n\nAnn bakes.", "The oven is new."]);

    let projects = json!([{"uuid": "p1", "name": "Bakery", "description": "All about the bakery.",
        "prompt_template": "", "created_at": "2025-01-02T03:04:05Z",
        "docs": [{"uuid": "d1", "filename": "prices.md", "content": "# Bread\n3 €\n# Cake\n5 €"}]}]);
    let found = convert(ForeignSource::Claude, "projects.json", &projects);
    let said: Vec<&str> = events(&found).into_iter().map(|it| &*it.text).collect();
    assert_eq!(said, ["All about the bakery.", "Bread\n\n3 €", "Cake\n\n5 €"]);
}

#[tokio::test]
async fn mem0_memories_become_facts_with_their_words_as_evidence() {
    let export = json!({
        "count": 3,
        "results": [
            {"id": "8f3a2b10-1", "memory": "Ann is vegetarian", "user_id": "ann", "hash": "h1",
                "categories": ["food_preferences"], "metadata": {"from": "chat"},
                "created_at": "2025-02-19T06:42:12.123456-08:00", "updated_at": null},
            {"id": "8f3a2b10-2", "memory": "Ann works at TechCorp", "user_id": "ann", "metadata": null,
                "created_at": "2025-02-20T00:00:00Z", "expiration_date": "2026-02-20"},
            {"id": "x", "memory": "Bob likes tea", "user_id": "bob", "created_at": "2025-02-20T00:00:00Z"},
            {"id": "y", "score": 1},
        ],
        "relations": [{"source": "ann", "relationship": "works_at", "target": "techcorp"}],
    });
    let found = convert(ForeignSource::Mem0, "memories.json", &export);
    let [relation, diet, work] = facts(&found)[..] else { panic!("{found:?}") };
    assert_eq!(
        (&*diet.key, &diet.value),
        ("food_preferences 8f3a2b10", &json!("Ann is vegetarian"))
    );
    assert!(diet.preference && !work.preference);
    assert_eq!(diet.notes, r#"metadata: {"from":"chat"}"#);
    assert_eq!(diet.valid_from, Timestamp::parse("2025-02-19T14:42:12.123Z"));
    assert_eq!(work.valid_to, Timestamp::parse("2026-02-20T00:00:00Z"));
    assert_eq!(relation.entities, ["ann", "techcorp"]);
    assert_eq!(diet.evidence[0].quote.as_deref(), Some("Ann is vegetarian"));
    assert_eq!(
        omissions(&found),
        [
            "memories.json#/results/2: it belongs to user `bob`; import it with `--user bob`",
            "memories.json#/results/3: it has no text under `memory`: an object",
        ]
    );
    assert_eq!(import_twice(&found).await.len(), 6);

    let lines = b"{\"id\":\"1\",\"memory\":\"one\",\"created_at\":\"2025-01-01\"}\nnot json\n";
    let found = read(ForeignSource::Mem0, "m.jsonl", lines).unwrap();
    assert_eq!((facts(&found).len(), found.omissions[0].place.as_str()), (1, "m.jsonl#L2"));
}

#[tokio::test]
async fn zep_edges_keep_their_times_their_names_and_their_episodes() {
    let export = json!({
        "nodes": [{"uuid": "n1", "name": "Ann", "labels": ["Entity", "Person"], "summary": "Ann is a baker.",
                "created_at": "2025-01-01T00:00:00Z", "attributes": {}},
            {"uuid": "n2", "name": "Lyon", "labels": ["Entity"], "summary": "", "created_at": "2025-01-01T00:00:00Z"}],
        "edges": [
            {"uuid": "e1", "name": "LIVES_IN", "fact": "Ann lives in Lyon", "source_node_uuid": "n1",
                "target_node_uuid": "n2", "episodes": ["p1"], "created_at": "2025-01-02T00:00:00Z",
                "valid_at": "2024-06-01T00:00:00Z", "invalid_at": "2025-06-01T00:00:00Z", "expired_at": null},
            {"uuid": "e2", "name": "LIVES_IN", "fact": "Ann moved to Lyon for work", "source_node_uuid": "n1",
                "target_node_uuid": "n2", "episodes": ["gone"], "created_at": "2025-01-02 10:00:00",
                "valid_at": null, "invalid_at": null},
            {"uuid": "e3"},
        ],
        "episodes": [{"uuid": "p1", "name": "chat", "source": "message", "content": "Ann: I live in Lyon.",
            "source_description": "chat", "group_id": "g", "valid_at": "2025-01-02T09:00:00Z",
            "created_at": "2025-01-03T00:00:00Z"}],
    });
    let found = convert(ForeignSource::Zep, "graph.json", &export);
    let [lives, moved, summary] = facts(&found)[..] else { panic!("{found:?}") };
    assert_eq!((&*lives.key, &lives.value), ("Ann lives in Lyon", &json!("Ann lives in Lyon")));
    assert!(moved.key.starts_with("Ann lives in Lyon ("), "{}: both hold", moved.key);
    assert_eq!((&*summary.key, &*summary.tags), ("Ann", &["Person".to_owned()][..]));
    assert_eq!(lives.valid_to, Timestamp::parse("2025-06-01T00:00:00Z"));
    assert_eq!(lives.entities, ["Ann", "Lyon"]);
    let episode = events(&found)[0];
    assert_eq!((episode.speaker.as_deref(), &*episode.text), (Some("Ann"), "I live in Lyon."));
    assert_eq!((&lives.evidence[0].event, &lives.evidence[0].quote), (&episode.id, &None));
    assert!(moved.evidence[0].quote.is_some(), "its episode is not in the file");
    assert_eq!(
        omissions(&found),
        [
            "graph.json#/edges/2: it has no `fact` and `uuid`",
            "graph.json#/nodes/1: the node `Lyon` has no summary",
        ]
    );
    assert_eq!(import_twice(&found).await.len(), 6);
}

#[tokio::test]
async fn letta_agents_give_blocks_and_what_was_said() {
    let user = json!({"type": "user_message", "message": "Hi, I am Ann.", "time": "2025-01-01"});
    let beat = json!({"type": "heartbeat", "reason": "timer"});
    let call = json!({"function": {"name": "send_message",
        "arguments": "{\"message\": \"Hello Ann!\"}"}, "id": "t1", "type": "function"});
    let at = "2025-01-01T10:00:00Z";
    let messages = json!([
        {"id": "message-0", "role": "system", "content": [{"type": "text", "text": "You are."}], "created_at": at},
        {"id": "message-1", "role": "user", "content": [{"type": "text", "text": user.to_string()}], "created_at": at},
        {"id": "message-2", "role": "user", "content": [{"type": "text", "text": beat.to_string()}], "created_at": at},
        {"id": "message-3", "role": "assistant", "content": [{"type": "text", "text": "She says hi."}],
            "tool_calls": [call], "created_at": at},
        {"id": "message-4", "role": "tool", "created_at": at,
            "content": [{"type": "text", "text": "{\"status\":\"OK\",\"message\":\"None\"}"}]},
    ]);
    let new = json!({
        "agents": [{"id": "agent-0", "name": "helper", "messages": messages, "block_ids": ["block-0"]}],
        "blocks": [{"id": "block-0", "label": "human", "value": "Name: Ann", "limit": 5000}],
        "tools": [{"id": "tool-0"}], "files": [], "groups": [], "sources": [], "mcp_servers": [],
        "metadata": {}, "created_at": at,
    });
    let old = json!({"agent_type": "memgpt_agent", "core_memory": [{"label": "human", "value": "Name: Ann",
        "created_at": at}], "messages": messages, "name": "agent-0", "version": "0.6.0"});
    for export in [&new, &old] {
        let found = convert(ForeignSource::Letta, "helper.af", export);
        let said: Vec<(&str, SpeakerRole)> =
            events(&found).into_iter().map(|it| (&*it.text, it.role)).collect();
        assert_eq!(
            said,
            [
                ("Name: Ann", SpeakerRole::Assistant),
                ("Hi, I am Ann.", SpeakerRole::User),
                ("Hello Ann!", SpeakerRole::Assistant),
            ]
        );
        assert_eq!(facts(&found)[0].key, "human");
        assert!(omissions(&found).iter().any(|it| it.ends_with("`heartbeat`")));
        import_twice(&found).await;
    }
}

#[tokio::test]
async fn notes_are_cut_at_their_headings_and_dated() {
    let note = "---\ntitle: Visit\ndate: 2025-06-10\ntags: [audit, plant]\n---\n# Visit\n\nThe line stopped.\n\n## Next\n- call Ann\n";
    let found = read(ForeignSource::Markdown, "notes/visit.md", note.as_bytes()).unwrap();
    let parts: Vec<(&str, &str)> = found
        .items
        .iter()
        .zip(events(&found))
        .map(|(item, it)| (&*item.place, &*it.text))
        .collect();
    assert_eq!(
        parts,
        [
            ("notes/visit.md#L8", "Visit\n\nThe line stopped."),
            ("notes/visit.md#L11", "Visit > Next\n\n- call Ann"),
        ]
    );
    let event = events(&found)[0];
    assert_eq!(event.ts, Timestamp::parse("2025-06-10T00:00:00Z").unwrap());
    assert_eq!(event.tags, ["audit", "plant"]);
    import_twice(&found).await;

    // A change in one section leaves the others as they are.
    let changed = note.replace("call Ann", "call Bob");
    let changed = read(ForeignSource::Markdown, "notes/visit.md", changed.as_bytes()).unwrap();
    assert_eq!(events(&changed)[0].id, event.id);
    assert_ne!(events(&changed)[1].id, events(&found)[1].id);

    let named = read(ForeignSource::Markdown, "2024-12-24 Eve.md", b"Snow.").unwrap();
    assert_eq!(events(&named)[0].ts, Timestamp::parse("2024-12-24T00:00:00Z").unwrap());
    let undated = read(ForeignSource::Markdown, "idea.md", b"An idea.").unwrap();
    assert_eq!(events(&undated)[0].ts, Timestamp::parse("2025-03-04T05:06:07Z").unwrap());
}

#[test]
fn files_of_another_shape_are_refused_with_a_reason() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for source in ForeignSource::ALL {
        assert_eq!(ForeignSource::find(source.name()), Some(source));
        if source == ForeignSource::Markdown {
            let error = read(source, "n.md", b"\xff\xfe").unwrap_err();
            assert_eq!(error.to_string(), "`n.md` is not text in UTF-8");
            continue;
        }
        let error = read(source, "x.json", b"{\"a\": ").unwrap_err().to_string();
        assert!(
            error.starts_with("`x.json` is not JSON that can be read: EOF while parsing"),
            "{error}"
        );
        let error = read(source, "x.json", deep.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("recursion limit exceeded"), "{error}");
        let error = read(source, "x.json", b"\"text\"").unwrap_err().to_string();
        assert!(error.ends_with("; found a string"), "{error}");
        // Elements of any type are omissions, never a crash.
        let odd = json!([null, 1, "x", [], {}, {"mapping": {"a": 1}, "id": "c"}, {"chat_messages": 3, "uuid": 1},
            {"memory": 5}, {"fact": {}, "uuid": []}, {"docs": "x"}, {"project_memories": {"p": 1}}]);
        if let Ok(found) = read(source, "x.json", odd.to_string().as_bytes()) {
            assert!(found.items.is_empty(), "{source:?}: {:?}", found.items);
            assert!(!found.omissions.is_empty(), "{source:?}");
        }
    }
}
