//! Reading the seeds: fenced JSON, Python dictionaries, Python classes.
//!
//! Knows just as much of Markdown and Python as those documents use.

use std::collections::BTreeSet;

use serde_json::Value;

/// The text of one seed.
pub(crate) struct Seed(String);

impl Seed {
    /// The seed whose file name begins with this number; `None` where there is no folder of seeds.
    pub(crate) fn read(number: &str) -> Option<Self> {
        let files = std::fs::read_dir(testkit::find_seeds()?).expect("a readable folder");
        let mut names = files.map(|file| file.expect("a readable folder").path());
        let name = names.find(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(&format!("{number}_")))
        });
        // A folder without its seeds is a mistake, not an absent folder.
        let path = name.unwrap_or_else(|| panic!("no seed {number} in the folder of seeds"));
        Some(Self(std::fs::read_to_string(path).expect("a readable seed")))
    }
}

/// Says that a test had nothing to do.
pub(crate) fn say_not_run(test: &str) {
    testkit::report_not_run(&format!("seeds::{test}"), "no folder of seeds");
}

/// The fenced blocks that are JSON, in order.
pub(crate) fn fenced_json(seed: &Seed) -> Vec<Value> {
    blocks(seed).filter_map(|(_, block)| serde_json::from_str(block).ok()).collect()
}

/// Every fenced block with its info string, in order.
pub(crate) fn blocks(seed: &Seed) -> impl Iterator<Item = (&str, &str)> {
    // Fences open and close in turn, so every other piece is inside one.
    seed.0.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'))
}

/// A dictionary literal assigned to this name at the beginning of a line.
pub(crate) fn python_dict(seed: &Seed, name: &str) -> Value {
    let start = format!("\n{name} = ");
    let literal = seed.0.split_once(&start).unwrap_or_else(|| panic!("no `{name}`")).1;
    let end = literal.find("\n}").expect("the literal ends at the beginning of a line");
    serde_json::from_str(&python_to_json(&literal[..end + 2]))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Python's literals are JSON but for comments and the names of true and false.
fn python_to_json(literal: &str) -> String {
    let mut json = String::new();
    for line in literal.lines() {
        let mut quoted = false;
        let code = line.split(|character| {
            quoted ^= character == '"';
            character == '#' && !quoted
        });
        json.push_str(code.take(1).collect::<String>().trim_end());
        json.push('\n');
    }
    json.replace("False", "false").replace("True", "true")
}

/// The fields of a class, by their annotations.
pub(crate) fn class_fields(seed: &Seed, class: &str) -> BTreeSet<String> {
    let body = seed
        .0
        .split_once(&format!("\nclass {class}("))
        .unwrap_or_else(|| panic!("no class `{class}`"))
        .1;
    body.lines()
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim().to_owned())
        .collect()
}
