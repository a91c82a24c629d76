//! Keys no schema knows: told, and taken out before the schema is asked.
//!
//! What is known comes from the schemas alone. Keys that begin with `x-` are the author's.

use serde_json::Value;

use super::faults::Faults;
use super::known::known;
use crate::json::{self, Span};
use crate::nearest::nearest;
use crate::spec::{Diagnostic, Tree};

/// Takes out every key that the schema does not know, and tells those that are not free.
pub(super) fn take_unknown(schema: &Value, tree: &mut Tree, faults: &Faults) {
    let mut value = std::mem::take(&mut tree.value);
    let walk = Walk { root: schema, tree, faults };
    walk.value(schema, &mut value, "");
    tree.value = value;
}

struct Walk<'w> {
    root: &'w Value,
    tree: &'w Tree,
    faults: &'w Faults,
}

impl Walk<'_> {
    fn value(&self, schema: &Value, value: &mut Value, pointer: &str) {
        let schema = self.resolved(schema, value);
        match value {
            Value::Object(_) => self.table(schema, value, pointer),
            Value::Array(items) => {
                let Some(inside) = schema.get("items") else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(inside, item, &json::child(pointer, &index.to_string()));
                }
            }
            _ => {}
        }
    }

    /// Follows references, and of alternatives the one for this type of value.
    fn resolved<'s>(&'s self, mut schema: &'s Value, value: &Value) -> &'s Value {
        loop {
            if let Some(target) = schema["$ref"].as_str() {
                let target = self.root.pointer(target.trim_start_matches('#'));
                schema = target.expect("our own references lead somewhere");
            } else if let Some(branches) = schema["oneOf"].as_array() {
                let fits = |branch: &&Value| self.is_for(branch, value);
                let Some(branch) = branches.iter().find(fits) else { return schema };
                schema = branch;
            } else {
                return schema;
            }
        }
    }

    fn is_for(&self, branch: &Value, value: &Value) -> bool {
        let branch = self.resolved(branch, value);
        let name = match value {
            Value::Object(_) => "object",
            Value::Array(_) => "array",
            _ => return false,
        };
        branch["type"] == name
    }

    fn table(&self, schema: &Value, value: &mut Value, pointer: &str) {
        let Some(members) = value.as_object_mut() else { return };
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let declared = schema["properties"].as_object();
        let free = schema["x-keys"] == "free" || (declared.is_none() && others.is_none());
        let names: Vec<String> = members.keys().cloned().collect();
        for name in names {
            let at = json::child(pointer, &name);
            let own = name.starts_with("x-") && schema["x-keys"] != "names";
            let others = others.filter(|_| !own);
            let inside = declared.and_then(|fields| fields.get(&name)).or(others);
            if let (Some(inside), Some(member)) = (inside, members.get_mut(&name)) {
                self.value(inside, member, &at);
            } else if !free {
                members.remove(&name);
                if !own {
                    self.tell_unknown(schema, &at, &name);
                }
            }
        }
    }

    fn tell_unknown(&self, schema: &Value, pointer: &str, name: &str) {
        let fields = schema["properties"].as_object().into_iter().flatten();
        let fields: Vec<&str> = fields.map(|(field, _)| field.as_str()).collect();
        self.faults.push(self.unknown(schema, pointer, name, &fields));
    }

    fn unknown(&self, schema: &Value, pointer: &str, name: &str, fields: &[&str]) -> Diagnostic {
        let owner = schema["title"].as_str().unwrap_or("table");
        let article = if owner.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let message = format!("`{name}` is no key of {article} {owner}");
        let place = place(self.tree, pointer);
        let fault = Diagnostic::new("unknown_key", message, &self.tree.source, place);
        match nearest(name, fields.iter().copied()) {
            Some(near) => fault.hinting(Some(format!("did you mean `{near}`?"))),
            // The seed leaves most objects open, so what resembles nothing may be meant.
            None => {
                let hint = format!("{}; keys that begin with `x-` are yours", known(fields));
                let fault = fault.hinting(Some(hint));
                if schema["additionalProperties"] == false { fault } else { fault.warning() }
            }
        }
    }
}

/// The place of a key: right before its value, as far as the text tells.
pub(super) fn place(tree: &Tree, pointer: &str) -> Span {
    tree.key_place(pointer)
}
