//! `countersign memory explain BUILD`: what is in and by which rule, what is not and why, what it cost.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::meta::SectionBudgets;
use countersign_memory::Scope;
use countersign_memory::render::{CommonPrefix, common_prefix, render};
use countersign_memory::store::{Build, Memory, MemoryError, packet_digest};
use countersign_server::wire::Explained;
use serde_json::{Value, json};

use super::{desk, packets};
use crate::args::{Explain, Whose};
use crate::elapsed;
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{BAD, DIM, HEADING};
use crate::table::{table, width};
use countersign_server::show::shortened;

/// What a packet calls its items.
const KINDS: [&str; 8] =
    ["fact", "procedure", "episode", "insight", "quote", "message", "summary", "state"];

/// What the score of an event is made of.
pub(super) const SUM: [&str; 2] = ["words", "nearby"];
/// What vectors add to it.
pub(super) const SIMILAR: &str = "similar";
pub(super) const FACTORS: [&str; 5] = ["session", "speaker", "time", "question", "role"];

/// How many cells a bar has: the whole budget.
const CELLS: u64 = 20;

pub(super) fn run(whose: &Whose, args: &Explain, json: bool) -> Result<Exit, Error> {
    let scope = desk::scope(whose)?;
    let memory = desk::look(whose)?;
    wait(async {
        let (build, found) = packets::build(&*memory, &scope, &args.build).await?;
        let packet = build.again(&found)?;
        let same = packet_digest(&packet) == build.digest;
        let prefix = prefix(&*memory, &scope, &build, &packet).await?;
        if json {
            let mut told = json!(Explained::of(&build, &packet));
            told["prefix"] = prefix.as_ref().map_or(Value::Null, |(previous, prefix)| json!({
                "previous": previous, "bytes": prefix.bytes, "of": prefix.of, "share": prefix.share(),
            }));
            output::json(&told);
            return Ok(if same { Exit::Good } else { Exit::Refused });
        }
        output::data(&page(&build, &packet, prefix.as_ref()));
        if !same {
            output::talk(&format!(
                "{BAD}Composed again it is another one{BAD:#}; this is the one of now: `countersign memory replay {}`",
                build.id
            ));
            return Ok(Exit::Refused);
        }
        Ok(Exit::Good)
    })
}

/// How much of the packet before stands unchanged at the beginning of this one: so much of a provider's cache
/// holds. `None` where there is none before, or where it cannot be composed any more.
async fn prefix(
    memory: &dyn Memory,
    scope: &Scope,
    build: &Build,
    packet: &MemoryPacket,
) -> Result<Option<(String, CommonPrefix)>, Error> {
    let subject = scope.subject();
    let Some(id) = memory.build_before(&subject, &build.id).await? else { return Ok(None) };
    let (before, found) = match memory.build(&subject, &id).await {
        Ok(Some(before)) => before,
        Ok(None) | Err(MemoryError::Gone { .. }) => return Ok(None),
        Err(other) => return Err(other.into()),
    };
    let Ok(before) = before.again(&found) else { return Ok(None) };
    let text = |packet: &MemoryPacket| render(packet, packet.meta.purpose);
    let common = common_prefix(&text(&before)?, &text(packet)?);
    Ok(Some((id, common)))
}

