//! Questions to people, and documents they are to bring.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::change::applied;
use super::duration::duration;
use super::each;
use super::effect::inside;
use super::expression::{expression, optional, template};
use super::member::Member;
use super::otherwise::outcome;
use super::scope::Scope;
use super::text::{templates, text};
use crate::contract::{self, Contract, Schema, check_schema};
use crate::protocol::{Accepts, ByLanguage, Choices, ListedChoice, Question, Shape, Template};
use crate::spec::Source;

/// Reads `ask`: one question or a list of them.
pub(super) fn questions(member: &Member<'_>, scope: &Scope<'_>) -> Vec<Question> {
    let asked = if member.value.is_array() { member.items() } else { vec![member.clone()] };
    let mut seen: BTreeMap<String, &Member<'_>> = BTreeMap::new();
    let mut questions = Vec::new();
    for one in &asked {
        let id = match one.text_of("id") {
            Some(id) => id.to_owned(),
            None if asked.len() == 1 => "answer".to_owned(),
            None => {
                let message = "of several questions each has an `id`";
                scope.faults.push(one.fault("required", message));
                continue;
            }
        };
        if let Some(first) = seen.get(&id) {
            let place = one.get("id").unwrap_or_else(|| one.clone());
            scope.faults.push_at("duplicate_id", &place, || {
                let message = format!("a question `{id}` stands at {} already", first.told());
                place.fault("duplicate_id", message)
            });
        }
        seen.entry(id.clone()).or_insert(one);
        let Ok(each) = each::each(one, &[], scope) else { continue };
        let (reads, texts) = each::names(each.as_ref(), false);
        let inside = Scope { reads: &reads, texts: &texts, ..*scope };
        let Ok(ids) = ids(one, each.is_some(), &inside) else { continue };
        questions.extend(
            question(one, id, &inside).map(|question| Question { each: each.zip(ids), ..question }),
        );
    }
    questions
}

/// The template that names the question of each item; `Err` where it has a fault.
fn ids(member: &Member<'_>, each: bool, scope: &Scope<'_>) -> Result<Option<Template>, ()> {
    if !each {
        return Ok(None);
    }
    let Some(id) = member.get("id") else {
        let message = "a question for each item has an `id` with places to fill";
        let hint = "name each by its item: `id: \"{{ item.id }}\"`".to_owned();
        scope.faults.push(member.fault("required", message).hinting(Some(hint)));
        return Err(());
    };
    let filled = template(&id, scope.texts, scope.faults).ok_or(())?;
    if filled.expressions().next().is_none() {
        let name = filled.source();
        let message = format!("every one of these questions would have the id `{name}`");
        let hint = "name each by its item: `id: \"{{ item.id }}\"`".to_owned();
        scope.faults.push(id.fault("duplicate_id", message).hinting(Some(hint)));
        return Err(());
    }
    Ok(Some(filled))
}

fn question(member: &Member<'_>, id: String, scope: &Scope<'_>) -> Option<Question> {
    let faults = scope.faults;
    let question = templates(&member.get("question")?, scope.texts, faults);
    let shape = shape(member, scope);
    let deadline = member.get("deadline").and_then(|it| duration(&it, faults));
    let when = optional(member.get("when"), scope.texts, faults);
    let otherwise = outcome(member.get("otherwise").as_ref(), scope);
    let apply = applied(member, scope);
    let default = member.get("default");
    if let (Some(default), Some(shape)) = (&default, &shape)
        && let Some(wrong) = misfit(shape, default.value)
    {
        let message = format!("no answer could be this default: {wrong}");
        faults.push(default.fault("invalid_default", message));
    }
    for key in ["default", "otherwise"] {
        if member.get(key).is_some() && member.get("deadline").is_none() {
            let message = format!("`{key}` says what follows a deadline, and there is none");
            let fault = member.fault_at_key("misplaced_key", key, message);
            faults.push(fault.warning().hinting(Some("add one: `deadline: 2d`".to_owned())));
        }
    }
    Some(Question {
        id,
        each: None,
        question: question?,
        shape: shape?,
        who: member.owned("who"),
        deadline,
        default: default.map(|default| default.value.clone()),
        otherwise,
        apply,
        when: when.ok()?,
    })
}

