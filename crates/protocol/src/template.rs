//! Text templates: `Write {{ state.title }} in two lines.`
//!
//! The text between the braces is an expression. A string result is inserted as it is, any other
//! value as JSON.

use countersign_contract::expr::{EvalError, Expr, ExprError};
use serde_json::Value;

/// A compiled template.
#[derive(Debug)]
pub struct TextTemplate {
    source: String,
    parts: Vec<TemplatePart>,
}

#[derive(Debug)]
enum TemplatePart {
    Text(String),
    Placeholder(Expr),
}

impl TextTemplate {
    /// Compiles a template; `names` are the variables that its expressions may use. The span of an
    /// error is relative to `source`.
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
                parts.push(TemplatePart::Text(source[rest..open].to_owned()));
            }
            let written = &source[inside..close];
            let expr = Expr::compile(written, names).map_err(|mut error| {
                error.span = error.span.start + inside..error.span.end + inside;
                error
            })?;
            parts.push(TemplatePart::Placeholder(expr));
            rest = close + 2;
        }
        if rest < source.len() {
            parts.push(TemplatePart::Text(source[rest..].to_owned()));
        }
        Ok(Self { source: source.to_owned(), parts })
    }

    /// The text that the template was compiled from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Iterates over the expressions of the placeholders.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Text(_) => None,
            TemplatePart::Placeholder(expr) => Some(expr),
        })
    }

    /// Fills in the placeholders. `undefined` is an error, because a question with a gap is worse
    /// than no question.
    pub fn render(&self, roots: &[Option<&Value>]) -> Result<String, EvalError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(fixed) => text.push_str(fixed),
                TemplatePart::Placeholder(expr) => match expr.eval(roots)?.to_json() {
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
            let template = TextTemplate::compile(text, &["state"]).unwrap();
            template.render(&[Some(&state)]).map_err(|error| error.message)
        };
        assert_eq!(fill("plain").unwrap(), "plain");
        assert_eq!(fill("«{{ state.title }}»: {{state.tasks.length}}").unwrap(), "«Ё»: 2");
        assert_eq!(fill("{{ state.tasks }}").unwrap(), "[1,2]");
        assert_eq!(fill("{{ state.none }}").unwrap_err(), "`state.none` is undefined");
    }

    #[test]
    fn faults_name_their_stretch() {
        let fault = |text: &str| TextTemplate::compile(text, &["state"]).unwrap_err().span;
        assert_eq!(fault("a {{ state. }} b").start, 12);
        assert_eq!(fault("ab {{ state"), 3..5);
    }
}
