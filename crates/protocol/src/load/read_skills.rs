//! Reads skills: `skills/NAME/SKILL.md`, a header of YAML between two lines `---`, and a text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_contract::json::TextSpan;
use countersign_contract::limits::{MAX_SKILL_BYTES, MAX_SKILL_DESCRIPTION};
use countersign_contract::source::{Diagnostic, ParsedSourceFile, SourceFile};

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::symbol_table::SymbolTable;
use crate::{ProtocolBundle, SkillDefinition};

/// The name of the file in the folder of a skill.
const SKILL_FILE: &str = "SKILL.md";
const FENCE: &str = "---";
/// Maximum length of the name of a skill, in characters.
const MAX_SKILL_NAME: usize = 64;

/// Reads every skill of the folder by name.
pub(super) fn read_skills(
    bundle: &ProtocolBundle,
    faults: &LoadDiagnostics,
) -> SymbolTable<Arc<SkillDefinition>> {
    let mut skills = SymbolTable::new("skill");
    let mut empty: BTreeMap<&str, &str> = BTreeMap::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (path, text) in &bundle.files {
        let Some(inside) = path.strip_prefix("skills/") else { continue };
        match inside.split_once('/') {
            None => faults.push(describe_stray_file(path, text).into_warning()),
            Some((folder, SKILL_FILE)) => {
                seen.insert(folder);
                skills.add(folder, read_skill(folder, path, text, faults).map(Arc::new));
            }
            Some((folder, _)) => {
                empty.entry(folder).or_insert(path);
            }
        }
    }
    for (folder, path) in empty.into_iter().filter(|(folder, _)| !seen.contains(folder)) {
        let message = format!("the folder `skills/{folder}` has no `{SKILL_FILE}`");
        let source = SourceFile::new(path, bundle.files[path].as_str()).into();
        faults.push(Diagnostic::new("invalid_skill", message, &source, TextSpan::default()));
        skills.add(folder, None);
    }
    skills
}

fn describe_stray_file(path: &str, text: &str) -> Diagnostic {
    let message = format!("`{path}` is not read: a skill is a folder with a `{SKILL_FILE}`");
    let source = SourceFile::new(path, text).into();
    let name = path.trim_start_matches("skills/");
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    Diagnostic::new("invalid_skill", message, &source, TextSpan::default())
        .with_hint(Some(format!("move it to `skills/{name}/{SKILL_FILE}`")))
}

fn read_skill(
    folder: &str,
    path: &str,
    text: &str,
    faults: &LoadDiagnostics,
) -> Option<SkillDefinition> {
    let at_start = |message: String| {
        let source = SourceFile::new(path, text).into();
        Diagnostic::new("invalid_skill", message, &source, TextSpan::new(0, first_line(text).len()))
    };
    if text.len() > MAX_SKILL_BYTES {
        let message = format!(
            "a skill may have at most {MAX_SKILL_BYTES} bytes, and this one has {}",
            text.len()
        );
        let source = SourceFile::new(path, text).into();
        faults.push(Diagnostic::new("too_large", message, &source, TextSpan::default()));
        return None;
    }
    let Some((header, body)) = split_header(text) else {
        let message = format!("`{SKILL_FILE}` needs a header with `name` and `description`");
        let hint =
            format!("begin the file with `---`, `name: {folder}`, `description: …` and `---`");
        faults.push(at_start(message).with_hint(Some(hint)));
        return None;
    };
    // The opening fence stays, as the beginning of a YAML document, so that lines keep their
    // numbers.
    let header = ParsedSourceFile::parse(SourceFile::new(path, header));
    let header = Arc::new(header.map_err(|fault| faults.push(fault)).ok()?);
    let root = FileNode::root(&header);
    let name = root.text_at("name").unwrap_or_default();
    if !is_skill_name(folder) {
        let message = format!(
            "`{folder}` is not the name of a skill: it has 1 to {MAX_SKILL_NAME} of the characters a-z, 0-9, `-` and `_`"
        );
        faults.push(root.diagnose("invalid_skill", message));
        return None;
    }
    if name != folder {
        let node = root.get("name").unwrap_or_else(|| root.clone());
        let message = format!("the skill in `skills/{folder}` needs the `name` `{folder}`");
        faults.push(node.diagnose("invalid_skill", message));
    }
    let description = root.text_at("description").unwrap_or_default().trim();
    let length = description.chars().count();
    if length == 0 || length > MAX_SKILL_DESCRIPTION {
        let node = root.get("description").unwrap_or_else(|| root.clone());
        let message = format!(
            "a skill needs a `description` of 1 to {MAX_SKILL_DESCRIPTION} characters, and this one has {length}"
        );
        let hint = "say what the skill is for and when to use it".to_owned();
        faults.push(node.diagnose("invalid_skill", message).with_hint(Some(hint)));
    }
    let is_valid = name == folder && (1..=MAX_SKILL_DESCRIPTION).contains(&length);
    is_valid.then(|| SkillDefinition {
        name: folder.to_owned(),
        description: description.to_owned(),
        text: body.trim().to_owned(),
        path: path.to_owned(),
    })
}

/// Splits a file into its header, with the opening fence, and the text below it.
fn split_header(text: &str) -> Option<(&str, &str)> {
    if first_line(text).trim_end() != FENCE {
        return None;
    }
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if index > 0 && line.trim_end() == FENCE {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn is_skill_name(name: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    (1..=MAX_SKILL_NAME).contains(&name.len()) && name.bytes().all(allowed)
}

fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}
