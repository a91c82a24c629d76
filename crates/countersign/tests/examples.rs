//! Runs every example and checks what it prints. Cargo builds the examples whose features are on
//! beside this test.

use std::path::PathBuf;
use std::process::Command;

/// Each example with the feature it needs, and with lines that it must print.
const EXAMPLES: [(&str, bool, &[&str]); 7] = [
    (
        "admit",
        true,
        &[
            r#"accepted: {"severity":2,"summary":"The export is slow.","page":false}"#,
            "  repaired: trailing_comma",
            "1. /page: a report of severity 5 pages the engineer on call; found false.",
        ],
    ),
    ("answer_wait", cfg!(feature = "runtime"), &["  approved", "completed: Version 1.4 is out."]),
    (
        "embed_server",
        cfg!(feature = "server"),
        &["/hello: 200 hello from the application", "stopped"],
    ),
    ("memory_packet", cfg!(feature = "runtime"), &["tokens"]),
    ("own_store", cfg!(feature = "suite"), &["cases, 0 failed"]),
    (
        "run_protocol",
        cfg!(feature = "runtime"),
        &["attempt 1 refused: /slogan", "attempt 2 accepted", r#"document: "Two hands sign.""#],
    ),
    (
        "typed_contract",
        true,
        &["accepted: Password reset fails (priority 1, Login, 0 people)", "refused: /priority"],
    ),
];

/// The folder with the built examples: `target/…/examples`, beside `deps` with this test.
fn examples_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("examples")
}

#[test]
fn every_example_prints_what_it_should() {
    for (name, is_built, expected) in EXAMPLES {
        if !is_built {
            continue;
        }
        let path = examples_folder().join(name).with_extension(std::env::consts::EXE_EXTENSION);
        let output = Command::new(&path).output().unwrap_or_else(|error| {
            panic!("{} cannot be started: {error}", path.display());
        });
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {}\n{text}\n{errors}", output.status);
        println!("== {name}\n{text}");
        for line in expected {
            assert!(text.contains(line), "{name} does not print `{line}`:\n{text}");
        }
    }
}

#[test]
fn every_example_is_tested_and_documented() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(root.join("../../docs/guides/library.md")).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(root.join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    let tested: Vec<&str> = EXAMPLES.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, tested, "add the new example to `EXAMPLES`");
    for name in names {
        assert!(guide.contains(&format!("examples/{name}.rs")), "library.md does not link {name}");
    }
}
