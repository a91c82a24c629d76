//! Generates objects and arrays: which members, and how many items.

use std::collections::BTreeSet;

use countersign_contract::json;
use serde_json::{Map, Value};

use super::merge_schemas::merge_schemas;
use super::regex_node::RegexNode;
use super::sample_generator::{BoundaryEdit, SampleGenerator, SampleStyle};
use crate::work_budget::count_values;

/// A schema that accepts everything.
const TRUE_SCHEMA: Value = Value::Bool(true);

impl<'s> SampleGenerator<'s> {
    pub(super) fn generate_object(&mut self, keywords: &Map<String, Value>) -> Option<Value> {
        let nothing = Map::new();
        let fields = keywords.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
        let required: Vec<&str> = iter_strings(keywords.get("required")).collect();
        let demanded: BTreeSet<&str> = required.iter().copied().collect();
        let size =
            |keyword| keywords.get(keyword).and_then(Value::as_f64).map(|size| size as usize);
        let most = size("maxProperties").unwrap_or(usize::MAX);
        let mut members = Map::new();
        for (name, schema) in fields {
            let needed = demanded.contains(name.as_str());
            if !needed && (members.len() >= most || !self.wants_optional()) {
                continue;
            }
            if !self.budget.spend_bytes(name.len()) {
                return None;
            }
            match self.with_segment(name, |maker| maker.generate_detached(schema)) {
                Some(value) => members.insert(name.clone(), value),
                None if needed => return None,
                None => continue,
            };
            if !needed {
                self.boundary_edits.push(BoundaryEdit {
                    pointer: json::child_pointer(&self.pointer, name),
                    value: None,
                });
            }
        }
        for name in required {
            if !members.contains_key(name) {
                if !self.budget.spend_bytes(name.len()) {
                    return None;
                }
                let value = self.with_segment(name, |maker| {
                    maker.generate_detached(undeclared_field_schema(keywords))
                })?;
                members.insert(name.to_owned(), value);
            }
        }
        self.add_undeclared_fields(
            keywords,
            &mut members,
            size("minProperties").unwrap_or(0),
            most,
        );
        Some(Value::Object(members))
    }

    /// Adds undeclared fields where the schema allows them.
    fn add_undeclared_fields(
        &mut self,
        keywords: &Map<String, Value>,
        members: &mut Map<String, Value>,
        least: usize,
        most: usize,
    ) {
        let patterned = keywords.get("patternProperties").and_then(Value::as_object);
        for (pattern, schema) in patterned.into_iter().flatten() {
            if members.len() < most
                && self.wants_optional()
                && let Some(name) = RegexNode::parse(pattern)
                    .and_then(|node| node.generate_text(&mut self.random, 0))
                && let Some(value) =
                    self.with_segment(&name, |maker| maker.generate_detached(schema))
            {
                members.entry(name).or_insert(value);
            }
        }
        let schema = undeclared_field_schema(keywords);
        let open = schema != &Value::Bool(false);
        let mut wanted = least.saturating_sub(members.len());
        if open && wanted == 0 && members.len() < most {
            let mapped = keywords.get("additionalProperties").is_some_and(Value::is_object);
            wanted = match self.style {
                SampleStyle::Random => {
                    usize::from(self.random.next_bool(if mapped { 60 } else { 12 }))
                }
                SampleStyle::Maximal => usize::from(mapped),
                SampleStyle::Minimal => 0,
            };
        }
        // Do not begin a value that the budget cannot finish.
        if wanted > self.budget.remaining_bytes() {
            return;
        }
        for number in 0..wanted {
            let name = match keywords.get("propertyNames") {
                Some(names) => match self.generate_detached(names) {
                    Some(Value::String(name)) => name,
                    _ => return,
                },
                None => format!("extra_{number}"),
            };
            if !self.budget.spend_bytes(name.len() + self.pointer.len()) {
                return;
            }
            // The value of an unrestricted extra field stays small.
            let value = if schema == &TRUE_SCHEMA {
                Some(Value::from(number as u64))
            } else {
                self.with_segment(&name, |maker| maker.generate_detached(schema))
            };
            if let Some(value) = value
                && open
            {
                self.boundary_edits.push(BoundaryEdit {
                    pointer: json::child_pointer(&self.pointer, &name),
                    value: None,
                });
                members.entry(name).or_insert(value);
            }
        }
    }

