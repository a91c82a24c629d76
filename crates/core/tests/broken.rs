//! Broken protocols and what their authors are told: every code, the sentence, the place.
//!
//! Each text in `broken/` is one folder; its snapshot is what a person would see.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "broken/folder.rs"]
mod folder;

use std::collections::BTreeSet;

use countersign_core::protocol::CHECK_CODES;
use folder::{bundle, findings, shipped, shown, texts};

#[test]
fn every_broken_protocol_is_told_with_its_place() {
    let shipped = shipped();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("broken/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let all = texts("broken");
    assert!(all.len() >= 75, "{} broken protocols", all.len());
    let mut codes = BTreeSet::new();
    for (name, text) in all {
        let found = findings(bundle(&text), &shipped);
        assert!(!found.is_empty(), "{name} raises nothing");
        codes.extend(found.iter().map(|finding| finding.code.clone()));
        let told: Vec<String> = found.iter().map(shown).collect();
        settings.bind(|| insta::assert_snapshot!(name, told.join("\n")));
    }
    let missing: Vec<&str> =
        CHECK_CODES.into_iter().filter(|code| !codes.contains(*code)).collect();
    assert!(missing.is_empty(), "no broken protocol is told {missing:?}");
}

#[test]
fn a_folder_beyond_all_bounds_is_refused_whole() {
    let mut bundle = bundle("--- index.yaml\nname: x\n");
    bundle.files.extend((0..1000).map(|number| (format!("rules/{number}.md"), String::new())));
    let codes: Vec<String> =
        findings(bundle, &shipped()).into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["too_large"]);
}
