//! Reports and removes keys that no schema declares, before the schema check.
//!
//! The known keys come from the schemas alone. Keys that begin with `x-` belong to the author.

use countersign_contract::find_similar_name;
use countersign_contract::json::{self, TextSpan};
use countersign_contract::source::{Diagnostic, ParsedSourceFile};
use serde_json::Value;

use super::load_diagnostics::LoadDiagnostics;
use super::symbol_table::format_known_names;

/// Removes every key that the schema does not declare, and reports those without the prefix `x-`.
pub(super) fn remove_unknown_keys(
    schema: &Value,
    tree: &mut ParsedSourceFile,
    faults: &LoadDiagnostics,
) {
    let mut value = std::mem::take(&mut tree.value);
    let walk = UnknownKeyFilter { root: schema, tree, faults };
    walk.visit_value(schema, &mut value, "");
    tree.value = value;
}

struct UnknownKeyFilter<'w> {
    root: &'w Value,
    tree: &'w ParsedSourceFile,
    faults: &'w LoadDiagnostics,
}

impl UnknownKeyFilter<'_> {
    fn visit_value(&self, schema: &Value, value: &mut Value, pointer: &str) {
        let schema = self.resolve_schema(schema, value);
        match value {
            Value::Object(_) => self.visit_object(schema, value, pointer),
            Value::Array(items) => {
                let Some(inside) = schema.get("items") else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.visit_value(
                        inside,
                        item,
                        &json::child_pointer(pointer, &index.to_string()),
                    );
                }
            }
            _ => {}
        }
    }

    /// Follows references, and chooses the alternative that fits the type of the value.
    fn resolve_schema<'s>(&'s self, mut schema: &'s Value, value: &Value) -> &'s Value {
        loop {
            if let Some(target) = schema["$ref"].as_str() {
                let target = self.root.pointer(target.trim_start_matches('#'));
                schema = target.expect("references in the built-in schema resolve");
            } else if let Some(branches) = schema["oneOf"].as_array() {
                let fits = |branch: &&Value| self.accepts_type(branch, value);
                let Some(branch) = branches.iter().find(fits) else { return schema };
                schema = branch;
            } else {
                return schema;
            }
        }
    }

    fn accepts_type(&self, branch: &Value, value: &Value) -> bool {
        let branch = self.resolve_schema(branch, value);
        let name = match value {
            Value::Object(_) => "object",
            Value::Array(_) => "array",
            _ => return false,
        };
        branch["type"] == name
    }

    fn visit_object(&self, schema: &Value, value: &mut Value, pointer: &str) {
        let Some(members) = value.as_object_mut() else { return };
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let declared = schema["properties"].as_object();
        let free = schema["x-keys"] == "free" || (declared.is_none() && others.is_none());
        let names: Vec<String> = members.keys().cloned().collect();
        for name in names {
            let at = json::child_pointer(pointer, &name);
            let own = name.starts_with("x-") && schema["x-keys"] != "names";
            let others = others.filter(|_| !own);
            let inside = declared.and_then(|fields| fields.get(&name)).or(others);
            if let (Some(inside), Some(member)) = (inside, members.get_mut(&name)) {
                self.visit_value(inside, member, &at);
            } else if !free {
                members.remove(&name);
                if !own {
                    self.report_unknown_key(schema, &at, &name);
                }
            }
        }
    }

    fn report_unknown_key(&self, schema: &Value, pointer: &str, name: &str) {
        let fields = schema["properties"].as_object().into_iter().flatten();
        let fields: Vec<&str> = fields.map(|(field, _)| field.as_str()).collect();
        self.faults.push(self.unknown_key_diagnostic(schema, pointer, name, &fields));
    }

    fn unknown_key_diagnostic(
        &self,
        schema: &Value,
        pointer: &str,
        name: &str,
        fields: &[&str],
    ) -> Diagnostic {
        let owner = schema["title"].as_str().unwrap_or("table");
        let article = if owner.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let message = format!("`{name}` is not a key of {article} {owner}");
        let span = key_span(self.tree, pointer);
        let fault = Diagnostic::new("unknown_key", message, &self.tree.source, span);
        match find_similar_name(name, fields.iter().copied()) {
            Some(near) => fault.with_hint(Some(format!("did you mean `{near}`?"))),
            // The specification leaves most objects open, so a key that resembles no known one may
            // be intended.
            None => {
                let hint =
                    format!("{}; keys of your own begin with `x-`", format_known_names(fields));
                let fault = fault.with_hint(Some(hint));
                if schema["additionalProperties"] == false { fault } else { fault.into_warning() }
            }
        }
    }
}

/// The location of a key: directly before its value, as far as the text shows it.
pub(super) fn key_span(tree: &ParsedSourceFile, pointer: &str) -> TextSpan {
    tree.find_key_span(pointer)
}
