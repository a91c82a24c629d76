//! Writes the rule of a schema by its shape and type.

use serde_json::{Map, Value};

use super::grammar_builder::{GrammarBuilder, quote_literal};
use super::grammar_string;
use crate::compat::{OneOfBranches, are_mutually_exclusive};
use crate::export::export_traversal::{EnteredSubschema, TOO_LARGE_REASON};
use crate::export::normalized_schema::{NormalizedSchema, SchemaShape, with_siblings};

/// The maximum size of an integer range that is written as a list.
const MAX_LISTED_INTEGERS: i64 = 101;

impl GrammarBuilder<'_> {
    /// Returns the body of the rule for the schema at the pointer `at`; `name` is the prefix of the
    /// rules that it needs.
    pub(super) fn write_schema(&mut self, schema: &Value, at: &str, name: &str) -> String {
        let normal = match self.traversal.enter_subschema(schema, at) {
            EnteredSubschema::Inline(normal) => *normal,
            EnteredSubschema::Definition(key) => return self.add_reference(&key),
            EnteredSubschema::Recursive(_) | EnteredSubschema::LimitReached => {
                self.record_widening(at, "limit", TOO_LARGE_REASON);
                return "value".to_owned();
            }
        };
        let body = self.write_normalized(normal, at, name);
        self.traversal.leave_subschema();
        body
    }

    fn write_normalized(&mut self, normal: NormalizedSchema, at: &str, name: &str) -> String {
        let NormalizedSchema { shape, dropped, .. } = normal;
        for (pointer, keyword) in dropped {
            let reason = match keyword.as_str() {
                "$ref" => "the reference cannot be resolved here",
                "limit" => TOO_LARGE_REASON,
                _ => "a grammar cannot express it",
            };
            self.record_widening(&pointer, &keyword, reason);
        }
        match shape {
            SchemaShape::Anything => "value".to_owned(),
            // A rule that no text matches.
            SchemaShape::Nothing => "[^\\x00-\\U0010FFFF]".to_owned(),
            SchemaShape::Reference(pointer) => self.add_reference(&pointer),
            SchemaShape::EnumMembers(members) => {
                let members: Vec<String> =
                    members.iter().map(|member| quote_literal(&member.to_string())).collect();
                join_alternatives(&members)
            }
            SchemaShape::Alternatives(branches, keyword, beside) => {
                self.write_alternatives((&branches, &beside), keyword, at, name)
            }
            SchemaShape::Typed(types, keywords) => {
                let bodies: Vec<String> =
                    types.iter().map(|kind| self.write_type(kind, &keywords, at, name)).collect();
                join_alternatives(&bodies)
            }
        }
    }

    fn write_alternatives(
        &mut self,
        (branches, beside): (&[Value], &Map<String, Value>),
        keyword: &str,
        at: &str,
        name: &str,
    ) -> String {
        let checked = OneOfBranches {
            references: &self.traversal.references,
            alternatives: branches,
            beside,
        };
        if keyword == "oneOf" && !are_mutually_exclusive(&checked) {
            self.record_widening(
                at,
                "oneOf",
                "exactly one may fit, and the branches are not proven to exclude each other",
            );
        }
        let mut bodies: Vec<String> = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let at = format!("{at}/{keyword}/{index}");
            if self.traversal.is_exhausted() {
                self.record_widening(&at, "limit", TOO_LARGE_REASON);
                bodies.push("value".to_owned());
                break;
            }
            let branch = with_siblings(beside, branch);
            bodies.push(self.write_schema(&branch, &at, &format!("{name}-{index}")));
        }
        join_alternatives(&bodies)
    }

    fn write_type(
        &mut self,
        kind: &str,
        keywords: &Map<String, Value>,
        at: &str,
        name: &str,
    ) -> String {
        match kind {
            "null" => "null".to_owned(),
            "boolean" => "boolean".to_owned(),
            "integer" => self.write_integer(keywords, at),
            "number" => {
                for keyword in
                    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
                {
                    if keywords.contains_key(keyword)
                        && !(keyword == "minimum" && keywords[keyword] == 0)
                    {
                        self.record_widening(
                            at,
                            keyword,
                            "a grammar cannot express it for fractions",
                        );
                    }
                }
                let positive = keywords.get("minimum").and_then(Value::as_f64) == Some(0.0);
                if positive { UNSIGNED_NUMBER_RULE.to_owned() } else { "number".to_owned() }
            }
            "string" => self.write_string(keywords, at),
            "array" => self.write_array(keywords, at, name),
            "object" => self.write_object(keywords, at, name),
            _ => "value".to_owned(),
        }
    }

    fn write_integer(&mut self, keywords: &Map<String, Value>, at: &str) -> String {
        let whole = |keyword: &str| keywords.get(keyword).and_then(Value::as_i64);
        if keywords.contains_key("multipleOf") {
            self.record_widening(at, "multipleOf", "a grammar cannot express it");
        }
        let least =
            whole("minimum").or(whole("exclusiveMinimum").and_then(|bound| bound.checked_add(1)));
        let most =
            whole("maximum").or(whole("exclusiveMaximum").and_then(|bound| bound.checked_sub(1)));
        if let (Some(least), Some(most)) = (least, most)
            && most.checked_sub(least).is_some_and(|room| (0..MAX_LISTED_INTEGERS).contains(&room))
        {
            let all: Vec<String> =
                (least..=most).map(|number| quote_literal(&number.to_string())).collect();
            return join_alternatives(&all);
        }
        let said = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]
            .into_iter()
            .filter(|keyword| keywords.contains_key(*keyword));
        let simple = matches!(least, Some(0 | 1));
        for keyword in said.filter(|keyword| !(simple && keyword.ends_with("inimum"))) {
            self.record_widening(at, keyword, "the range is too wide to be listed");
        }
        match least {
            Some(0) => r#"( "0" | [1-9] [0-9]{0,19} )"#.to_owned(),
            Some(1) => "[1-9] [0-9]{0,19}".to_owned(),
            _ => "integer".to_owned(),
        }
    }

    fn write_string(&mut self, keywords: &Map<String, Value>, at: &str) -> String {
        if let Some(body) = keywords
            .get("pattern")
            .and_then(Value::as_str)
            .and_then(grammar_string::render_pattern_rule)
        {
            for keyword in ["minLength", "maxLength", "format"]
                .into_iter()
                .filter(|keyword| keywords.contains_key(*keyword))
            {
                self.record_widening(at, keyword, "the pattern is enforced instead");
            }
            return body;
        }
        for keyword in ["pattern", "format", "contentEncoding", "contentMediaType"]
            .into_iter()
            .filter(|keyword| keywords.contains_key(*keyword))
        {
            self.record_widening(at, keyword, "too complex for a grammar");
        }
        let (body, unsaid) = grammar_string::render_length_rule(keywords);
        for keyword in unsaid {
            self.record_widening(at, keyword, "too long for a grammar to count");
        }
        body
    }
}

const UNSIGNED_NUMBER_RULE: &str =
    r#"( "0" | [1-9] [0-9]{0,19} ) ( "." [0-9]{1,25} )? ( [eE] [-+]? [0-9]{1,3} )?"#;

/// Joins alternatives in parentheses; a single one stays without.
pub(super) fn join_alternatives(bodies: &[String]) -> String {
    match bodies {
        [one] => one.clone(),
        many => format!("( {} )", many.join(" | ")),
    }
}
