//! Reads questions to people and requests for documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::contract::{self, Contract, Schema, check_schema};
use countersign_contract::source::SourceFile;
use serde_json::{Value, json};

use super::file_node::FileNode;
use super::name_scope::NameScope;
use super::read_approval::read_assignees;
use super::read_changes::read_apply;
use super::read_duration::read_duration;
use super::read_effect::read_confined_template;
use super::read_expression::{read_expression, read_optional_expression, read_template};
use super::read_failure_handler::read_failure_handler;
use super::read_for_each;
use super::read_localized::read_localized_template;
use crate::{
    AcceptedExtensions, AnswerShape, ChoiceSource, ListedChoice, PhaseQuestion, TextTemplate,
};

/// Reads `ask`: one question or a list of questions.
pub(super) fn read_questions(member: &FileNode<'_>, scope: &NameScope<'_>) -> Vec<PhaseQuestion> {
    let items = if member.value.is_array() { member.items() } else { vec![member.clone()] };
    let mut seen: BTreeMap<String, &FileNode<'_>> = BTreeMap::new();
    let mut questions = Vec::new();
    for one in &items {
        let id = match one.text_at("id") {
            Some(id) => id.to_owned(),
            None if items.len() == 1 => "answer".to_owned(),
            None => {
                let message = "each of several questions needs an `id`";
                scope.faults.push(one.diagnose("required", message));
                continue;
            }
        };
        if let Some(first) = seen.get(&id) {
            let node = one.get("id").unwrap_or_else(|| one.clone());
            scope.faults.push_with("duplicate_id", &node, || {
                let message =
                    format!("question `{id}` is already defined at {}", first.format_location());
                node.diagnose("duplicate_id", message)
            });
        }
        seen.entry(id.clone()).or_insert(one);
        let Ok(each) = read_for_each::read_for_each(one, &[], scope) else { continue };
        let (reads, texts) = read_for_each::expression_names(each.as_ref(), false);
        let inside = NameScope { change_names: &reads, text_names: &texts, ..*scope };
        let Ok(ids) = read_item_id(one, each.is_some(), &inside) else { continue };
        questions.extend(
            read_question(one, id, &inside)
                .map(|question| PhaseQuestion { for_each: each.zip(ids), ..question }),
        );
    }
    questions
}

/// Reads the template that gives the id of each item's question; `Err` if it is invalid.
fn read_item_id(
    member: &FileNode<'_>,
    each: bool,
    scope: &NameScope<'_>,
) -> Result<Option<TextTemplate>, ()> {
    if !each {
        return Ok(None);
    }
    let Some(id) = member.get("id") else {
        let message = "a question with `each` needs an `id` with a placeholder";
        let hint = "name each by its item: `id: \"{{ item.id }}\"`".to_owned();
        scope.faults.push(member.diagnose("required", message).with_hint(Some(hint)));
        return Err(());
    };
    let filled = read_template(&id, scope.text_names, scope.faults).ok_or(())?;
    if filled.expressions().next().is_none() {
        let name = filled.source();
        let message = format!("all these questions would have the id `{name}`");
        let hint = "name each by its item: `id: \"{{ item.id }}\"`".to_owned();
        scope.faults.push(id.diagnose("duplicate_id", message).with_hint(Some(hint)));
        return Err(());
    }
    Ok(Some(filled))
}

fn read_question(
    member: &FileNode<'_>,
    id: String,
    scope: &NameScope<'_>,
) -> Option<PhaseQuestion> {
    let faults = scope.faults;
    let question = read_localized_template(&member.get("question")?, scope.text_names, faults);
    let shape = read_answer_shape(member, scope);
    let deadline = member.get("deadline").and_then(|it| read_duration(&it, faults));
    let when = read_optional_expression(member.get("when"), scope.text_names, faults);
    let otherwise = read_failure_handler(member.get("on_timeout").as_ref(), scope);
    let apply = read_apply(member, scope);
    let default = member.get("default");
    if let (Some(default), Some(shape)) = (&default, &shape)
        && let Some(wrong) = explain_invalid_default(shape, default.value)
    {
        let message = format!("the default is not a valid answer: {wrong}");
        faults.push(default.diagnose("invalid_default", message));
    }
    for key in ["default", "on_timeout"] {
        if member.get(key).is_some() && member.get("deadline").is_none() {
            let message = format!("`{key}` needs a deadline, and there is none");
            let fault = member.diagnose_key("misplaced_key", key, message);
            faults.push(fault.into_warning().with_hint(Some("add one: `deadline: 2d`".to_owned())));
        }
    }
    Some(PhaseQuestion {
        id,
        for_each: None,
        question: question?,
        shape: shape?,
        who: read_assignees(member, "who"),
        deadline,
        default: default.map(|default| default.value.clone()),
        on_timeout: otherwise,
        apply,
        when: when.ok()?,
    })
}

