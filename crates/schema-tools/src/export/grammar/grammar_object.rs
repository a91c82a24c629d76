//! Writes objects and arrays in a grammar: the order of members and the commas between them.

use std::collections::BTreeSet;

use countersign_contract::json;
use serde_json::{Map, Value};

use super::grammar_builder::{GrammarBuilder, quote_literal, sanitize_name};
use super::grammar_value::join_alternatives;
use super::name_trie::build_other_names_rule;
use crate::export::exported_contract::LossEffect;
use crate::export::nullable_fields::{may_be_absent, required_fields};

/// The maximum number of items that a rule counts.
const MAX_COUNTED_ITEMS: u64 = 500;

impl GrammarBuilder<'_> {
    pub(super) fn write_object(
        &mut self,
        keywords: &Map<String, Value>,
        at: &str,
        name: &str,
    ) -> String {
        for keyword in ["minProperties", "maxProperties", "patternProperties"]
            .into_iter()
            .filter(|keyword| keywords.contains_key(*keyword))
        {
            self.record_widening(at, keyword, "a grammar cannot express it");
        }
        let mut members: Vec<(String, bool)> = Vec::new();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let demanded = required_fields(keywords);
        for (field, schema) in
            keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            known.insert(field);
            if schema == &Value::Bool(false) {
                continue;
            }
            let inside = json::child_pointer(&format!("{at}/properties"), field);
            let prefix = format!("{name}-{}", sanitize_name(field));
            let value = self.write_schema(schema, &inside, &prefix);
            let body = format!(
                r#"{} ":" ws {value}"#,
                quote_literal(&Value::from(field.as_str()).to_string())
            );
            members
                .push((self.define_rule(&prefix, body), !may_be_absent(&demanded, field, schema)));
        }
        for field in keywords
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if known.insert(field) {
                let body =
                    format!(r#"{} ":" ws value"#, quote_literal(&Value::from(field).to_string()));
                members.push((
                    self.define_rule(&format!("{name}-{}", sanitize_name(field)), body),
                    true,
                ));
            }
        }
        let strangers = self.write_additional_fields(keywords, at, name, &known);
        if members.is_empty() {
            return match strangers {
                Some(one) => format!(r#""{{" ws ( {one} ( "," ws {one} )* )? ws "}}""#),
                None => r#""{" ws "}""#.to_owned(),
            };
        }
        if members.len() > 1 {
            self.losses.record(
                at,
                "properties",
                "fields come in declaration order",
                LossEffect::Unstated,
            );
        }
        let tail = strangers.as_ref().map_or(String::new(), |one| format!(r#" ( "," ws {one} )*"#));
        let body = self.write_members(&members, &tail, strangers.as_deref(), name);
        format!(r#""{{" ws {body} ws "}}""#)
    }

    /// Writes one rule for undeclared fields; returns `None` if they are not allowed.
    fn write_additional_fields(
        &mut self,
        keywords: &Map<String, Value>,
        at: &str,
        name: &str,
        declared: &BTreeSet<&str>,
    ) -> Option<String> {
        let value = match keywords.get("additionalProperties") {
            Some(Value::Bool(false)) if !keywords.contains_key("patternProperties") => return None,
            Some(schema @ Value::Object(_)) if !keywords.contains_key("patternProperties") => self
                .write_schema(
                    schema,
                    &format!("{at}/additionalProperties"),
                    &format!("{name}-more"),
                ),
            _ => "value".to_owned(),
        };
        let key = match build_other_names_rule(declared) {
            _ if declared.is_empty() => "string".to_owned(),
            Some(key) => {
                let reason = "undeclared fields come last";
                self.losses.record(at, "additionalProperties", reason, LossEffect::Unstated);
                self.define_rule(&format!("{name}-other"), key)
            }
            None => {
                let reason = "undeclared fields come last, and may repeat a declared name";
                self.record_widening(at, "additionalProperties", reason);
                "string".to_owned()
            }
        };
        Some(self.define_rule(&format!("{name}-more"), format!(r#"{key} ":" ws {value}"#)))
    }

    /// Writes the declared fields in order, each with its comma.
    fn write_members(
        &mut self,
        members: &[(String, bool)],
        tail: &str,
        stranger: Option<&str>,
        name: &str,
    ) -> String {
        let after = |members: &[(String, bool)]| -> String {
            let each = members.iter().map(|(rule, needed)| {
                if *needed {
                    format!(r#" "," ws {rule}"#)
                } else {
                    format!(r#" ( "," ws {rule} )?"#)
                }
            });
            each.collect::<Vec<_>>().concat() + tail
        };
        if let Some(first) = members.iter().position(|(_, needed)| *needed) {
            let before: Vec<String> = members[..first]
                .iter()
                .map(|(rule, _)| format!(r#"( {rule} "," ws )? "#))
                .collect();
            return format!(
                "{}{}{}",
                before.concat(),
                members[first].0,
                after(&members[first + 1..])
            );
        }
        // No field is required, so each may come first. The continuations are separate rules, so
        // that they are not repeated.
        let mut starts = Vec::new();
        let mut on = tail.trim().to_owned();
        for (index, (rule, _)) in members.iter().enumerate().rev() {
            starts.push(format!("{rule} {on}").trim_end().to_owned());
            if index > 0 {
                let next = format!(r#"( "," ws {rule} )? {on}"#);
                on = self.define_rule(&format!("{name}-on"), next.trim_end().to_owned());
            }
        }
        starts.reverse();
        starts.extend(stranger.map(|one| format!(r#"{one} ( "," ws {one} )*"#)));
        format!("{}?", join_in_brackets(&starts))
    }

    pub(super) fn write_array(
        &mut self,
        keywords: &Map<String, Value>,
        at: &str,
        name: &str,
    ) -> String {
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.record_widening(at, "uniqueItems", "a grammar cannot express it");
        }
        let items = keywords.get("items");
        if keywords.contains_key("prefixItems") || items.is_some_and(Value::is_array) {
            return self.write_tuple(keywords, at, name);
        }
        let item = match items {
            Some(Value::Bool(false)) => return r#""[" ws "]""#.to_owned(),
            Some(schema) => {
                let body =
                    self.write_schema(schema, &format!("{at}/items"), &format!("{name}-item"));
                self.define_rule(&format!("{name}-item"), body)
            }
            None => "value".to_owned(),
        };
        let bound = |keyword| keywords.get(keyword).and_then(Value::as_u64);
        let least = bound("minItems").unwrap_or(0);
        let most = bound("maxItems").filter(|most| *most <= MAX_COUNTED_ITEMS);
        for keyword in ["minItems", "maxItems"] {
            if bound(keyword).is_some_and(|bound| bound > MAX_COUNTED_ITEMS) {
                self.record_widening(at, keyword, "too many for a grammar to count");
            }
        }
        let least = least.min(MAX_COUNTED_ITEMS);
        let more = format!(r#"( "," ws {item} )"#);
        let rest = match (least.saturating_sub(1), most.map(|most| most.saturating_sub(1))) {
            (0, None) => format!("{more}*"),
            (low, None) => format!("{more}{{{low},}}"),
            (low, Some(high)) => format!("{more}{{{low},{high}}}"),
        };
        match (least, most) {
            (_, Some(0)) => r#""[" ws "]""#.to_owned(),
            (0, _) => format!(r#""[" ws ( {item} {rest} )? ws "]""#),
            _ => format!(r#""[" ws {item} {rest} ws "]""#),
        }
    }

    /// Writes items by position; those beyond the minimum count may be missing from the end.
    fn write_tuple(&mut self, keywords: &Map<String, Value>, at: &str, name: &str) -> String {
        let items = keywords.get("items");
        let listed = keywords
            .get("prefixItems")
            .or(items)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let further = if items.is_some_and(Value::is_array) {
            keywords.get("additionalItems")
        } else {
            items
        };
        let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
        for keyword in
            ["minItems", "maxItems"].into_iter().filter(|keyword| keywords.contains_key(*keyword))
        {
            if keyword == "maxItems" || least > listed.len() {
                self.record_widening(at, keyword, "not counted for items by position");
            }
        }
        let mut on = match further {
            Some(Value::Bool(false)) => String::new(),
            Some(schema) => format!(
                r#"( "," ws {} )*"#,
                self.write_schema(schema, &format!("{at}/items"), &format!("{name}-item"))
            ),
            None => r#"( "," ws value )*"#.to_owned(),
        };
        for (index, schema) in listed.iter().enumerate().rev() {
            let body = self.write_schema(
                schema,
                &format!("{at}/prefixItems/{index}"),
                &format!("{name}-{index}"),
            );
            let comma = if index == 0 { "" } else { r#""," ws "# };
            let one = format!("{comma}{body} {on}");
            on = if index < least { one } else { format!("( {one} )?") };
        }
        format!(r#""[" ws {on} ws "]""#)
    }
}

fn join_in_brackets(bodies: &[String]) -> String {
    let all = join_alternatives(bodies);
    if bodies.len() == 1 { format!("( {all} )") } else { all }
}
