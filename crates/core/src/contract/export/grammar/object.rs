//! Objects and arrays in a grammar: what comes in which order, and where the commas go.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::names::other_names;
use super::rules::{Rules, literal, plain};
use super::value::grouped;
use crate::contract::export::loss::Effect;
use crate::contract::export::nullable::{may_be_absent, required_fields};
use crate::json;

/// Beyond this many items nothing is counted.
const COUNTED: u64 = 500;

impl Rules<'_> {
    pub(super) fn object(&mut self, keywords: &Map<String, Value>, at: &str, name: &str) -> String {
        for keyword in ["minProperties", "maxProperties", "patternProperties"]
            .into_iter()
            .filter(|keyword| keywords.contains_key(*keyword))
        {
            self.lose(at, keyword, "a grammar cannot say it");
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
            let inside = json::child(&format!("{at}/properties"), field);
            let prefix = format!("{name}-{}", plain(field));
            let value = self.schema(schema, &inside, &prefix);
            let body =
                format!(r#"{} ":" ws {value}"#, literal(&Value::from(field.as_str()).to_string()));
            members.push((self.define(&prefix, body), !may_be_absent(&demanded, field, schema)));
        }
        for field in keywords
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if known.insert(field) {
                let body = format!(r#"{} ":" ws value"#, literal(&Value::from(field).to_string()));
                members.push((self.define(&format!("{name}-{}", plain(field)), body), true));
            }
        }
        let strangers = self.strangers(keywords, at, name, &known);
        if members.is_empty() {
            return match strangers {
                Some(one) => format!(r#""{{" ws ( {one} ( "," ws {one} )* )? ws "}}""#),
                None => r#""{" ws "}""#.to_owned(),
            };
        }
        if members.len() > 1 {
            self.lose_as(
                at,
                "properties",
                "fields come in the order they are declared in",
                Effect::Untold,
            );
        }
        let tail = strangers.as_ref().map_or(String::new(), |one| format!(r#" ( "," ws {one} )*"#));
        let body = self.sequence(&members, &tail, strangers.as_deref(), name);
        format!(r#""{{" ws {body} ws "}}""#)
    }

    /// Undeclared fields as one rule; none where they are not allowed.
    fn strangers(
        &mut self,
        keywords: &Map<String, Value>,
        at: &str,
        name: &str,
        declared: &BTreeSet<&str>,
    ) -> Option<String> {
        let value = match keywords.get("additionalProperties") {
            Some(Value::Bool(false)) if !keywords.contains_key("patternProperties") => return None,
            Some(schema @ Value::Object(_)) if !keywords.contains_key("patternProperties") => {
                self.schema(schema, &format!("{at}/additionalProperties"), &format!("{name}-more"))
            }
            _ => "value".to_owned(),
        };
        let key = match other_names(declared) {
            _ if declared.is_empty() => "string".to_owned(),
            Some(key) => {
                let reason = "undeclared fields come last";
                self.lose_as(at, "additionalProperties", reason, Effect::Untold);
                self.define(&format!("{name}-other"), key)
            }
            None => {
                let reason = "undeclared fields come last, and may repeat a declared name";
                self.lose(at, "additionalProperties", reason);
                "string".to_owned()
            }
        };
        Some(self.define(&format!("{name}-more"), format!(r#"{key} ":" ws {value}"#)))
    }

    /// Declared fields in order, each with its comma.
    fn sequence(
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
        // Nothing must be there: each field may be the first. The ways on are rules, lest they repeat.
        let mut starts = Vec::new();
        let mut on = tail.trim().to_owned();
        for (index, (rule, _)) in members.iter().enumerate().rev() {
            starts.push(format!("{rule} {on}").trim_end().to_owned());
            if index > 0 {
                let next = format!(r#"( "," ws {rule} )? {on}"#);
                on = self.define(&format!("{name}-on"), next.trim_end().to_owned());
            }
        }
        starts.reverse();
        starts.extend(stranger.map(|one| format!(r#"{one} ( "," ws {one} )*"#)));
        format!("{}?", bracketed(&starts))
    }

    pub(super) fn array(&mut self, keywords: &Map<String, Value>, at: &str, name: &str) -> String {
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.lose(at, "uniqueItems", "a grammar cannot say it");
        }
        let items = keywords.get("items");
        if keywords.contains_key("prefixItems") || items.is_some_and(Value::is_array) {
            return self.tuple(keywords, at, name);
        }
        let item = match items {
            Some(Value::Bool(false)) => return r#""[" ws "]""#.to_owned(),
            Some(schema) => {
                let body = self.schema(schema, &format!("{at}/items"), &format!("{name}-item"));
                self.define(&format!("{name}-item"), body)
            }
            None => "value".to_owned(),
        };
        let bound = |keyword| keywords.get(keyword).and_then(Value::as_u64);
        let least = bound("minItems").unwrap_or(0);
        let most = bound("maxItems").filter(|most| *most <= COUNTED);
        for keyword in ["minItems", "maxItems"] {
            if bound(keyword).is_some_and(|bound| bound > COUNTED) {
                self.lose(at, keyword, "more than a grammar should count");
            }
        }
        let least = least.min(COUNTED);
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

    /// Items by their place; those after the least count may be missing from the end.
    fn tuple(&mut self, keywords: &Map<String, Value>, at: &str, name: &str) -> String {
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
                self.lose(at, keyword, "not counted beside items by place");
            }
        }
        let mut on = match further {
            Some(Value::Bool(false)) => String::new(),
            Some(schema) => format!(
                r#"( "," ws {} )*"#,
                self.schema(schema, &format!("{at}/items"), &format!("{name}-item"))
            ),
            None => r#"( "," ws value )*"#.to_owned(),
        };
        for (index, schema) in listed.iter().enumerate().rev() {
            let body = self.schema(
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

fn bracketed(bodies: &[String]) -> String {
    let all = grouped(bodies);
    if bodies.len() == 1 { format!("( {all} )") } else { all }
}