fn page(build: &Build, packet: &MemoryPacket, prefix: Option<&(String, CommonPrefix)>) -> String {
    let mut text = head(build);
    if let Some((previous, prefix)) = prefix {
        // Before the empty line that the head ends with.
        let end = text.trim_end().len();
        let share = (prefix.share() * 100.0).floor();
        text.insert_str(end, &format!(
            "\nprefix  {share} % of the packet before, {previous}: {} of {} bytes stand unchanged",
            prefix.bytes, prefix.of
        ));
    }
    text.push_str(&budget(packet));
    let mut scores: BTreeMap<&str, i64> = BTreeMap::new();
    for row in &build.rows {
        // A quote is its own evidence, and as such it has no score.
        let best = scores.entry(&row.id).or_default();
        *best = row.score.total.max(*best);
    }
    heading(&mut text, "In");
    let rows: Vec<[String; 4]> = packet
        .explain
        .selected
        .iter()
        .map(|line| {
            let (id, kind, rules) = selected(line);
            let score = scores.get(id).copied().filter(|score| *score != 0);
            let score = score.map_or_else(String::new, points);
            [kind.to_owned(), id.to_owned(), rule(rules), score]
        })
        .collect();
    rows_or(&mut text, ["KIND", "ID", "BY WHICH RULE", "SCORE"], &rows, "Nothing.");

    let shortened: Vec<[String; 3]> = packet
        .budget_report
        .degradations
        .iter()
        .map(|it| [it.section.clone(), it.action.replace('_', " "), it.reason.clone()])
        .collect();
    if !shortened.is_empty() {
        heading(&mut text, "Under pressure");
        rows_or(&mut text, ["SECTION", "STEP", "WHAT"], &shortened, "");
    }
    let omitted: Vec<[String; 3]> = packet
        .explain
        .omitted
        .iter()
        .map(|it| {
            let kind = it.extra.get("kind").and_then(Value::as_str).unwrap_or_default();
            let why = format!("{}: {}", it.reason.replace('_', " "), because(&it.reason));
            [kind.to_owned(), it.item.clone(), why]
        })
        .collect();
    heading(&mut text, "Out");
    rows_or(&mut text, ["KIND", "ID", "WHY"], &omitted, "Nothing stayed out.");

    if !packet.explain.conflicts.is_empty() {
        heading(&mut text, "Conflicts");
        for conflict in &packet.explain.conflicts {
            let ids = conflict.fact_ids.iter().flatten().map(String::as_str);
            let ids: Vec<&str> = ids.collect();
            let _ = writeln!(text, "  {}: {} ({})", conflict.kind, conflict.detail, ids.join(", "));
        }
    }
    text
}

