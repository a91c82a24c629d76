//! Runs every example and checks what it prints.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;
use std::process::Command;

/// Each example, by name, with what it must print.
const EXAMPLES: [(&str, &[&str]); 7] = [
    (
        "admit",
        &[
            r#"accepted: {"severity":2,"summary":"The export is slow.","page":false}"#,
            "  repaired: trailing_comma",
            "1. /page: a report of severity 5 pages the engineer on call; found false.",
        ],
    ),
    ("answer_wait", &["  approved", "completed: Version 1.4 is out."]),
    ("embed_server", &["/hello: 200 hello from the application", "stopped"]),
    ("memory_packet", &["- allergy: nuts", "in Lisbon", "of at most 2048 tokens"]),
    ("own_store", &["cases, 0 failed"]),
    (
        "run_protocol",
        &["attempt 1 refused: /slogan", "attempt 2 accepted", r#"document: "Two hands sign.""#],
    ),
    (
        "typed_contract",
        &["accepted: Password reset fails (priority 1, Login, 0 people)", "refused: /priority"],
    ),
];

/// The folder with the built examples: `target/…/examples`, beside `deps` with this test.
fn examples_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("examples")
}

fn source_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn binary_path(name: &str) -> PathBuf {
    examples_folder().join(name).with_extension(std::env::consts::EXE_EXTENSION)
}

/// Whether the binary of an example exists, is newer than its source, and was built from it: other
/// checkouts may share the target folder.
fn is_built(name: &str) -> bool {
    let (source, binary) = (source_folder().join(name).with_extension("rs"), binary_path(name));
    let modified = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    let dependencies = std::fs::read_to_string(binary.with_extension("d")).unwrap_or_default();
    modified(&binary) >= modified(&source) && dependencies.contains(&*source.to_string_lossy())
}

/// Builds the examples with the features of this test. Cargo has done so before, unless it was told
/// to build this test alone, as in `cargo test --test examples`.
fn build_examples() {
    let profile = examples_folder().parent().unwrap().file_name().unwrap().to_owned();
    let profile = if profile == "debug" { "dev".into() } else { profile };
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--locked", "--package", "countersign", "--examples"]);
    cargo.arg("--profile").arg(profile);
    cargo.arg("--target-dir").arg(examples_folder().join("../.."));
    for (feature, is_on) in
        [("postgres", cfg!(feature = "postgres")), ("sources", cfg!(feature = "sources"))]
    {
        if is_on {
            cargo.args(["--features", feature]);
        }
    }
    assert!(cargo.status().unwrap().success(), "the examples cannot be built");
}

#[test]
fn every_example_prints_what_it_should() {
    if !EXAMPLES.iter().all(|(name, _)| is_built(name)) {
        build_examples();
    }
    for (name, expected) in EXAMPLES {
        let output = Command::new(binary_path(name)).output().unwrap_or_else(|error| {
            panic!("{} cannot be started: {error}", binary_path(name).display());
        });
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        println!("== {name}\n{text}");
        assert!(output.status.success(), "{name}: {}\n{errors}", output.status);
        for line in expected {
            assert!(text.contains(line), "{name} does not print `{line}`");
        }
    }
}

#[test]
fn every_example_is_tested_and_documented() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(root.join("../../docs/guides/library.md")).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(source_folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    let tested: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, tested, "add the new example to `EXAMPLES`");
    for name in names {
        assert!(guide.contains(&format!("examples/{name}.rs")), "library.md does not link {name}");
    }
}
