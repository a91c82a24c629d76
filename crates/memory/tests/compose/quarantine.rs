//! A guess that nobody validated reaches no responder: not as an insight, not in a summary, not in
//! an episode, not in a model's message, not in a citation, not in the explanation; and no packet
//! that holds one is rendered for a responder.

use super::rows::*;
use countersign_memory::compose::compose_packet;
use countersign_memory::policy::{InjectionStrength, MemoryPolicy};
use countersign_memory::record::{FactEvidence, MemoryExpiry, MemoryOrigin, SpeakerRole};
use countersign_memory::render::{RenderError, render_packet, render_packet_value};
use countersign_memory::tokens::TiktokenCounter;
use countersign_memory::{Candidates, CitedEvent, ScoredRow};
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::long_term::FactStatus;
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use serde_json::json;
use testkit::SeededRng;

const GUESSES: [&str; 3] =
    ["The client secretly plans to leave", "Клиент хочет уйти к конкуренту", "客户打算更换供应商"];

fn policy() -> MemoryPolicy {
    let mut policy = MemoryPolicy::load_shipped("default").unwrap();
    // As open as a policy may be: the guard must hold all the same.
    policy.allow_in_responder = true;
    policy.matrix.responder = policy.matrix.planner;
    policy.matrix.responder.window = InjectionStrength::Strong;
    policy
}

#[track_caller]
fn composed(purpose: PacketPurpose, found: &Candidates) -> MemoryPacket {
    let packet =
        compose_packet(&request(purpose), &policy(), found, &TiktokenCounter::o200k()).unwrap();
    assert_eq!(violations(&packet), Vec::<String>::new());
    packet
}

/// The guess in every place that a packet is made from.
fn leaking(guess: &str, state: InsightValidationState) -> Candidates {
    let said = format!("I think that: {}!", guess.to_uppercase());
    let mut message = event("m9", 9, &said);
    (message.role, message.origin) = (SpeakerRole::Assistant, MemoryOrigin::Model);
    let mut spread = fact("f1", "intent", said.clone());
    spread.evidence = vec![FactEvidence { event: "m9".to_owned(), quote: None }];
    let mut outlook = episode("e1", 1, "A call.");
    (outlook.highlights, outlook.sources) = (vec![said.clone()], vec!["m9".to_owned()]);
    let mut row = working(json!({
        "goal": said, "constraints": {"note": said}, "slots": {"note": [said]},
        "plan": [{"step": said, "status": "todo"}], "decisions": [{"statement": said, "evidence_id": "m9"}],
        "risks": [{"risk": "leaving", "mitigation": said}], "mood": {"deep": said},
        "tool_evidence": [{"ref": "m9", "summary": said}], "state_version": 1
    }));
    let open = json!({"question": said, "status": "open", "evidence_id": "m9"});
    row.open_loops = vec![serde_json::from_value(open).unwrap()];
    let mut tagged = episode("e2", 1, "A visit.");
    tagged.tags = vec![said.clone()];
    let mut kept = summary(&format!("We talked. {said} Then we stopped."));
    kept.quotes = vec!["m9".to_owned()];
    let mut harmless = fact("f2", "city", "Rome");
    harmless.evidence = vec![FactEvidence { event: "m9".to_owned(), quote: None }];
    Candidates {
        working_memory: Some(row),
        summary: Some(kept),
        facts: vec![ScoredRow::from_row(spread), ScoredRow::from_row(harmless)],
        procedures: vec![ScoredRow::from_row(procedure("p1", &[&said]))],
        episodes: vec![ScoredRow::from_row(outlook), ScoredRow::from_row(tagged)],
        insights: vec![ScoredRow::from_row(insight("i1", state, guess))],
        withheld_insights: vec![],
        quotes: vec![scored(message.clone(), 1_000_000)],
        window: vec![message],
        evidence: std::collections::BTreeMap::new(),
        truncations: Vec::new(),
        cleared_insights: vec![],
        vouched_facts: vec![],
    }
}

#[test]
fn no_path_leads_to_a_responder() {
    for guess in GUESSES {
        for state in [
            InsightValidationState::Unvalidated,
            InsightValidationState::Testing,
            InsightValidationState::Rejected,
        ] {
            let found = leaking(guess, state);
            let packet = composed(PacketPurpose::Responder, &found);
            let told = serde_json::to_string(&packet).unwrap();
            let text = render_packet(&packet, PacketPurpose::Responder).unwrap();
            for place in [&told, &text] {
                assert!(!place.to_lowercase().contains(&guess.to_lowercase()), "{place}");
            }
            // What is harmless stays, and its citation without the words.
            assert_eq!(facts(&packet), ["f2"]);
            assert_eq!(packet.citations.len(), 1);
            assert_eq!(packet.citations[0].summary, None);
            for item in
                ["f1", "e1", "e2", "p1", "m9", "rolling_summary", "goal", "slots.note", "plan.0"]
            {
                assert_eq!(reason(&packet, item).as_deref(), Some("quarantined"), "{item}");
            }
        }
    }
}

