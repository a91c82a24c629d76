//! State files: written whole, read back as one document, never half a set.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use countersign_protocol::StateFileLayout;
use countersign_runtime::projection::{
    ProjectionError, StateFileProjector, read_state_files, state_folder, write_state_files,
};
use serde_json::{Value, json};

fn document() -> Value {
    json!({
        "workflow": "task_loop",
        "phase": "work",
        "status": "running",
        "sprint_id": "s1",
        "tasks": [{"id": "t1"}],
        "current_task_id": "t1",
        "sprint_goal": "done",
        "notes": "заметки",
    })
}

#[test]
fn a_single_file_holds_everything() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    assert_eq!(read_state_files(&state, StateFileLayout::Single).unwrap(), None);
    write_state_files(&state, StateFileLayout::Single, &document()).unwrap();
    let text = fs::read_to_string(state.join("current.json")).unwrap();
    assert!(text.starts_with("{\n  \"workflow\": \"task_loop\",\n") && text.ends_with("\n}\n"));
    assert_eq!(read_state_files(&state, StateFileLayout::Single).unwrap(), Some(document()));
    write_state_files(&state, StateFileLayout::Single, &json!({"phase": "done"})).unwrap();
    assert_eq!(
        read_state_files(&state, StateFileLayout::Single).unwrap(),
        Some(json!({"phase": "done"}))
    );
    assert_eq!(fs::read_dir(&state).unwrap().count(), 1, "nothing is left beside");
    assert_eq!(read_state_files(&state, StateFileLayout::Multi).unwrap(), None);
}

#[test]
fn several_files_hold_their_parts() {
    let folder = tempfile::tempdir().unwrap();
    write_state_files(folder.path(), StateFileLayout::Multi, &document()).unwrap();
    let part = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(folder.path().join(name)).unwrap()).unwrap()
    };
    let workflow =
        json!({"workflow": "task_loop", "phase": "work", "status": "running", "notes": "заметки"});
    assert_eq!(part("workflow.json"), workflow);
    assert_eq!(part("sprint.json"), json!({"sprint_id": "s1", "sprint_goal": "done"}));
    assert_eq!(part("tasks.json"), json!({"tasks": [{"id": "t1"}], "current_task_id": "t1"}));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    assert_eq!(read_state_files(folder.path(), StateFileLayout::Multi).unwrap(), Some(document()));
    // What is gone from the document is gone from its file.
    write_state_files(folder.path(), StateFileLayout::Multi, &json!({"phase": "done"})).unwrap();
    assert_eq!(part("tasks.json"), json!({}));
    assert_eq!(
        read_state_files(folder.path(), StateFileLayout::Multi).unwrap(),
        Some(json!({"phase": "done"}))
    );
}

#[test]
fn a_write_that_a_crash_cut_short_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    write_state_files(folder.path(), StateFileLayout::Multi, &document()).unwrap();
    fs::write(folder.path().join(".countersign-writing"), "").unwrap();
    fs::write(folder.path().join("workflow.json"), r#"{"phase": "next"}"#).unwrap();
    let error = read_state_files(folder.path(), StateFileLayout::Multi).unwrap_err();
    assert!(matches!(error, ProjectionError::HalfWritten { .. }), "{error}");
    write_state_files(folder.path(), StateFileLayout::Multi, &document()).unwrap();
    assert_eq!(read_state_files(folder.path(), StateFileLayout::Multi).unwrap(), Some(document()));
}

