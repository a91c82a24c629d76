//! Loads policies from files. Parsing is strict: an unknown key is an error.

use std::sync::LazyLock;

use countersign_contract::patch::Patch;
use countersign_contract::source::{Diagnostic, ParsedSourceFile, SourceFile};
use serde_json::Value;

use super::{InjectionStrength, MemoryPolicy};

/// The minimum token budget of a packet. The packet contract has the same minimum.
pub const MIN_BUDGET_TOKENS: u64 = 256;

/// The maximum weight of similarity, in millionths: ten times the weight of words. Beyond that,
/// words would no longer matter.
const MAX_SIMILARITY_WEIGHT: i64 = 10_000_000;

/// The policies that ship with the crate, as file name and text.
const SHIPPED: [(&str, &str); 2] = [
    ("policies/default.yaml", include_str!("../../policies/default.yaml")),
    ("policies/recall.yaml", include_str!("../../policies/recall.yaml")),
];

/// Error for a file that is not a valid policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryPolicyError {
    /// The file is neither valid YAML nor valid JSON.
    #[error("{0}")]
    Unreadable(Box<Diagnostic>),
    /// The file does not have the shape of a policy.
    #[error("`{name}` is not a valid policy: {problem}")]
    Shape {
        /// The name of the policy file.
        name: String,
        /// A description of the problem.
        problem: String,
    },
    /// A value is out of range or unknown.
    #[error("`{name}`: `{field}` must be {expected}, found {found}")]
    Value {
        /// The name of the policy file.
        name: String,
        /// The path of the field, such as `similarity.weight`.
        field: &'static str,
        /// A description of the allowed values.
        expected: &'static str,
        /// The value that was found.
        found: String,
    },
}

impl MemoryPolicy {
    /// Parses a policy from the text of a file. A policy with a `base` contains only the
    /// differences from that base.
    pub fn parse(source: SourceFile) -> Result<Self, MemoryPolicyError> {
        let tree = ParsedSourceFile::parse(source)
            .map_err(|diagnostic| MemoryPolicyError::Unreadable(Box::new(diagnostic)))?;
        let name = tree.source.name.clone();
        let whole = merge_with_base(tree.value, &name)?;
        let policy: Self = serde_json::from_value(whole).map_err(|error| {
            MemoryPolicyError::Shape { name: name.clone(), problem: error.to_string() }
        })?;
        policy.check(&name)?;
        Ok(policy)
    }

    /// Returns a shipped policy by its id: `default` or `recall`.
    ///
    /// ```
    /// let policy = countersign_memory::policy::MemoryPolicy::load_shipped("default").unwrap();
    /// assert_eq!(policy.max_tokens, 2_048);
    /// ```
    #[must_use]
    pub fn load_shipped(id: &str) -> Option<Self> {
        static POLICIES: LazyLock<Vec<MemoryPolicy>> = LazyLock::new(|| {
            let parse = |(name, text)| MemoryPolicy::parse(SourceFile::new(name, text));
            let policies = SHIPPED.into_iter().map(parse);
            policies.map(|policy| policy.expect("the shipped policies are tested")).collect()
        });
        POLICIES.iter().find(|policy| policy.id == id).cloned()
    }

    fn check(&self, name: &str) -> Result<(), MemoryPolicyError> {
        let fault = |field, expected, found: String| {
            Err(MemoryPolicyError::Value { name: name.to_owned(), field, expected, found })
        };
        if self.id.is_empty() {
            return fault("id", "a name", "an empty string".to_owned());
        }
        if self.max_tokens < MIN_BUDGET_TOKENS {
            return fault("max_tokens", "at least 256", self.max_tokens.to_string());
        }
        let tiers = [self.tiers.raw, self.tiers.short, self.tiers.reference];
        let all: u64 = tiers.into_iter().map(u64::from).sum();
        if all > 1_000 || self.tiers.raw == 0 {
            let found = format!("{tiers:?}");
            return fault("tiers", "at most 1,000 thousandths in total, with `raw` above 0", found);
        }
        if self.short_item == 0 || self.longest_item < self.short_item {
            let found = format!("{} and {}", self.longest_item, self.short_item);
            return fault("longest_item", "at least `short_item`, which must be above 0", found);
        }
        if !(0..=MAX_SIMILARITY_WEIGHT).contains(&self.similarity.weight) {
            let found = self.similarity.weight.to_string();
            return fault("similarity.weight", "0 to 10,000,000 millionths", found);
        }
        let ages = [self.ageing.raw, self.ageing.phase_summary, self.ageing.milestone];
        if !ages.is_sorted() {
            return fault("ageing", "days that do not decrease", format!("{ages:?}"));
        }
        let weights = [self.strengths.weak, self.strengths.medium, self.strengths.strong];
        if weights[0] == 0 || !weights.is_sorted() {
            return fault(
                "strengths",
                "weights above 0 that do not decrease",
                format!("{weights:?}"),
            );
        }
        if self.matrix.tool.insights != InjectionStrength::None {
            return fault("matrix.tool.insights", "`none`", "another value".to_owned());
        }
        Ok(())
    }
}

