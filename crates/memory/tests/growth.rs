//! The law of growth at the memory's door: lines that are imported and events that are remembered,
//! in an `SQLite` file. Time and memory grow linearly with them.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_contract::Timestamp;
use countersign_memory::MemoryScope;
use countersign_memory::foreign::{ForeignFile, ForeignSource, convert_foreign_file};
use countersign_memory::store::{ImportTrust, MemoryExportLine, NewMemoryEvent, SqliteMemory};
use countersign_memory::store::{MemoryMaintenance as _, MemoryWriter as _};
use peak_alloc::PeakAlloc;
use serde_json::json;
use testkit::{GrowthTarget, ResourceMeter, process_time};
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const METER: ResourceMeter = ResourceMeter {
    time: process_time,
    reset: || ALLOCATOR.reset_peak_usage(),
    current: || ALLOCATOR.current_usage(),
    peak: || ALLOCATOR.peak_usage(),
};

const NOW: Timestamp = Timestamp(1_790_000_000_000);

fn scope() -> MemoryScope {
    MemoryScope::new("t", "u", "a", "s", "r").unwrap()
}

async fn export(events: Vec<NewMemoryEvent>) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let memory = SqliteMemory::open(folder.path().join("memory.db")).unwrap();
    memory.append_events(events).await.unwrap();
    let lines = memory.export(&scope().subject()).await.unwrap();
    lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect()
}

async fn import(lines: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let memory = SqliteMemory::open(folder.path().join("memory.db")).unwrap();
    let read: Vec<MemoryExportLine> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = read.len() as u64;
    let imported = memory.import(read, ImportTrust::Foreign, NOW).await.unwrap();
    assert_eq!(imported.accepted, count, "{:?}", imported.refused.first());
}

#[test]
fn lines_that_are_imported() {
    let runtime = Runtime::new().unwrap();
    let lines = |events: Vec<NewMemoryEvent>| runtime.block_on(export(events));
    let import = |lines: &Vec<String>| runtime.block_on(import(lines));
    let said = |text: String| vec![NewMemoryEvent::from_user_message(scope(), "e1", text, NOW)];
    let mut door = GrowthTarget::new("memory_line", &METER);
    door.measure_family(
        "many events",
        250,
        |size| {
            let event = |n: usize| {
                NewMemoryEvent::from_user_message(
                    scope(),
                    format!("e{n}"),
                    format!("word{n} and tea"),
                    NOW,
                )
            };
            lines((0..size).map(event).collect())
        },
        import,
    )
    .measure_family(
        "one long text of different words",
        4_000,
        |size| {
            let words: Vec<String> = (0..size).map(|n| format!("word{n}")).collect();
            lines(said(words.join(" ")))
        },
        import,
    )
    .measure_family(
        "one long text of one word",
        16_000,
        |size| lines(said("tea ".repeat(size))),
        import,
    )
    .measure_family(
        "one word without an end",
        64_000,
        |size| lines(said("x".repeat(size))),
        import,
    );
    door.assert_linear();
}

fn convert(source: ForeignSource, path: &str, bytes: &[u8]) {
    let file = ForeignFile { path, bytes, modified: Some(NOW) };
    let found = convert_foreign_file(source, file, &scope().subject(), NOW).unwrap();
    assert!(found.items.len() + found.omissions.len() > 0);
}

/// A conversation whose messages follow each other, or are all answers to the first one.
fn conversation(size: usize, chain: bool) -> Vec<u8> {
    let mut mapping = serde_json::Map::new();
    for n in 0..size {
        let parent = if chain { n.checked_sub(1) } else { (n > 0).then_some(0) };
        let message = json!({"id": format!("m{n}"), "author": {"role": "user"}, "create_time": 1.0,
            "content": {"content_type": "text", "parts": [format!("word{n}")]}});
        let node = json!({"parent": parent.map(|n| format!("n{n}")), "children": ["x"], "message": message});
        mapping.insert(format!("n{n}"), node);
    }
    let last = format!("n{}", size - 1);
    json!([{"id": "c", "create_time": 1.0, "current_node": last, "mapping": mapping}])
        .to_string()
        .into_bytes()
}

#[test]
fn files_of_other_memories() {
    let chatgpt = |file: &Vec<u8>| convert(ForeignSource::Chatgpt, "conversations.json", file);
    let mem0 = |file: &Vec<u8>| convert(ForeignSource::Mem0, "memories.json", file);
    let note = |file: &Vec<u8>| convert(ForeignSource::Markdown, "note.md", file);
    let mut door = GrowthTarget::new("foreign_file", &METER);
    door.measure_family("a long conversation", 2_000, |size| conversation(size, true), chatgpt)
        .measure_family("many branches", 2_000, |size| conversation(size, false), chatgpt)
        .measure_family(
            "many memories under one key",
            2_000,
            |size| {
                let memory = |n: usize| {
                    json!({"id": format!("12345678-{n}"), "memory": format!("word{n}"), "created_at": "2025-01-01"})
                };
                json!((0..size).map(memory).collect::<Vec<_>>()).to_string().into_bytes()
            },
            mem0,
        )
        .measure_family("many headings", 4_000, |size| "# a\nb\n".repeat(size).into_bytes(), note)
        .measure_family("one line", 100_000, |size| "a ".repeat(size).into_bytes(), note)
        .measure_family(
            "many fences",
            4_000,
            |size| "```\n\n".repeat(size).into_bytes(),
            note,
        )
        .assert_linear();
}
