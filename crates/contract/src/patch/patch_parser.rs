//! Parses an RFC 6902 array into a [`Patch`], with one violation for every fault.
//!
//! Whether the operations can be applied depends on a document and is not checked here.

use serde_json::{Map, Value};

use super::patch_error::member_pointer;
use super::value_slot::describe_kind;
use super::{JsonPointer, JsonPointerError, Patch, PatchOperation};
use crate::limits::MAX_PATCH_OPS;
use crate::reply::{Violation, ViolationCode, ViolationList, format_value};
use crate::similar_name::find_similar_name;

/// What the parser does with members that an operation does not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownMemberPolicy {
    /// Ignore them, as the RFC requires.
    Ignore,
    /// Report them as violations unless they are null, because they show an intent that would
    /// otherwise be lost.
    Refuse,
}

impl Patch {
    /// Parses an RFC 6902 array. The pointers of violations lead into the array: `/3/path`. Members
    /// that the RFC does not define are ignored, as it requires.
    pub fn parse(value: &Value) -> Result<Self, Vec<Violation>> {
        parse_operations(value, UnknownMemberPolicy::Ignore)
    }
}

/// Parses every operation, or returns every violation.
pub(super) fn parse_operations(
    value: &Value,
    strangers: UnknownMemberPolicy,
) -> Result<Patch, Vec<Violation>> {
    let Value::Array(items) = value else {
        return Err(vec![invalid_patch_violation(
            "",
            "an array of operations",
            describe_kind(value),
        )]);
    };
    if items.len() > MAX_PATCH_OPS {
        let expected = format!("at most {MAX_PATCH_OPS} operations");
        return Err(vec![invalid_patch_violation("", expected, items.len().to_string())]);
    }
    let mut reader =
        PatchParser { violations: ViolationList::default(), unknown_members: strangers };
    let mut ops: Vec<PatchOperation> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        ops.extend(reader.parse_operation(index, item));
    }
    if reader.violations.count() == 0 { Ok(Patch { ops }) } else { Err(reader.violations.finish()) }
}

struct PatchParser {
    violations: ViolationList,
    unknown_members: UnknownMemberPolicy,
}

impl PatchParser {
    fn parse_operation(&mut self, index: usize, item: &Value) -> Option<PatchOperation> {
        let Value::Object(members) = item else {
            let at = format!("/{index}");
            self.violations.push(invalid_patch_violation(
                at,
                "an operation, which is an object",
                describe_kind(item),
            ));
            return None;
        };
        let Some(verb) = self.parse_verb(index, members) else {
            // The path is still checked, so that one reply lists every fault.
            self.parse_pointer(index, members, "path");
            return None;
        };
        self.check_unknown_members(index, members, verb);
        let path = self.parse_pointer(index, members, "path");
        match verb {
            "remove" => Some(PatchOperation::Remove { path: path? }),
            "move" | "copy" => {
                let from = self.parse_pointer(index, members, "from");
                let (path, from) = (path?, from?);
                Some(if verb == "move" {
                    PatchOperation::Move { from, path }
                } else {
                    PatchOperation::Copy { from, path }
                })
            }
            _ => {
                let value = self.parse_value(index, members);
                let (path, value) = (path?, value?);
                Some(match verb {
                    "add" => PatchOperation::Add { path, value },
                    "replace" => PatchOperation::Replace { path, value },
                    _ => PatchOperation::Test { path, value },
                })
            }
        }
    }

    fn parse_verb(&mut self, index: usize, members: &Map<String, Value>) -> Option<&'static str> {
        let found = members.get("op");
        let word = found.and_then(Value::as_str).unwrap_or_default();
        if let Some(verb) = PatchOperation::VERBS.into_iter().find(|verb| *verb == word) {
            return Some(verb);
        }
        let verbs = PatchOperation::VERBS.map(|verb| format!("\"{verb}\"")).join(", ");
        let found = found.map_or_else(|| "nothing".to_owned(), format_value);
        let violation =
            invalid_patch_violation(member_pointer(index, "op"), format!("one of {verbs}"), found);
        self.violations.push(match find_similar_name(word, PatchOperation::VERBS) {
            Some(meant) => violation.with_hint(format!("did you mean \"{meant}\"?")),
            None => violation,
        });
        None
    }

    fn parse_pointer(
        &mut self,
        index: usize,
        members: &Map<String, Value>,
        name: &str,
    ) -> Option<JsonPointer> {
        let at = member_pointer(index, name);
        let violation = match members.get(name) {
            Some(Value::String(text)) => match JsonPointer::parse(text.as_str()) {
                Ok(pointer) => return Some(pointer),
                Err(error) => {
                    invalid_patch_violation(at, "a JSON Pointer", format_value(&members[name]))
                        .with_hint(match error {
                            JsonPointerError::NoSlash => "a pointer begins with `/`",
                            JsonPointerError::BareTilde => "write `~0` for `~` and `~1` for `/`",
                        })
                }
            },
            Some(other) => invalid_patch_violation(at, "a JSON Pointer", format_value(other)),
            None => invalid_patch_violation(at, "a JSON Pointer", "nothing"),
        };
        self.violations.push(violation);
        None
    }

    fn parse_value(&mut self, index: usize, members: &Map<String, Value>) -> Option<Value> {
        let value = members.get("value");
        if value.is_none() {
            self.violations.push(invalid_patch_violation(
                member_pointer(index, "value"),
                "a value",
                "nothing",
            ));
        }
        value.cloned()
    }

    fn check_unknown_members(&mut self, index: usize, members: &Map<String, Value>, verb: &str) {
        if self.unknown_members == UnknownMemberPolicy::Ignore {
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
                self.violations.push(invalid_patch_violation(
                    member_pointer(index, name),
                    expected,
                    format_value(value),
                ));
            }
        }
    }
}

/// Creates a violation with the code for malformed patches.
pub(super) fn invalid_patch_violation(
    pointer: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Violation {
    Violation::new(ViolationCode::InvalidPatch, pointer, expected, found)
}
