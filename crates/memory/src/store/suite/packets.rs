//! Cases: packets composed from a memory, and composed again from their builds.

use std::sync::Arc;

use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::meta::PacketPurpose;

use super::sample::{
    NOW, append_user_event, build_request, build_scope, build_user_event, episode, fact, insight,
    procedure, record_claim, record_fact, scope, summary, with_evidence,
};
use crate::compose::compose_packet;
use crate::policy::{InjectionStrength, MemoryPolicy};
use crate::record::{MemoryClaim, MemoryOrigin, MemoryProcedure, SpeakerRole};
use crate::rules::ClaimAssurance;
use crate::store::{Memory, PacketBuild, RetrievalLimits};
use crate::tokens::CharCounter;
use crate::{BudgetOverride, Candidates, PacketRequest};

fn policy() -> MemoryPolicy {
    MemoryPolicy::load_shipped("default").unwrap()
}

async fn packet(memory: &dyn Memory, request: &PacketRequest) -> (Candidates, MemoryPacket) {
    let found =
        memory.retrieve_candidates(request, RetrievalLimits::from_policy(&policy())).await.unwrap();
    let packet = compose_packet(request, &policy(), &found, &CharCounter).unwrap();
    (found, packet)
}

fn list_quotes(packet: &MemoryPacket) -> Vec<&str> {
    packet.short_term.key_quotes.iter().flatten().map(|quote| quote.quote.as_str()).collect()
}

fn reason<'p>(packet: &'p MemoryPacket, id: &str) -> Option<&'p str> {
    let omitted = packet.explain.omitted.iter().find(|omitted| omitted.item == id);
    omitted.map(|omitted| omitted.reason.as_str())
}