#[test]
fn no_path_leads_to_a_responder_from_another_run() {
    for guess in GUESSES {
        let mut found = leaking(guess, InsightValidationState::Unvalidated);
        found.withheld_insights = found.insights.drain(..).map(|scored| scored.row).collect();
        found.withheld_insights[0].run = "before".to_owned();
        let packet = composed(PacketPurpose::Responder, &found);
        let told = serde_json::to_string(&packet).unwrap();
        assert!(!told.to_lowercase().contains(&guess.to_lowercase()), "{told}");
        assert_eq!(facts(&packet), ["f2"]);
        assert_eq!(packet.explain.filters["insights_withheld"], 1);
        assert!(packet.explain.omitted.iter().all(|omitted| omitted.item != "i1"));
        // It is no planner's either.
        assert!(composed(PacketPurpose::Planner, &found).insight.hypotheses.is_empty());
    }
}

#[test]
fn a_planner_sees_guesses_but_no_rejected_ones() {
    let found = leaking(GUESSES[0], InsightValidationState::Unvalidated);
    let packet = composed(PacketPurpose::Planner, &found);
    assert_eq!(packet.insight.hypotheses[0].statement, GUESSES[0]);
    assert!(
        render_packet(&packet, PacketPurpose::Planner)
            .unwrap()
            .contains("- unvalidated: The client secretly")
    );
    let packet =
        composed(PacketPurpose::Planner, &leaking(GUESSES[0], InsightValidationState::Rejected));
    assert!(packet.insight.hypotheses.is_empty());
    assert_eq!(reason(&packet, "i1").as_deref(), Some("rejected"));
}

#[test]
fn a_tool_sees_no_insight_at_all() {
    for state in [InsightValidationState::Unvalidated, InsightValidationState::Validated] {
        let found = Candidates {
            insights: vec![ScoredRow::from_row(insight("i1", state, GUESSES[0]))],
            ..Candidates::default()
        };
        let packet = composed(PacketPurpose::Tool, &found);
        assert!(packet.insight.hypotheses.is_empty());
        assert_eq!(reason(&packet, "i1").as_deref(), Some("purpose"));
    }
}

#[test]
fn a_validated_one_goes_to_a_responder_only_with_leave() {
    let row = ScoredRow::from_row(insight("i1", InsightValidationState::Validated, GUESSES[0]));
    let found = Candidates { insights: vec![row], ..Candidates::default() };
    let packet = composed(PacketPurpose::Responder, &found);
    assert_eq!(packet.insight.hypotheses.len(), 1);
    assert!(render_packet(&packet, PacketPurpose::Responder).is_ok());
    let closed = MemoryPolicy::load_shipped("default").unwrap();
    let counter = TiktokenCounter::o200k();
    let packet =
        compose_packet(&request(PacketPurpose::Responder), &closed, &found, &counter).unwrap();
    assert!(packet.insight.hypotheses.is_empty());
    assert_eq!(reason(&packet, "i1").as_deref(), Some("purpose"));
}

#[test]
fn what_a_user_said_is_the_users() {
    let mut said = event("m1", 1, "The client secretly plans to leave, I heard.");
    said.origin = MemoryOrigin::User;
    let mut known = fact("f1", "intent", "the client secretly plans to leave");
    known.evidence = vec![FactEvidence { event: "m1".to_owned(), quote: None }];
    let found = Candidates {
        quotes: vec![scored(said, 1_000_000)],
        facts: vec![ScoredRow::from_row(known)],
        insights: vec![ScoredRow::from_row(insight(
            "i1",
            InsightValidationState::Unvalidated,
            GUESSES[0],
        ))],
        ..Candidates::default()
    };
    let packet = composed(PacketPurpose::Responder, &found);
    assert_eq!(quotes(&packet), ["m1"]);
    assert_eq!(facts(&packet), ["f1"]);
    assert!(packet.insight.hypotheses.is_empty());
}

