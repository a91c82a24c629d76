//! Texts with places to fill: `Write {{ state.title }} in two lines.`
//!
//! What stands between the braces is an expression. A text fills in as it is, anything else as JSON.

use serde_json::Value;

use crate::expr::{EvalError, Expr, ExprError};

/// A compiled text.
#[derive(Debug)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Filled(Expr),
}

impl Template {
    /// Compiles a text; `names` are the variables its expressions may use. A fault's span is one in the text.
    pub fn compile(source: &str, names: &[&str]) -> Result<Self, ExprError> {
        let mut parts = Vec::new();
        let mut rest = 0;
        while let Some(open) = source[rest..].find("{{").map(|at| at + rest) {
            let inside = open + 2;
            let close =
                source[inside..].find("}}").map(|at| at + inside).ok_or_else(|| ExprError {
                    message: "`{{` without `}}`".to_owned(),
                    span: open..inside,
                    hint: None,
                })?;
            if open > rest {
                parts.push(Part::Text(source[rest..open].to_owned()));
            }
            let written = &source[inside..close];
            let expr = Expr::compile(written, names).map_err(|mut error| {
                error.span = error.span.start + inside..error.span.end + inside;
                error
            })?;
            parts.push(Part::Filled(expr));
            rest = close + 2;
        }
        if rest < source.len() {
            parts.push(Part::Text(source[rest..].to_owned()));
        }
        Ok(Self { source: source.to_owned(), parts })
    }

    /// The text it was compiled from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The expressions in it.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Filled(expr) => Some(expr),
        })
    }

    /// Fills it in. `undefined` is an error: a hole in a question is worse than none asked.
    pub fn fill(&self, roots: &[Option<&Value>]) -> Result<String, EvalError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(fixed) => text.push_str(fixed),
                Part::Filled(expr) => match expr.eval(roots)?.to_json() {
                    Some(Value::String(filled)) => text.push_str(&filled),
                    Some(other) => text.push_str(&other.to_string()),
                    None => {
                        let message = format!("`{}` is undefined", expr.source().trim());
                        return Err(EvalError { message, span: 0..expr.source().len() });
                    }
                },
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_filled() {
        let state = json!({"title": "Ё", "tasks": [1, 2]});
        let fill = |text: &str| {
            let template = Template::compile(text, &["state"]).unwrap();
            template.fill(&[Some(&state)]).map_err(|error| error.message)
        };
        assert_eq!(fill("plain").unwrap(), "plain");
        assert_eq!(fill("«{{ state.title }}»: {{state.tasks.length}}").unwrap(), "«Ё»: 2");
        assert_eq!(fill("{{ state.tasks }}").unwrap(), "[1,2]");
        assert_eq!(fill("{{ state.none }}").unwrap_err(), "`state.none` is undefined");
    }

    #[test]
    fn faults_name_their_stretch() {
        let fault = |text: &str| Template::compile(text, &["state"]).unwrap_err().span;
        assert_eq!(fault("a {{ state. }} b").start, 12);
        assert_eq!(fault("ab {{ state"), 3..5);
    }
}
