//! Checks that ARCHITECTURE.md tells the truth: its journey table names files and functions that
//! exist, and its glossary names the domain's types.

use std::collections::BTreeSet;

use crate::tidy::{list_rust_files, read_file};

/// The most files that a reply may pass on its way to its commit.
const MAX_JOURNEY_FILES: usize = 12;

/// The files whose main type is a word of the domain.
const DOMAIN_FILES: [&str; 12] = [
    "crates/contract/src/contract/contract_",
    "crates/contract/src/patch/authority.rs",
    "crates/contract/src/patch/patch_operation.rs",
    "crates/contract/src/reply/verdict.rs",
    "crates/contract/src/reply/violation.rs",
    "crates/memory/src/record/",
    "crates/protocol/src/agent.rs",
    "crates/protocol/src/document",
    "crates/protocol/src/gate.rs",
    "crates/protocol/src/hook.rs",
    "crates/protocol/src/work",
    "crates/run/src/",
];

/// Returns every statement of the page that is not true.
pub(crate) fn run() -> Vec<String> {
    let page = read_file("ARCHITECTURE.md");
    let mut faults = check_journey(&page);
    faults.extend(check_glossary(&page));
    faults
}

/// Walks the table "From a reply to its commit": at most twelve files, each of which defines what
/// its row names.
fn check_journey(page: &str) -> Vec<String> {
    let table = section(page, "### From a reply to its commit");
    let rows = table.lines().skip_while(|line| !line.starts_with('|'));
    let rows =
        rows.take_while(|line| line.starts_with('|')).filter(|line| !line.starts_with("| #"));
    let (mut faults, mut files) = (Vec::new(), BTreeSet::new());
    for row in rows {
        let Some(location) = row.split(" | ").nth(2) else { continue };
        let mut quoted = location.split('`').skip(1).step_by(2);
        let Some(file) = quoted.next() else { continue };
        files.insert(file.to_owned());
        let text = read_file(file);
        for name in quoted {
            let name = name.rsplit("::").next().unwrap_or(name);
            let defined = ["fn ", "struct ", "enum ", "trait "]
                .iter()
                .any(|keyword| text.contains(&format!("{keyword}{name}")));
            if !defined {
                faults.push(format!("ARCHITECTURE.md: `{file}` does not define `{name}`"));
            }
        }
    }
    if files.is_empty() || files.len() > MAX_JOURNEY_FILES {
        faults.push(format!(
            "ARCHITECTURE.md: the journey names {} files, expected 1 to {MAX_JOURNEY_FILES}",
            files.len()
        ));
    }
    faults
}

/// Checks that the glossary names the main type of every domain file, and no type that is gone.
fn check_glossary(page: &str) -> Vec<String> {
    let glossary = section(page, "## 8. Glossary");
    let sources: Vec<(String, String)> = list_rust_files("crates")
        .into_iter()
        .map(|file| (file.clone(), read_file(&file)))
        .collect();
    let mut faults = Vec::new();
    for (file, text) in &sources {
        let is_domain = DOMAIN_FILES.iter().any(|start| file.starts_with(start));
        let is_nested = file.starts_with("crates/run/src/") && file.matches('/').count() > 3;
        let main = text.lines().find_map(public_type).filter(|_| is_domain && !is_nested);
        if let Some(main) = main.filter(|main| !glossary.contains(&format!("`{main}`"))) {
            faults.push(format!("ARCHITECTURE.md: the glossary lacks `{main}` ({file})"));
        }
    }
    let named = glossary.split('`').skip(1).step_by(2);
    for name in named.filter(|name| name.starts_with(char::is_uppercase)) {
        let is_defined = sources.iter().any(|(_, text)| {
            ["struct", "enum", "trait"].iter().any(|kind| text.contains(&format!("{kind} {name}")))
        });
        if !is_defined && name.chars().all(char::is_alphanumeric) {
            faults.push(format!("ARCHITECTURE.md: the glossary names `{name}`, which is gone"));
        }
    }
    faults
}

/// Returns the name of the public struct or enum that a line defines.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "))?;
    rest.split(|letter: char| !letter.is_alphanumeric()).next()
}

/// Returns the text from a heading to the next heading of any level.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let rest = page.split_once(heading).map_or("", |(_, rest)| rest);
    rest.split("\n#").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journey_that_names_what_is_not_there_is_a_fault() {
        let page = "### From a reply to its commit\n\n| # | stage | where |\n|---|---|---|\n| 1 | x | `xtask/src/architecture.rs`: `run`, `vanish` | y |\n";
        assert_eq!(
            check_journey(page),
            ["ARCHITECTURE.md: `xtask/src/architecture.rs` does not define `vanish`"]
        );
        assert!(check_journey("").first().is_some_and(|fault| fault.contains("names 0 files")));
    }

    #[test]
    fn a_glossary_without_a_domain_word_is_a_fault() {
        let faults = check_glossary("## 8. Glossary\n\n| run | `VanishedType` |\n");
        assert!(faults.iter().any(|fault| fault.contains("lacks `MemoryFact`")), "{faults:?}");
        assert!(faults.iter().any(|fault| fault.contains("`VanishedType`, which is gone")));
    }
}
