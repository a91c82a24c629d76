//! Collects every expression of a workflow with its location and the meaning of its names.

use std::ops::Range;

use countersign_contract::expr::Expr;
use countersign_contract::source::Diagnostic;
use serde_json::Value;

use super::failure_handlers;
use super::unused_budgets::parse_index_file;
use crate::{
    AcceptedExtensions, AgentWork, AnswerShape, ChangeOperation, ChoiceSource, DocumentChange,
    EffectTemplate, FileOrigin, ForEachItems, GateCheck, LimitAmount, Localized, PhaseQuestion,
    PhaseWork, Protocol, TextTemplate, WorkflowDefinition, WorkflowInvocation, WorkflowPhase,
};

/// The slot of `state` in every expression of a protocol.
pub(super) const STATE_SLOT: usize = 0;
/// The slot of `reply` in expressions of changes.
pub(super) const REPLY_SLOT: usize = 2;

/// An expression with its location.
#[derive(Debug)]
pub(super) struct LocatedExpression<'p> {
    pub(super) expr: &'p Expr,
    /// The value in the file that contains the expression.
    pub(super) origin: FileOrigin,
    /// The whole text of that value, which may contain more than the expression.
    text: &'p str,
    /// Byte offset of the expression in the text.
    offset: usize,
    /// The schema of `reply`, if it is known.
    pub(super) reply: Option<&'p Value>,
    /// Position of the transition whose gate or change contains the expression.
    pub(super) transition: Option<usize>,
}

impl LocatedExpression<'_> {
    /// Creates a diagnostic for a range of the expression.
    pub(super) fn diagnose_span(
        &self,
        code: &str,
        message: impl Into<String>,
        span: &Range<usize>,
    ) -> Diagnostic {
        let span = span.start + self.offset..span.end + self.offset;
        self.origin.diagnose_within(code, message, self.text, &span)
    }
}

/// Collects the expressions of a workflow, first those of its phases, then those of its
/// transitions.
pub(super) fn collect_workflow_expressions<'p>(
    protocol: &'p Protocol,
    workflow: &'p WorkflowDefinition,
) -> Vec<LocatedExpression<'p>> {
    let mut all = ExpressionCollector { protocol, expressions: Vec::new() };
    if let Some(title) = &workflow.title {
        all.add_localized_template(title, &workflow.setting_origin("title"));
    }
    all.add_changes(input_changes(workflow));
    workflow.phases.iter().for_each(|phase| all.add_phase(phase));
    all.add_changes(
        failure_handlers::collect_handler_changes(protocol, workflow).map(|change| (change, None)),
    );
    for (index, transition) in workflow.transitions.iter().enumerate() {
        let before = all.expressions.len();
        match transition.gate.as_ref().map(|gate| &gate.check) {
            Some(GateCheck::Expression(expr)) => {
                all.add_expression(expr, gate_origin(&transition.origin), None);
            }
            Some(GateCheck::FileExistsTemplate { path }) => {
                all.add_template(path, &transition.origin.child("gate").child("path"));
            }
            Some(GateCheck::Manual { question: Some(question), .. }) => {
                all.add_template(question, &transition.origin.child("gate").child("description"));
            }
            Some(
                GateCheck::Status { .. } | GateCheck::FileExists { .. } | GateCheck::Manual { .. },
            )
            | None => {}
        }
        all.add_changes(transition.apply.iter().map(|change| (change, None)));
        all.expressions[before..].iter_mut().for_each(|written| written.transition = Some(index));
    }
    all.expressions
}

/// Collects the expressions of the index that apply to the runs of every workflow.
pub(super) fn collect_index_expressions(protocol: &Protocol) -> Vec<LocatedExpression<'_>> {
    let Some(index) = parse_index_file(protocol) else { return Vec::new() };
    let mut all = ExpressionCollector { protocol, expressions: Vec::new() };
    let working = index.child("memory").child("working");
    for (part, expr) in &protocol.memory.working {
        all.add_expression(expr, working.child(part.as_str()), None);
    }
    all.expressions
}

/// The location of a gate's expression: the gate itself if it is a text.
pub(super) fn gate_origin(transition: &FileOrigin) -> FileOrigin {
    transition.child("gate").child("check")
}

/// The schema that an accepted value of a phase's work satisfies.
pub(super) fn reply_schema(work: &PhaseWork) -> Option<&Value> {
    match work {
        PhaseWork::Agent(work) => Some(work.contract.schema.source()),
        PhaseWork::Effect { contract, .. } => contract.as_ref().map(|known| known.schema.source()),
        PhaseWork::None | PhaseWork::Ask(_) | PhaseWork::Invoke(_) => None,
    }
}

