//! `countersign memory search TEXT`: lists the matching events, best first, with the parts of their
//! scores.

use countersign_memory::rank::excerpt_piece;
use countersign_memory::record::MemoryEvent;
use countersign_memory::{PacketRequest, RelevanceScore, ScoredRow};
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use countersign_view::wire::MemorySearchHit;
use serde_json::json;

use super::explain::{SCORE_FACTORS, SCORE_TERMS, VECTOR_TERM, format_score};
use super::open_memory;
use crate::args::{MemorySearchArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::HEADING;
use crate::table::render_table;
use crate::time_format;
use countersign_view::show::truncate_line;

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemorySearchArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let request = PacketRequest {
        scope: open_memory::resolve_scope(whose)?,
        purpose: PacketPurpose::Planner,
        task_type: None,
        cues: None,
        message: Some(args.text.clone()),
        vector: None,
        budget: None,
        as_of: open_memory::resolve_now(whose)?,
    };
    let Some(memory) = open_memory::find_memory(whose)? else {
        print_hits(&[], json, open_memory::NO_MEMORY_MESSAGE);
        return Ok(CliExit::Success);
    };
    let embedder = open_memory::connect_embedder(args.embedder.as_ref())?;
    block_on(async {
        let request = open_memory::embed_request(&*memory, embedder.as_ref(), request).await;
        let found = memory.search_events(&request, args.limit).await?;
        let empty = format!(
            "no event of {} and {} matches \"{}\"",
            request.scope.user(),
            request.scope.agent(),
            truncate_line(&args.text, 60)
        );
        print_hits(&found, json, &empty);
        Ok(CliExit::Success)
    })
}

fn print_hits(found: &[ScoredRow<MemoryEvent>], json: bool, empty: &str) {
    if json {
        let hits = found.iter().map(MemorySearchHit::from);
        output::print_json(&json!(hits.collect::<Vec<_>>()));
        return;
    }
    if found.is_empty() {
        output::print_message(empty);
        return;
    }
    let rows: Vec<[String; 6]> = found.iter().map(format_row).collect();
    output::print_data(&render_table(
        ["SCORE", "EVENT", "WHEN", "WHO", "TEXT", "SCORE PARTS"],
        &rows,
    ));
}

fn format_row(one: &ScoredRow<MemoryEvent>) -> [String; 6] {
    let MemoryEvent { id, ts, role, speaker, text, .. } = &one.row;
    let role = json!(role);
    let who = speaker.clone().unwrap_or_else(|| role.as_str().unwrap_or_default().to_owned());
    [
        format!("{HEADING}{}{HEADING:#}", format_score(one.score.total)),
        id.clone(),
        time_format::format_timestamp(*ts),
        who,
        truncate_line(&excerpt_piece(text, one.score.piece), 60),
        format_score_parts(&one.score),
    ]
}

/// Formats the parts of a score: `(words 1.20 + nearby 0.30) × session 1.80`.
fn format_score_parts(score: &RelevanceScore) -> String {
    let part = |name: &str| {
        let value = score.parts.get(name)?;
        Some(format!("{name} {}", format_score(*value)))
    };
    let sum: Vec<String> = SCORE_TERMS.into_iter().filter_map(part).collect();
    let factors = SCORE_FACTORS.into_iter().filter_map(part);
    let sum = if sum.len() > 1 { format!("({})", sum.join(" + ")) } else { sum.concat() };
    let words = std::iter::once(sum).chain(factors).filter(|part| !part.is_empty());
    let words = words.collect::<Vec<_>>().join(" × ");
    let shown = [words].into_iter().chain(part(VECTOR_TERM)).filter(|part| !part.is_empty());
    shown.collect::<Vec<_>>().join(" + ")
}
