//! Scenes in a real browser against a real server: `tests/web/scenes` has a file for each.
//!
//! The browser comes from `cargo xtask verify`, or from `cargo xtask foreign test -p countersign-cli --test web`.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FOLDER: &str = "COUNTERSIGN_TEST_BROWSER";

/// Plays a scene; says by name that it did not where there is no browser.
fn scene(name: &str) {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        let why =
            format!("{FOLDER} is not set; `cargo xtask verify` installs a browser where it can");
        testkit::report_not_run(&format!("web::{name}"), &why);
        return;
    };
    // The browser is unpacked into the folder for temporary files, once for all scenes.
    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked).unwrap();
    // Chromium saves no download below a path with `..`.
    let unpacked = unpacked.canonicalize().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web/scene.mjs");
    let played = Command::new("node")
        .arg(script)
        .arg(name)
        .env("COUNTERSIGN_BIN", env!("CARGO_BIN_EXE_countersign"))
        .env("TMPDIR", &unpacked)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&played.stderr);
    assert!(played.status.success(), "scene {name}:\n{stderr}");
}

#[test]
fn every_page_in_both_themes_and_on_a_phone() {
    scene("pages");
}

#[test]
fn runs_are_found_and_summed_up() {
    scene("run_lists");
}

#[test]
fn tokens_and_cost_are_summed_up_over_time() {
    scene("figures");
}

#[test]
fn an_expense_is_denied_corrected_and_signed_by_a_delegate() {
    scene("expense");
}

#[test]
fn an_interview_from_start_to_ready() {
    scene("interview");
}

#[test]
fn forms_a_document_and_an_approval() {
    scene("delivery");
}

#[test]
fn the_shipped_delivery_with_a_document_and_a_grant() {
    scene("shipped_delivery");
}

#[test]
fn an_answer_with_its_evidence() {
    scene("answer");
}

#[test]
fn two_people_answer_the_same_question() {
    scene("two_people");
}

#[test]
fn two_people_sign_what_they_see() {
    scene("approvals");
}

#[test]
fn a_call_is_approved_by_what_it_would_do() {
    scene("calls");
}

#[test]
fn the_files_of_a_run_are_looked_at_and_downloaded() {
    scene("files");
}

#[test]
fn a_graph_is_moved_zoomed_and_asked() {
    scene("graph");
}

#[test]
fn a_script_that_plays_the_model_says_so() {
    scene("trial");
}

#[test]
fn the_server_is_started_again_in_between() {
    scene("restart");
}

#[test]
fn a_reply_is_seen_while_it_is_written() {
    scene("streaming");
}

#[test]
fn the_page_without_a_mouse() {
    scene("keyboard");
}

#[test]
fn an_inbox_of_twenty_four_thousand() {
    scene("many");
}

#[test]
fn a_contract_is_tried_and_compared() {
    scene("contracts");
}

#[test]
fn a_run_is_steered() {
    scene("steering");
}

#[test]
fn a_server_that_wants_a_key() {
    scene("locked");
}
