//! Collects the rules of a grammar while it is written.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::json;
use serde_json::Value;

use crate::export::export_traversal::ExportTraversal;
use crate::export::exported_contract::{ExportLoss, LossEffect};
use crate::export::loss_recorder::LossRecorder;

/// The rules that every grammar includes. Escapes of surrogate halves are excluded, so that one
/// `char` is one character; such characters are written unescaped.
const BASE_RULES: [(&str, &str); 10] = [
    ("ws", r#"( " " | "\n" [ \t]{0,20} )?"#),
    (
        "char",
        r#"[^"\\\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" ( [0-9a-cA-Ce-fE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2} ) )"#,
    ),
    ("string", r#""\"" char* "\"""#),
    ("integer", r#""-"? ( "0" | [1-9] [0-9]{0,19} )"#),
    ("number", r#"integer ( "." [0-9]{1,25} )? ( [eE] [-+]? [0-9]{1,3} )?"#),
    ("boolean", r#""true" | "false""#),
    ("null", r#""null""#),
    ("value", "object | array | string | number | boolean | null"),
    ("object", r#""{" ws ( string ":" ws value ( "," ws string ":" ws value )* )? ws "}""#),
    ("array", r#""[" ws ( value ( "," ws value )* )? ws "]""#),
];

/// The rules by name, and the losses.
pub(super) struct GrammarBuilder<'r> {
    pub(super) traversal: ExportTraversal<'r>,
    rules: Vec<(String, String)>,
    /// The names in use; `next_suffixes` holds the next suffix to try for each requested name.
    names: BTreeSet<String>,
    next_suffixes: BTreeMap<String, usize>,
    pub(super) losses: LossRecorder,
    references: BTreeMap<String, String>,
    pending_references: Vec<(String, String)>,
}

impl<'r> GrammarBuilder<'r> {
    pub(super) fn new(root: &'r Value) -> Self {
        Self {
            traversal: ExportTraversal::new(root, true),
            rules: Vec::new(),
            names: BASE_RULES.iter().map(|(name, _)| (*name).to_owned()).collect(),
            next_suffixes: BTreeMap::new(),
            losses: LossRecorder::default(),
            references: BTreeMap::new(),
            pending_references: Vec::new(),
        }
    }

    /// Adds a rule under a unique name and returns that name.
    pub(super) fn define_rule(&mut self, wanted: &str, body: String) -> String {
        let mut name = wanted.to_owned();
        let number = self.next_suffixes.entry(name.clone()).or_insert(2);
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}-{number}");
            *number += 1;
        }
        self.rules.push((name.clone(), body));
        name
    }

    /// Returns the rule name of a referenced schema; its body is written later.
    pub(super) fn add_reference(&mut self, pointer: &str) -> String {
        // A reference that leads back to itself restricts nothing.
        let Some(pointer) = self.traversal.resolve_reference_chain(pointer) else {
            return "value".to_owned();
        };
        let pointer = pointer.as_str();
        if let Some(name) = self.references.get(pointer) {
            return name.clone();
        }
        let last = json::split_pointer(pointer)
            .last()
            .map(std::borrow::Cow::into_owned)
            .unwrap_or_default();
        let name = format!("ref-{}-{}", self.references.len(), sanitize_name(&last));
        self.references.insert(pointer.to_owned(), name.clone());
        self.names.insert(name.clone());
        self.pending_references.push((pointer.to_owned(), name.clone()));
        name
    }

    /// Writes the bodies of all pending references.
    pub(super) fn finish_references(&mut self) {
        while let Some((key, name)) = self.pending_references.pop() {
            let (schema, at) = self.traversal.begin_definition(&key);
            let body = self.write_schema(&schema, &at, &name);
            self.rules.push((name, body));
        }
    }

    pub(super) fn record_widening(&mut self, pointer: &str, keyword: &str, reason: &str) {
        self.losses.record(pointer, keyword, reason, LossEffect::Widened);
    }

    /// Returns the grammar text: the root rule, the other rules in order of creation, then the base
    /// rules.
    pub(super) fn into_text(mut self) -> (String, Vec<ExportLoss>) {
        self.rules.sort_by_key(|(name, _)| name != "root");
        let base = BASE_RULES.iter().map(|(name, body)| ((*name).to_owned(), (*body).to_owned()));
        let all = self.rules.into_iter().chain(base);
        let lines: Vec<String> = all.map(|(name, body)| format!("{name} ::= {body}\n")).collect();
        (lines.concat(), self.losses.into_losses())
    }
}

/// Turns a name into a valid rule name of at most 40 characters.
pub(super) fn sanitize_name(name: &str) -> String {
    let kept = name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' });
    let kept: String = kept.take(40).collect();
    if kept.is_empty() { "x".to_owned() } else { kept }
}

/// Quotes a text as a grammar literal.
pub(super) fn quote_literal(text: &str) -> String {
    let mut out = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
