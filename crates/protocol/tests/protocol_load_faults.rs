//! What is wrong with a folder is told at once, each fault with its place, code and way out.
//!
//! The cases stand in `protocol_load/faults.txt`: a title, files, `===`, and what is told. Where a case
//! says nothing of the index, of `workflows/` or of the contract `any`, sound ones are added.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "protocol_load/folder.rs"]
#[expect(dead_code, reason = "shared with the tests of sound folders")]
mod folder;

use countersign_contract::contract::{ContractRegistry, load_contract};
use countersign_contract::source::{DiagnosticSeverity, SourceFile};
use countersign_protocol::{ProtocolBundle, load_protocol};
use folder::{ANY, INDEX, MAIN, bundle, faults, shipped, sound};
use testkit::SeededRng;

const CASES: &str = include_str!("protocol_load/faults.txt");

#[test]
fn every_fault_is_told_with_its_place() {
    let cases = CASES.split("##### ").skip(1).map(|case| case.split_once('\n').unwrap());
    let wrong: Vec<String> = cases
        .filter_map(|(title, case)| {
            let as_it_is = title.ends_with("(as it is)");
            otherwise(case, as_it_is).map(|told| format!("##### {title}\n{told}"))
        })
        .collect();
    assert!(wrong.is_empty(), "these are told otherwise:\n{}", wrong.join(""));
}

/// A file that our schema accepts and the specification's does not says which of them refuses it.
#[test]
fn what_only_the_specification_refuses_names_its_contract() {
    let narrow = "id: workflow\nversion: 1.0.0\nschema: { type: object, properties: { transitions: { items: { properties: { gate: { properties: { type: { const: manual } } } } } } } }\n";
    let no_file = |path: &str| Err(format!("{path} is not there"));
    let contract = load_contract(SourceFile::new("workflow.yaml", narrow), &no_file).unwrap();
    let mut registry = ContractRegistry::default();
    registry.add(contract).unwrap();
    let main = "--- workflows/main.yaml\nid: main\nphases: [{ id: a }, { id: b, terminal: true }]\ntransitions:\n  - { from: a, to: b, gate: { type: criteria, check: state.x } }\n";
    let found = load_protocol(bundle(&[INDEX, ANY, main].concat()), &registry).unwrap_err();
    let told: Vec<_> = found.iter().map(|one| (one.code.as_str(), one.hint.as_deref())).collect();
    let hint = "only the shipped contract `workflow` refuses this: use what it allows";
    assert_eq!(told, [("const", Some(hint))]);
}

/// The pages of the codes show folders too: fences marked `folder`.
#[test]
fn the_examples_of_the_pages_are_true() {
    let pages =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors")).unwrap();
    let (mut wrong, mut shown) = (Vec::new(), 0);
    for page in pages.map(|page| page.unwrap().path()) {
        let text = std::fs::read_to_string(&page).unwrap();
        let code = page.file_stem().unwrap().to_string_lossy().into_owned();
        for block in text.split("```folder\n").skip(1) {
            let block = block.split("```").next().unwrap();
            shown += 1;
            if !block.contains(&format!("[{code}]")) {
                wrong.push(format!("{code}: its example shows another code\n"));
            }
            let as_it_is = code == "missing_index";
            wrong.extend(otherwise(block, as_it_is).map(|told| format!("{code}:\n{told}")));
        }
    }
    assert!(shown >= 35, "only {shown} examples were found");
    assert!(wrong.is_empty(), "these are told otherwise:\n{}", wrong.join(""));
}

/// The case as it should read, where it does not.
fn otherwise(case: &str, as_it_is: bool) -> Option<String> {
    let (files, expected) = case.split_once("===\n").unwrap();
    let mut text = files.to_owned();
    for (mark, added) in
        [("--- index.yaml", INDEX), ("--- workflows/", MAIN), ("--- contracts/any", ANY)]
    {
        if !as_it_is && !files.contains(mark) {
            text += added;
        }
    }
    let told = faults(&text).join("\n") + "\n";
    (told != expected).then(|| format!("{files}===\n{told}"))
}

