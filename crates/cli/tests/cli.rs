//! The program as its user sees it: exit code, standard output and standard error, under snapshot.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the binary in a folder; gives everything it showed.
fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading its input is no fault of the test.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    format!(
        "exit {}\n──── stdout\n{}──── stderr\n{}",
        output.status.code().unwrap(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    )
}

fn examples() -> std::path::PathBuf {
    testkit::workspace_root().join("examples")
}

macro_rules! snapshot {
    ($name:ident, $arguments:expr, $input:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(run(&examples(), &$arguments, $input));
        }
    };
}

const PASS: &[u8] =
    br#"{"verdict": "PASS", "reasons": [], "required_actions": [], "risk_level": "low"}"#;
const BROKEN: &[u8] = b"Sure:\n{\"verdict\": \"PASS\", \"reasons\": none}\n";

snapshot!(
    a_refused_reply_is_shown_with_its_places,
    ["admit", "guardian_report", "replies/verdict.txt"],
    b""
);
snapshot!(
    an_accepted_reply_tells_its_repairs,
    ["admit", "guardian_report", "replies/verdict-again.txt"],
    b""
);
snapshot!(standard_input_is_read, ["admit", "guardian_report"], PASS);
snapshot!(a_dash_is_standard_input, ["admit", "guardian_report", "-", "--json"], PASS);
snapshot!(
    a_refusal_for_programs,
    ["admit", "guardian_report", "replies/verdict.txt", "--json", "--reask"],
    b""
);
snapshot!(
    the_text_that_asks_again,
    ["admit", "guardian_report", "replies/verdict.txt", "--reask"],
    b""
);
snapshot!(nothing_to_ask_again, ["admit", "guardian_report", "--reask"], PASS);
snapshot!(broken_json_is_shown_where_it_breaks, ["admit", "guardian_report"], BROKEN);
snapshot!(an_empty_reply, ["admit", "guardian_report"], b"");
snapshot!(bytes_that_are_no_text, ["admit", "guardian_report"], b"{\"verdict\": \"\xff\"}");
snapshot!(
    intake_can_be_made_strict,
    ["admit", "guardian_report", "replies/verdict-again.txt", "--intake", "strict"],
    b""
);
snapshot!(
    repairs_can_be_widened,
    ["admit", "guardian_report", "--repairs", "syntactic"],
    b"{'verdict': 'PASS', reasons: [], required_actions: [], risk_level: 'low'}"
);
snapshot!(
    a_reply_that_was_cut_off,
    ["admit", "guardian_report", "--finish", "length", "--repairs", "guess"],
    br#"{"verdict": "PASS", "reasons": [], "required_actions": [], "risk_level": "low"#
);
snapshot!(
    a_contract_by_path,
    ["admit", "contracts/ticket.yaml"],
    br#"{"queue": "sales", "urgency": 2, "summary": "wants a refund", "refund": 20}"#
);
snapshot!(
    a_contract_of_a_folder,
    ["admit", "ticket@1.0.0", "--contracts", "contracts"],
    br#"{"queue": "sales", "urgency": 2, "summary": "wants a quote"}"#
);
snapshot!(an_unknown_contract, ["admit", "guardian_reprot"], PASS);
snapshot!(an_unknown_version, ["admit", "guardian_report@9.0.0"], PASS);
snapshot!(a_file_that_is_not_there, ["admit", "guardian_report", "nowhere.txt"], b"");
snapshot!(
    a_folder_that_is_not_there,
    ["contract", "list", "--contracts", "nowhere", "--json"],
    b""
);
snapshot!(every_contract_in_a_table, ["contract", "list"], b"");
snapshot!(one_contract_on_a_page, ["contract", "show", "contracts/ticket.yaml"], b"");
snapshot!(one_contract_for_programs, ["contract", "show", "architect_spec", "--json"], b"");
snapshot!(only_the_schema, ["contract", "show", "evidence_item", "--schema"], b"");
snapshot!(
    a_breaking_change_with_its_proof,
    ["contract", "diff", "contracts/ticket.yaml", "contracts/ticket-2.yaml"],
    b""
);
snapshot!(
    a_breaking_change_for_programs,
    ["contract", "diff", "contracts/ticket.yaml", "contracts/ticket-2.yaml", "--json"],
    b""
);
snapshot!(
    contracts_that_ship_have_no_fault,
    ["contract", "check", "guardian_report", "state"],
    b""
);
snapshot!(no_change_at_all, ["contract", "diff", "guardian_report", "guardian_report"], b"");
snapshot!(
    an_export_and_its_losses,
    ["contract", "export", "contracts/ticket.yaml", "--for", "openai"],
    b""
);
snapshot!(
    an_export_for_programs,
    ["contract", "export", "contracts/ticket.yaml", "--for", "anthropic", "--json"],
    b""
);
snapshot!(
    an_export_for_gemini,
    ["contract", "export", "contracts/ticket.yaml", "--for", "gemini"],
    b""
);
snapshot!(a_grammar, ["contract", "export", "contracts/ticket.yaml", "--for", "grammar"], b"");
snapshot!(help, ["--help"], b"");
snapshot!(help_of_admit, ["admit", "--help"], b"");
snapshot!(no_command, [] as [&str; 0], b"");
snapshot!(an_unknown_flag, ["admit", "guardian_report", "--jsn"], b"");

