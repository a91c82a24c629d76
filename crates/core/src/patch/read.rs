//! An RFC 6902 array as a value becomes a patch, or one violation for every fault in it.
//!
//! Not here: whether the operations can be applied; that takes a document.

use serde_json::{Map, Value};

use super::error::member;
use super::slot::kind;
use super::{Op, Patch, Pointer, PointerError};
use crate::limits::MAX_PATCH_OPS;
use crate::nearest::nearest;
use crate::reply::{Code, Violation, ViolationList, show};

/// What is done with members that an operation has no use for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strangers {
    /// They are ignored, as the RFC asks.
    Ignored,
    /// They are violations, unless they are null: something was meant that nobody would hear.
    Refused,
}

impl Patch {
    /// Reads an RFC 6902 array. The pointers of violations lead into the array: `/3/path`. Members
    /// that the RFC does not know are ignored, as it asks.
    pub fn parse(value: &Value) -> Result<Self, Vec<Violation>> {
        operations(value, Strangers::Ignored)
    }
}

/// Reads every operation, or tells every fault.
pub(super) fn operations(value: &Value, strangers: Strangers) -> Result<Patch, Vec<Violation>> {
    let Value::Array(items) = value else {
        return Err(vec![invalid("", "an array of operations", kind(value))]);
    };
    if items.len() > MAX_PATCH_OPS {
        let expected = format!("at most {MAX_PATCH_OPS} operations");
        return Err(vec![invalid("", expected, items.len().to_string())]);
    }
    let mut reader = Reader { violations: ViolationList::default(), strangers };
    let mut ops: Vec<Op> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        ops.extend(reader.operation(index, item));
    }
    if reader.violations.count() == 0 { Ok(Patch { ops }) } else { Err(reader.violations.finish()) }
}

struct Reader {
    violations: ViolationList,
    strangers: Strangers,
}

impl Reader {
    fn operation(&mut self, index: usize, item: &Value) -> Option<Op> {
        let Value::Object(members) = item else {
            let at = format!("/{index}");
            self.violations.push(invalid(at, "an operation, which is an object", kind(item)));
            return None;
        };
        let Some(verb) = self.verb(index, members) else {
            // Even so the path is judged: what is wrong should be told at once.
            self.pointer(index, members, "path");
            return None;
        };
        self.strangers(index, members, verb);
        let path = self.pointer(index, members, "path");
        match verb {
            "remove" => Some(Op::Remove { path: path? }),
            "move" | "copy" => {
                let from = self.pointer(index, members, "from");
                let (path, from) = (path?, from?);
                Some(if verb == "move" { Op::Move { from, path } } else { Op::Copy { from, path } })
            }
            _ => {
                let value = self.value(index, members);
                let (path, value) = (path?, value?);
                Some(match verb {
                    "add" => Op::Add { path, value },
                    "replace" => Op::Replace { path, value },
                    _ => Op::Test { path, value },
                })
            }
        }
    }

    fn verb(&mut self, index: usize, members: &Map<String, Value>) -> Option<&'static str> {
        let found = members.get("op");
        let word = found.and_then(Value::as_str).unwrap_or_default();
        if let Some(verb) = Op::VERBS.into_iter().find(|verb| *verb == word) {
            return Some(verb);
        }
        let verbs = Op::VERBS.map(|verb| format!("\"{verb}\"")).join(", ");
        let found = found.map_or_else(|| "nothing".to_owned(), show);
        let violation = invalid(member(index, "op"), format!("one of {verbs}"), found);
        self.violations.push(match nearest(word, Op::VERBS) {
            Some(meant) => violation.hinting(format!("did you mean \"{meant}\"?")),
            None => violation,
        });
        None
    }

    fn pointer(
        &mut self,
        index: usize,
        members: &Map<String, Value>,
        name: &str,
    ) -> Option<Pointer> {
        let at = member(index, name);
        let violation = match members.get(name) {
            Some(Value::String(text)) => match Pointer::parse(text.as_str()) {
                Ok(pointer) => return Some(pointer),
                Err(error) => {
                    invalid(at, "a JSON Pointer", show(&members[name])).hinting(match error {
                        PointerError::NoSlash => "a pointer begins with `/`",
                        PointerError::BareTilde => "write `~0` for `~` and `~1` for `/`",
                    })
                }
            },
            Some(other) => invalid(at, "a JSON Pointer", show(other)),
            None => invalid(at, "a JSON Pointer", "nothing"),
        };
        self.violations.push(violation);
        None
    }

    fn value(&mut self, index: usize, members: &Map<String, Value>) -> Option<Value> {
        let value = members.get("value");
        if value.is_none() {
            self.violations.push(invalid(member(index, "value"), "a value", "nothing"));
        }
        value.cloned()
    }

    fn strangers(&mut self, index: usize, members: &Map<String, Value>, verb: &str) {
        if self.strangers == Strangers::Ignored {
            return;
        }
        let known: &[&str] = match verb {
            "remove" => &["op", "path"],
            "move" | "copy" => &["op", "path", "from"],
            _ => &["op", "path", "value"],
        };
        for (name, value) in members {
            if self.violations.is_full() {
                break;
            }
            if !known.contains(&name.as_str()) && !value.is_null() {
                let names = known.join("`, `");
                let expected = format!("only `{names}` in an operation `{verb}`");
                self.violations.push(invalid(member(index, name), expected, show(value)));
            }
        }
    }
}

/// A violation of a malformed patch.
pub(super) fn invalid(
    pointer: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Violation {
    Violation::new(Code::InvalidPatch, pointer, expected, found)
}
