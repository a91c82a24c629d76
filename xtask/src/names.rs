//! Checks and counts the names of types and functions.
//!
//! `cargo xtask names` prints the counts; `tidy` fails where a rule is broken: no public type name
//! twice in the workspace, no participle as the name of a function, no file `body.rs`, and no doc
//! comment of fewer than three words.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process;

/// Type names that two crates define on purpose, each with its reason.
const SHARED_NAMES: [(&str, &str); 0] = [];

/// The share of one-word type names that `tidy` accepts, in percent.
const MAX_ONE_WORD_PERCENT: usize = 30;

/// Irregular participles, and `of`, which name no action.
const PARTICIPLES: [&str; 36] = [
    "begun", "borne", "bound", "built", "caught", "chosen", "cut", "done", "drawn", "fed", "felt",
    "found", "given", "gone", "handed", "heard", "held", "kept", "known", "led", "left", "lent",
    "lost", "made", "meant", "met", "of", "said", "seen", "sent", "shown", "spent", "sought",
    "taken", "told", "written",
];

/// Words in `-ed` that are verbs, or adjectives that no verb makes.
const NO_PARTICIPLES: [&str; 6] = ["embed", "feed", "malformed", "need", "seed", "shed"];

/// What the sources define.
#[derive(Debug, Default)]
struct NameInventory {
    /// Each public type name with the places that define it.
    public_types: BTreeMap<String, Vec<String>>,
    type_count: usize,
    one_word_types: Vec<String>,
    participle_functions: Vec<String>,
    short_comments: Vec<String>,
    body_files: Vec<String>,
}

/// Prints the counts of the workspace.
pub(crate) fn print_counts() {
    let names = NameInventory::read_workspace();
    println!("public types: {}", names.public_types.len());
    println!("public type names defined more than once: {}", names.list_shared().len());
    println!(
        "types with a name of one word: {} of {} ({} %)",
        names.one_word_types.len(),
        names.type_count,
        names.one_word_percent()
    );
    println!("functions named by a participle: {}", names.participle_functions.len());
    println!("doc comments of fewer than three words: {}", names.short_comments.len());
}

/// Returns every broken rule.
pub(crate) fn run() -> Vec<String> {
    let names = NameInventory::read_workspace();
    let mut faults = Vec::new();
    for (name, locations) in names.list_shared() {
        faults.push(format!("type `{name}` is defined more than once: {}", locations.join(", ")));
    }
    let percent = names.one_word_percent();
    if percent > MAX_ONE_WORD_PERCENT {
        faults.push(format!(
            "{percent} % of the type names have one word; the limit is {MAX_ONE_WORD_PERCENT} %"
        ));
    }
    let participles = names.participle_functions.iter();
    faults.extend(participles.map(|location| format!("{location}: name the function by a verb")));
    let short = names.short_comments.iter();
    faults.extend(
        short.map(|location| format!("{location}: a doc comment must have at least three words")),
    );
    let bodies = names.body_files.iter();
    faults.extend(bodies.map(|path| format!("{path}: name the file after its main type or task")));
    faults
}

impl NameInventory {
    fn read_workspace() -> Self {
        let mut names = Self::default();
        let crates = process::workspace_root().join("crates");
        let mut files = Vec::new();
        for entry in fs::read_dir(crates).into_iter().flatten().flatten() {
            collect_rust_files(&entry.path().join("src"), &mut files);
        }
        files.sort();
        for file in files {
            names.read_file(&file);
        }
        names
    }

    fn read_file(&mut self, path: &Path) {
        let shown = path.strip_prefix(process::workspace_root().canonicalize().unwrap_or_default());
        let shown = shown.unwrap_or(path).display().to_string();
        if path.ends_with("body.rs") {
            self.body_files.push(shown.clone());
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            if *line == "#[cfg(test)]"
                && lines.get(index + 1).is_some_and(|next| next.ends_with('{'))
            {
                break;
            }
            let location = format!("{shown}:{}", index + 1);
            self.read_comment(&lines, index, &location);
            self.read_definition(line, &location);
        }
    }