#[test]
fn a_reader_beside_a_writer_never_sees_a_mixture() {
    let folder = tempfile::tempdir().unwrap();
    let of = |number: usize| json!({"phase": number, "sprint_id": number, "tasks": number});
    write_state_files(folder.path(), StateFileLayout::Multi, &of(0)).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 1..60 {
                write_state_files(folder.path(), StateFileLayout::Multi, &of(number)).unwrap();
            }
        });
        while !writer.is_finished() {
            match read_state_files(folder.path(), StateFileLayout::Multi) {
                Ok(Some(document)) => {
                    let number = document["phase"].as_u64().unwrap() as usize;
                    assert_eq!(document, of(number));
                }
                Ok(None) => panic!("the set vanished"),
                Err(error) => {
                    assert!(matches!(error, ProjectionError::HalfWritten { .. }), "{error}");
                }
            }
        }
    });
    assert_eq!(read_state_files(folder.path(), StateFileLayout::Multi).unwrap(), Some(of(59)));
}

#[track_caller]
fn refused(format: StateFileLayout, files: &[(&str, &[u8])], sentence: &str) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    assert_eq!(read_state_files(folder.path(), format).unwrap_err().to_string(), sentence);
}

#[test]
fn what_is_wrong_with_a_file_is_told() {
    use StateFileLayout::{Multi, Single};
    refused(
        Single,
        &[("current.json", b"{\n  \"a\": 1,\n}")],
        "`current.json` is not valid JSON: line 2, column 9",
    );
    refused(
        Single,
        &[("current.json", b"{\"\xff")],
        "`current.json` is not valid JSON: line 1, column 3",
    );
    refused(Single, &[("current.json", b"[]")], "`current.json` does not contain an object");
    refused(
        Single,
        &[("current.json", b"{\"a\": 1, \"a\": 2}")],
        "`current.json` has a duplicate key or a number that is too large, at `/a`",
    );
    refused(Multi, &[("tasks.json", b"{}")], "`tasks.json` exists, but `workflow.json` does not");
    refused(
        Multi,
        &[("workflow.json", b"{\"tasks\": []}"), ("tasks.json", b"{\"tasks\": []}")],
        "`tasks` is in `tasks.json` and in an earlier file",
    );
    let array = write_state_files(Path::new("/nowhere"), Single, &json!([])).unwrap_err();
    assert_eq!(array.to_string(), "the document is not an object and has no state files");
}

#[test]
fn a_set_of_another_tool_may_lack_its_later_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("workflow.json"), r#"{"phase": "a", "tasks": []}"#).unwrap();
    let found = read_state_files(folder.path(), StateFileLayout::Multi).unwrap();
    assert_eq!(found, Some(json!({"phase": "a", "tasks": []})));
}

#[test]
fn the_folder_lies_beside_a_protocol_or_inside_another() {
    assert_eq!(state_folder(Path::new("/p/.opencode/protocol")), Path::new("/p/.opencode/state"));
    assert_eq!(state_folder(Path::new("/p/intake")), Path::new("/p/intake/state"));
}

#[test]
fn the_last_of_many_documents_stands_in_the_files_and_nobody_waits_for_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let projector =
        StateFileProjector::new(folder.path().to_owned(), |error| panic!("{error}")).unwrap();
    for number in 0..500 {
        projector.enqueue(StateFileLayout::Single, &Arc::new(json!({ "number": number })));
    }
    drop(projector);
    let found = read_state_files(folder.path(), StateFileLayout::Single).unwrap();
    assert_eq!(found, Some(json!({ "number": 499 })));
}

#[test]
fn what_cannot_be_written_is_told_and_the_next_is_tried() {
    let folder = tempfile::tempdir().unwrap();
    let (errors, heard) = channel();
    let tell = move |error: ProjectionError| errors.send(error.to_string()).unwrap();
    let projector = StateFileProjector::new(folder.path().to_owned(), tell).unwrap();
    projector.enqueue(StateFileLayout::Single, &Arc::new(json!([1])));
    assert_eq!(heard.recv().unwrap(), "the document is not an object and has no state files");
    projector.enqueue(StateFileLayout::Single, &Arc::new(json!({ "a": 1 })));
    drop(projector);
    assert_eq!(
        read_state_files(folder.path(), StateFileLayout::Single).unwrap(),
        Some(json!({ "a": 1 }))
    );
}
