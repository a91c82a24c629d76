//! The index: which file it is, and what it says of itself.

use super::contracts::stem;
use super::expression::expression;
use super::faults::Faults;
use super::file::{File, Kind};
use super::member::Member;
use crate::expr::Expr;
use crate::json::Span;
use crate::protocol::{Bundle, StateFormat};
use crate::spec::{Diagnostic, Source};

const NAMES: [&str; 3] = ["index.yaml", "index.yml", "index.json"];

/// Finds and parses the index.
pub(super) fn find(bundle: &Bundle, faults: &Faults) -> Option<File> {
    let found = NAMES.iter().filter_map(|name| Some((*name, bundle.files.get(*name)?)));
    let found: Vec<_> = found.collect();
    let Some((name, text)) = found.first() else {
        let message = "a protocol has an `index.yaml`, and this folder has none";
        let near = bundle.files.keys().find(|path| stem(path).eq_ignore_ascii_case("index"));
        let hint = near.map(|path| format!("there is a file `{path}`"));
        faults.push(of_folder("missing_index", message).hinting(hint));
        return None;
    };
    for (other, text) in &found[1..] {
        let source = Source::new(*other, text.as_str()).into();
        let message = format!("`{name}` is the index already; remove one of the two");
        faults.push(Diagnostic::new("duplicate_id", message, &source, Span::default()));
    }
    File::parse(Kind::Index, name, text, faults)
}

/// A fault of the folder as a whole.
pub(super) fn of_folder(code: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, message, &Source::new(NAMES[0], "").into(), Span::default())
}

/// What an index says of itself.
#[derive(Debug, Default)]
pub(super) struct Card {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) default_workflow: String,
    pub(super) default_model: Option<String>,
}

/// Reads name, version and the like.
pub(super) fn card(index: &File, faults: &Faults) -> Card {
    let root = index.root();
    for key in ["name", "default_workflow"] {
        if let Some(member) = root.get(key).filter(|it| it.text().is_some_and(is_blank)) {
            faults.push(
                member.fault(
                    "min_length",
                    format!("a protocol has a `{key}`, and this one is blank"),
                ),
            );
        }
    }
    if let Some(version) =
        root.get("version").filter(|it| it.text().is_some_and(|it| !is_version(it)))
    {
        let message = format!("`{}` is no version", version.text().unwrap_or_default());
        let hint = "write three numbers joined by dots: `1.0.0`".to_owned();
        faults.push(version.fault("invalid_version", message).hinting(Some(hint)));
    }
    let text = |key: &str| root.owned(key).unwrap_or_default();
    Card {
        name: text("name"),
        version: text("version"),
        description: text("description"),
        default_workflow: text("default_workflow"),
        default_model: root.get("models").and_then(|models| models.owned("default")),
    }
}

/// What gives the language of a run.
pub(super) fn language(index: Option<&File>, faults: &Faults) -> Option<Expr> {
    expression(&index?.sound("language")?, &crate::protocol::NAMES[..2], faults)
}

/// How the document is laid out in files.
pub(super) fn state_format(index: Option<&File>) -> StateFormat {
    let format = index.and_then(|index| index.root().get("state")?.get("format"));
    match format.as_ref().and_then(Member::text) {
        Some("multi") => StateFormat::Multi,
        _ => StateFormat::Single,
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// `major.minor.patch`, with a pre-release or build part at most.
fn is_version(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    let plain = |part: &&str| part.parse::<u64>().is_ok_and(|number| number.to_string() == **part);
    parts.len() == 3 && parts.iter().all(plain) && !text.ends_with(['-', '+'])
}
