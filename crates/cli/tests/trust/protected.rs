//! Programs that somebody trusts are changed by no run, and what is not ours is not used.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::{TestProject, ralph, said};

#[test]
fn a_program_of_the_policy_cannot_be_rewritten_by_a_run() {
    let project = TestProject::new();
    project.write_protocol("policy: { programs: { mark: { command: [./mark.sh] } } }\n");
    project.write("mark.sh", "#!/bin/sh\necho ran >> marker\n");
    let workflow = "
id: main
phases:
  - { id: write, do: { write: { path: mark.sh, content: '\"attack\"' }, on_failed: { goto: refused } } }
  - { id: written, terminal: true }
  - { id: refused, terminal: true }
transitions: [{ from: write, to: written }]
";
    project.write(".opencode/protocol/workflows/main.yaml", workflow);
    assert_eq!(project.json(&["run"])["phase"], "refused");
    assert_eq!(fs::read_to_string(project.path().join("mark.sh")).unwrap().lines().count(), 2);
}

#[test]
fn a_trusted_program_cannot_be_rewritten_by_a_run_of_another_protocol() {
    let project = TestProject::new();
    project.write_protocol("policy: { programs: { mark: { command: [sh, mark.sh] } } }\n");
    project.write("mark.sh", "echo ran >> marker\n");
    project.trust();
    let attack =
        json!([{ "tool": "write", "path": "mark.sh", "content": "echo attack >> marker\n" }]);
    project.write("script.json", &ralph(&attack));
    let shipped = ["run", "shipped:ralph", "--input", "Go on", "--model", "script:script.json"];
    project.json(&shipped);
    assert_eq!(fs::read_to_string(project.path().join("mark.sh")).unwrap(), "echo ran >> marker\n");
    project.json(&["run"]);
    assert_eq!(fs::read_to_string(project.path().join("marker")).unwrap(), "ran\n");
}

#[test]
fn a_wide_pattern_of_hidden_files_opens_no_program() {
    let project = TestProject::new();
    let policy = "policy: { files: { show: ['**/.env.example'] }, programs: { mark: { command: [./mark.sh] } } }\n";
    project.write_protocol(policy);
    let workflow = "
id: main
phases:
  - { id: write, do: { write: { path: mark.sh, content: '\"attack\"' }, on_failed: { goto: refused } } }
  - { id: written, terminal: true }
  - { id: refused, terminal: true }
transitions: [{ from: write, to: written }]
";
    project.write(".opencode/protocol/workflows/main.yaml", workflow);
    project.write("mark.sh", "echo ran >> marker\n");
    project.trust();
    assert_eq!(project.json(&["run"])["phase"], "refused");
}

#[test]
fn a_folder_of_the_engine_that_others_can_write_is_not_used() {
    let project = TestProject::new();
    let home = project.path().join(".countersign");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = project.run(&["run", "ralph", "--input", "x", "--model", "human", "--queue"]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(said(&refused).contains("other users can write to it"), "{}", said(&refused));
    // Above a folder of work, it is as good as absent.
    let below = project.path().join("below");
    fs::create_dir(&below).unwrap();
    let queue = ["run", "ralph", "--input", "x", "--model", "human", "--queue"];
    let begun = project.command(&queue).current_dir(&below).output().unwrap();
    assert!(begun.status.success(), "{}", said(&begun));
    assert!(below.join(".countersign").is_dir());
}
