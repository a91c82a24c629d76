//! `countersign memory explain BUILD`: shows the selected items and their rules, the omitted items
//! and the reasons, and the token usage.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use countersign_memory::MemoryScope;
use countersign_memory::render::{CommonPrefix, measure_common_prefix, render_packet};
use countersign_memory::store::{Memory, MemoryError, PacketBuild, compute_packet_digest};
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::meta::SectionBudgets;
use countersign_view::wire::BuildExplanation;
use serde_json::{Value, json};

use super::{open_memory, policy_and_build};
use crate::args::{MemoryExplainArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, DIM, HEADING};
use crate::table::{display_width, render_table};
use crate::time_format;
use countersign_view::show::truncate_line;

/// The item kinds that a packet distinguishes.
const ITEM_KINDS: [&str; 8] =
    ["fact", "procedure", "episode", "insight", "quote", "message", "summary", "state"];

/// The terms that are added up in the score of an event, before the factors apply.
pub(super) const SCORE_TERMS: [&str; 2] = ["words", "nearby"];
/// The additional term that vectors contribute.
pub(super) const VECTOR_TERM: &str = "similar";
pub(super) const SCORE_FACTORS: [&str; 5] = ["session", "speaker", "time", "question", "role"];

/// The number of cells in a bar that represents the whole budget.
const BAR_WIDTH: u64 = 20;

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryExplainArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let scope = open_memory::resolve_scope(whose)?;
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let (build, found) = policy_and_build::load_build(&*memory, &scope, &args.build).await?;
        let packet = build.recompose(&found)?;
        let same = compute_packet_digest(&packet) == build.digest;
        let prefix = compare_with_previous(&*memory, &scope, &build, &packet).await?;
        if json {
            let mut report = json!(BuildExplanation::from_build(&build, &packet));
            report["prefix"] = prefix.as_ref().map_or(Value::Null, |(previous, prefix)| json!({
                "previous": previous, "bytes": prefix.bytes, "total_bytes": prefix.total_bytes, "share": prefix.share(),
            }));
            output::print_json(&report);
            return Ok(if same { CliExit::Success } else { CliExit::Refused });
        }
        output::print_data(&render_explanation(&build, &packet, prefix.as_ref()));
        if !same {
            output::print_message(&format!(
                "{BAD}Composing the build again gives a different packet{BAD:#}, which is shown above; see `countersign memory replay {}`",
                build.id
            ));
            return Ok(CliExit::Refused);
        }
        Ok(CliExit::Success)
    })
}

/// Returns how much of the previous packet is an unchanged prefix of this one: a provider's cache
/// can reuse that part. `None` if there is no previous packet or it cannot be rebuilt.
async fn compare_with_previous(
    memory: &dyn Memory,
    scope: &MemoryScope,
    build: &PacketBuild,
    packet: &MemoryPacket,
) -> Result<Option<(String, CommonPrefix)>, CliError> {
    let subject = scope.subject();
    let Some(id) = memory.find_previous_build(&subject, &build.id).await? else { return Ok(None) };
    let (before, found) = match memory.load_build(&subject, &id).await {
        Ok(Some(before)) => before,
        Ok(None) | Err(MemoryError::RowGone { .. }) => return Ok(None),
        Err(other) => return Err(other.into()),
    };
    let Ok(before) = before.recompose(&found) else { return Ok(None) };
    let text = |packet: &MemoryPacket| render_packet(packet, packet.meta.purpose);
    let common = measure_common_prefix(&text(&before)?, &text(packet)?);
    Ok(Some((id, common)))
}

