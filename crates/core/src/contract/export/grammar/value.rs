//! Values: which rule a schema becomes.

use serde_json::{Map, Value};

use super::rules::{Rules, literal};
use super::text;
use crate::contract::compat::{Branches, exclude_each_other};
use crate::contract::export::normal::{Normal, Shape, with_beside};
use crate::contract::export::unfolding::{BEYOND, Entered};

/// Ranges of integers up to this size are listed.
const LISTED: i64 = 101;

impl Rules<'_> {
    /// The body of a rule for a schema that stands at `at`; `name` is the beginning of the rules it needs.
    pub(super) fn schema(&mut self, schema: &Value, at: &str, name: &str) -> String {
        let normal = match self.unfolding.enter(schema, at) {
            Entered::Here(normal) => *normal,
            Entered::Definition(key) => return self.reference(&key),
            Entered::Recursive(_) | Entered::Beyond => {
                self.lose(at, "limit", BEYOND);
                return "value".to_owned();
            }
        };
        let body = self.write(normal, at, name);
        self.unfolding.leave();
        body
    }

    fn write(&mut self, normal: Normal, at: &str, name: &str) -> String {
        let Normal { shape, dropped, .. } = normal;
        for (pointer, keyword) in dropped {
            let reason = match keyword.as_str() {
                "$ref" => "the reference cannot be followed here",
                "limit" => BEYOND,
                _ => "a grammar cannot say it",
            };
            self.lose(&pointer, &keyword, reason);
        }
        match shape {
            Shape::Anything => "value".to_owned(),
            // A rule that nothing can meet.
            Shape::Nothing => "[^\\x00-\\U0010FFFF]".to_owned(),
            Shape::Reference(pointer) => self.reference(&pointer),
            Shape::Members(members) => {
                let members: Vec<String> =
                    members.iter().map(|member| literal(&member.to_string())).collect();
                grouped(&members)
            }
            Shape::Alternatives(branches, keyword, beside) => {
                self.alternatives((&branches, &beside), keyword, at, name)
            }
            Shape::Typed(types, keywords) => {
                let bodies: Vec<String> =
                    types.iter().map(|kind| self.typed(kind, &keywords, at, name)).collect();
                grouped(&bodies)
            }
        }
    }

    fn alternatives(
        &mut self,
        (branches, beside): (&[Value], &Map<String, Value>),
        keyword: &str,
        at: &str,
        name: &str,
    ) -> String {
        let checked =
            Branches { references: &self.unfolding.references, alternatives: branches, beside };
        if keyword == "oneOf" && !exclude_each_other(&checked) {
            self.lose(
                at,
                "oneOf",
                "exactly one may fit, and the branches are not proven to exclude each other",
            );
        }
        let mut bodies: Vec<String> = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let at = format!("{at}/{keyword}/{index}");
            if self.unfolding.is_exhausted() {
                self.lose(&at, "limit", BEYOND);
                bodies.push("value".to_owned());
                break;
            }
            let branch = with_beside(beside, branch);
            bodies.push(self.schema(&branch, &at, &format!("{name}-{index}")));
        }
        grouped(&bodies)
    }

    fn typed(&mut self, kind: &str, keywords: &Map<String, Value>, at: &str, name: &str) -> String {
        match kind {
            "null" => "null".to_owned(),
            "boolean" => "boolean".to_owned(),
            "integer" => self.integer(keywords, at),
            "number" => {
                for keyword in
                    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
                {
                    if keywords.contains_key(keyword)
                        && !(keyword == "minimum" && keywords[keyword] == 0)
                    {
                        self.lose(at, keyword, "a grammar cannot say it of fractions");
                    }
                }
                let positive = keywords.get("minimum").and_then(Value::as_f64) == Some(0.0);
                if positive { UNSIGNED_NUMBER.to_owned() } else { "number".to_owned() }
            }
            "string" => self.string(keywords, at),
            "array" => self.array(keywords, at, name),
            "object" => self.object(keywords, at, name),
            _ => "value".to_owned(),
        }
    }

    fn integer(&mut self, keywords: &Map<String, Value>, at: &str) -> String {
        let whole = |keyword: &str| keywords.get(keyword).and_then(Value::as_i64);
        if keywords.contains_key("multipleOf") {
            self.lose(at, "multipleOf", "a grammar cannot say it");
        }
        let least =
            whole("minimum").or(whole("exclusiveMinimum").and_then(|bound| bound.checked_add(1)));
        let most =
            whole("maximum").or(whole("exclusiveMaximum").and_then(|bound| bound.checked_sub(1)));
        if let (Some(least), Some(most)) = (least, most)
            && most.checked_sub(least).is_some_and(|room| (0..LISTED).contains(&room))
        {
            let all: Vec<String> =
                (least..=most).map(|number| literal(&number.to_string())).collect();
            return grouped(&all);
        }
        let said = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]
            .into_iter()
            .filter(|keyword| keywords.contains_key(*keyword));
        let simple = matches!(least, Some(0 | 1));
        for keyword in said.filter(|keyword| !(simple && keyword.ends_with("inimum"))) {
            self.lose(at, keyword, "the range is too wide to be listed");
        }
        match least {
            Some(0) => r#"( "0" | [1-9] [0-9]{0,19} )"#.to_owned(),
            Some(1) => "[1-9] [0-9]{0,19}".to_owned(),
            _ => "integer".to_owned(),
        }
    }

    fn string(&mut self, keywords: &Map<String, Value>, at: &str) -> String {
        if let Some(body) =
            keywords.get("pattern").and_then(Value::as_str).and_then(text::of_pattern)
        {
            for keyword in ["minLength", "maxLength", "format"]
                .into_iter()
                .filter(|keyword| keywords.contains_key(*keyword))
            {
                self.lose(at, keyword, "the pattern is written instead");
            }
            return body;
        }
        for keyword in ["pattern", "format", "contentEncoding", "contentMediaType"]
            .into_iter()
            .filter(|keyword| keywords.contains_key(*keyword))
        {
            self.lose(at, keyword, "too much for a grammar");
        }
        let (body, unsaid) = text::of_length(keywords);
        for keyword in unsaid {
            self.lose(at, keyword, "longer than a grammar should count");
        }
        body
    }
}

const UNSIGNED_NUMBER: &str =
    r#"( "0" | [1-9] [0-9]{0,19} ) ( "." [0-9]{1,25} )? ( [eE] [-+]? [0-9]{1,3} )?"#;

/// Alternatives in brackets; one alone without.
pub(super) fn grouped(bodies: &[String]) -> String {
    match bodies {
        [one] => one.clone(),
        many => format!("( {} )", many.join(" | ")),
    }
}
