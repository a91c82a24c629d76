//! Every expression of a workflow with its place in the files and what its names stand for.

use std::ops::Range;

use serde_json::Value;

use super::budgets::index_file;
use super::outcomes;
use crate::expr::Expr;
use crate::protocol::{
    Accepts, AgentWork, ByLanguage, Change, Check, Choices, Each, EffectSpec, Invoke, Most, Origin,
    Phase, Protocol, Question, Shape, Template, Verb, Work, Workflow,
};
use crate::spec::Diagnostic;

/// The slot of `state` in every expression of a protocol.
pub(super) const STATE: usize = 0;
/// The slot of `reply`.
pub(super) const REPLY: usize = 2;

/// One expression.
#[derive(Debug)]
pub(super) struct Written<'p> {
    pub(super) expr: &'p Expr,
    /// The member of the file that holds it.
    pub(super) origin: Origin,
    /// The whole text of that member, of which the expression may be a part.
    text: &'p str,
    /// Where in the text it begins.
    offset: usize,
    /// What `reply` must satisfy, where that is known.
    pub(super) reply: Option<&'p Value>,
    /// The transition whose gate, or change, it is.
    pub(super) way: Option<usize>,
}

impl Written<'_> {
    /// A finding at a stretch of the expression.
    pub(super) fn fault(
        &self,
        code: &str,
        message: impl Into<String>,
        span: &Range<usize>,
    ) -> Diagnostic {
        let span = span.start + self.offset..span.end + self.offset;
        self.origin.fault_within(code, message, self.text, &span)
    }
}

/// The expressions of a workflow, in the order of its phases, then of its ways.
pub(super) fn of_workflow<'p>(protocol: &'p Protocol, workflow: &'p Workflow) -> Vec<Written<'p>> {
    let mut all = Collected { protocol, written: Vec::new() };
    all.changes(of_input(workflow));
    workflow.phases.iter().for_each(|phase| all.phase(phase));
    all.changes(outcomes::changes(protocol, workflow).map(|change| (change, None)));
    for (index, way) in workflow.transitions.iter().enumerate() {
        let before = all.written.len();
        match way.gate.as_ref().map(|gate| &gate.check) {
            Some(Check::Expression(expr)) => all.expr(expr, gate_origin(&way.origin), None),
            Some(Check::FileAt { path }) => {
                all.template(path, &way.origin.child("gate").child("path"));
            }
            _ => {}
        }
        all.changes(way.apply.iter().map(|change| (change, None)));
        all.written[before..].iter_mut().for_each(|written| written.way = Some(index));
    }
    all.written
}

/// The expressions of the index that every workflow's runs are asked with.
pub(super) fn of_index(protocol: &Protocol) -> Vec<Written<'_>> {
    let Some(index) = index_file(protocol) else { return Vec::new() };
    let mut all = Collected { protocol, written: Vec::new() };
    let working = index.child("memory").child("working");
    for (part, expr) in &protocol.memory.working {
        all.expr(expr, working.child(part.as_str()), None);
    }
    all.written
}

/// Where the question of a gate stands: the gate itself when it is a text.
pub(super) fn gate_origin(way: &Origin) -> Origin {
    way.child("gate").child("check")
}

/// What an accepted value of a phase's work must satisfy.
pub(super) fn reply_of(work: &Work) -> Option<&Value> {
    match work {
        Work::Agent(work) => Some(work.contract.schema.source()),
        Work::Effect { contract, .. } => contract.as_ref().map(|known| known.schema.source()),
        Work::None | Work::Ask(_) | Work::Invoke(_) => None,
    }
}

/// The changes of a phase with what `reply` must satisfy in each.
pub(super) fn changes<'p>(
    protocol: &'p Protocol,
    phase: &'p Phase,
) -> Vec<(&'p Change, Option<&'p Value>)> {
    let with = |changes: &'p [Change], reply: Option<&'p Value>| {
        changes.iter().map(move |change| (change, reply))
    };
    let reply = reply_of(&phase.work);
    match &phase.work {
        Work::None => Vec::new(),
        Work::Agent(work) => with(&work.apply, reply).collect(),
        Work::Effect { apply, .. } => with(apply, reply).collect(),
        Work::Ask(questions) => {
            questions.iter().flat_map(|one| with(&one.apply, answer_of(one))).collect()
        }
        Work::Invoke(invoke) => {
            let child = protocol.workflows.get(&invoke.workflow);
            let child = child.and_then(|child| document_schema(protocol, child));
            with(&invoke.output, child).collect()
        }
    }
}