fn head(build: &Build) -> String {
    let request = &build.request;
    let scope = &request.scope;
    let named = |name: &str| build.policy.get(name).and_then(Value::as_str).unwrap_or("?");
    let purpose = json!(request.purpose);
    let mut text = format!(
        "build {HEADING}{}{HEADING:#} of {} for {}: {} with {}, session {}, run {}\n",
        build.id,
        elapsed::moment(build.built_at),
        purpose.as_str().unwrap_or_default(),
        scope.user(),
        scope.agent(),
        scope.session(),
        scope.run()
    );
    let mut asked: Vec<String> = Vec::new();
    if let Some(message) = &request.message {
        asked.push(format!("message \"{}\"", shortened(message, 60)));
    }
    if let Some(cues) = &request.cues {
        let lists = [("tag", &cues.tags), ("entity", &cues.entities), ("keyword", &cues.keywords)];
        for (name, list) in lists {
            asked.extend(list.iter().flatten().map(|cue| format!("{name} {cue}")));
        }
        if let Some(range) = &cues.time_range {
            let end = |end: &Option<String>| end.clone().unwrap_or_else(|| "…".to_owned());
            asked.push(format!("time {} to {}", end(&range.start), end(&range.end)));
        }
    }
    let asked =
        if asked.is_empty() { "nothing in particular".to_owned() } else { asked.join(", ") };
    let _ = writeln!(text, "asked   {asked}");
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

/// What each section took of the whole, as a bar; where it could not give everything, what it had.
fn budget(packet: &MemoryPacket) -> String {
    let report = &packet.budget_report;
    let most = report.max_tokens.max(1);
    let mut text = String::new();
    let all = format!("Budget: {} of {} tokens", report.used_tokens_est, report.max_tokens);
    heading(&mut text, &all);
    let widest = report.section_usage.keys().map(|name| width(name)).max().unwrap_or(0);
    for (section, used) in &report.section_usage {
        let full = (used * CELLS).div_ceil(most).min(CELLS);
        let bar = "■".repeat(full as usize) + &"□".repeat((CELLS - full) as usize);
        let of = allowed(&packet.meta.budget.per_section, section);
        let of = if of > *used { format!(" of {of}") } else { String::new() };
        let _ = writeln!(text, "  {section:<widest$}  {bar}  {used}{of}");
    }
    text
}

fn allowed(budgets: &SectionBudgets, section: &str) -> u64 {
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

/// `id|kind,rule,…`: an id may have a bar in it, so the kind is looked for.
fn selected(line: &str) -> (&str, &str, &str) {
    for (at, _) in line.match_indices('|') {
        let (kind, rules) = line[at + 1..].split_once(',').unwrap_or((&line[at + 1..], ""));
        if KINDS.contains(&kind) {
            return (&line[..at], kind, rules);
        }
    }
    (line, "", "")
}

/// The rules of an item; what its score is made of is told in points, and the score itself beside them.
fn rule(rules: &str) -> String {
    let told = rules.split(',').filter(|rule| !rule.starts_with("score:"));
    let told: Vec<String> = told
        .map(|rule| match rule.split_once(':') {
            Some((name, value))
                if SUM.contains(&name) || FACTORS.contains(&name) || name == SIMILAR =>
            {
                match value.parse() {
                    Ok(millionths) => format!("{name} {}", points(millionths)),
                    Err(_) => rule.to_owned(),
                }
            }
            _ => rule.to_owned(),
        })
        .collect();
    told.join(", ")
}

/// Why something stayed out, in a few words.
fn because(reason: &str) -> &'static str {
    match reason {
        "purpose" => "its kind does not go to this purpose",
        "deprecated" => "another took its place",
        "disputed" => "something contradicts it",
        "rejected" => "it was tested and is wrong",
        "expired" => "it is over",
        "not_yet_valid" => "it does not hold yet",
        "overridden" => "a nearer level says otherwise",
        "same_key" => "a newer one has its key",
        "same_id" => "a nearer one has its id",
        "task_type" => "it is for another kind of task",
        "not_applicable" => "it is for other circumstances",
        "window" => "it lies before the window",
        "no_cue" => "too long ago without a cue",
        "weak_cue" => "too long ago for a weak cue",
        "aged" => "too long ago",
        "no_match" => "it answers nothing",
        "quarantined" => "it says what an unvalidated guess says",
        "closed" => "it is settled",
        "invalid" => "no packet may hold it",
        "duplicate" => "another says the same",
        "cap" => "there are enough of its kind",
        "candidates" => "there are enough in all",
        "budget" => "there were no tokens left for it",
        _ => "see the reference",
    }
}

/// Millionths as a person reads them.
pub(super) fn points(millionths: i64) -> String {
    format!("{:.2}", millionths as f64 / 1_000_000.0)
}

fn heading(text: &mut String, words: &str) {
    let _ = writeln!(text, "\n{HEADING}{words}{HEADING:#}");
}

fn rows_or<const N: usize>(
    text: &mut String,
    header: [&str; N],
    rows: &[[String; N]],
    empty: &str,
) {
    if rows.is_empty() {
        let _ = writeln!(text, "  {DIM}{empty}{DIM:#}");
        return;
    }
    for line in table(header, rows).lines() {
        let _ = writeln!(text, "  {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_account_is_taken_apart() {
        assert_eq!(selected("f1|fact,active,keyword:a|b"), ("f1", "fact", "active,keyword:a|b"));
        assert_eq!(selected("a|b|quote,no"), ("a|b", "quote", "no"));
        assert_eq!(selected("goal|state,floor"), ("goal", "state", "floor"));
        assert_eq!(selected("odd"), ("odd", "", ""));
        assert_eq!(rule("score:1500000,words:750000,session:2000000"), "words 0.75, session 2.00");
        assert_eq!(rule("active,valid,keyword:words:1"), "active, valid, keyword:words:1");
    }
}
