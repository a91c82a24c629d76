//! `countersign memory search TEXT`: the events that answer, best first, and what their scores are made of.

use countersign_contracts::memory::meta::Purpose;
use countersign_memory::record::Event;
use countersign_memory::{Request, Score, Scored};
use countersign_server::wire::Hit;
use serde_json::json;

use super::desk;
use super::explain::{FACTORS, SIMILAR, SUM, points};
use crate::args::{Search, Whose};
use crate::elapsed;
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::HEADING;
use crate::table::table;
use countersign_server::show::shortened;

pub(super) fn run(whose: &Whose, args: &Search, json: bool) -> Result<Exit, Error> {
    let request = Request {
        scope: desk::scope(whose)?,
        purpose: Purpose::Planner,
        task_type: None,
        cues: None,
        message: Some(args.text.clone()),
        vector: None,
        budget: None,
        as_of: desk::now(whose)?,
    };
    let Some(memory) = desk::find(whose)? else {
        tell(&[], json, desk::NOTHING);
        return Ok(Exit::Good);
    };
    let embedder = desk::embedder(args.embedder.as_ref())?;
    wait(async {
        let request = desk::nearer(&*memory, embedder.as_ref(), request).await;
        let found = memory.search(&request, args.limit).await?;
        let empty = format!(
            "nothing that {} and {} said has words of \"{}\"",
            request.scope.user(),
            request.scope.agent(),
            shortened(&args.text, 60)
        );
        tell(&found, json, &empty);
        Ok(Exit::Good)
    })
}

fn tell(found: &[Scored<Event>], json: bool, empty: &str) {
    if json {
        let hits = found.iter().map(Hit::from);
        output::json(&json!(hits.collect::<Vec<_>>()));
        return;
    }
    if found.is_empty() {
        output::talk(empty);
        return;
    }
    let rows: Vec<[String; 6]> = found.iter().map(row).collect();
    output::data(&table(["SCORE", "EVENT", "WHEN", "WHO", "WORDS", "MADE OF"], &rows));
}

fn row(one: &Scored<Event>) -> [String; 6] {
    let Event { id, ts, role, speaker, text, .. } = &one.row;
    let role = json!(role);
    let who = speaker.clone().unwrap_or_else(|| role.as_str().unwrap_or_default().to_owned());
    [
        format!("{HEADING}{}{HEADING:#}", points(one.score.total)),
        id.clone(),
        elapsed::moment(*ts),
        who,
        shortened(text, 60),
        parts(&one.score),
    ]
}

/// `(words 1.20 + nearby 0.30) × session 1.80`.
fn parts(score: &Score) -> String {
    let part = |name: &str| {
        let value = score.parts.get(name)?;
        Some(format!("{name} {}", points(*value)))
    };
    let sum: Vec<String> = SUM.into_iter().filter_map(part).collect();
    let factors = FACTORS.into_iter().filter_map(part);
    let sum = if sum.len() > 1 { format!("({})", sum.join(" + ")) } else { sum.concat() };
    let words = std::iter::once(sum).chain(factors).filter(|part| !part.is_empty());
    let words = words.collect::<Vec<_>>().join(" × ");
    let told = [words].into_iter().chain(part(SIMILAR)).filter(|part| !part.is_empty());
    told.collect::<Vec<_>>().join(" + ")
}