fn render_explanation(
    build: &PacketBuild,
    packet: &MemoryPacket,
    prefix: Option<&(String, CommonPrefix)>,
) -> String {
    let mut text = render_header(build);
    if let Some((previous, prefix)) = prefix {
        // Insert before the empty line at the end of the header.
        let end = text.trim_end().len();
        let share = (prefix.share() * 100.0).floor();
        text.insert_str(end, &format!(
            "\nprefix  {share} % of the previous packet, {previous}: {} of {} bytes are unchanged",
            prefix.bytes, prefix.total_bytes
        ));
    }
    text.push_str(&render_budget(packet));
    let mut scores: BTreeMap<&str, i64> = BTreeMap::new();
    for row in &build.rows {
        // A quote is its own evidence, and has no score in that role.
        let best = scores.entry(&row.id).or_default();
        *best = row.score.total.max(*best);
    }
    write_heading(&mut text, "Included");
    let rows: Vec<[String; 4]> = packet
        .explain
        .selected
        .iter()
        .map(|line| {
            let (id, kind, rules) = parse_selected(line);
            let score = scores.get(id).copied().filter(|score| *score != 0);
            let score = score.map_or_else(String::new, format_score);
            [kind.to_owned(), id.to_owned(), format_rules(rules), score]
        })
        .collect();
    write_table_or(&mut text, ["KIND", "ID", "RULES", "SCORE"], &rows, "Nothing.");

    let shortened: Vec<[String; 3]> = packet
        .budget_report
        .degradations
        .iter()
        .map(|it| [it.section.clone(), it.action.replace('_', " "), it.reason.clone()])
        .collect();
    if !shortened.is_empty() {
        write_heading(&mut text, "Shortened to fit");
        write_table_or(&mut text, ["SECTION", "STEP", "WHAT"], &shortened, "");
    }
    let omitted: Vec<[String; 3]> = packet
        .explain
        .omitted
        .iter()
        .map(|it| {
            let kind = it.extra.get("kind").and_then(Value::as_str).unwrap_or_default();
            let why = format!("{}: {}", it.reason.replace('_', " "), describe_omission(&it.reason));
            [kind.to_owned(), it.item.clone(), why]
        })
        .collect();
    write_heading(&mut text, "Left out");
    write_table_or(&mut text, ["KIND", "ID", "WHY"], &omitted, "Nothing was left out.");

    if !packet.explain.conflicts.is_empty() {
        write_heading(&mut text, "Conflicts");
        for conflict in &packet.explain.conflicts {
            let ids = conflict.fact_ids.iter().flatten().map(String::as_str);
            let ids: Vec<&str> = ids.collect();
            let _ = writeln!(text, "  {}: {} ({})", conflict.kind, conflict.detail, ids.join(", "));
        }
    }
    text
}

fn render_header(build: &PacketBuild) -> String {
    let request = &build.request;
    let scope = &request.scope;
    let named = |name: &str| build.policy.get(name).and_then(Value::as_str).unwrap_or("?");
    let purpose = json!(request.purpose);
    let mut text = format!(
        "build {HEADING}{}{HEADING:#} of {} for {}: {} with {}, session {}, run {}\n",
        build.id,
        time_format::format_timestamp(build.built_at),
        purpose.as_str().unwrap_or_default(),
        scope.user(),
        scope.agent(),
        scope.session(),
        scope.run()
    );
    let mut cue_texts: Vec<String> = Vec::new();
    if let Some(message) = &request.message {
        cue_texts.push(format!("message \"{}\"", truncate_line(message, 60)));
    }
    if let Some(cues) = &request.cues {
        let lists = [("tag", &cues.tags), ("entity", &cues.entities), ("keyword", &cues.keywords)];
        for (name, list) in lists {
            cue_texts.extend(list.iter().flatten().map(|cue| format!("{name} {cue}")));
        }
        if let Some(range) = &cues.time_range {
            let end = |end: &Option<String>| end.clone().unwrap_or_else(|| "…".to_owned());
            cue_texts.push(format!("time {} to {}", end(&range.start), end(&range.end)));
        }
    }
    let query = if cue_texts.is_empty() {
        "no message and no cues".to_owned()
    } else {
        cue_texts.join(", ")
    };
    let _ = writeln!(text, "query   {query}");
    let _ = writeln!(
        text,
        "policy  {} {}, counted by {}",
        named("id"),
        named("version"),
        build.tokenizer
    );
    let _ = writeln!(text, "digest  {}", build.digest);
    text
}

/// Renders the share of each section in the whole budget as a bar, with the budget of the section.
/// A section may use more, if others leave theirs.
fn render_budget(packet: &MemoryPacket) -> String {
    let report = &packet.budget_report;
    let most = report.max_tokens.max(1);
    let mut text = String::new();
    let all = format!("Budget: {} of {} tokens", report.used_tokens_est, report.max_tokens);
    write_heading(&mut text, &all);
    let widest = report.section_usage.keys().map(|name| display_width(name)).max().unwrap_or(0);
    for (section, used) in &report.section_usage {
        let full = (used * BAR_WIDTH).div_ceil(most).min(BAR_WIDTH);
        let bar = "■".repeat(full as usize) + &"□".repeat((BAR_WIDTH - full) as usize);
        let of = section_limit(&packet.meta.budget.per_section, section);
        let of = if of > 0 { format!(" of {of}") } else { String::new() };
        let _ = writeln!(text, "  {section:<widest$}  {bar}  {used}{of}");
    }
    text
}