fn read_answer_shape(member: &FileNode<'_>, scope: &NameScope<'_>) -> Option<AnswerShape> {
    let shapes = ["answer", "choices", "document"];
    let named: Vec<&str> = shapes.into_iter().filter(|key| member.get(key).is_some()).collect();
    if named.len() > 1 {
        let both = named.join("` and `");
        let message = format!("an answer has one shape, and this question has `{both}`");
        scope.faults.push(member.diagnose_key("one_of", named[1], message));
        return None;
    }
    if let Some(choices) = member.get("choices") {
        return Some(AnswerShape::Choices(read_choices(&choices, scope)?));
    }
    if let Some(document) = member.get("document") {
        let path = document.get("suggested_path");
        let path = path.map(|path| read_confined_template(&path, scope).ok_or(()));
        let accepts = match document.get("accepts") {
            Some(list) if list.text().is_some() => {
                read_expression(&list, scope.text_names, scope.faults)
                    .map(AcceptedExtensions::Computed)
            }
            list => Some(AcceptedExtensions::Listed(list.map(|it| it.texts()).unwrap_or_default())),
        };
        let (suggested_path, accepts) = (path.transpose().ok()?, accepts?);
        return Some(AnswerShape::Document { suggested_path, accepts });
    }
    match member.get("answer").filter(|it| it.text().is_some_and(|text| text.contains("{{"))) {
        Some(schema) => read_computed_answer(&schema, scope),
        None => read_answer_contract(member, scope).map(AnswerShape::Value),
    }
}

/// Reads the contract of the `answer` to a question or an input. The default is a text that is not
/// empty.
pub(super) fn read_answer_contract(
    member: &FileNode<'_>,
    scope: &NameScope<'_>,
) -> Option<Arc<Contract>> {
    match member.get("answer") {
        None => compile_inline_contract(&json!({"type": "string", "minLength": 1}), member, scope),
        Some(answer) if answer.text().is_some() => {
            scope.names.contracts.resolve_name(&answer, scope.faults)
        }
        Some(answer) => {
            let schema = match Schema::compile(answer.value.clone()) {
                Ok(schema) => schema,
                Err(fault) => {
                    let pointer = format!("{}{}", answer.pointer, fault.pointer);
                    let message = format!("unsupported schema: {}", fault.message);
                    scope.faults.push(answer.tree.diagnose("invalid_schema", &pointer, message));
                    return None;
                }
            };
            scope.faults.extend(check_schema(answer.tree, &answer.pointer, &schema));
            compile_inline_contract(answer.value, &answer, scope)
        }
    }
}

/// Reads an answer whose schema an expression gives: one placeholder that spans the whole text.
fn read_computed_answer(answer: &FileNode<'_>, scope: &NameScope<'_>) -> Option<AnswerShape> {
    let text = answer.text()?.trim();
    let whole = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    if whole.is_none_or(|inside| inside.contains("{{")) {
        let message = "an `answer` with a placeholder must be a single placeholder that returns a JSON Schema";
        let hint = "write `answer: \"{{ item.schema }}\"`, or name a contract".to_owned();
        scope.faults.push(answer.diagnose("invalid_schema", message).with_hint(Some(hint)));
        return None;
    }
    read_template(answer, scope.text_names, scope.faults).map(AnswerShape::Computed)
}

/// Builds a contract from a schema that is known to compile.
fn compile_inline_contract(
    schema: &Value,
    node: &FileNode<'_>,
    scope: &NameScope<'_>,
) -> Option<Arc<Contract>> {
    let file = json!({"id": "answer", "version": "1.0.0", "schema": schema}).to_string();
    let refuse_files = |path: &str| Err(format!("`{path}`: an answer cannot read files"));
    match contract::load_contract(SourceFile::new("answer.json", file), &refuse_files) {
        Ok(contract) => Some(Arc::new(contract)),
        Err(faults) => {
            let message =
                faults.into_iter().map(|fault| node.diagnose("invalid_schema", fault.message));
            scope.faults.extend(message);
            None
        }
    }
}

fn read_choices(member: &FileNode<'_>, scope: &NameScope<'_>) -> Option<ChoiceSource> {
    if member.text().is_some() {
        return read_expression(member, scope.text_names, scope.faults).map(ChoiceSource::Computed);
    }
    let mut choices: Vec<ListedChoice> = Vec::new();
    for item in member.items() {
        let id = item.text().or_else(|| item.text_at("id")).unwrap_or_default().to_owned();
        let label = item
            .get("label")
            .and_then(|label| read_localized_template(&label, scope.text_names, scope.faults));
        if choices.iter().any(|other| other.id == id) {
            let message = format!("choice `{id}` is already listed above");
            scope.faults.push(item.diagnose("duplicate_id", message));
        }
        choices.push(ListedChoice { id, label });
    }
    Some(ChoiceSource::Listed(choices))
}

/// Explains why a default is not a valid answer, as far as the file shows it.
fn explain_invalid_default(shape: &AnswerShape, default: &Value) -> Option<String> {
    match shape {
        AnswerShape::Value(contract) => {
            let violation = contract.schema.list_violations(default).into_iter().next()?;
            Some(violation.message.replacen("the reply: ", "", 1))
        }
        AnswerShape::Choices(ChoiceSource::Listed(choices)) => {
            let known = choices.iter().any(|choice| default == choice.id.as_str());
            let ids: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
            (!known).then(|| format!("the choices are `{}`", ids.join("`, `")))
        }
        AnswerShape::Choices(ChoiceSource::Computed(_)) | AnswerShape::Computed(_) => None,
        AnswerShape::Document { .. } => {
            Some("a document question cannot have a default".to_owned())
        }
    }
}