/// Collects the changes of a phase, each with the schema of its `reply`.
pub(super) fn collect_phase_changes<'p>(
    protocol: &'p Protocol,
    phase: &'p WorkflowPhase,
) -> Vec<(&'p DocumentChange, Option<&'p Value>)> {
    let with = |changes: &'p [DocumentChange], reply: Option<&'p Value>| {
        changes.iter().map(move |change| (change, reply))
    };
    let reply = reply_schema(&phase.work);
    match &phase.work {
        PhaseWork::None => Vec::new(),
        PhaseWork::Agent(work) => with(&work.apply, reply).collect(),
        PhaseWork::Effect { apply, .. } => with(apply, reply).collect(),
        PhaseWork::Ask(questions) => {
            questions.iter().flat_map(|one| with(&one.apply, answer_schema(one))).collect()
        }
        PhaseWork::Invoke(invoke) => {
            let child = protocol.workflows.get(&invoke.workflow);
            let child = child.and_then(|child| document_schema(protocol, child));
            with(&invoke.output, child).collect()
        }
    }
}

/// The schema of the document of a workflow's runs, if there is one.
pub(super) fn document_schema<'p>(
    protocol: &'p Protocol,
    workflow: &'p WorkflowDefinition,
) -> Option<&'p Value> {
    protocol.document_for(workflow).contract.as_ref().map(|contract| contract.schema.source())
}

/// Collects every change of a workflow (of its input, phases, transitions and failure handlers),
/// each with the schema of its `reply`.
pub(super) fn collect_workflow_changes<'p>(
    protocol: &'p Protocol,
    workflow: &'p WorkflowDefinition,
) -> impl Iterator<Item = (&'p DocumentChange, Option<&'p Value>)> {
    let phases = workflow.phases.iter().flat_map(|phase| collect_phase_changes(protocol, phase));
    let transitions = workflow.transitions.iter().flat_map(|transition| &transition.apply);
    let authored = transitions
        .chain(failure_handlers::collect_handler_changes(protocol, workflow))
        .map(|change| (change, None));
    input_changes(workflow).chain(phases).chain(authored)
}

/// Collects the changes that an input makes, with the schema of the input.
pub(super) fn input_changes(
    workflow: &WorkflowDefinition,
) -> impl Iterator<Item = (&DocumentChange, Option<&Value>)> {
    workflow.input.iter().flat_map(|input| {
        input.apply.iter().map(|change| (change, Some(input.answer.schema.source())))
    })
}

/// Splits a change into its keyword, its pointer and its value.
pub(super) fn split_operation(verb: &ChangeOperation) -> (&'static str, &str, Option<&Expr>) {
    match verb {
        ChangeOperation::Patch { from, .. } => ("patch", from, None),
        ChangeOperation::Merge { pointer: at, value } => ("merge", at, value.as_ref()),
        ChangeOperation::Set { pointer: at, value } => ("set", at, value.as_ref()),
        ChangeOperation::Append { pointer: at, value } => ("append", at, value.as_ref()),
        ChangeOperation::Upsert { pointer: at, value, .. } => ("upsert", at, value.as_ref()),
        ChangeOperation::Remove { pointer: at, value, .. } => ("remove", at, value.as_ref()),
        ChangeOperation::Emit { data, .. } => ("emit", "", data.as_ref()),
    }
}

fn answer_schema(question: &PhaseQuestion) -> Option<&Value> {
    match &question.shape {
        AnswerShape::Value(contract) => Some(contract.schema.source()),
        AnswerShape::Choices(_) | AnswerShape::Document { .. } | AnswerShape::Computed(_) => None,
    }
}

struct ExpressionCollector<'p> {
    protocol: &'p Protocol,
    expressions: Vec<LocatedExpression<'p>>,
}

impl<'p> ExpressionCollector<'p> {
    fn add_expression(&mut self, expr: &'p Expr, origin: FileOrigin, reply: Option<&'p Value>) {
        let text = expr.source();
        self.expressions.push(LocatedExpression {
            expr,
            origin,
            text,
            offset: 0,
            reply,
            transition: None,
        });
    }

    fn add_localized_template(
        &mut self,
        templates: &'p Localized<TextTemplate>,
        origin: &FileOrigin,
    ) {
        for (language, template) in templates.versions() {
            let plain = language.is_empty();
            let origin = if plain { origin.clone() } else { origin.child(language) };
            self.add_template(template, &origin);
        }
    }

    fn add_template(&mut self, template: &'p TextTemplate, origin: &FileOrigin) {
        let text = template.source();
        let mut from = 0;
        for expr in template.expressions() {
            let offset = text[from..].find(expr.source()).map_or(from, |at| at + from);
            from = offset + expr.source().len();
            let origin = origin.clone();
            self.expressions.push(LocatedExpression {
                expr,
                origin,
                text,
                offset,
                reply: None,
                transition: None,
            });
        }
    }

    fn add_limits(&mut self, phase: &'p WorkflowPhase) {
        for (name, limit) in &phase.budget.limits {
            let LimitAmount::Computed(expr) = &limit.amount else { continue };
            let origin = phase.origin.child("budget").child(name);
            let short = origin.tree.value.pointer(&origin.pointer).is_some_and(Value::is_string);
            self.add_expression(expr, if short { origin } else { origin.child("limit") }, None);
        }
    }