#[test]
fn faults_in_contract_files_are_shown_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("broken.yaml"),
        "id: broken\nversion: 1.0.0\nintakes: strict\nschema: ./missing.schema.json\nrules:\n  - id: sum\n    then: reply.a + reply.b\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("expressions.yaml"),
        "id: expressions\nversion: 1.0.0\nschema: ./e.schema.json\nrules:\n  - {id: one, then: \"replay.a === 1\", says: a}\n  - {id: one, then: reply.a.push(1), says: b}\n  - id: three\n    when: reply.a = 1\n    then: 'true'\n    says: c\n",
    )
    .unwrap();
    fs::write(folder.path().join("e.schema.json"), "{\n  \"type\": \"objct\"\n}\n").unwrap();
    fs::write(folder.path().join("syntax.yaml"), "id: [1\nversion: 2\n").unwrap();
    let shown = run(folder.path(), &["contract", "list", "--contracts", "."], b"");
    insta::assert_snapshot!(shown);
    let shown = run(folder.path(), &["contract", "list", "--contracts", ".", "--json"], b"");
    insta::assert_snapshot!("faults_for_programs", shown);
}

#[test]
fn a_contract_file_that_is_no_text() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("c.yaml"), b"id: c\nversion: \xff\n").unwrap();
    insta::assert_snapshot!(run(folder.path(), &["contract", "show", "./c.yaml"], b""));
}

#[test]
fn completions_name_every_subcommand() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let shown = run(&examples(), &["completions", shell], b"");
        assert!(shown.starts_with("exit 0\n"), "{shell}");
        for word in ["admit", "contract", "export"] {
            assert!(shown.contains(word), "{shell} lacks {word}");
        }
    }
}

/// Colour is for terminals; a pipe gets none, whatever `TERM` says.
#[test]
fn a_pipe_gets_no_colour() {
    let shown = run(&examples(), &["admit", "guardian_report", "replies/verdict.txt"], b"");
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn what_a_schema_gets_wrong_is_shown_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let contract = "id: note\nversion: 1.0.0\nschema:\n  type: object\n  properties:\n    title: { type: string, minLenght: 3 }\n    at: { type: string, format: datetime }\n    stars: { type: integer, maximum: 5, default: 10 }\n";
    fs::write(folder.path().join("note.yaml"), contract).unwrap();
    let old =
        "id: old\nversion: 1.0.0\nschema: { $schema: 'http://json-schema.org/draft-04/schema#' }\n";
    fs::write(folder.path().join("old.yaml"), old).unwrap();
    let shown = |arguments: &[&str]| run(folder.path(), arguments, b"");
    insta::assert_snapshot!(shown(&["contract", "check", "note.yaml", "old.yaml"]));
    assert!(shown(&["contract", "check", "note.yaml"]).starts_with("exit 0\n"));
    assert!(shown(&["contract", "check", "note.yaml", "--strict"]).starts_with("exit 1\n"));
    let listed = shown(&["contract", "check", "note.yaml", "--json"]);
    assert!(listed.contains("\"code\": \"broken_default\""), "{listed}");
}