#[test]
fn a_folder_has_bounds() {
    let told = |bundle: ProtocolBundle| {
        load_protocol(bundle, &ContractRegistry::default()).unwrap_err()[0].to_string()
    };
    let many = (0..1_001).map(|number| (format!("rules/{number}.md"), String::new()));
    assert_eq!(
        told(ProtocolBundle { files: many.collect() }),
        "index.yaml:1:1: a protocol may have at most 1000 files, and this folder has 1001 [too_large]"
    );
    let large = [("README.md".to_owned(), " ".repeat((4 << 20) + 1))];
    assert_eq!(
        told(ProtocolBundle { files: large.into() }),
        "index.yaml:1:1: the files of a protocol may have at most 4194304 bytes in total, \
         and these have 4194305 [too_large]"
    );
}

#[test]
fn keys_that_begin_with_x_are_free_everywhere() {
    sound(
        "--- index.yaml\nx-a: 1\nname: t\nversion: 1.0.0\ndefault_workflow: main\n\
         metadata: { nmae: 1 }\nhooks: { x-b: 1 }\npolicy: { x-c: [], budget: { x-d: none } }\n\
         --- workflows/main.yaml\nx-e: &gate { type: manual, x-f: 1 }\nid: main\n\
         phases: [{ id: a, x-g: {} }, { id: b }]\n\
         transitions: [{ from: a, to: b, gate: *gate, x-h: 1 }]\n",
    );
}

#[test]
fn what_is_no_part_of_a_protocol_is_passed_over() {
    let text = format!(
        "{INDEX}{MAIN}--- README.md\n# Notes\n--- workflows/notes.md\n[\n--- rules/.gitkeep\n\n--- docs/x.yaml\n[\n"
    );
    let protocol = sound(&text);
    assert_eq!(protocol.workflows.len(), 1);
    assert!(protocol.rules.is_empty());
}

/// Whatever a folder says, it is answered: no panic, and a refusal has an error with a place in a file.
#[test]
fn any_folder_is_answered() {
    const PIECES: [&str; 16] = [
        "", "x", "5", "[]", "{}", "~", "[1, 2]", "{ a: b }", "'", "\u{0}", "ё", "- ", ": ",
        "/status", "../..", "{{",
    ];
    let (everything, shipped) = (include_str!("protocol_load/everything.txt"), shipped());
    let mut refused = 0;
    for case in 0..400 {
        let mut chance = SeededRng::for_case(0x0F01_DE25, case);
        let mut lines: Vec<String> = everything.lines().map(str::to_owned).collect();
        for _ in 0..chance.next_between(1, 3) {
            let line = chance.next_below(lines.len());
            let piece = *chance.pick(&PIECES);
            match chance.next_below(4) {
                0 => lines[line] = piece.to_owned(),
                1 => drop(lines.remove(line)),
                2 => lines[line] = format!("{piece}{}", lines[line]),
                _ => {
                    let words: Vec<&str> = lines[line].split(' ').collect();
                    let word = chance.next_below(words.len());
                    let changed = words
                        .iter()
                        .enumerate()
                        .map(|(at, text)| if at == word { piece } else { text });
                    lines[line] = changed.collect::<Vec<_>>().join(" ");
                }
            }
        }
        let Err(faults) = load_protocol(bundle(&lines.join("\n")), &shipped) else { continue };
        refused += 1;
        assert!(
            faults.iter().any(|fault| fault.severity == DiagnosticSeverity::Error),
            "case {case}"
        );
        for fault in faults {
            let text = &fault.source.text;
            assert!(text.get(fault.span.range()).is_some(), "case {case}: {fault:?}");
        }
    }
    assert!(refused > 100, "only {refused} were refused");
}