/// The schema of the document of a workflow's runs, where it has one.
pub(super) fn document_schema<'p>(
    protocol: &'p Protocol,
    workflow: &'p Workflow,
) -> Option<&'p Value> {
    protocol.document_of(workflow).contract.as_ref().map(|contract| contract.schema.source())
}

/// Every change of a workflow, of its phases, of its ways and of what follows, with what `reply` must satisfy in each.
pub(super) fn all_changes<'p>(
    protocol: &'p Protocol,
    workflow: &'p Workflow,
) -> impl Iterator<Item = (&'p Change, Option<&'p Value>)> {
    let phases = workflow.phases.iter().flat_map(|phase| changes(protocol, phase));
    let ways = workflow.transitions.iter().flat_map(|way| &way.apply);
    let authored = ways.chain(outcomes::changes(protocol, workflow)).map(|change| (change, None));
    of_input(workflow).chain(phases).chain(authored)
}

/// The changes that an input makes, with what it must satisfy.
pub(super) fn of_input(workflow: &Workflow) -> impl Iterator<Item = (&Change, Option<&Value>)> {
    workflow.input.iter().flat_map(|input| {
        input.apply.iter().map(|change| (change, Some(input.answer.schema.source())))
    })
}

/// The word, the place and the value of a change.
pub(super) fn parts(verb: &Verb) -> (&'static str, &str, Option<&Expr>) {
    match verb {
        Verb::Patch { from, .. } => ("patch", from, None),
        Verb::Merge { at, value } => ("merge", at, value.as_ref()),
        Verb::Set { at, value } => ("set", at, value.as_ref()),
        Verb::Append { at, value } => ("append", at, value.as_ref()),
        Verb::Upsert { at, value, .. } => ("upsert", at, value.as_ref()),
        Verb::Remove { at, value, .. } => ("remove", at, value.as_ref()),
        Verb::Emit { data, .. } => ("emit", "", data.as_ref()),
    }
}

fn answer_of(question: &Question) -> Option<&Value> {
    match &question.shape {
        Shape::Value(contract) => Some(contract.schema.source()),
        Shape::Choices(_) | Shape::Document { .. } | Shape::Computed(_) => None,
    }
}

struct Collected<'p> {
    protocol: &'p Protocol,
    written: Vec<Written<'p>>,
}

impl<'p> Collected<'p> {
    fn expr(&mut self, expr: &'p Expr, origin: Origin, reply: Option<&'p Value>) {
        let text = expr.source();
        self.written.push(Written { expr, origin, text, offset: 0, reply, way: None });
    }

    fn templates(&mut self, templates: &'p ByLanguage<Template>, origin: &Origin) {
        for (language, template) in templates.versions() {
            let plain = language.is_empty();
            let origin = if plain { origin.clone() } else { origin.child(language) };
            self.template(template, &origin);
        }
    }

    fn template(&mut self, template: &'p Template, origin: &Origin) {
        let text = template.source();
        let mut from = 0;
        for expr in template.expressions() {
            let offset = text[from..].find(expr.source()).map_or(from, |at| at + from);
            from = offset + expr.source().len();
            let origin = origin.clone();
            self.written.push(Written { expr, origin, text, offset, reply: None, way: None });
        }
    }

    fn limits(&mut self, phase: &'p Phase) {
        for (name, limit) in &phase.budget.limits {
            let Most::Asked(expr) = &limit.most else { continue };
            let origin = phase.origin.child("budget").child(name);
            let short = origin.tree.value.pointer(&origin.pointer).is_some_and(Value::is_string);
            self.expr(expr, if short { origin } else { origin.child("limit") }, None);
        }
    }