pub async fn an_insight_of_another_run_is_kept_from_a_responder(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let (earlier, later) = (scope(), build_scope("u", "s1", "r2"));
    let mut guess = insight("i1", "r1", "Bob may like tofu");
    record_claim(memory, &earlier, MemoryClaim::Insight(Box::new(guess.clone()))).await.unwrap();
    let mut reply = build_user_event(&earlier, "e1", "I think that Bob may like tofu!");
    (reply.role, reply.origin) = (SpeakerRole::Assistant, MemoryOrigin::Model);
    let asked = build_user_event(&earlier, "e2", "Is there tofu for Bob?");
    memory.append_events(vec![reply, asked]).await.unwrap();

    let request =
        PacketRequest { purpose: PacketPurpose::Responder, ..build_request(&later, "tofu") };
    let (found, made) = packet(memory, &request).await;
    assert!(found.insights.is_empty(), "it is not there to be given");
    assert_eq!(list_quotes(&made), ["Is there tofu for Bob?"]);
    assert_eq!(reason(&made, "e1"), Some("quarantined"));
    assert_eq!(made.explain.filters["insights_withheld"], 1);
    assert!(!serde_json::to_string(&made).unwrap().contains("may like tofu"));
    let build = PacketBuild::from_packet("b1", &request, &policy(), &found, &made, "chars/4");
    memory.store_build(build).await.unwrap();

    // A planner may see the insight, so nothing is looked up to withhold.
    let (for_planner, made_for_planner) = packet(memory, &build_request(&later, "tofu")).await;
    assert!(for_planner.withheld_insights.is_empty());
    assert_eq!(list_quotes(&made_for_planner).len(), 2);

    // After validation the words may be shown, and the earlier build still gives the same packet.
    guess.validation = InsightValidationState::Validated;
    record_claim(memory, &earlier, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    assert_eq!(list_quotes(&packet(memory, &request).await.1).len(), 2);
    let (build, again) = memory.load_build(&scope().subject(), "b1").await.unwrap().unwrap();
    assert_eq!(again, found);
    assert_eq!(build.recompose(&again).unwrap(), made);
}

#[expect(clippy::similar_names, reason = "what was built, and its build")]
pub async fn what_was_written_after_an_insight_is_kept_from_a_responder(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let (earlier, later) = (scope(), build_scope("u", "s1", "r2"));
    let mut guess = insight("i1", "r1", "Bob may like tofu");
    record_claim(memory, &earlier, MemoryClaim::Insight(Box::new(guess.clone()))).await.unwrap();
    let built = |id: &str, request: &PacketRequest, found: &Candidates, packet: &MemoryPacket| {
        PacketBuild::from_packet(id, request, &policy(), found, packet, "chars/4")
    };
    let by_model = |id: &str, text: &str, build: &str| {
        let mut event = build_user_event(&earlier, id, text);
        (event.role, event.origin) = (SpeakerRole::Assistant, MemoryOrigin::Model);
        event.build = Some(build.to_owned());
        event
    };
    // A planner sees the insight and paraphrases it.
    let request = build_request(&earlier, "dinner");
    let (found, made) = packet(memory, &request).await;
    let build = built("b1", &request, &found, &made);
    assert_eq!(build.seen_insights, ["i1"]);
    memory.store_build(build).await.unwrap();
    let plan = by_model("e1", "For dinner, soy is what that guest would be glad of", "b1");
    let kept = memory.append_events(vec![plan.clone()]).await.unwrap();
    assert_eq!(kept[0].seen_insights, ["i1"]);
    assert_eq!(memory.append_events(vec![plan]).await.unwrap(), kept, "told twice it is one");
    // A second author sees only what the first wrote.
    let request = build_request(&later, "dinner");
    let (found, made) = packet(memory, &request).await;
    assert!(made.insight.hypotheses.is_empty());
    let build = built("b2", &request, &found, &made);
    assert_eq!(build.seen_insights, ["i1"]);
    memory.store_build(build).await.unwrap();
    memory.append_events(vec![by_model("e2", "So the dinner has bean curd", "b2")]).await.unwrap();
    let asked = build_user_event(&earlier, "e3", "What is for dinner?");
    memory
        .append_events(vec![asked, by_model("e4", "There is a dinner", "unknown")])
        .await
        .unwrap();
    // Other rows cite these events.
    let claim = with_evidence(fact("f1", "dinner", "soy"), "e1", Some("soy"));
    let claim = MemoryClaim::Fact(Box::new(claim));
    memory
        .record_claim(&earlier, claim, MemoryOrigin::Model, ClaimAssurance::Claimed, NOW)
        .await
        .unwrap();
    record_fact(memory, &earlier, with_evidence(fact("f2", "dinner_day", "Friday"), "e1", None))
        .await;
    for claim in [
        MemoryClaim::Episode(Box::new(episode("ep1", "A dinner was planned.", &["e2"]))),
        MemoryClaim::Procedure(Box::new(MemoryProcedure {
            sources: vec!["e1".to_owned()],
            ..procedure("p1", "generic", "cook soy")
        })),
    ] {
        record_claim(memory, &earlier, claim).await.unwrap();
    }
    let mut so_far = summary("A dinner of soy.", &[]);
    so_far.sources = vec!["e2".to_owned()];
    memory.write_summary(&later, so_far).await.unwrap();
    let material = memory.load_summary_input(&later, NOW).await.unwrap();
    let told: Vec<&str> =
        material.new_events.iter().chain(&material.summarized_events).map(|it| &*it.id).collect();
    assert!(!told.contains(&"e1") && !told.contains(&"e2"), "{told:?}");

    let request =
        PacketRequest { purpose: PacketPurpose::Responder, ..build_request(&later, "dinner") };
    let (found, made) = packet(memory, &request).await;
    let mut quotes = list_quotes(&made);
    quotes.sort_unstable();
    assert_eq!(quotes, ["There is a dinner", "What is for dinner?"]);
    for id in ["e1", "e2", "f1", "ep1", "rolling_summary"] {
        assert_eq!(reason(&made, id), Some("quarantined"), "{id}");
    }
    let facts: Vec<&str> = made.long_term.facts.iter().map(|it| &*it.fact_id).collect();
    assert_eq!(facts, ["f2"], "a person answers for it");
    let text = serde_json::to_string(&made).unwrap();
    assert!(!text.contains("soy") && !text.contains("curd"), "{text}");
    let answer = built("b3", &request, &found, &made);
    assert_eq!(answer.seen_insights, [""; 0]);
    memory.store_build(answer).await.unwrap();

    // After validation everything may be shown, and the earlier build still gives the same packet.
    guess.validation = InsightValidationState::Validated;
    record_claim(memory, &earlier, MemoryClaim::Insight(Box::new(guess.clone()))).await.unwrap();
    let (open, made_then) = packet(memory, &request).await;
    assert_eq!(open.cleared_insights.len(), 1);
    assert_eq!(list_quotes(&made_then).len(), 4);
    assert_eq!(made_then.short_term.rolling_summary, "A dinner of soy.");
    memory.store_build(built("b4", &request, &open, &made_then)).await.unwrap();
    // After rejection the result is as before.
    guess.validation = InsightValidationState::Rejected;
    record_claim(memory, &earlier, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    assert_eq!(list_quotes(&packet(memory, &request).await.1).len(), 2);
    for (id, found, made) in [("b3", found, made), ("b4", open, made_then)] {
        let (build, again) = memory.load_build(&scope().subject(), id).await.unwrap().unwrap();
        assert_eq!(again, found, "{id}");
        assert_eq!(build.recompose(&again).unwrap(), made, "{id}");
    }
}

pub async fn of_too_many_insights_the_newest_are_kept_back(memory: Arc<dyn Memory>) {
    for (number, guess) in (0..).zip(["Anna may be late", "Boris may be late", "Clara may be late"])
    {
        let claim = MemoryClaim::Insight(Box::new(insight(&format!("i{number}"), "r1", guess)));
        let now = NOW.plus_millis(number);
        memory
            .record_claim(&scope(), claim, MemoryOrigin::User, ClaimAssurance::Claimed, now)
            .await
            .unwrap();
    }
    let request = PacketRequest {
        purpose: PacketPurpose::Responder,
        ..build_request(&build_scope("u", "s1", "r2"), "late")
    };
    let limits = RetrievalLimits { insights: 2, ..RetrievalLimits::default() };
    let found = memory.retrieve_candidates(&request, limits).await.unwrap();
    let guesses: Vec<&str> = found.withheld_insights.iter().map(|guess| &*guess.id).collect();
    assert_eq!(guesses, ["i2", "i1"]);
    let packet = compose_packet(&request, &policy(), &found, &CharCounter).unwrap();
    let cut = &packet.explain.filters["truncations"];
    assert_eq!(cut, &serde_json::json!([{ "description": "insights", "read": 2 }]));
}

pub async fn what_is_said_again_and_again_crowds_nothing_out(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let scope = scope();
    let others = ["bread", "milk", "salt", "cheese", "honey"].map(|what| {
        format!(
            "Later on, when we had walked all the way home, we spoke about the price of {what}."
        )
    });
    for (number, text) in others.iter().enumerate() {
        append_user_event(memory, &scope, &format!("o{number}"), text).await;
    }
    // More events than are read for a packet that needs no more.
    let again = |number: usize| build_user_event(&scope, &format!("a{number}"), "The price is 12.");
    memory.append_events((0..70).map(again).collect()).await.unwrap();

    let request = build_request(&scope, "price");
    let (found, made) = packet(memory, &request).await;
    let mut quotes = list_quotes(&made);
    quotes.sort_unstable();
    let mut all: Vec<&str> = others.iter().map(String::as_str).collect();
    all.push("The price is 12.");
    all.sort_unstable();
    assert_eq!(quotes, all);
    // Some of the duplicates are named, and the others are counted.
    let named = made.explain.omitted.iter().filter(|omitted| omitted.reason == "duplicate").count();
    assert_eq!((named, found.quotes.len()), (49, 55));
    let cut = &made.explain.filters["truncations"];
    let what = "events that repeat a better match";
    assert_eq!(cut, &serde_json::json!([{ "description": what, "read": 49, "total": 69 }]));
    // A search for events returns duplicates too.
    let hits = memory.search_events(&request, 20).await.unwrap();
    assert!(hits.iter().all(|hit| hit.row.text == "The price is 12."));
}

pub async fn how_far_was_read_on_is_told(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let scope = scope();
    append_user_event(memory, &scope, "o", "We spoke at great length about the price of bread.")
        .await;
    let again = |number: usize| build_user_event(&scope, &format!("a{number}"), "The price is 12.");
    memory.append_events((0..700).map(again).collect()).await.unwrap();
    let (_, made) = packet(memory, &build_request(&scope, "price")).await;
    assert_eq!(list_quotes(&made), ["The price is 12."]);
    let cut = serde_json::json!([
        { "description": "events that repeat a better match", "read": 49, "total": 561 },
        { "description": "matching events", "read": 562 },
    ]);
    assert_eq!(made.explain.filters["truncations"], cut);
}

pub async fn a_larger_budget_buys_more_quotes(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let scope = scope();
    let text = |number: usize| format!("Number {number}: we spoke about the garden and the price.");
    let event = |number| build_user_event(&scope, &format!("e{number}"), &text(number));
    memory.append_events((0..200).map(event).collect()).await.unwrap();
    let (mut quotes, mut used) = (0, 0);
    for max_tokens in [1_000, 2_000, 4_000] {
        let mut request = build_request(&scope, "garden price");
        request.budget = Some(BudgetOverride { max_tokens, per_section: None });
        let (_, made) = packet(memory, &request).await;
        let (now, tokens) = (list_quotes(&made).len(), made.budget_report.used_tokens_est);
        assert!(now > quotes && tokens > used, "{max_tokens}: {now} quotes, {tokens} tokens");
        (quotes, used) = (now, tokens);
    }
}

pub async fn a_long_message_answers_with_the_piece_that_matches(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let scope = scope();
    let list = "- Nothing that anybody would look for in a list.\n".repeat(17);
    let text = format!("{list}## Joints\nAn epoxy grout needs no sealing.\n{list}");
    append_user_event(memory, &scope, "e1", &text).await;
    let (found, made) =
        packet(memory, &build_request(&scope, "which grout needs no sealing")).await;
    assert_eq!(found.quotes[0].row.text, text, "the message stays whole");
    assert_eq!(found.quotes[0].score.piece, Some(3));
    let quotes = list_quotes(&made);
    assert!(quotes.len() == 1 && quotes[0].starts_with("… ## Joints"), "{quotes:?}");
}

pub async fn a_window_is_looked_up_where_a_policy_gives_one(memory: Arc<dyn Memory>) {
    append_user_event(&*memory, &scope(), "e1", "Good morning.").await;
    let request = build_request(&scope(), "nothing");
    let (found, _) = packet(&*memory, &request).await;
    assert!(found.window.is_empty());
    let mut policy = policy();
    policy.matrix.responder.window = InjectionStrength::Weak;
    let found =
        memory.retrieve_candidates(&request, RetrievalLimits::from_policy(&policy)).await.unwrap();
    assert_eq!(found.window.len(), 1);
    let packet = compose_packet(&request, &policy, &found, &CharCounter).unwrap();
    assert_eq!(reason(&packet, "e1"), Some("purpose"), "it is for a responder");
}
