//! The keywords of a schema that decide nothing.

/// Keywords that only annotate a schema and affect no decision.
pub(crate) const ANNOTATION_KEYWORDS: [&str; 8] = [
    "title",
    "description",
    "examples",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
];
