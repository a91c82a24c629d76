//! A schema as a GBNF grammar, the language of llama.cpp.
//!
//! Fields come in the order they are declared in. White space is allowed where models like to put
//! it, and bounded, so that none can be written for ever.

mod rules;
mod value;
mod object;
mod names;
mod text;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::loss::Export;
use super::nullable::NullPlaces;
use rules::Rules;

/// Exports a schema as a grammar.
pub(super) fn export(root: &Value) -> Export {
    let mut rules = Rules::new(root);
    let body = rules.schema(root, "", "root");
    rules.define("root", format!("{body} ws"));
    rules.finish_references();
    let (text, losses) = rules.into_text();
    Export {
        schema_or_grammar: Value::from(text),
        losses,
        nullable: Vec::new(),
        places: NullPlaces::default(),
    }
}
