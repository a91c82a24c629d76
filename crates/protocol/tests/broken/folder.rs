//! Protocol folders of tests: one text with `--- path` lines between the files, and how findings are shown.

use std::path::{Path, PathBuf};

use countersign_contract::contract::{self, ContractRegistry};
use countersign_contract::source::{Diagnostic, SourceFile};
use countersign_protocol::{ProtocolBundle, check_protocol, load_protocol};

/// The texts of a folder beside this one, by name.
pub(crate) fn texts(folder: &str) -> Vec<(String, String)> {
    let folder = tests().join(folder);
    let mut texts: Vec<(String, String)> = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("a text"))
        })
        .collect();
    texts.sort();
    texts
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    tests().join("../../..")
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Cuts a text into files. What stands before the first is a remark.
pub(crate) fn bundle(text: &str) -> ProtocolBundle {
    let mut bundle = ProtocolBundle::default();
    let mut path = None;
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("--- ") {
            let name = name.trim().to_owned();
            bundle.files.insert(name.clone(), String::new());
            path = Some(name);
        } else if let Some(file) = path.as_ref().and_then(|path| bundle.files.get_mut(path)) {
            file.push_str(line);
        }
    }
    bundle
}

/// The contracts that ship, read from the files of their crate, which this one must not depend on.
pub(crate) fn shipped() -> ContractRegistry {
    let folder = tests().join("../../shipped-contracts/contracts");
    let mut registry = ContractRegistry::default();
    for entry in std::fs::read_dir(&folder).expect("the contracts") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a contract");
        let read = |path: &str| {
            std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())
        };
        let name = path.to_string_lossy().into_owned();
        let contract =
            contract::load_contract(SourceFile::new(name, text), &read).expect("a sound contract");
        registry.add(contract).expect("one contract an id");
    }
    registry
}

/// Everything that loading and checking a folder tells.
pub(crate) fn findings(bundle: ProtocolBundle, shipped: &ContractRegistry) -> Vec<Diagnostic> {
    match load_protocol(bundle, shipped) {
        Err(faults) => faults,
        Ok(loaded) => {
            let mut all = loaded.warnings;
            all.extend(check_protocol(&loaded.protocol));
            all
        }
    }
}

/// A finding as a person sees it: the sentence, the line of the file, carets under the place.
pub(crate) fn shown(finding: &Diagnostic) -> String {
    let location = finding.line_column();
    let line = finding.source.text.lines().nth(location.line - 1).unwrap_or_default();
    let rest = line.chars().count().saturating_sub(location.column - 1);
    let stretch = finding.source.text.get(finding.span.range()).unwrap_or_default();
    let width = stretch.lines().next().unwrap_or_default().chars().count().min(rest).max(1);
    let margin = " ".repeat(location.line.to_string().len());
    // A wide character takes two columns of a terminal, and so must what stands under it.
    let before: String = line.chars().take(location.column - 1).map(blank).collect();
    let under: String = line.chars().skip(location.column - 1).take(width).map(caret).collect();
    let under = if under.is_empty() { "^".to_owned() } else { under };
    let hint = finding.hint.iter().map(|hint| format!("{margin} |\n{margin} = help: {hint}\n"));
    format!(
        "{}[{}]: {}\n{margin}--> {}:{}:{}\n{margin} |\n{} | {line}\n{margin} | {before}{under}\n{}",
        finding.severity.as_str(),
        finding.code,
        finding.message,
        finding.source.name,
        location.line,
        location.column,
        location.line,
        hint.collect::<String>(),
    )
}

fn is_wide(character: char) -> bool {
    ('\u{1100}'..='\u{115f}').contains(&character) || ('\u{2e80}'..='\u{ffdc}').contains(&character)
}

fn blank(character: char) -> &'static str {
    match character {
        '\t' => "\t",
        wide if is_wide(wide) => "  ",
        _ => " ",
    }
}

fn caret(character: char) -> &'static str {
    if is_wide(character) { "^^" } else { "^" }
}