    fn read_comment(&mut self, lines: &[&str], index: usize, location: &str) {
        let is_doc = |line: Option<&&str>| line.is_some_and(|line| line.starts_with("///"));
        let Some(text) = lines[index].strip_prefix("///") else { return };
        let before = index.checked_sub(1).and_then(|index| lines.get(index));
        if is_doc(before) || is_doc(lines.get(index + 1)) {
            return;
        }
        if text.split_whitespace().count() < 3 {
            self.short_comments.push(location.to_owned());
        }
    }

    fn read_definition(&mut self, line: &str, location: &str) {
        let (is_public, rest) = strip_visibility(line);
        let words: Vec<&str> = rest.split_whitespace().collect();
        let is_type = |word: &&str| ["struct", "enum", "trait", "union", "type"].contains(word);
        if let [keyword, name, ..] = words.as_slice()
            && is_type(keyword)
        {
            let name = identifier(name);
            if name.starts_with(char::is_uppercase) && (*keyword != "type" || is_public) {
                self.type_count += 1;
                if name.chars().filter(|character| character.is_uppercase()).count() == 1 {
                    self.one_word_types.push(location.to_owned());
                }
                if is_public {
                    self.public_types.entry(name.to_owned()).or_default().push(location.to_owned());
                }
            }
        }
        let Some(at) = words.iter().position(|word| *word == "fn") else { return };
        let modifiers = ["const", "async", "unsafe", "extern"];
        if words[..at].iter().all(|word| modifiers.contains(word))
            && let Some(name) = words.get(at + 1)
            && is_participle(identifier(name))
        {
            self.participle_functions.push(location.to_owned());
        }
    }

    fn list_shared(&self) -> Vec<(&String, &Vec<String>)> {
        let is_allowed = |name: &str| SHARED_NAMES.iter().any(|(shared, _)| *shared == name);
        let shared = self.public_types.iter();
        shared.filter(|(name, locations)| locations.len() > 1 && !is_allowed(name)).collect()
    }

    fn one_word_percent(&self) -> usize {
        self.one_word_types.len() * 100 / self.type_count.max(1)
    }
}

fn collect_rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            collect_rust_files(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
            files.push(path.canonicalize().unwrap_or(path));
        }
    }
}

/// Splits off `pub` or `pub(…)`.
fn strip_visibility(line: &str) -> (bool, &str) {
    let Some(rest) = line.strip_prefix("pub") else { return (false, line) };
    match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, rest)) => (true, rest.trim_start()),
        None => (rest.starts_with(' '), rest.trim_start()),
    }
}

/// The identifier at the beginning of a word, without generics and brackets.
fn identifier(word: &str) -> &str {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    word.split(|character| !is_part(character)).next().unwrap_or_default()
}

fn is_participle(name: &str) -> bool {
    let regular = name.ends_with("ed") && !name.contains('_') && !NO_PARTICIPLES.contains(&name);
    regular || PARTICIPLES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whatever_stands_around_them() {
        let mut names = NameInventory::default();
        names.read_definition("pub(crate) struct Place<'a> {", "a");
        names.read_definition("pub enum Place {", "b");
        names.read_definition("pub async fn told(self) {", "c");
        names.read_definition("pub fn list_shared(&self) {", "d");
        names.read_definition("type Output = u8;", "e");
        assert_eq!(names.list_shared().len(), 1);
        assert_eq!(names.one_word_percent(), 100);
        assert_eq!(names.participle_functions, ["c"]);
    }

    #[test]
    fn comments_of_one_line_are_counted() {
        let mut names = NameInventory::default();
        for (index, lines) in
            [["/// Which.", "a: u8,"], ["/// The run it belongs to.", ""], ["/// Two", "/// lines"]]
                .iter()
                .enumerate()
        {
            names.read_comment(lines, 0, &index.to_string());
        }
        assert_eq!(names.short_comments, ["0"]);
    }
}
