//! Limits the memory that compiled patterns take: counted repetitions multiply, and a few kilobytes
//! of text can become gigabytes.

use std::collections::BTreeSet;

use regex::RegexBuilder;
use serde_json::Value;

use super::reference_resolver::DATA_KEYWORDS;
use super::schema::SchemaError;
use crate::json;
use crate::limits::MAX_PATTERN_BYTES;

/// The sizes that are tried in order; a pattern costs the first size that it fits into.
const SIZE_CLASSES: [usize; 4] = [8 << 10, 64 << 10, 1 << 20, 10 << 20];

/// Refuses a schema whose patterns together take more than [`MAX_PATTERN_BYTES`]. The engine itself
/// reports faults of a single pattern.
pub(super) fn check_patterns(schema: &Value) -> Result<(), SchemaError> {
    let mut cost =
        PatternBudget { charged_patterns: BTreeSet::new(), bytes_left: MAX_PATTERN_BYTES };
    cost.charge_patterns(schema, &mut String::new())
}

struct PatternBudget<'s> {
    charged_patterns: BTreeSet<&'s str>,
    bytes_left: usize,
}

impl<'s> PatternBudget<'s> {
    fn charge_patterns(&mut self, schema: &'s Value, at: &mut String) -> Result<(), SchemaError> {
        let length = at.len();
        match schema {
            Value::Object(members) => {
                for (name, member) in members {
                    json::push_segment(at, name);
                    match (name.as_str(), member) {
                        ("pattern", Value::String(pattern)) => self.charge_pattern(pattern, at)?,
                        ("patternProperties", Value::Object(patterns)) => {
                            for pattern in patterns.keys() {
                                self.charge_pattern(pattern, at)?;
                            }
                        }
                        _ => {}
                    }
                    if !DATA_KEYWORDS.contains(&name.as_str()) {
                        self.charge_patterns(member, at)?;
                    }
                    at.truncate(length);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    json::push_segment(at, &index.to_string());
                    self.charge_patterns(item, at)?;
                    at.truncate(length);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn charge_pattern(&mut self, pattern: &'s str, at: &str) -> Result<(), SchemaError> {
        if !self.charged_patterns.insert(pattern) {
            return Ok(());
        }
        let fits = |size: &&usize| {
            let built = RegexBuilder::new(pattern).size_limit(**size).build();
            !matches!(built, Err(regex::Error::CompiledTooBig(_)))
        };
        let size = SIZE_CLASSES.iter().find(fits).unwrap_or(&SIZE_CLASSES[SIZE_CLASSES.len() - 1]);
        match self.bytes_left.checked_sub(*size) {
            Some(left) => self.bytes_left = left,
            None => {
                let message = format!(
                    "expected patterns that compile to at most {} MiB in total, found more",
                    MAX_PATTERN_BYTES >> 20
                );
                return Err(SchemaError { pointer: at.to_owned(), message });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::contract::Schema;

    fn patterns(count: usize, make: impl Fn(usize) -> String) -> Value {
        let field = |n: usize| (format!("f{n}"), json!({"pattern": make(n)}));
        json!({"properties": (0..count).map(field).collect::<Map<_, _>>()})
    }

    #[test]
    fn many_patterns_are_taken_and_many_large_ones_are_not() {
        assert!(Schema::compile(patterns(2_000, |n| format!("^[a-z]+-{n}$"))).is_ok());
        assert!(Schema::compile(patterns(1, |_| r"^\p{L}{1,100}$".to_owned())).is_ok());
        let large = |n: usize| format!(r"^(\p{{L}}|\d){{1,{}}}-[\w\s]{{2,200}}x{n}$", 100 + n % 80);
        let fault = Schema::compile(patterns(200, large)).unwrap_err();
        assert!(fault.message.contains("64 MiB in total"), "{fault}");
        assert!(fault.pointer.starts_with("/properties/f"), "{fault:?}");
    }
}