/// Merges a file into the shipped policy that it names as its base, as a JSON Merge Patch (RFC
/// 7396). The file must have an id of its own.
fn merge_with_base(mut said: Value, name: &str) -> Result<Value, MemoryPolicyError> {
    let Some(base) = said.as_object_mut().and_then(|said| said.remove("base")) else {
        return Ok(said);
    };
    let Some(shipped) = base.as_str().and_then(MemoryPolicy::load_shipped) else {
        return Err(MemoryPolicyError::Value {
            name: name.to_owned(),
            field: "base",
            expected: "`default` or `recall`",
            found: base.to_string(),
        });
    };
    let fault =
        |fault: &str| MemoryPolicyError::Shape { name: name.to_owned(), problem: fault.to_owned() };
    if has_null(&said) {
        return Err(fault("a key has no value, and every key needs one"));
    }
    if said["id"].as_str().and_then(MemoryPolicy::load_shipped).is_some() {
        return Err(fault("its `id` is that of a shipped policy; expected a different one"));
    }
    let mut whole = serde_json::to_value(shipped).expect("a policy serializes to JSON");
    whole.as_object_mut().and_then(|whole| whole.remove("id"));
    let merged = Patch::from_merge_patch(&whole, &said).apply(&mut whole);
    merged.map_err(|error| fault(&error.to_string()))?;
    Ok(whole)
}

/// Returns whether a value contains null, which a merge patch would treat as removing the key.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: &str = SHIPPED[0].1;

    #[track_caller]
    fn refused(from: &str, to: &str, expected: &str) {
        let text = DEFAULT.replacen(from, to, 1);
        assert_ne!(text, DEFAULT, "{from}");
        let error = MemoryPolicy::parse(SourceFile::new("p.yaml", text)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_shipped_ones_are_there() {
        for id in ["default", "recall"] {
            let policy = MemoryPolicy::load_shipped(id).unwrap();
            assert_eq!(policy.id, id);
            assert!(policy.compute_digest().starts_with("sha256:"));
        }
        assert_eq!(MemoryPolicy::load_shipped("other"), None);
    }

    #[test]
    fn what_is_not_meant_is_refused() {
        refused(
            "max_tokens: 2048",
            "max_token: 2048",
            "`p.yaml` is not a valid policy: unknown field `max_token`, expected one of `id`, `version`, `max_tokens`, `caps`, `candidates`, `episode_window`, `ageing`, `strengths`, `matrix`, `tiers`, `longest_item`, `short_item`, `activation`, `similarity`, `render`, `allow_in_responder`",
        );
        refused(
            "max_tokens: 2048",
            "max_tokens: 255",
            "`p.yaml`: `max_tokens` must be at least 256, found 255",
        );
        refused(
            "ref: 100",
            "ref: 101",
            "`p.yaml`: `tiers` must be at most 1,000 thousandths in total, with `raw` above 0, found [700, 200, 101]",
        );
        refused(
            "raw: 7,",
            "raw: 31,",
            "`p.yaml`: `ageing` must be days that do not decrease, found [31, 30, 90]",
        );
        refused(
            "weak: 1 ",
            "weak: 3 ",
            "`p.yaml`: `strengths` must be weights above 0 that do not decrease, found [3, 2, 4]",
        );
        refused(
            "short_item: 24",
            "short_item: 0",
            "`p.yaml`: `longest_item` must be at least `short_item`, which must be above 0, found 200 and 0",
        );
        refused(
            "activation: {",
            "similarity: { weight: -1 }\nactivation: {",
            "`p.yaml`: `similarity.weight` must be 0 to 10,000,000 millionths, found -1",
        );
        refused(
            "insights: none",
            "insights: weak",
            "`p.yaml`: `matrix.tool.insights` must be `none`, found another value",
        );
        refused(
            "id: default",
            "id: [",
            "p.yaml:4:11: not YAML: while parsing a flow mapping, did not find expected ',' or '}' [invalid_yaml]",
        );
    }

    #[test]
    fn a_policy_may_say_only_what_is_different() {
        let parse = |text: &str| MemoryPolicy::parse(SourceFile::new("p.yaml", text));
        let near =
            parse("base: default\nid: near\ncaps: { facts: 3 }\nsimilarity: { weight: 500000 }");
        let mut expected = MemoryPolicy::load_shipped("default").unwrap();
        "near".clone_into(&mut expected.id);
        (expected.caps.facts, expected.similarity.weight) = (3, 500_000);
        assert_eq!(near.as_ref(), Ok(&expected));
        assert_eq!(
            near.unwrap().compute_digest(),
            expected.compute_digest(),
            "as if it had said everything"
        );
        for (text, told) in [
            ("base: mine\nid: x", "`p.yaml`: `base` must be `default` or `recall`, found \"mine\""),
            ("base: recall", "`p.yaml` is not a valid policy: missing field `id`"),
            (
                "base: recall\nid: recall",
                "`p.yaml` is not a valid policy: its `id` is that of a shipped policy; expected a different one",
            ),
            (
                "base: recall\nid: x\nsimilarty:",
                "`p.yaml` is not a valid policy: a key has no value, and every key needs one",
            ),
            (
                "base: recall\nid: x\nmax_tokens: 1",
                "`p.yaml`: `max_tokens` must be at least 256, found 1",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), told);
        }
        let unknown = parse("base: recall\nid: x\ncap: 1").unwrap_err().to_string();
        assert!(unknown.contains("unknown field `cap`"), "{unknown}");
    }

    #[test]
    fn the_digest_is_of_what_it_says() {
        let one = MemoryPolicy::load_shipped("default").unwrap();
        let spaced =
            MemoryPolicy::parse(SourceFile::new("p.yaml", DEFAULT.replace(": ", ":   "))).unwrap();
        assert_eq!(one.compute_digest(), spaced.compute_digest());
        let mut other = one.clone();
        other.caps.facts += 1;
        assert_ne!(one.compute_digest(), other.compute_digest());
    }
}