    fn add_phase(&mut self, phase: &'p WorkflowPhase) {
        let origin = &phase.origin;
        self.add_limits(phase);
        match &phase.work {
            PhaseWork::None => {}
            PhaseWork::Agent(AgentWork { prompt, .. }) => {
                if let Some(prompt) = prompt {
                    self.add_localized_template(prompt, &origin.child("prompt"));
                }
            }
            PhaseWork::Ask(questions) => self.add_questions(questions, &origin.child("ask")),
            PhaseWork::Effect { for_each: each, effect, .. } => {
                let origin = origin.child("do");
                self.add_for_each(each.as_ref(), &origin);
                self.add_effect(effect, &origin);
            }
            PhaseWork::Invoke(WorkflowInvocation { fan_out: each, input, .. }) => {
                self.add_for_each(
                    each.as_ref().map(|several| &several.for_each),
                    &origin.child("invoke"),
                );
                if let Some(key) = each.as_ref().and_then(|several| several.key.as_ref()) {
                    self.add_expression(key, origin.child("invoke").child("key"), None);
                }
                for (pointer, expr) in input {
                    let origin = origin.child("invoke").child("input").child(pointer);
                    self.add_expression(expr, origin, None);
                }
            }
        }
        self.add_changes(collect_phase_changes(self.protocol, phase).into_iter());
    }

    fn add_changes(
        &mut self,
        changes: impl Iterator<Item = (&'p DocumentChange, Option<&'p Value>)>,
    ) {
        for (change, reply) in changes {
            if let Some(when) = &change.when {
                self.add_expression(when, change.origin.child("when"), reply);
            }
            let (word, _, value) = split_operation(&change.operation);
            if let Some(value) = value {
                let key = if matches!(change.operation, ChangeOperation::Emit { .. }) {
                    "data"
                } else {
                    "value"
                };
                self.add_expression(value, change.origin.child(word).child(key), reply);
            }
        }
    }

    fn add_questions(&mut self, questions: &'p [PhaseQuestion], origin: &FileOrigin) {
        let listed = origin.tree.value.pointer(&origin.pointer).is_some_and(Value::is_array);
        for (index, question) in questions.iter().enumerate() {
            let origin = if listed { origin.child(&index.to_string()) } else { origin.clone() };
            if let Some((each, id)) = &question.for_each {
                self.add_for_each(Some(each), &origin);
                self.add_template(id, &origin.child("id"));
            }
            self.add_localized_template(&question.question, &origin.child("question"));
            self.add_answer_shape(&question.shape, &origin);
            if let Some(when) = &question.when {
                self.add_expression(when, origin.child("when"), None);
            }
        }
    }

    fn add_for_each(&mut self, each: Option<&'p ForEachItems>, origin: &FileOrigin) {
        if let Some(each) = each {
            self.add_expression(&each.items, origin.child("each"), None);
        }
    }

    fn add_answer_shape(&mut self, shape: &'p AnswerShape, origin: &FileOrigin) {
        match shape {
            AnswerShape::Value(_) | AnswerShape::Choices(ChoiceSource::Listed(_)) => {}
            AnswerShape::Choices(ChoiceSource::Computed(choices)) => {
                self.add_expression(choices, origin.child("choices"), None);
            }
            AnswerShape::Computed(schema) => self.add_template(schema, &origin.child("answer")),
            AnswerShape::Document { suggested_path, accepts } => {
                let origin = origin.child("document");
                if let Some(path) = suggested_path {
                    self.add_template(path, &origin.child("suggested_path"));
                }
                if let AcceptedExtensions::Computed(list) = accepts {
                    self.add_expression(list, origin.child("accepts"), None);
                }
            }
        }
    }

    fn add_effect(&mut self, effect: &'p EffectTemplate, origin: &FileOrigin) {
        match effect {
            EffectTemplate::Copy { from, to, .. } => {
                let origin = origin.child("copy");
                self.add_template(from, &origin.child("from"));
                self.add_template(to, &origin.child("to"));
            }
            EffectTemplate::Write { path, content, .. } => {
                let origin = origin.child("write");
                self.add_template(path, &origin.child("path"));
                self.add_expression(content, origin.child("content"), None);
            }
            EffectTemplate::Run { args, input, .. } => {
                let origin = origin.child("run");
                for (index, arg) in args.iter().enumerate() {
                    self.add_template(arg, &origin.child("args").child(&index.to_string()));
                }
                if let Some(input) = input {
                    self.add_expression(input, origin.child("input"), None);
                }
            }
            EffectTemplate::Http { url, body, .. } => {
                let origin = origin.child("http");
                self.add_template(url, &origin.child("url"));
                if let Some(body) = body {
                    self.add_expression(body, origin.child("body"), None);
                }
            }
            EffectTemplate::Retrieve { source, query } => {
                self.add_template(source, &origin.child("retrieve").child("source"));
                self.add_expression(query, origin.child("retrieve").child("query"), None);
            }
        }
    }
}