#[test]
fn a_guess_ends_with_its_run_or_its_time() {
    let with = |run: &str, expires: MemoryExpiry| {
        let mut row = insight("i1", InsightValidationState::Testing, GUESSES[0]);
        (row.run, row.expires) = (run.to_owned(), expires);
        let found =
            Candidates { insights: vec![ScoredRow::from_row(row)], ..Candidates::default() };
        let packet = composed(PacketPurpose::Planner, &found);
        (packet.insight.hypotheses.len(), reason(&packet, "i1"))
    };
    assert_eq!(with("r", MemoryExpiry::RunEnd), (1, None));
    assert_eq!(with("other", MemoryExpiry::RunEnd), (0, Some("expired".to_owned())));
    assert_eq!(with("other", MemoryExpiry::Until(NOW)), (1, None));
    assert_eq!(
        with("r", MemoryExpiry::Until(NOW.plus_millis(-1))),
        (0, Some("expired".to_owned()))
    );
}

#[test]
fn a_render_for_the_wrong_purpose_is_refused() {
    let packet = composed(PacketPurpose::Planner, &Candidates::default());
    let error = render_packet(&packet, PacketPurpose::Responder).unwrap_err();
    assert_eq!(error.to_string(), "a packet for a planner cannot be rendered for a responder");
}

#[test]
fn a_packet_that_was_tampered_with_is_not_rendered() {
    let found = leaking(GUESSES[0], InsightValidationState::Unvalidated);
    let mut packet = composed(PacketPurpose::Planner, &found);
    packet.meta.purpose = PacketPurpose::Responder;
    let error = render_packet(&packet, PacketPurpose::Responder).unwrap_err();
    assert_eq!(error.to_string(), "insight `i1` is unvalidated and cannot go to a responder");

    // A packet is believed about its own guesses: there is nothing else to ask.
    packet.insight.hypotheses[0].validation_state = InsightValidationState::Validated;
    assert!(render_packet(&packet, PacketPurpose::Responder).is_ok());
    packet.insight.usage_policy.allow_in_responder = false;
    assert!(matches!(
        render_packet(&packet, PacketPurpose::Responder),
        Err(RenderError::Insight { .. })
    ));

    packet.insight.hypotheses.clear();
    packet.long_term.facts[0].status = FactStatus::Disputed;
    let error = render_packet(&packet, PacketPurpose::Responder).unwrap_err();
    assert_eq!(error.to_string(), "fact `f2` is disputed and cannot go to a responder");

    let mut value = serde_json::to_value(&packet).unwrap();
    value["long_term"]["secret"] = json!(GUESSES[0]);
    let error = render_packet_value(&value, PacketPurpose::Responder).unwrap_err();
    assert!(matches!(error, RenderError::Shape { .. }));
    assert!(!error.to_string().contains(GUESSES[0]), "{error}");
}

