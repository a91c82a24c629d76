//! What the patterns of a schema take when they are compiled: counted repetitions multiply, and a
//! few kilobytes of text can become gigabytes.

use std::collections::BTreeSet;

use regex::RegexBuilder;
use serde_json::Value;

use super::reference::DATA;
use super::schema::SchemaFault;
use crate::json;
use crate::limits::MAX_PATTERN_BYTES;

/// Sizes that are tried one after the other; a pattern costs the first that it fits into.
const SIZES: [usize; 4] = [8 << 10, 64 << 10, 1 << 20, 10 << 20];

/// Refuses a schema whose patterns take more than [`MAX_PATTERN_BYTES`] together. What is wrong with a
/// single one is the engine's to say.
pub(super) fn check_patterns(schema: &Value) -> Result<(), SchemaFault> {
    let mut cost = PatternCost { known: BTreeSet::new(), left: MAX_PATTERN_BYTES };
    cost.walk(schema, &mut String::new())
}

struct PatternCost<'s> {
    known: BTreeSet<&'s str>,
    left: usize,
}

impl<'s> PatternCost<'s> {
    fn walk(&mut self, schema: &'s Value, at: &mut String) -> Result<(), SchemaFault> {
        let length = at.len();
        match schema {
            Value::Object(members) => {
                for (name, member) in members {
                    json::push(at, name);
                    match (name.as_str(), member) {
                        ("pattern", Value::String(pattern)) => self.charge(pattern, at)?,
                        ("patternProperties", Value::Object(patterns)) => {
                            for pattern in patterns.keys() {
                                self.charge(pattern, at)?;
                            }
                        }
                        _ => {}
                    }
                    if !DATA.contains(&name.as_str()) {
                        self.walk(member, at)?;
                    }
                    at.truncate(length);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    json::push(at, &index.to_string());
                    self.walk(item, at)?;
                    at.truncate(length);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn charge(&mut self, pattern: &'s str, at: &str) -> Result<(), SchemaFault> {
        if !self.known.insert(pattern) {
            return Ok(());
        }
        let fits = |size: &&usize| {
            let built = RegexBuilder::new(pattern).size_limit(**size).build();
            !matches!(built, Err(regex::Error::CompiledTooBig(_)))
        };
        let size = SIZES.iter().find(fits).unwrap_or(&SIZES[SIZES.len() - 1]);
        match self.left.checked_sub(*size) {
            Some(left) => self.left = left,
            None => {
                let message = format!(
                    "expected patterns that take at most {} MiB together when they are compiled, \
                     found more",
                    MAX_PATTERN_BYTES >> 20
                );
                return Err(SchemaFault { pointer: at.to_owned(), message });
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
        assert!(fault.message.contains("64 MiB together"), "{fault}");
        assert!(fault.pointer.starts_with("/properties/f"), "{fault:?}");
    }
}
