//! What a phase's reply must keep true of the document: the part of the document's contract that
//! the reply can change, in words and as a schema.

use countersign_contract::contract::{ContractRule, ReferenceResolver, SchemaView, excerpt_schema};
use countersign_contract::expr::{Expr, ReadStep};
use countersign_contract::json;
use countersign_protocol::{
    AgentWork, ChangeOperation, DocumentChange, DocumentDefinition, WorkflowPhase,
};
use serde_json::Value;

/// The variable of a change's expressions that is the reply.
const REPLY_SLOT: usize = 2;

/// The variable of a rule's expressions that is the checked value.
const VALUE_SLOT: usize = 0;

/// Describes what the document's contract demands of the parts that the reply of this phase
/// changes; `None` if it demands nothing there, or nothing that the reply's contract does not
/// demand as well.
#[must_use]
pub(crate) fn render_document_terms(
    document: &DocumentDefinition,
    phase: &WorkflowPhase,
    work: &AgentWork,
) -> Option<String> {
    let contract = document.contract.as_ref()?;
    let is_engine_field =
        |pointer: &String| document.engine.iter().any(|field| field.pointer == *pointer);
    let mut changed: Vec<String> = list_changed_pointers(contract.schema.source(), phase, work);
    changed.retain(|pointer| !is_engine_field(pointer));
    let demanding: Vec<String> = changed
        .iter()
        .filter(|pointer| excerpt_schema(contract.schema.source(), &[(*pointer).clone()]).is_some())
        .cloned()
        .collect();
    let rules: Vec<&str> = contract
        .rules
        .iter()
        .filter(|rule| changed.iter().any(|pointer| rule_concerns(rule, pointer)))
        .map(|rule| rule.says.as_str())
        .collect();
    let excerpt = excerpt_schema(contract.schema.source(), &demanding);
    if excerpt.is_none() && rules.is_empty() {
        return None;
    }
    let mut text = format!("## Document: {}\n\n", contract.id);
    if let Some(excerpt) = excerpt {
        text.push_str(&format!(
            "Your reply changes {}. Afterwards the document must satisfy this part of its schema:\n\n```json\n{}\n```",
            list_in_words(&demanding),
            json::to_canonical_json(&excerpt)
        ));
    }
    if !rules.is_empty() {
        if !text.ends_with("\n\n") {
            text.push_str("\n\n");
        }
        text.push_str("Of the document, these must hold:\n");
        for rule in rules {
            text.push_str(&format!("\n- {rule}"));
        }
    }
    Some(text)
}

fn list_in_words(pointers: &[String]) -> String {
    let name = |pointer: &String| match pointer.as_str() {
        "" => "the document".to_owned(),
        pointer => format!("`{}`", pointer.trim_end_matches("/-")),
    };
    pointers.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Lists the pointers that the reply can change, outermost first and each once.
fn list_changed_pointers(schema: &Value, phase: &WorkflowPhase, work: &AgentWork) -> Vec<String> {
    let mut all = Vec::new();
    for change in &work.apply {
        if !is_judged_by_reply_contract(change, schema, work) {
            all.extend(reply_pointers(change, phase));
        }
    }
    all.sort();
    all.dedup();
    let covered = |pointer: &String| {
        all.iter().any(|other| other != pointer && is_at_or_below(pointer, other))
    };
    all.iter().filter(|pointer| !covered(pointer)).cloned().collect()
}

/// Whether a change copies a part of the reply to a place of the document whose schema the part
/// satisfies in any case, because the reply's contract demands as much.
fn is_judged_by_reply_contract(change: &DocumentChange, schema: &Value, work: &AgentWork) -> bool {
    let (pointer, value, is_element) = match &change.operation {
        ChangeOperation::Set { pointer, value } => (pointer, value, false),
        ChangeOperation::Append { pointer, value } => (pointer, value, true),
        _ => return false,
    };
    let steps = match value {
        None => Vec::new(),
        Some(value) => match value.read_paths() {
            [read] if read.slot == REPLY_SLOT && read.span == (0..value.source().len()) => {
                read.steps.clone()
            }
            _ => return false,
        },
    };
    let reply = ReferenceResolver::new(work.contract.schema.source());
    let document = ReferenceResolver::new(schema);
    let place = json::split_pointer(pointer).map(|segment| read_step(&segment));
    let place = place.chain(is_element.then_some(ReadStep::Element));
    let (Some(reply), Some(document)) =
        (descend(SchemaView::new(&reply), steps), descend(SchemaView::new(&document), place))
    else {
        return false;
    };
    reply.implies(document)
}

fn descend(
    from: SchemaView<'_>,
    steps: impl IntoIterator<Item = ReadStep>,
) -> Option<SchemaView<'_>> {
    steps.into_iter().try_fold(from, |view, step| match step {
        ReadStep::Field(name) => view.member(&name),
        ReadStep::Element => view.element(),
    })
}

/// The pointers that one change lets the reply write; none if its value does not come from the
/// reply.
fn reply_pointers(change: &DocumentChange, phase: &WorkflowPhase) -> Vec<String> {
    let everything = [String::new()];
    let authority = phase.writes.as_deref().unwrap_or(&everything);
    let from_reply =
        |value: &Option<Expr>| value.as_ref().is_none_or(|value| value.uses_root(REPLY_SLOT));
    match &change.operation {
        ChangeOperation::Patch { writes, .. } => {
            let narrowed = writes.as_deref().unwrap_or(authority);
            narrowed.iter().flat_map(|pointer| narrow(pointer, authority)).collect()
        }
        ChangeOperation::Merge { pointer, value } if from_reply(value) => {
            narrow(pointer, authority)
        }
        ChangeOperation::Set { pointer, value } if from_reply(value) => narrow(pointer, authority),
        ChangeOperation::Append { pointer, value }
        | ChangeOperation::Upsert { pointer, value, .. }
            if from_reply(value) =>
        {
            narrow(&json::child_pointer(pointer, "-"), authority)
        }
        _ => Vec::new(),
    }
}

/// The part of a location that a phase may write.
fn narrow(pointer: &str, authority: &[String]) -> Vec<String> {
    if authority.iter().any(|allowed| is_at_or_below(pointer, allowed)) {
        return vec![pointer.to_owned()];
    }
    authority.iter().filter(|allowed| is_at_or_below(allowed, pointer)).cloned().collect()
}

fn is_at_or_below(pointer: &str, above: &str) -> bool {
    pointer.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a rule of the document reads, iterates or reports something at this location.
fn rule_concerns(rule: &ContractRule, pointer: &str) -> bool {
    let place: Vec<ReadStep> = json::split_pointer(pointer).map(|one| read_step(&one)).collect();
    let mut read: Vec<Vec<ReadStep>> = Vec::new();
    if let Some(each) = &rule.each {
        read.push(json::split_pointer(&each.to_string()).map(|one| read_step(&one)).collect());
    }
    let expressions = rule.when.iter().chain([&rule.then]);
    let paths = expressions.flat_map(|expr| expr.read_paths().iter());
    read.extend(paths.filter(|path| path.slot == VALUE_SLOT).map(|path| path.steps.clone()));
    read.iter().any(|steps| steps.iter().zip(&place).all(|(left, right)| left == right))
}

fn read_step(segment: &str) -> ReadStep {
    match segment {
        "*" | "-" => ReadStep::Element,
        number if number.parse::<usize>().is_ok() => ReadStep::Element,
        name => ReadStep::Field(name.to_owned()),
    }
}