    fn phase(&mut self, phase: &'p Phase) {
        let origin = &phase.origin;
        self.limits(phase);
        match &phase.work {
            Work::None => {}
            Work::Agent(AgentWork { prompt, .. }) => {
                if let Some(prompt) = prompt {
                    self.templates(prompt, &origin.child("prompt"));
                }
            }
            Work::Ask(questions) => self.questions(questions, &origin.child("ask")),
            Work::Effect { each, effect, .. } => {
                let origin = origin.child("do");
                self.each(each.as_ref(), &origin);
                self.effect(effect, &origin);
            }
            Work::Invoke(Invoke { each, input, .. }) => {
                self.each(each.as_ref().map(|several| &several.each), &origin.child("invoke"));
                if let Some(key) = each.as_ref().and_then(|several| several.key.as_ref()) {
                    self.expr(key, origin.child("invoke").child("key"), None);
                }
                for (pointer, expr) in input {
                    let origin = origin.child("invoke").child("input").child(pointer);
                    self.expr(expr, origin, None);
                }
            }
        }
        self.changes(changes(self.protocol, phase).into_iter());
    }

    fn changes(&mut self, changes: impl Iterator<Item = (&'p Change, Option<&'p Value>)>) {
        for (change, reply) in changes {
            if let Some(when) = &change.when {
                self.expr(when, change.origin.child("when"), reply);
            }
            let (word, _, value) = parts(&change.verb);
            if let Some(value) = value {
                let key = if matches!(change.verb, Verb::Emit { .. }) { "data" } else { "value" };
                self.expr(value, change.origin.child(word).child(key), reply);
            }
        }
    }

    fn questions(&mut self, questions: &'p [Question], origin: &Origin) {
        let listed = origin.tree.value.pointer(&origin.pointer).is_some_and(Value::is_array);
        for (index, question) in questions.iter().enumerate() {
            let origin = if listed { origin.child(&index.to_string()) } else { origin.clone() };
            if let Some((each, id)) = &question.each {
                self.each(Some(each), &origin);
                self.template(id, &origin.child("id"));
            }
            self.templates(&question.question, &origin.child("question"));
            self.shape(&question.shape, &origin);
            if let Some(when) = &question.when {
                self.expr(when, origin.child("when"), None);
            }
        }
    }

    fn each(&mut self, each: Option<&'p Each>, origin: &Origin) {
        if let Some(each) = each {
            self.expr(&each.items, origin.child("each"), None);
        }
    }

    fn shape(&mut self, shape: &'p Shape, origin: &Origin) {
        match shape {
            Shape::Value(_) | Shape::Choices(Choices::Listed(_)) => {}
            Shape::Choices(Choices::Computed(choices)) => {
                self.expr(choices, origin.child("choices"), None);
            }
            Shape::Computed(schema) => self.template(schema, &origin.child("answer")),
            Shape::Document { suggested_path, accepts } => {
                let origin = origin.child("document");
                if let Some(path) = suggested_path {
                    self.template(path, &origin.child("suggested_path"));
                }
                if let Accepts::Computed(list) = accepts {
                    self.expr(list, origin.child("accepts"), None);
                }
            }
        }
    }

    fn effect(&mut self, effect: &'p EffectSpec, origin: &Origin) {
        match effect {
            EffectSpec::Copy { from, to, .. } => {
                let origin = origin.child("copy");
                self.template(from, &origin.child("from"));
                self.template(to, &origin.child("to"));
            }
            EffectSpec::Write { path, content, .. } => {
                let origin = origin.child("write");
                self.template(path, &origin.child("path"));
                self.expr(content, origin.child("content"), None);
            }
            EffectSpec::Run { args, input, .. } => {
                let origin = origin.child("run");
                for (index, arg) in args.iter().enumerate() {
                    self.template(arg, &origin.child("args").child(&index.to_string()));
                }
                if let Some(input) = input {
                    self.expr(input, origin.child("input"), None);
                }
            }
            EffectSpec::Http { url, body, .. } => {
                let origin = origin.child("http");
                self.template(url, &origin.child("url"));
                if let Some(body) = body {
                    self.expr(body, origin.child("body"), None);
                }
            }
            EffectSpec::Retrieve { source, query } => {
                self.template(source, &origin.child("retrieve").child("source"));
                self.expr(query, origin.child("retrieve").child("query"), None);
            }
        }
    }
}
