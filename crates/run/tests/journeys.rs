//! Journeys: a protocol, what comes in, and everything that is then true. A file a story; the events of
//! each input, the waits, and the end are under snapshot, and every log is proved by replay.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "../../protocol/tests/protocol_load/folder.rs"]
#[expect(dead_code, reason = "shared with the tests of loading")]
mod folder;
#[path = "journeys/story.rs"]
mod story;

use std::path::Path;

#[test]
fn every_journey_goes_as_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journeys");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    assert!(files.len() >= 70, "journeys are gone");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("journeys/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    // One story that goes wrong must not hide the others.
    let mut wrong = Vec::new();
    settings.bind(|| {
        for file in files {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).unwrap();
            let transcript = std::panic::catch_unwind(|| {
                let transcript = story::tell(&text);
                insta::assert_snapshot!(name.clone(), transcript);
            });
            if transcript.is_err() {
                wrong.push(name);
            }
        }
    });
    assert!(wrong.is_empty(), "went otherwise: {}", wrong.join(", "));
}
