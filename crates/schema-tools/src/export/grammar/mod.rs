//! Exports a schema as a GBNF grammar for llama.cpp.
//!
//! Fields come in the order of their declaration. White space is allowed where models usually put
//! it, and bounded, so that a model cannot write it forever.

mod grammar_builder;
mod grammar_value;
mod grammar_object;
mod name_trie;
mod grammar_string;
#[cfg(test)]
mod grammar_tests;

use serde_json::Value;

use super::exported_contract::ExportedContract;
use super::nullable_fields::NullableFields;
use grammar_builder::GrammarBuilder;

/// Exports a schema as a grammar.
pub(super) fn export_grammar(root: &Value) -> ExportedContract {
    let mut rules = GrammarBuilder::new(root);
    let body = rules.write_schema(root, "", "root");
    rules.define_rule("root", format!("{body} ws"));
    rules.finish_references();
    let (text, losses) = rules.into_text();
    ExportedContract {
        output: Value::from(text),
        losses,
        nullable: Vec::new(),
        nullable_fields: NullableFields::default(),
    }
}