fn shape(member: &Member<'_>, scope: &Scope<'_>) -> Option<Shape> {
    let shapes = ["answer", "choices", "document"];
    let named: Vec<&str> = shapes.into_iter().filter(|key| member.get(key).is_some()).collect();
    if named.len() > 1 {
        let both = named.join("` and `");
        let message = format!("an answer has one shape, and this question has `{both}`");
        scope.faults.push(member.fault_at_key("one_of", named[1], message));
        return None;
    }
    if let Some(choices) = member.get("choices") {
        return Some(Shape::Choices(read_choices(&choices, scope)?));
    }
    if let Some(document) = member.get("document") {
        let path = document.get("suggested_path");
        let path = path.map(|path| inside(&path, scope).ok_or(()));
        let accepts = match document.get("accepts") {
            Some(list) if list.text().is_some() => {
                expression(&list, scope.texts, scope.faults).map(Accepts::Computed)
            }
            list => Some(Accepts::Listed(list.map(|it| it.texts()).unwrap_or_default())),
        };
        let (suggested_path, accepts) = (path.transpose().ok()?, accepts?);
        return Some(Shape::Document { suggested_path, accepts });
    }
    match member.get("answer").filter(|it| it.text().is_some_and(|text| text.contains("{{"))) {
        Some(schema) => computed(&schema, scope),
        None => answer(member, scope).map(Shape::Value),
    }
}

/// What the `answer` of a question, or of an input, must satisfy; a text that is not empty where it is not said.
pub(super) fn answer(member: &Member<'_>, scope: &Scope<'_>) -> Option<Arc<Contract>> {
    match member.get("answer") {
        None => inline(&json!({"type": "string", "minLength": 1}), member, scope),
        Some(answer) if answer.text().is_some() => {
            scope.names.contracts.find(&answer, scope.faults)
        }
        Some(answer) => {
            let schema = match Schema::compile(answer.value.clone()) {
                Ok(schema) => schema,
                Err(fault) => {
                    let pointer = format!("{}{}", answer.pointer, fault.pointer);
                    let message = format!("not a schema we take: {}", fault.message);
                    scope.faults.push(answer.tree.fault("invalid_schema", &pointer, message));
                    return None;
                }
            };
            scope.faults.extend(check_schema(answer.tree, &answer.pointer, &schema));
            inline(answer.value, &answer, scope)
        }
    }
}

/// An answer whose schema an expression gives: braces round all of the text.
fn computed(answer: &Member<'_>, scope: &Scope<'_>) -> Option<Shape> {
    let text = answer.text()?.trim();
    let whole = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    if whole.is_none_or(|inside| inside.contains("{{")) {
        let message = "an `answer` with places to fill is one place, and it gives a JSON Schema";
        let hint = "write `answer: \"{{ item.schema }}\"`, or name a contract".to_owned();
        scope.faults.push(answer.fault("invalid_schema", message).hinting(Some(hint)));
        return None;
    }
    template(answer, scope.texts, scope.faults).map(Shape::Computed)
}

/// A contract of nothing but a schema that was seen to compile.
fn inline(schema: &Value, place: &Member<'_>, scope: &Scope<'_>) -> Option<Arc<Contract>> {
    let file = json!({"id": "answer", "version": "1.0.0", "schema": schema}).to_string();
    let none = |path: &str| Err(format!("`{path}`: an answer reads no files"));
    match contract::load(Source::new("answer.json", file), &none) {
        Ok(contract) => Some(Arc::new(contract)),
        Err(faults) => {
            let told = faults.into_iter().map(|fault| place.fault("invalid_schema", fault.message));
            scope.faults.extend(told);
            None
        }
    }
}

fn read_choices(member: &Member<'_>, scope: &Scope<'_>) -> Option<Choices> {
    if member.text().is_some() {
        return expression(member, scope.texts, scope.faults).map(Choices::Computed);
    }
    let mut choices: Vec<ListedChoice> = Vec::new();
    for item in member.items() {
        let id = item.text().or_else(|| item.text_of("id")).unwrap_or_default().to_owned();
        let label = item.get("label").and_then(|label| text(&label));
        let label = label.unwrap_or_else(|| ByLanguage::plain(id.clone()));
        if choices.iter().any(|other| other.id == id) {
            let message = format!("a choice `{id}` stands above already");
            scope.faults.push(item.fault("duplicate_id", message));
        }
        choices.push(ListedChoice { id, label });
    }
    Some(Choices::Listed(choices))
}

/// Why a default is no answer, as far as the file tells.
fn misfit(shape: &Shape, default: &Value) -> Option<String> {
    match shape {
        Shape::Value(contract) => {
            let violation = contract.schema.violations(default).into_iter().next()?;
            Some(violation.message.replacen("the reply: ", "", 1))
        }
        Shape::Choices(Choices::Listed(choices)) => {
            let known = choices.iter().any(|choice| default == choice.id.as_str());
            let ids: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
            (!known).then(|| format!("the choices are `{}`", ids.join("`, `")))
        }
        Shape::Choices(Choices::Computed(_)) | Shape::Computed(_) => None,
        Shape::Document { .. } => Some("a document has no default".to_owned()),
    }
}
