//! Broken protocols and what their authors are told: every code, the sentence, the place.
//!
//! Each text in `broken/` is one folder; its snapshot is what a person would see.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "broken/folder.rs"]
mod folder;

use std::collections::BTreeSet;

use countersign_protocol::CHECK_CODES;
use folder::{bundle, findings, root, shipped, shown, texts};

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
        assert_eq!(found, findings(bundle(&text), &shipped), "{name} is not told the same twice");
        codes.extend(found.iter().map(|finding| finding.code.clone()));
        let messages: Vec<String> = found.iter().map(shown).collect();
        settings.bind(|| insta::assert_snapshot!(name, messages.join("\n")));
    }
    let missing: Vec<&str> =
        CHECK_CODES.into_iter().filter(|code| !codes.contains(*code)).collect();
    assert!(missing.is_empty(), "no broken protocol is told {missing:?}");
    let listed = std::fs::read_to_string(root().join("xtask/src/tidy.rs")).expect("the list");
    let listed = listed.split("const FILE_CODES").nth(1).and_then(|rest| rest.split("];").next());
    let listed: Vec<&str> =
        listed.expect("the list of codes").split('"').skip(1).step_by(2).collect();
    assert!(listed.len() >= 40, "{listed:?}");
    let missing: Vec<&&str> = listed.iter().filter(|code| !codes.contains(**code)).collect();
    assert!(missing.is_empty(), "no broken protocol is told {missing:?}");
}

/// The example on the page of each code is one of the suite's, word for word.
#[test]
fn pages_show_what_is_told() {
    let shipped = shipped();
    let messages: Vec<String> = texts("broken")
        .iter()
        .flat_map(|(_, text)| findings(bundle(text), &shipped))
        .map(|finding| shown(&finding))
        .collect();
    for code in CHECK_CODES {
        let page = root().join(format!("docs/errors/{code}.md"));
        let page = std::fs::read_to_string(page).unwrap_or_default();
        let example = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
        let example = example.unwrap_or_else(|| panic!("the page of {code} has no example"));
        assert!(
            messages.iter().any(|message| message == example),
            "nothing is told like this:\n{example}"
        );
    }
}

#[test]
fn a_folder_beyond_all_bounds_is_refused_whole() {
    let mut bundle = bundle("--- index.yaml\nname: x\n");
    bundle.files.extend((0..1000).map(|number| (format!("rules/{number}.md"), String::new())));
    let codes: Vec<String> =
        findings(bundle, &shipped()).into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["too_large"]);
}
