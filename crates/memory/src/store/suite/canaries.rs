//! Unique words that cases put into every kind of row.

use countersign_shipped_contracts::memory::long_term::ScopeLevel;
use serde_json::json;

use super::sample::{
    NOW, build_request, build_user_event, candidate, episode, fact, insight, procedure,
    record_claim, record_fact, summary, with_evidence, working,
};
use crate::MemoryScope;
use crate::record::{MemoryClaim, MemoryFact, MemoryOrigin};
use crate::store::{BuildRow, Memory, PacketBuild, RetrievalLimits};

/// Words in four scripts, and a name that is part of every id.
pub const CANARIES: [&str; 5] = [
    "quokka-canary-7f3a",
    "канарейка-зелёная-91",
    "金丝雀特别的鸟儿四十二",
    "카나리아노란새이십사",
    "zzid-personal-name",
];

/// Writes canaries into every kind of row and every id.
pub async fn plant(memory: &dyn Memory, scope: &MemoryScope) {
    let [one, two, three, four, name] = CANARIES;
    let all = format!("{one} {two} {three} {four} {name}");
    let id = |what: &str| format!("{name}-{what}");
    let event = |number: usize| {
        let mut event =
            build_user_event(scope, &id(&format!("e{number}")), &format!("{all} {number}"));
        event.speaker = Some(format!("{one} speaker"));
        event.tags = vec![two.to_owned()];
        event.entities = vec![three.to_owned()];
        event
    };
    for first in (0..200).step_by(20) {
        memory.append_events((first..first + 20).map(event).collect()).await.unwrap();
    }
    let long = format!("{} {all}", "padding ".repeat(3000));
    memory.append_events(vec![build_user_event(scope, &id("long"), &long)]).await.unwrap();
    let claim = with_evidence(fact(&id("f1"), one, all.as_str()), &id("e1"), Some(three));
    record_fact(memory, scope, claim.clone()).await;
    let newer = MemoryFact { valid_from: Some(NOW), ..fact(&id("f2"), one, two) };
    record_fact(memory, scope, newer).await;
    let shared = MemoryFact { level: ScopeLevel::Tenant, id: id("f3"), ..claim.clone() };
    record_fact(memory, scope, shared).await;
    for summary in [all.as_str(), one] {
        let episode = episode(&id("ep"), summary, &[&id("e1")]);
        record_claim(memory, scope, MemoryClaim::Episode(Box::new(episode))).await.unwrap();
    }
    let steps = procedure(&id("p"), "generic", &all);
    record_claim(memory, scope, MemoryClaim::Procedure(Box::new(steps))).await.unwrap();
    let guess = insight(&id("i"), scope.run(), &all);
    record_claim(memory, scope, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    let waiting = candidate(&id("c"), MemoryClaim::Fact(Box::new(claim)), MemoryOrigin::User);
    memory.propose_candidate(scope, waiting).await.unwrap();
    memory.write_working_memory(scope, 0, working(&all)).await.unwrap();
    memory.write_summary(scope, summary(&all, &[&id("e1")])).await.unwrap();
    let mut request = build_request(scope, one);
    request.message = Some(all);
    let found = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
    let rows = BuildRow::collect_rows(&request, &found, |_, _| true);
    let build = PacketBuild {
        id: id("b"),
        request,
        policy: json!({}),
        tokenizer: "chars/4".to_owned(),
        digest: two.to_owned(),
        built_at: NOW,
        rows,
        truncations: Vec::new(),
        seen_insights: Vec::new(),
    };
    memory.store_build(build).await.unwrap();
}

/// The canaries and their index terms: stems and character pairs that occur nowhere else.
pub fn needles() -> Vec<Vec<u8>> {
    let indexed = ["quokka", "канарейк", "丝雀", "카나", "7f3a"];
    CANARIES.iter().chain(&indexed).map(|words| words.as_bytes().to_vec()).collect()
}