#[test]
fn a_version_of_a_contract_is_registered_once_and_holds_what_it_claims() {
    let folder = tempfile::tempdir().unwrap();
    let contracts = folder.path().join("contracts");
    fs::create_dir(&contracts).unwrap();
    let note = |version: &str, schema: &str, rest: &str| {
        let text = format!("id: note\nversion: {version}\nschema: {schema}\n{rest}\n");
        fs::write(contracts.join("note.yaml"), text).unwrap();
    };
    let register = |more: &[&str]| {
        let all = [&["contract", "register", "contracts/note.yaml"], more].concat();
        run(folder.path(), &all, b"")
    };
    let list = || run(folder.path(), &["contract", "list", "--contracts", "contracts"], b"");
    let record = |version: &str| contracts.join(format!("registry/note@{version}.json"));

    note("1.0.0", "{ type: string, maxLength: 9 }", "");
    let shown = register(&["--dry-run"]);
    assert!(
        shown.starts_with("exit 0") && shown.contains("can be registered: note 1.0.0"),
        "{shown}"
    );
    assert!(!record("1.0.0").exists(), "a dry run writes nothing");
    let shown = register(&[]);
    assert!(
        shown.starts_with("exit 0") && shown.contains("registered: note 1.0.0 (initial)"),
        "{shown}"
    );
    let first = fs::read(record("1.0.0")).unwrap();
    let admitted = run(
        folder.path(),
        &["admit", "schema_registry_record", "contracts/registry/note@1.0.0.json"],
        b"",
    );
    assert!(admitted.starts_with("exit 0"), "{admitted}");
    let shown = register(&[]);
    assert!(shown.starts_with("exit 0") && shown.contains("already registered"), "{shown}");
    assert_eq!(fs::read(record("1.0.0")).unwrap(), first, "a record is written once");

    // The same version with another schema, at both entry points.
    note("1.0.0", "{ type: string, maxLength: 2 }", "");
    let shown = register(&[]);
    assert!(
        shown.starts_with("exit 1") && shown.contains("is registered with another schema"),
        "{shown}"
    );
    let shown = list();
    assert!(shown.starts_with("exit 2") && shown.contains("[contract_record]"), "{shown}");

    // A false claim is refused with the value that disproves it; a break needs notes.
    note("1.1.0", "{ type: string, maxLength: 2 }", "compatibility: backward");
    let shown = register(&[]);
    assert!(
        shown.starts_with("exit 1")
            && shown.contains("1.1.0 refuses a value that 1.0.0 accepts: \""),
        "{shown}"
    );
    let shown = list();
    assert!(shown.starts_with("exit 2") && shown.contains("[contract_claim]"), "{shown}");
    note("2.0.0", "{ type: string, maxLength: 2 }", "compatibility: breaking");
    let shown = register(&[]);
    assert!(shown.starts_with("exit 1") && shown.contains("has no `migration_notes`"), "{shown}");
    note(
        "1.1.0",
        "{ type: string, maxLength: 2 }",
        "compatibility: forward\nmigration_notes: Shorten it.",
    );
    let shown = register(&["--json"]);
    assert!(shown.starts_with("exit 0"), "{shown}");
    let written: serde_json::Value =
        serde_json::from_slice(&fs::read(record("1.1.0")).unwrap()).unwrap();
    assert_eq!(written["supersedes"]["schema_version"], "1.0.0");
    assert_eq!(written["migration_notes"], "Shorten it.");
    let shown = list();
    assert!(shown.starts_with("exit 0") && shown.contains("note"), "{shown}");
}
