//! Words that stand nowhere else, put into every kind of row.

use countersign_contracts::memory::long_term::ScopeLevel;
use serde_json::json;

use super::sample::{
    NOW, ask, candidate, episode, fact, insight, keep, keep_fact, on, procedure, said, summary,
    working,
};
use crate::Scope;
use crate::record::{Claim, Fact, Origin};
use crate::store::{Build, BuildRow, Limits, Memory};

/// In four scripts, and a name that stands in every id.
pub const CANARIES: [&str; 5] = [
    "quokka-canary-7f3a",
    "канарейка-зелёная-91",
    "金丝雀特别的鸟儿四十二",
    "카나리아노란새이십사",
    "zzid-personal-name",
];

/// Canaries in every kind of row, every id among them.
pub async fn plant(memory: &dyn Memory, scope: &Scope) {
    let [one, two, three, four, name] = CANARIES;
    let all = format!("{one} {two} {three} {four} {name}");
    let id = |what: &str| format!("{name}-{what}");
    let event = |number: usize| {
        let mut event = said(scope, &id(&format!("e{number}")), &format!("{all} {number}"));
        event.speaker = Some(format!("{one} speaker"));
        event.tags = vec![two.to_owned()];
        event.entities = vec![three.to_owned()];
        event
    };
    for first in (0..200).step_by(20) {
        memory.remember((first..first + 20).map(event).collect()).await.unwrap();
    }
    let long = format!("{} {all}", "padding ".repeat(3000));
    memory.remember(vec![said(scope, &id("long"), &long)]).await.unwrap();
    let claim = on(fact(&id("f1"), one, all.as_str()), &id("e1"), Some(three));
    keep_fact(memory, scope, claim.clone()).await;
    let newer = Fact { valid_from: Some(NOW), ..fact(&id("f2"), one, two) };
    keep_fact(memory, scope, newer).await;
    let shared = Fact { level: ScopeLevel::Tenant, id: id("f3"), ..claim.clone() };
    keep_fact(memory, scope, shared).await;
    for summary in [all.as_str(), one] {
        let episode = episode(&id("ep"), summary, &[&id("e1")]);
        keep(memory, scope, Claim::Episode(Box::new(episode))).await.unwrap();
    }
    let steps = procedure(&id("p"), "generic", &all);
    keep(memory, scope, Claim::Procedure(Box::new(steps))).await.unwrap();
    let guess = insight(&id("i"), scope.run(), &all);
    keep(memory, scope, Claim::Insight(Box::new(guess))).await.unwrap();
    let waiting = candidate(&id("c"), Claim::Fact(Box::new(claim)), Origin::User);
    memory.propose(scope, waiting).await.unwrap();
    memory.write_working(scope, 0, working(&all)).await.unwrap();
    memory.write_summary(scope, summary(&all, &[&id("e1")])).await.unwrap();
    let mut request = ask(scope, one);
    request.message = Some(all);
    let found = memory.found(&request, Limits::default()).await.unwrap();
    let rows = BuildRow::of(&request, &found, |_, _| true);
    let build = Build {
        id: id("b"),
        request,
        policy: json!({}),
        tokenizer: "chars/4".to_owned(),
        digest: two.to_owned(),
        built_at: NOW,
        rows,
        cut: Vec::new(),
        seen_insights: Vec::new(),
    };
    memory.keep_build(build).await.unwrap();
}

/// What the index keeps of them: stems and pairs. Only such as stand in nothing else.
pub fn needles() -> Vec<Vec<u8>> {
    let indexed = ["quokka", "канарейк", "丝雀", "카나", "7f3a"];
    CANARIES.iter().chain(&indexed).map(|words| words.as_bytes().to_vec()).collect()
}
