//! A question as it is asked: its words, its shape and its time, filled in from the document and, where it is
//! asked for each of several, its item.

use serde_json::{Value, json};

use super::deciding::Deciding;
use crate::contract::{self, Contract, Schema};
use crate::expr::Expr;
use crate::protocol::{Accepts, Choice, Choices, ListedChoice, Question, Shape, confined};
use crate::reply::show;
use crate::run::wait::{Wait, WaitKind, WaitShape};
use crate::spec::Source;

impl Deciding<'_> {
    /// The wait that a question opens; none where it does not apply.
    pub(super) fn asked(
        &self,
        question: &Question,
        item: Option<&Value>,
    ) -> Result<Option<Wait>, String> {
        let run = self.run();
        let roots: Vec<_> =
            [Some(&*self.state.document), Some(&run)].into_iter().chain(item.map(Some)).collect();
        if let Some(when) = &question.when
            && !when.test(&roots).map_err(|error| error.message)?
        {
            return Ok(None);
        }
        let language = self.language();
        let language = language.as_deref();
        let text = question.question.in_language(language);
        let text = text.fill(&roots).map_err(|error| error.message)?;
        let (kind, shape) = shape(&question.shape, &roots, language)?;
        let name = match &question.each {
            None => question.id.clone(),
            Some((_, id)) => id.fill(&roots).map_err(|error| error.message)?,
        };
        if name.trim().is_empty() {
            return Err("its `id` would be blank".to_owned());
        }
        let mut wait = self.wait(kind, &name, text);
        wait.of = question.each.as_ref().map(|_| question.id.clone());
        wait.item = item.cloned();
        wait.shape = Some(shape);
        wait.who.clone_from(&question.who);
        wait.deadline = question.deadline.map(|deadline| self.input.time.after(deadline.millis));
        Ok(Some(wait))
    }
}

fn shape(
    shape: &Shape,
    roots: &[Option<&Value>],
    language: Option<&str>,
) -> Result<(WaitKind, WaitShape), String> {
    Ok(match shape {
        Shape::Value(contract) => {
            let schema = contract.schema.source().clone();
            (WaitKind::Question, WaitShape::Value { schema })
        }
        Shape::Computed(schema) => {
            let schema = schema.expressions().next().expect("it is one place to fill");
            let schema = value(schema, roots)?;
            contract_of(&schema)?;
            (WaitKind::Question, WaitShape::Value { schema })
        }
        Shape::Choices(list) => {
            let choices = match list {
                Choices::Listed(choices) => {
                    let shown = |choice: &ListedChoice| Choice {
                        id: choice.id.clone(),
                        label: choice.label.in_language(language).clone(),
                    };
                    choices.iter().map(shown).collect()
                }
                Choices::Computed(list) => choices(list, roots)?,
            };
            (WaitKind::Question, WaitShape::Choices { choices })
        }
        Shape::Document { suggested_path, accepts } => {
            let path = suggested_path.as_ref().map(|path| path.fill(roots));
            let path = path.transpose().map_err(|error| error.message)?;
            let path = path.map(|path| {
                confined("", &path).map_err(|reason| format!("the path `{path}` {reason}"))
            });
            let accepts = match accepts {
                Accepts::Listed(list) => list.clone(),
                Accepts::Computed(list) => extensions(list, roots)?,
            };
            let suggested_path = path.transpose()?;
            (WaitKind::Document, WaitShape::Document { suggested_path, accepts })
        }
    })
}

/// The contract of nothing but a schema.
pub(super) fn contract_of(schema: &Value) -> Result<Contract, String> {
    if !schema.is_object() {
        return Err(format!("its `answer` is {}, and no JSON Schema", show(schema)));
    }
    Schema::compile(schema.clone())
        .map_err(|fault| format!("its `answer` is not a schema we take: {}", fault.message))?;
    let file = json!({"id": "answer", "version": "1.0.0", "schema": schema}).to_string();
    let none = |path: &str| Err(format!("`{path}`: an answer reads no files"));
    contract::load(Source::new("answer.json", file), &none).map_err(|faults| {
        let first = faults.into_iter().next().map(|fault| fault.message);
        format!("its `answer` is not a schema we take: {}", first.unwrap_or_default())
    })
}

fn value(expr: &Expr, roots: &[Option<&Value>]) -> Result<Value, String> {
    let value = expr.eval(roots).map_err(|error| error.message)?.to_json();
    value.ok_or_else(|| format!("`{}` is undefined", expr.source().trim()))
}

/// The extensions an expression gives.
fn extensions(list: &Expr, roots: &[Option<&Value>]) -> Result<Vec<String>, String> {
    let source = list.source();
    let Value::Array(items) = value(list, roots)? else {
        return Err(format!("`{source}` gives no list of extensions"));
    };
    let extension = |item: Value| match item {
        Value::String(text)
            if text.len() > 1 && text.starts_with('.') && !text[1..].contains(['.', '/', '\\']) =>
        {
            Ok(text)
        }
        other => Err(format!("`{source}` gives {}, and no extension such as `.md`", show(&other))),
    };
    items.into_iter().map(extension).collect()
}

/// The choices an expression gives.
fn choices(list: &Expr, roots: &[Option<&Value>]) -> Result<Vec<Choice>, String> {
    let source = list.source();
    let value = list.eval(roots).map_err(|error| error.message)?.to_json();
    let Some(Value::Array(items)) = value else {
        return Err(format!("`{source}` gives no list of choices"));
    };
    let mut choices: Vec<Choice> = Vec::new();
    for item in items {
        let choice = match &item {
            Value::String(text) => Choice { id: text.clone(), label: text.clone() },
            Value::Object(_) => {
                let id = item["id"]
                    .as_str()
                    .ok_or_else(|| format!("a choice of `{source}` has no `id`"))?;
                let label = item["label"].as_str().or(item["text"].as_str()).unwrap_or(id);
                Choice { id: id.to_owned(), label: label.to_owned() }
            }
            other => return Err(format!("a choice of `{source}` is {}", show(other))),
        };
        if choices.iter().any(|other| other.id == choice.id) {
            return Err(format!("`{source}` gives the choice `{}` twice", choice.id));
        }
        choices.push(choice);
    }
    if choices.is_empty() {
        return Err(format!("`{source}` gives no choice"));
    }
    Ok(choices)
}
