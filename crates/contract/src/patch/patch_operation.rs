//! One RFC 6902 operation, stored and sent as the object that the RFC defines.
//!
//! `apply_patch.rs` applies operations, and `patch_parser.rs` describes malformed ones.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonPointer;

/// One operation of a patch. Deserialization ignores members that the RFC does not define.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Adds an object member, overwrites an existing one, or inserts an array item.
    Add {
        /// The location of the new value; `-` as the last segment appends to an array.
        path: JsonPointer,
        /// The value to add.
        value: Value,
    },
    /// Removes an existing value.
    Remove {
        /// The location of the value to remove.
        path: JsonPointer,
    },
    /// Replaces an existing value.
    Replace {
        /// The location of the existing value.
        path: JsonPointer,
        /// The value that replaces it.
        value: Value,
    },
    /// Removes a value and adds it at another location.
    Move {
        /// The location of the value to move.
        from: JsonPointer,
        /// The new location, in the document without the moved value.
        path: JsonPointer,
    },
    /// Adds a copy of an existing value at another location.
    Copy {
        /// The location of the value to copy.
        from: JsonPointer,
        /// The location of the copy.
        path: JsonPointer,
    },
    /// Changes nothing, and fails the patch unless the document has this value.
    Test {
        /// The location of the value to compare.
        path: JsonPointer,
        /// The expected value; numbers are compared by value, so `1` equals `1.0`.
        value: Value,
    },
}

impl PatchOperation {
    /// The six values of `op`, as they appear in JSON.
    pub const VERBS: [&'static str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

    /// Returns the `path` of the operation, which every operation has.
    #[must_use]
    pub fn path(&self) -> &JsonPointer {
        match self {
            Self::Add { path, .. }
            | Self::Remove { path }
            | Self::Replace { path, .. }
            | Self::Move { path, .. }
            | Self::Copy { path, .. }
            | Self::Test { path, .. } => path,
        }
    }

    /// Returns the `op` of the operation, as it appears in JSON.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Remove { .. } => "remove",
            Self::Replace { .. } => "replace",
            Self::Move { .. } => "move",
            Self::Copy { .. } => "copy",
            Self::Test { .. } => "test",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, json, to_string};

    #[track_caller]
    fn check(text: &str) {
        let op: PatchOperation = from_str(text).unwrap();
        assert_eq!(to_string(&op).unwrap(), text);
        assert!(text.contains(&format!(r#""op":"{}""#, op.verb())));
        assert_eq!(op.path().as_str(), "/a");
    }

    #[test]
    fn an_operation_is_written_as_the_rfc_has_it() {
        check(r#"{"op":"add","path":"/a","value":{"z":1,"a":[1.0,18446744073709551615]}}"#);
        check(r#"{"op":"remove","path":"/a"}"#);
        check(r#"{"op":"replace","path":"/a","value":null}"#);
        check(r#"{"op":"move","from":"/b","path":"/a"}"#);
        check(r#"{"op":"copy","from":"","path":"/a"}"#);
        check(r#"{"op":"test","path":"/a","value":"x"}"#);
    }

    #[test]
    fn order_and_strangers_do_not_matter_but_every_member_must_be_there() {
        let op: PatchOperation =
            from_str(r#"{"path":"/a","why":"so","op":"remove","value":1}"#).unwrap();
        assert_eq!(op, PatchOperation::Remove { path: JsonPointer::parse("/a").unwrap() });
        for bad in [
            json!({"op": "add", "path": "/a"}),
            json!({"op": "test", "path": "/a"}),
            json!({"op": "move", "path": "/a"}),
            json!({"op": "remove"}),
            json!({"op": "remove", "path": "a"}),
            json!({"op": "remove", "path": null}),
            json!({"op": "Add", "path": "/a", "value": 1}),
            json!({"path": "/a"}),
        ] {
            assert!(serde_json::from_value::<PatchOperation>(bad.clone()).is_err(), "{bad}");
        }
    }
}