fn section_limit(budgets: &SectionBudgets, section: &str) -> u64 {
    match section {
        "working_state" => budgets.working_state,
        "facts" => budgets.facts,
        "procedures" => budgets.procedures,
        "short_term_summary" => budgets.short_term_summary,
        "episodes" => budgets.episodes,
        "insights" => budgets.insights,
        _ => 0,
    }
}

/// Parses `id|kind,rule,…`. An id may contain `|`, so the parser searches for a known kind.
fn parse_selected(line: &str) -> (&str, &str, &str) {
    for (at, _) in line.match_indices('|') {
        let (kind, rules) = line[at + 1..].split_once(',').unwrap_or((&line[at + 1..], ""));
        if ITEM_KINDS.contains(&kind) {
            return (&line[..at], kind, rules);
        }
    }
    (line, "", "")
}

/// Formats the rules of an item. Score terms are shown in points; the total score has its own
/// column.
fn format_rules(rules: &str) -> String {
    let shown = rules.split(',').filter(|rule| !rule.starts_with("score:"));
    let shown: Vec<String> = shown
        .map(|rule| match rule.split_once(':') {
            Some((name, value))
                if SCORE_TERMS.contains(&name)
                    || SCORE_FACTORS.contains(&name)
                    || name == VECTOR_TERM =>
            {
                match value.parse() {
                    Ok(millionths) => format!("{name} {}", format_score(millionths)),
                    Err(_) => rule.to_owned(),
                }
            }
            _ => rule.to_owned(),
        })
        .collect();
    shown.join(", ")
}

/// Describes in a few words why an item was omitted.
fn describe_omission(reason: &str) -> &'static str {
    match reason {
        "purpose" => "this purpose does not use its kind",
        "deprecated" => "another item replaced it",
        "disputed" => "something contradicts it",
        "rejected" => "it was tested and is wrong",
        "expired" => "it has expired",
        "not_yet_valid" => "it does not hold yet",
        "overridden" => "a more specific level overrides it",
        "same_key" => "a newer item has the same key",
        "same_id" => "a more specific item has the same id",
        "task_type" => "it is for another kind of task",
        "not_applicable" => "it is for other circumstances",
        "window" => "it is older than the window",
        "no_cue" => "too old, and no cue matches it",
        "weak_cue" => "too old for a weak cue",
        "aged" => "too old",
        "no_match" => "it does not match the query",
        "quarantined" => "it repeats an unvalidated insight",
        "closed" => "it is settled",
        "invalid" => "it is not allowed in a packet",
        "duplicate" => "another says the same",
        "cap" => "the limit for its kind is reached",
        "candidates" => "the limit for all candidates is reached",
        "budget" => "no tokens were left for it",
        _ => "see the reference",
    }
}

/// Formats a score given in millionths, with two decimals.
pub(super) fn format_score(millionths: i64) -> String {
    format!("{:.2}", millionths as f64 / 1_000_000.0)
}

fn write_heading(text: &mut String, words: &str) {
    let _ = writeln!(text, "\n{HEADING}{words}{HEADING:#}");
}

fn write_table_or<const N: usize>(
    text: &mut String,
    header: [&str; N],
    rows: &[[String; N]],
    empty: &str,
) {
    if rows.is_empty() {
        let _ = writeln!(text, "  {DIM}{empty}{DIM:#}");
        return;
    }
    for line in render_table(header, rows).lines() {
        let _ = writeln!(text, "  {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_account_is_taken_apart() {
        assert_eq!(
            parse_selected("f1|fact,active,keyword:a|b"),
            ("f1", "fact", "active,keyword:a|b")
        );
        assert_eq!(parse_selected("a|b|quote,no"), ("a|b", "quote", "no"));
        assert_eq!(parse_selected("goal|state,floor"), ("goal", "state", "floor"));
        assert_eq!(parse_selected("odd"), ("odd", "", ""));
        assert_eq!(
            format_rules("score:1500000,words:750000,session:2000000"),
            "words 0.75, session 2.00"
        );
        assert_eq!(format_rules("active,valid,keyword:words:1"), "active, valid, keyword:words:1");
    }
}