    /// Changes the value to satisfy a condition: regenerates the fields that the condition names,
    /// under both schemas.
    pub(super) fn satisfy_condition(
        &mut self,
        keywords: &Map<String, Value>,
        value: Value,
        more: &'s Value,
    ) -> Option<Value> {
        let consequence = self.flatten(more)?.keywords;
        let copied = keywords.values().chain(consequence.values()).map(count_values).sum();
        if !self.budget.spend(copied) {
            return None;
        }
        let merged = merge_schemas(keywords.clone(), consequence.clone());
        let Value::Object(mut members) = value else {
            return self.generate_detached(&Value::Object(merged));
        };
        let required: BTreeSet<String> =
            iter_strings(merged.get("required")).map(str::to_owned).collect();
        let fields = merged.get("properties").and_then(Value::as_object);
        let mentioned = consequence
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name);
        let missing = required.iter().filter(|name| !members.contains_key(*name));
        let again: Vec<String> = mentioned.chain(missing).cloned().collect();
        for name in again {
            if !members.contains_key(&name) && !required.contains(&name) {
                continue;
            }
            let schema = fields.and_then(|fields| fields.get(&name)).unwrap_or(&TRUE_SCHEMA);
            match self.with_segment(&name, |maker| maker.generate_detached(schema)) {
                Some(value) => members.insert(name, value),
                None => members.remove(&name),
            };
        }
        // Put the fields in the order of their declaration, including those added late.
        let mut ordered = Map::new();
        for name in fields.into_iter().flat_map(Map::keys) {
            ordered.extend(members.shift_remove_entry(name));
        }
        ordered.extend(members);
        Some(Value::Object(ordered))
    }

    pub(super) fn generate_array(&mut self, keywords: &Map<String, Value>) -> Option<Value> {
        let size =
            |keyword| keywords.get(keyword).and_then(Value::as_f64).map(|size| size as usize);
        let (least, most) = (size("minItems").unwrap_or(0), size("maxItems").unwrap_or(usize::MAX));
        let items = keywords.get("items");
        let listed = keywords.get("prefixItems").or(items.filter(|items| items.is_array()));
        let prefix = listed.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let further = match items {
            Some(Value::Array(_)) => keywords.get("additionalItems"),
            other => other,
        };
        let contained =
            keywords.get("contains").map(|schema| (schema, size("minContains").unwrap_or(1)));
        let floor = least.max(contained.map_or(0, |(_, count)| count));
        if floor > 512 {
            return None;
        }
        let most = if further == Some(&Value::Bool(false)) { most.min(prefix.len()) } else { most };
        let count = self.choose_count(floor, most);
        let unique = keywords.get("uniqueItems") == Some(&Value::Bool(true));
        let mut made: Vec<Value> = Vec::new();
        for index in 0..count {
            let schema = match contained {
                Some((schema, needed))
                    if index >= prefix.len() && index - prefix.len() < needed =>
                {
                    schema
                }
                _ => prefix.get(index).or(further).unwrap_or(&TRUE_SCHEMA),
            };
            let mut item = None;
            for turn in 0..8 {
                item =
                    self.with_segment(&index.to_string(), |maker| maker.generate_detached(schema));
                if !unique || !item.as_ref().is_some_and(|item| made.contains(item)) {
                    break;
                }
                self.branch_index += usize::from(turn < 7);
            }
            match item {
                Some(item) => made.push(item),
                None if index < floor => return None,
                None => break,
            }
        }
        self.record_array_lengths(&made, least, most);
        Some(Value::Array(made))
    }

    /// Records the shortest array, and the longest one if it is not long.
    fn record_array_lengths(&mut self, made: &[Value], least: usize, most: usize) {
        self.record_boundary_values(
            [least, least.saturating_add(1)]
                .into_iter()
                .filter(|count| *count <= made.len())
                .map(|count| Value::from(&made[..count])),
        );
        if let Some(last) = made.last()
            && most <= 64
        {
            let longest = |count: usize| {
                (0..count).map(|index| made.get(index).unwrap_or(last).clone()).collect::<Value>()
            };
            let counts = [Some(most), most.checked_sub(1)].into_iter().flatten();
            self.record_boundary_values(counts.filter(|count| *count >= least).map(longest));
        }
    }
}

fn iter_strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the schema of undeclared fields.
fn undeclared_field_schema(keywords: &Map<String, Value>) -> &Value {
    keywords.get("additionalProperties").unwrap_or(&TRUE_SCHEMA)
}
