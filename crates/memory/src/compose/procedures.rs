//! Procedures: those of the task, the most important first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::Object;
use countersign_contracts::memory::long_term::Procedure as PacketProcedure;
use countersign_contracts::memory::meta::Purpose;
use serde_json::Value;

use super::context::Context;
use super::cues::Target;
use super::fill::{Form, Tier};
use super::ledger::{Ledger, Ranked, Reason};
use super::normal::normal;
use crate::Scored;
use crate::policy::Strength;
use crate::record::Procedure;
use crate::render::{self, Heading, flat};

/// The task of a request that names none; the contract says so too.
pub(super) const GENERIC: &str = "generic";

/// A procedure that may go in.
#[derive(Debug)]
pub(super) struct ProcedureCandidate<'a> {
    row: &'a Procedure,
    relevance: i64,
    rule: String,
}

impl Ranked for ProcedureCandidate<'_> {
    const KIND: &'static str = "procedure";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        self.rule.clone()
    }
}

/// The procedures that may go in, in order.
pub(super) fn select<'a>(ctx: &Context<'a>, ledger: &mut Ledger) -> Vec<ProcedureCandidate<'a>> {
    let mut rows: Vec<&Scored<Procedure>> = ctx.found.procedures.iter().collect();
    rows.sort_by(|one, other| {
        (&one.row.id, Reverse(one.row.revision)).cmp(&(&other.row.id, Reverse(other.row.revision)))
    });
    let mut ids = BTreeSet::new();
    let mut list = Vec::new();
    for Scored { row, score } in rows {
        let out = if ids.insert(row.id.as_str()) { filter(ctx, row) } else { Some(Reason::SameId) };
        if let Some(reason) = out {
            ledger.omit("procedure", &row.id, reason);
            continue;
        }
        let text = flat(&Value::Object(row.content.clone()));
        let (tags, entities) = (names(row, "tags"), names(row, "entities"));
        let target = Target { text: &text, tags: &tags, entities: &entities, time: None };
        let activated = ctx.cues.activate(target, &ctx.policy.activation);
        let mut rule = format!("task_type,priority:{}", row.priority);
        activated.rules.iter().for_each(|it| rule.push_str(&format!(",{it}")));
        let relevance = score.total.saturating_add(activated.points);
        list.push(ProcedureCandidate { row, relevance, rule });
    }
    list.sort_by(|one, other| {
        let key = |it: &ProcedureCandidate<'_>| {
            let row = it.row;
            let of_row = (Reverse(row.priority), Reverse(row.usage));
            (of_row, Reverse(it.relevance), Reverse(row.recorded_at), row.id.clone())
        };
        key(one).cmp(&key(other))
    });
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    list.retain(|candidate| {
        let row = candidate.row;
        let text = normal(&flat(&Value::Object(row.content.clone())));
        let first = texts.entry(text).or_insert_with(|| row.id.clone());
        if *first != row.id {
            let extra = Object::from_iter([("of".to_owned(), first.as_str().into())]);
            ledger.omit_for("procedure", &row.id, Reason::Duplicate, extra);
        }
        *first == row.id
    });
    ledger.cap(&mut list, ctx.most(ctx.policy.caps.procedures), Reason::Cap);
    list
}

/// A procedure in a form: whole, in outline, or its reference.
pub(super) fn form(
    ctx: &Context<'_>,
    candidate: &ProcedureCandidate<'_>,
    tier: Tier,
) -> Form<PacketProcedure> {
    let row = candidate.row;
    let text = flat(&Value::Object(row.content.clone()));
    let cut = ctx.whole(&text).cut;
    let whole = if cut { outline(ctx, &row.content) } else { row.content.clone() };
    let (content, name) = match tier {
        Tier::Raw => (whole, "raw"),
        Tier::Short => {
            let outline = outline(ctx, &row.content);
            let shorter = flat(&Value::Object(outline.clone())).len() < text.len();
            if shorter && !cut { (outline, "outline") } else { (whole, "raw") }
        }
        Tier::Ref => (Object::new(), "ref"),
    };
    let item = PacketProcedure {
        procedure_id: row.id.clone(),
        task_type: row.task_type.clone(),
        content,
        priority: Some(row.priority),
        sources: Some(ctx.evidences.resolving(row.sources.iter())),
        applicability: (!row.applicability.is_empty()).then(|| row.applicability.clone()),
    };
    let line = render::procedure(&item, &ctx.marks);
    Form { item, shared: vec![Heading::Procedures.line().to_owned()], line, name, cut }
}

/// Steps, each in a few words; the beginning of the whole where there are none.
fn outline(ctx: &Context<'_>, content: &Object) -> Object {
    if let Some(Value::Array(steps)) = content.get("steps") {
        let short = steps.iter().map(|step| match step {
            Value::String(text) => Value::String(ctx.short(text).text),
            other => Value::String(ctx.short(&flat(other)).text),
        });
        let outline = Object::from_iter([("steps".to_owned(), Value::Array(short.collect()))]);
        let text = flat(&Value::Object(outline.clone()));
        if !ctx.whole(&text).cut {
            return outline;
        }
    }
    let text = ctx.short(&flat(&Value::Object(content.clone()))).text;
    Object::from_iter([("outline".to_owned(), Value::String(text))])
}

fn filter(ctx: &Context<'_>, row: &Procedure) -> Option<Reason> {
    // Tags stand in the packet too, though not in the prompt.
    let all = [&row.content, &row.applicability].map(|it| flat(&Value::Object(it.clone())));
    let text = all.join("\n");
    if ctx.row.procedures == Strength::None {
        Some(Reason::Purpose)
    } else if row.task_type != ctx.request.task_type.as_deref().unwrap_or(GENERIC) {
        Some(Reason::TaskType)
    } else if row.task_type.is_empty() {
        Some(Reason::Invalid)
    } else if !applies(ctx, row) {
        Some(Reason::NotApplicable)
    } else if ctx.guard.taints(row.sources.iter())
        || ctx.guard.withholds(&text, &row.sources.iter(), &ctx.evidences)
    {
        Some(Reason::Quarantined)
    } else {
        None
    }
}

/// Whether the purpose is among those it names, and a cue among its tags and entities.
fn applies(ctx: &Context<'_>, row: &Procedure) -> bool {
    let purposes = names(row, "purposes");
    let purpose = match ctx.request.purpose {
        Purpose::Planner => "planner",
        Purpose::Tool => "tool",
        Purpose::Responder => "responder",
    };
    let (tags, entities) = (names(row, "tags"), names(row, "entities"));
    let for_all = tags.is_empty() && entities.is_empty();
    (purposes.is_empty() || purposes.iter().any(|name| name == purpose))
        && (for_all || ctx.cues.names(&tags, &entities))
}

fn names(row: &Procedure, key: &str) -> Vec<String> {
    let list = row.applicability.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
