//! Builds the wait of a question: renders its text, answer shape and deadline from the document
//! and, for a question with `for_each`, from its item.

use countersign_contract::contract::{self, Contract, Schema};
use countersign_contract::expr::Expr;
use countersign_contract::reply::format_value;
use countersign_contract::source::SourceFile;
use countersign_protocol::{
    AcceptedExtensions, AnswerChoice, AnswerShape, ChoiceSource, ListedChoice, PhaseQuestion,
    confine_path,
};
use serde_json::{Value, json};

use super::run_decision::RunDecision;
use crate::RunInputs;
use crate::wait::{RunWait, WaitAnswerShape, WaitKind};

impl RunDecision<'_> {
    /// Builds the wait that a question opens; `None` if its `when` condition is false.
    pub(super) fn build_question_wait(
        &self,
        question: &PhaseQuestion,
        item: Option<&Value>,
    ) -> Result<Option<RunWait>, String> {
        let run = self.run_value();
        let roots: Vec<_> =
            [Some(&*self.state.document), Some(&run)].into_iter().chain(item.map(Some)).collect();
        if let Some(when) = &question.when
            && !when.eval_bool(&roots).map_err(|error| error.message)?
        {
            return Ok(None);
        }
        let language = self.resolve_language();
        let language = language.as_deref();
        let text = question.question.version_for(language);
        let text = text.render(&roots).map_err(|error| error.message)?;
        let (kind, mut shape) = build_answer_shape(&question.shape, &roots, language)?;
        if let WaitAnswerShape::Document { suggested_path: Some(path), .. } = &mut shape {
            *path = RunInputs::for_run(&self.state).expect_at(path);
        }
        let name = match &question.for_each {
            None => question.id.clone(),
            Some((_, id)) => id.render(&roots).map_err(|error| error.message)?,
        };
        if name.trim().is_empty() {
            return Err("its `id` is blank".to_owned());
        }
        let mut wait = self.new_wait(kind, &name, text);
        wait.definition_id = question.for_each.as_ref().map(|_| question.id.clone());
        wait.item = item.cloned();
        wait.answer_shape = Some(shape);
        wait.who.clone_from(&question.who);
        wait.deadline =
            question.deadline.map(|deadline| self.input.time.plus_millis(deadline.millis));
        Ok(Some(wait))
    }
}

fn build_answer_shape(
    shape: &AnswerShape,
    roots: &[Option<&Value>],
    language: Option<&str>,
) -> Result<(WaitKind, WaitAnswerShape), String> {
    Ok(match shape {
        AnswerShape::Value(contract) => {
            let schema = contract.schema.source().clone();
            (WaitKind::Question, WaitAnswerShape::Value { schema })
        }
        AnswerShape::Computed(schema) => {
            let schema =
                schema.expressions().next().expect("a computed answer has one placeholder");
            let schema = evaluate_defined(schema, roots)?;
            compile_answer_contract(&schema)?;
            (WaitKind::Question, WaitAnswerShape::Value { schema })
        }
        AnswerShape::Choices(list) => {
            let choices = match list {
                ChoiceSource::Listed(choices) => {
                    let shown = |choice: &ListedChoice| {
                        let label = match &choice.label {
                            Some(label) => label.version_for(language).render(roots),
                            None => Ok(choice.id.clone()),
                        };
                        let label = label.map_err(|error| error.message)?;
                        Ok(AnswerChoice { id: choice.id.clone(), label })
                    };
                    choices.iter().map(shown).collect::<Result<_, String>>()?
                }
                ChoiceSource::Computed(list) => evaluate_choices(list, roots)?,
            };
            (WaitKind::Question, WaitAnswerShape::Choices { choices })
        }
        AnswerShape::Document { suggested_path, accepts } => {
            let path = suggested_path.as_ref().map(|path| path.render(roots));
            let path = path.transpose().map_err(|error| error.message)?;
            let path = path.map(|path| {
                confine_path("", &path).map_err(|reason| format!("the path `{path}` {reason}"))
            });
            let accepts = match accepts {
                AcceptedExtensions::Listed(list) => list.clone(),
                AcceptedExtensions::Computed(list) => evaluate_extensions(list, roots)?,
            };
            let suggested_path = path.transpose()?;
            (WaitKind::Document, WaitAnswerShape::Document { suggested_path, accepts })
        }
    })
}

/// Compiles a contract that consists of a schema only.
pub(super) fn compile_answer_contract(schema: &Value) -> Result<Contract, String> {
    if !schema.is_object() {
        return Err(format!("its `answer` is {}, not a JSON Schema", format_value(schema)));
    }
    Schema::compile(schema.clone())
        .map_err(|fault| format!("its `answer` is an unsupported schema: {}", fault.message))?;
    let file = json!({"id": "answer", "version": "1.0.0", "schema": schema}).to_string();
    let none = |path: &str| Err(format!("`{path}`: an answer cannot read files"));
    contract::load_contract(SourceFile::new("answer.json", file), &none).map_err(|faults| {
        let first = faults.into_iter().next().map(|fault| fault.message);
        format!("its `answer` is an unsupported schema: {}", first.unwrap_or_default())
    })
}

fn evaluate_defined(expr: &Expr, roots: &[Option<&Value>]) -> Result<Value, String> {
    let value = expr.eval(roots).map_err(|error| error.message)?.to_json();
    value.ok_or_else(|| format!("`{}` is undefined", expr.source().trim()))
}

/// Evaluates an expression to a list of file extensions such as `.md`.
fn evaluate_extensions(list: &Expr, roots: &[Option<&Value>]) -> Result<Vec<String>, String> {
    let source = list.source();
    let Value::Array(items) = evaluate_defined(list, roots)? else {
        return Err(format!("`{source}` is not a list of extensions"));
    };
    let extension = |item: Value| match item {
        Value::String(text)
            if text.len() > 1 && text.starts_with('.') && !text[1..].contains(['.', '/', '\\']) =>
        {
            Ok(text)
        }
        other => Err(format!(
            "`{source}` contains {}, which is not an extension such as `.md`",
            format_value(&other)
        )),
    };
    items.into_iter().map(extension).collect()
}

/// Evaluates an expression to a list of choices with unique ids; it must not be empty.
fn evaluate_choices(list: &Expr, roots: &[Option<&Value>]) -> Result<Vec<AnswerChoice>, String> {
    let source = list.source();
    let value = list.eval(roots).map_err(|error| error.message)?.to_json();
    let Some(Value::Array(items)) = value else {
        return Err(format!("`{source}` is not a list of choices"));
    };
    let mut choices: Vec<AnswerChoice> = Vec::new();
    for item in items {
        let choice = match &item {
            Value::String(text) => AnswerChoice { id: text.clone(), label: text.clone() },
            Value::Object(_) => {
                let id = item["id"]
                    .as_str()
                    .ok_or_else(|| format!("a choice of `{source}` has no `id`"))?;
                let label = item["label"].as_str().or(item["text"].as_str()).unwrap_or(id);
                AnswerChoice { id: id.to_owned(), label: label.to_owned() }
            }
            other => {
                return Err(format!(
                    "a choice of `{source}` is {}, not a string or an object",
                    format_value(other)
                ));
            }
        };
        if choices.iter().any(|other| other.id == choice.id) {
            return Err(format!("`{source}` contains the choice `{}` twice", choice.id));
        }
        choices.push(choice);
    }
    if choices.is_empty() {
        return Err(format!("`{source}` contains no choices"));
    }
    Ok(choices)
}
