//! The law of growth at the memory's door: lines that are imported and events that are remembered,
//! in an `SQLite` file. Time and memory grow linearly with them.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_contract::Timestamp;
use countersign_memory::MemoryScope;
use countersign_memory::store::{ImportTrust, MemoryExportLine, NewMemoryEvent, SqliteMemory};
use countersign_memory::store::{MemoryMaintenance as _, MemoryWriter as _};
use peak_alloc::PeakAlloc;
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