/// What was written by somebody who had been shown a guess stays with planners, in whatever words, and so does what
/// rests on it; once every such guess is validated, all of it may be told.
#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn what_was_written_after_a_guess_reaches_no_responder() {
    const WORDS: [&str; 4] = ["blue herons", "quiet rivers", "seven lamps", "old maps"];
    for case in 0..300 {
        let mut chance = SeededRng::for_case(0x7a1_47ed, case);
        let states = [
            InsightValidationState::Unvalidated,
            InsightValidationState::Rejected,
            InsightValidationState::Validated,
        ];
        let insights: Vec<_> = (0..3)
            .map(|it| {
                insight(&format!("i{it}"), *chance.pick(&states), &format!("Guess {it} of the day"))
            })
            .collect();
        let mut found = Candidates::default();
        let mut tainted = std::collections::BTreeSet::new();
        for number in 0..6_u32 {
            let words = WORDS[chance.next_below(WORDS.len())];
            let mut row = event(&format!("m{number}"), number + 1, &format!("{words} {number}"));
            row.origin = *chance.pick(&[
                MemoryOrigin::User,
                MemoryOrigin::Model,
                MemoryOrigin::Tool,
                MemoryOrigin::System,
            ]);
            row.seen_insights =
                (0..chance.next_below(3)).map(|_| format!("i{}", chance.next_below(4))).collect();
            let is_open = |id: &String| {
                !insights
                    .iter()
                    .any(|it| it.id == *id && it.validation == InsightValidationState::Validated)
            };
            if row.seen_insights.iter().any(is_open) {
                tainted.insert(row.id.clone());
            }
            found.evidence.insert(row.id.clone(), CitedEvent::from(&row));
            if chance.roll_percent(50) {
                found.quotes.push(scored(row.clone(), 1_000_000));
            }
            if chance.roll_percent(50) {
                found.window.push(row);
            }
        }
        let source = |chance: &mut SeededRng| format!("m{}", chance.next_below(6));
        for number in 0..4 {
            let mut row = episode(&format!("e{number}"), 1, &format!("Episode of plates {number}"));
            row.sources = vec![source(&mut chance), source(&mut chance)];
            found.episodes.push(ScoredRow::from_row(row));
            let mut row =
                fact(&format!("f{number}"), &format!("key{number}"), format!("value{number}"));
            row.evidence = vec![FactEvidence { event: source(&mut chance), quote: None }];
            if chance.roll_percent(30) {
                found.vouched_facts.push((row.level, row.id.clone()));
            }
            found.facts.push(ScoredRow::from_row(row));
            let mut row = procedure(&format!("p{number}"), &[&format!("step{number}")]);
            row.sources = vec![source(&mut chance)];
            found.procedures.push(ScoredRow::from_row(row));
        }
        let mut told = summary("We spoke of plates.");
        told.sources = vec![source(&mut chance)];
        found.summary = Some(told);
        // Some are known because they are looked at anyway, the others because they were validated.
        for row in insights.iter().cloned() {
            if chance.roll_percent(50) {
                found.insights.push(ScoredRow::from_row(row));
            } else if row.validation == InsightValidationState::Validated {
                found.cleared_insights.push(row);
            } else {
                found.withheld_insights.push(row);
            }
        }
        let is_tainted = |sources: &[String]| sources.iter().any(|it| tainted.contains(it));
        let packet = composed(PacketPurpose::Responder, &found);
        let quotes = packet.short_term.key_quotes.iter().flatten().map(|it| &it.evidence_id);
        let window =
            packet.short_term.conversation_window.iter().flatten().map(|it| &it.evidence_id);
        for id in quotes.chain(window) {
            assert!(!tainted.contains(id), "{case}: {id}");
        }
        for one in &packet.citations {
            assert!(one.summary.is_none() || !tainted.contains(&one.id), "{case}: {}", one.id);
        }
        for row in found.episodes.iter().filter(|it| is_tainted(&it.row.sources)) {
            assert!(
                packet.long_term.episodes.iter().all(|it| it.episode_id != row.row.id),
                "{case}"
            );
        }
        for row in found.procedures.iter().filter(|it| is_tainted(&it.row.sources)) {
            assert!(
                packet.long_term.procedures.iter().all(|it| it.procedure_id != row.row.id),
                "{case}"
            );
        }
        for row in found.facts.iter().map(|it| &it.row) {
            let vouched = found.vouched_facts.contains(&(row.level, row.id.clone()));
            let tainted = row.evidence.iter().any(|it| tainted.contains(&it.event));
            let told = packet.long_term.facts.iter().any(|it| it.fact_id == row.id);
            assert!(!told || vouched || !tainted, "{case}: {}", row.id);
        }
        if is_tainted(&found.summary.as_ref().unwrap().sources) {
            assert_eq!(packet.short_term.rolling_summary, "", "{case}");
        }
        // A planner may see all of it.
        let planned = composed(PacketPurpose::Planner, &found);
        assert!(planned.explain.omitted.iter().all(|it| it.reason != "quarantined"), "{case}");
    }
}

#[test]
fn a_guess_is_known_by_its_shape_in_another_order_and_in_two_parts() {
    let hidden = [
        vec!["The cl\u{456}ent ѕесrеtlу рlаns to leave"],
        vec!["THE CIIENT SECRETLY PLANS TO LEAVE."],
        vec!["To leave: the client plans it, secretly"],
        vec!["I hear that the client secretly", "plans to leave, they say"],
    ];
    for texts in hidden {
        let messages: Vec<_> = (1..)
            .zip(&texts)
            .map(|(position, text)| {
                let mut row = event(&format!("m{position}"), position * 2, text);
                (row.role, row.origin) = (SpeakerRole::Assistant, MemoryOrigin::Model);
                row
            })
            .collect();
        let mut mine = event("mine", 1, "Does the client plan anything?");
        mine.origin = MemoryOrigin::User;
        let guess = insight("i1", InsightValidationState::Unvalidated, GUESSES[0]);
        let mut found = Candidates { withheld_insights: vec![guess], ..Candidates::default() };
        found.quotes =
            messages.iter().chain([&mine]).map(|row| scored(row.clone(), 1_000_000)).collect();
        let packet = composed(PacketPurpose::Responder, &found);
        let told: Vec<_> =
            packet.short_term.key_quotes.iter().flatten().map(|it| &*it.evidence_id).collect();
        assert_eq!(told, ["mine"], "{texts:?}");
    }
}
