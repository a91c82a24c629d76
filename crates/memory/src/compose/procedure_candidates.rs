//! Selects the procedures of the task type, highest priority first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::long_term::PacketProcedure;
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use serde_json::Value;

use super::context::ComposeContext;
use super::cues::CueTarget;
use super::fill::{DetailTier, PacketItem};
use super::normalize::normalize_text;
use super::selection_log::{OmissionReason, RankedItem, SelectionLog};
use crate::ScoredRow;
use crate::policy::InjectionStrength;
use crate::record::MemoryProcedure;
use crate::render::{self, PacketHeading, flatten_value};

/// The task type of a request that names none. The packet contract uses the same name.
pub(super) const GENERIC: &str = "generic";

/// A procedure that may go into the packet.
#[derive(Debug)]
pub(super) struct ProcedureCandidate<'a> {
    row: &'a MemoryProcedure,
    relevance: i64,
    rule: String,
}

impl RankedItem for ProcedureCandidate<'_> {
    const KIND: &'static str = "procedure";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        self.rule.clone()
    }
}

/// Selects the procedures that may go into the packet, ranked.
pub(super) fn select_procedures<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
) -> Vec<ProcedureCandidate<'a>> {
    let mut rows: Vec<&ScoredRow<MemoryProcedure>> = ctx.candidates.procedures.iter().collect();
    rows.sort_by(|one, other| {
        (&one.row.id, Reverse(one.row.revision)).cmp(&(&other.row.id, Reverse(other.row.revision)))
    });
    let mut ids = BTreeSet::new();
    let mut list = Vec::new();
    for ScoredRow { row, score } in rows {
        let out = if ids.insert(row.id.as_str()) {
            find_omission_reason(ctx, row)
        } else {
            Some(OmissionReason::SameId)
        };
        if let Some(reason) = out {
            ledger.omit("procedure", &row.id, reason);
            continue;
        }
        let text = flatten_value(&Value::Object(row.content.clone()));
        let (tags, entities) = (read_names(row, "tags"), read_names(row, "entities"));
        let target = CueTarget { text: &text, tags: &tags, entities: &entities, time: None };
        let activated = ctx.cues.match_target(target, &ctx.policy.activation);
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
        let text = normalize_text(&flatten_value(&Value::Object(row.content.clone())));
        let first = texts.entry(text).or_insert_with(|| row.id.clone());
        if *first != row.id {
            let extra = JsonObject::from_iter([("duplicate_of".to_owned(), first.as_str().into())]);
            ledger.omit_with_details("procedure", &row.id, OmissionReason::Duplicate, extra);
        }
        *first == row.id
    });
    ledger.truncate_to_cap(
        &mut list,
        ctx.limit_candidates(ctx.policy.caps.procedures),
        OmissionReason::Cap,
    );
    list
}

/// Builds the packet item of a procedure: in full, as an outline, or as a reference.
pub(super) fn build_item(
    ctx: &ComposeContext<'_>,
    candidate: &ProcedureCandidate<'_>,
    tier: DetailTier,
) -> PacketItem<PacketProcedure> {
    let row = candidate.row;
    let text = flatten_value(&Value::Object(row.content.clone()));
    let cut = ctx.fit_to_longest(&text).is_truncated;
    let whole = if cut { build_outline(ctx, &row.content) } else { row.content.clone() };
    let (content, name) = match tier {
        DetailTier::Raw => (whole, "raw"),
        DetailTier::Short => {
            let outline = build_outline(ctx, &row.content);
            let shorter = flatten_value(&Value::Object(outline.clone())).len() < text.len();
            if shorter && !cut { (outline, "outline") } else { (whole, "raw") }
        }
        DetailTier::Ref => (JsonObject::new(), "ref"),
    };
    let item = PacketProcedure {
        procedure_id: row.id.clone(),
        task_type: row.task_type.clone(),
        content,
        priority: Some(row.priority),
        sources: Some(ctx.evidence_index.filter_citable(row.sources.iter())),
        applicability: (!row.applicability.is_empty()).then(|| row.applicability.clone()),
    };
    let line = render::render_procedure(&item, &ctx.markers);
    PacketItem {
        item,
        shared: vec![PacketHeading::Procedures.line().to_owned()],
        line,
        name,
        is_truncated: cut,
    }
}

/// Shortens each step; without steps, returns the beginning of the whole content.
fn build_outline(ctx: &ComposeContext<'_>, content: &JsonObject) -> JsonObject {
    if let Some(Value::Array(steps)) = content.get("steps") {
        let short = steps.iter().map(|step| match step {
            Value::String(text) => Value::String(ctx.shorten_item(text).text),
            other => Value::String(ctx.shorten_item(&flatten_value(other)).text),
        });
        let outline = JsonObject::from_iter([("steps".to_owned(), Value::Array(short.collect()))]);
        let text = flatten_value(&Value::Object(outline.clone()));
        if !ctx.fit_to_longest(&text).is_truncated {
            return outline;
        }
    }
    let text = ctx.shorten_item(&flatten_value(&Value::Object(content.clone()))).text;
    JsonObject::from_iter([("outline".to_owned(), Value::String(text))])
}

fn find_omission_reason(ctx: &ComposeContext<'_>, row: &MemoryProcedure) -> Option<OmissionReason> {
    // Tags are checked too: they appear in the packet, though not in the prompt.
    let all =
        [&row.content, &row.applicability].map(|it| flatten_value(&Value::Object(it.clone())));
    let text = all.join("\n");
    if ctx.row.procedures == InjectionStrength::None {
        Some(OmissionReason::Purpose)
    } else if row.task_type != ctx.request.task_type.as_deref().unwrap_or(GENERIC) {
        Some(OmissionReason::TaskType)
    } else if row.task_type.is_empty() {
        Some(OmissionReason::Invalid)
    } else if !is_applicable(ctx, row) {
        Some(OmissionReason::NotApplicable)
    } else if ctx.guard.has_tainted_source(row.sources.iter())
        || ctx.guard.must_withhold_text(&text, &row.sources.iter(), &ctx.evidence_index)
    {
        Some(OmissionReason::Quarantined)
    } else {
        None
    }
}

/// Returns whether the procedure applies: its purposes, if any, include the requested one, and a
/// cue names one of its tags or entities, if any.
fn is_applicable(ctx: &ComposeContext<'_>, row: &MemoryProcedure) -> bool {
    let purposes = read_names(row, "purposes");
    let purpose = match ctx.request.purpose {
        PacketPurpose::Planner => "planner",
        PacketPurpose::Tool => "tool",
        PacketPurpose::Responder => "responder",
    };
    let (tags, entities) = (read_names(row, "tags"), read_names(row, "entities"));
    let for_all = tags.is_empty() && entities.is_empty();
    (purposes.is_empty() || purposes.iter().any(|name| name == purpose))
        && (for_all || ctx.cues.mentions_any(&tags, &entities))
}

fn read_names(row: &MemoryProcedure, key: &str) -> Vec<String> {
    let list = row.applicability.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
