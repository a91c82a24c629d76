//! One operation of RFC 6902, stored and sent as just that object.
//!
//! Not here: what an operation does to a document (`apply.rs`), and the words for a malformed one
//! (`read.rs`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonPointer;

/// One step of a patch. Members that the RFC does not know are ignored when one is deserialized.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Puts a value: a new member, over an old one, or between the items of an array.
    Add {
        /// Where to.
        path: JsonPointer,
        /// What.
        value: Value,
    },
    /// Takes a value away.
    Remove {
        /// Which one.
        path: JsonPointer,
    },
    /// Puts a value in the place of one that exists.
    Replace {
        /// Which one.
        path: JsonPointer,
        /// What comes instead.
        value: Value,
    },
    /// Takes a value away and adds it elsewhere.
    Move {
        /// Which one.
        from: JsonPointer,
        /// Where to, in the document without it.
        path: JsonPointer,
    },
    /// Adds a value that exists once more.
    Copy {
        /// Which one.
        from: JsonPointer,
        /// Where to.
        path: JsonPointer,
    },
    /// Changes nothing, and stops the patch unless this value stands here.
    Test {
        /// Where.
        path: JsonPointer,
        /// What should stand there.
        value: Value,
    },
}

impl PatchOperation {
    /// Every verb, as it is written.
    pub const VERBS: [&'static str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

    /// The place this is about.
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

    /// What this does, as it is written.
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
